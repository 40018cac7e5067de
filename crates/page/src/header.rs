//! The page header: 96 bytes in front of every page, as `DBCC PAGE` names them.
//!
//! | off | len | field | | off | len | field |
//! |---|---|---|---|---|---|---|
//! | 0 | 1 | m_headerVersion, 1 | | 28 | 2 | m_freeCnt |
//! | 1 | 1 | m_type | | 30 | 2 | m_freeData |
//! | 2 | 1 | m_typeFlagBits | | 32 | 4+2 | m_pageId |
//! | 3 | 1 | m_level, 0 = leaf | | 38 | 2 | m_reservedCnt |
//! | 4 | 2 | m_flagBits, 0x200 = checksum | | 40 | 4+4+2 | m_lsn |
//! | 6 | 2 | m_indexId (256 = in-row) | | 50 | 2 | m_xactReserved |
//! | 8 | 4+2 | m_prevPage | | 52 | 6 | m_xdesId |
//! | 14 | 2 | pminlen | | 58 | 2 | m_ghostRecCnt |
//! | 16 | 4+2 | m_nextPage | | 60 | 4 | m_tornBits (checksum) |
//! | 22 | 2 | m_slotCnt | | 64 | 32 | reserved, zero |
//! | 24 | 4 | m_objId (allocation unit) | | | | |

use base::limits::{PAGE_BYTES, PAGE_HEADER_BYTES};
use base::{AllocUnitId, Lsn, PageId};

/// The bytes of one page.
pub type PageBytes = [u8; PAGE_BYTES];

/// Offsets of the header's fields.
#[allow(missing_docs)]
pub mod at {
    pub const HEADER_VERSION: usize = 0;
    pub const KIND: usize = 1;
    pub const TYPE_FLAGS: usize = 2;
    pub const LEVEL: usize = 3;
    pub const FLAGS: usize = 4;
    pub const INDEX_ID: usize = 6;
    pub const PREV_PAGE: usize = 8;
    pub const MIN_LEN: usize = 14;
    pub const NEXT_PAGE: usize = 16;
    pub const SLOT_COUNT: usize = 22;
    pub const ALLOC_UNIT: usize = 24;
    pub const FREE_COUNT: usize = 28;
    pub const FREE_DATA: usize = 30;
    pub const PAGE_ID: usize = 32;
    pub const RESERVED_COUNT: usize = 38;
    pub const LSN: usize = 40;
    pub const XACT_RESERVED: usize = 50;
    pub const XDES_ID: usize = 52;
    pub const GHOST_COUNT: usize = 58;
    pub const CHECKSUM: usize = 60;
    pub const RESERVED: usize = 64;
    pub const BODY: usize = 96;
}
const _: () = assert!(at::BODY == PAGE_HEADER_BYTES && at::CHECKSUM + 4 == at::RESERVED);

/// m_flagBits: the page carries a checksum.
pub(crate) const FLAG_CHECKSUM: u16 = 0x200;

/// What a page is for (m_type).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum PageKind {
    /// Heap, or leaf of a clustered index.
    Data = 1,
    /// Interior of a clustered index, any level of a nonclustered one.
    Index = 2,
    /// Small large-object fragments.
    TextMix = 3,
    /// Large-object fragments of one value.
    TextTree = 4,
    /// Intermediate results of sorts and hashes.
    Sort = 7,
    /// Which extents are free.
    Gam = 8,
    /// Which mixed extents have a free page.
    Sgam = 9,
    /// Which extents belong to an allocation unit.
    Iam = 10,
    /// A byte of state for each page.
    Pfs = 11,
    /// Facts of the database.
    Boot = 13,
    /// Facts of the file.
    FileHeader = 15,
    /// Extents changed since the last full backup.
    DiffMap = 16,
    /// Extents changed by minimally logged operations.
    BulkMap = 17,
}

impl PageKind {
    /// The kind of that number.
    pub const fn from_byte(b: u8) -> Option<Self> {
        Some(match b {
            1 => PageKind::Data,
            2 => PageKind::Index,
            3 => PageKind::TextMix,
            4 => PageKind::TextTree,
            7 => PageKind::Sort,
            8 => PageKind::Gam,
            9 => PageKind::Sgam,
            10 => PageKind::Iam,
            11 => PageKind::Pfs,
            13 => PageKind::Boot,
            15 => PageKind::FileHeader,
            16 => PageKind::DiffMap,
            17 => PageKind::BulkMap,
            _ => return None,
        })
    }
}

/// A page to read.
#[derive(Clone, Copy)]
pub struct PageView<'a>(pub &'a PageBytes);

/// A page to change; only `buffer::Change` and redo hand one out for a logged page.
pub struct PageMut<'a>(pub &'a mut PageBytes);

#[inline]
pub(crate) fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

pub(crate) fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn page_id_at(b: &[u8], at: usize) -> PageId {
    PageId::new(u16_at(b, at + 4), u32_at(b, at))
}

impl<'a> PageView<'a> {
    /// m_headerVersion.
    pub fn header_version(self) -> u8 {
        self.0[at::HEADER_VERSION]
    }

    /// m_typeFlagBits.
    pub fn type_flags(self) -> u8 {
        self.0[at::TYPE_FLAGS]
    }

    /// m_indexId: of what kind the allocation unit is.
    pub fn index_id(self) -> u16 {
        u16_at(self.0, at::INDEX_ID)
    }

    /// m_reservedCnt.
    pub fn reserved_count(self) -> u16 {
        u16_at(self.0, at::RESERVED_COUNT)
    }

    /// m_xactReserved.
    pub fn xact_reserved(self) -> u16 {
        u16_at(self.0, at::XACT_RESERVED)
    }

    /// m_xdesId: its upper two bytes, and its lower four.
    pub fn xdes_id(self) -> (u16, u32) {
        (u16_at(self.0, at::XDES_ID + 4), u32_at(self.0, at::XDES_ID))
    }

    /// m_tornBits: the checksum, as of when the page was last written.
    pub fn torn_bits(self) -> u32 {
        u32_at(self.0, at::CHECKSUM)
    }

    /// Whether m_flagBits say that there is a checksum.
    pub fn has_checksum(self) -> bool {
        self.flags() & FLAG_CHECKSUM != 0
    }

    /// m_type as a number.
    pub fn kind_byte(self) -> u8 {
        self.0[at::KIND]
    }

    /// m_type, when it is one we write.
    pub fn kind(self) -> Option<PageKind> {
        PageKind::from_byte(self.0[at::KIND])
    }

    /// Whether the page was never written: all its header is zero.
    pub fn is_blank(self) -> bool {
        self.0[..at::BODY].iter().all(|&b| b == 0)
    }

    /// m_level: 0 is the leaf.
    #[inline]
    pub fn level(self) -> u8 {
        self.0[at::LEVEL]
    }

    /// m_flagBits.
    pub fn flags(self) -> u16 {
        u16_at(self.0, at::FLAGS)
    }

    /// m_prevPage.
    pub fn prev_page(self) -> PageId {
        page_id_at(self.0, at::PREV_PAGE)
    }

    /// m_nextPage.
    #[inline]
    pub fn next_page(self) -> PageId {
        page_id_at(self.0, at::NEXT_PAGE)
    }

    /// pminlen: size of the fixed part of its records.
    #[inline]
    pub fn min_len(self) -> u16 {
        u16_at(self.0, at::MIN_LEN)
    }

    /// m_slotCnt.
    #[inline]
    pub fn slot_count(self) -> u16 {
        u16_at(self.0, at::SLOT_COUNT)
    }

    /// The allocation unit that owns the page.
    #[inline]
    pub fn alloc_unit(self) -> AllocUnitId {
        AllocUnitId(u32_at(self.0, at::ALLOC_UNIT))
    }

    /// m_freeCnt: free bytes, not necessarily contiguous.
    pub fn free_count(self) -> u16 {
        u16_at(self.0, at::FREE_COUNT)
    }

    /// m_freeData: offset of the first byte after the last record.
    pub fn free_data(self) -> u16 {
        u16_at(self.0, at::FREE_DATA)
    }

    /// m_pageId.
    pub fn page_id(self) -> PageId {
        page_id_at(self.0, at::PAGE_ID)
    }

    /// m_lsn: the end of the last group that changed the page.
    pub fn lsn(self) -> Lsn {
        let vlf = u64::from(u32_at(self.0, at::LSN));
        let block = u64::from(u32_at(self.0, at::LSN + 4) & Lsn::BLOCK_MAX);
        let slot = u64::from(u16_at(self.0, at::LSN + 8) & Lsn::SLOT_MAX);
        Lsn((vlf << 32) | (block << 12) | slot)
    }

    /// m_ghostRecCnt.
    pub fn ghost_count(self) -> u16 {
        u16_at(self.0, at::GHOST_COUNT)
    }

    /// The record of a slot, or `None` when the slot is empty, absent or damaged.
    #[inline]
    pub fn record(self, slot: u16) -> Option<&'a [u8]> {
        crate::slots::record(self.0, slot)
    }

    /// Where a slot's record stands, and the page's bytes from there on.
    #[inline]
    pub fn bytes_from(self, slot: u16) -> Option<(u16, &'a [u8])> {
        let at = crate::slots::offset(self.0, slot)?;
        let rest = self.0.get(usize::from(at)..)?;
        (usize::from(at) >= PAGE_HEADER_BYTES).then_some((at, rest))
    }

    /// Offset of a slot's record; 0 when the slot is empty.
    #[inline]
    pub fn slot_offset(self, slot: u16) -> Option<u16> {
        crate::slots::offset(self.0, slot)
    }
}

impl PageMut<'_> {
    /// The page to read.
    pub fn view(&self) -> PageView<'_> {
        PageView(self.0)
    }

    fn put_u16(&mut self, at: usize, v: u16) {
        self.0[at..at + 2].copy_from_slice(&v.to_le_bytes());
    }

    fn put_u32(&mut self, at: usize, v: u32) {
        self.0[at..at + 4].copy_from_slice(&v.to_le_bytes());
    }

    fn put_page_id(&mut self, at: usize, v: PageId) {
        self.put_u32(at, v.page);
        self.put_u16(at + 4, v.file.0);
    }

    /// Makes an empty page of a kind; all former contents are gone, the LSN too.
    pub fn format(
        &mut self,
        kind: PageKind,
        id: PageId,
        unit: AllocUnitId,
        level: u8,
        min_len: u16,
    ) {
        self.0[PAGE_HEADER_BYTES..].fill(0);
        self.format_header(kind, id, unit, level, min_len);
    }

    /// The same, but the body stays: for a page without slots.
    pub fn format_header(
        &mut self,
        kind: PageKind,
        id: PageId,
        unit: AllocUnitId,
        level: u8,
        min_len: u16,
    ) {
        self.0[..PAGE_HEADER_BYTES].fill(0);
        self.0[at::HEADER_VERSION] = 1;
        self.0[at::KIND] = kind as u8;
        self.0[at::LEVEL] = level;
        self.put_u16(at::INDEX_ID, 256);
        self.put_u16(at::MIN_LEN, min_len);
        self.put_u32(at::ALLOC_UNIT, unit.0);
        self.put_u16(at::FREE_COUNT, (PAGE_BYTES - PAGE_HEADER_BYTES) as u16);
        self.put_u16(at::FREE_DATA, PAGE_HEADER_BYTES as u16);
        self.put_page_id(at::PAGE_ID, id);
    }

    /// Sets m_lsn.
    pub fn set_lsn(&mut self, lsn: Lsn) {
        self.put_u32(at::LSN, lsn.vlf());
        self.put_u32(at::LSN + 4, lsn.block());
        self.put_u16(at::LSN + 8, lsn.slot());
    }

    /// Sets m_prevPage.
    pub fn set_prev_page(&mut self, id: PageId) {
        self.put_page_id(at::PREV_PAGE, id);
    }

    /// Sets m_nextPage.
    pub fn set_next_page(&mut self, id: PageId) {
        self.put_page_id(at::NEXT_PAGE, id);
    }

    /// Sets m_level, when a root grows in place.
    pub fn set_level(&mut self, level: u8) {
        self.0[at::LEVEL] = level;
    }

    /// Sets m_ghostRecCnt.
    pub fn set_ghost_count(&mut self, n: u16) {
        self.put_u16(at::GHOST_COUNT, n);
    }

    pub(crate) fn set_slot_count(&mut self, n: u16) {
        self.put_u16(at::SLOT_COUNT, n);
    }

    pub(crate) fn set_free_count(&mut self, n: u16) {
        self.put_u16(at::FREE_COUNT, n);
    }

    pub(crate) fn set_free_data(&mut self, n: u16) {
        self.put_u16(at::FREE_DATA, n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatted_page_spells_its_header() {
        let mut b = [0xEE; PAGE_BYTES];
        let mut p = PageMut(&mut b);
        p.format(PageKind::Index, PageId::new(1, 288), AllocUnitId(68), 2, 11);
        p.set_lsn(Lsn::new(31, 200, 7));
        p.set_next_page(PageId::new(1, 289));
        let v = p.view();
        assert_eq!((v.kind(), v.level(), v.min_len()), (Some(PageKind::Index), 2, 11));
        assert_eq!((v.page_id(), v.next_page()), (PageId::new(1, 288), PageId::new(1, 289)));
        assert_eq!((v.free_count(), v.free_data(), v.slot_count()), (8096, 96, 0));
        assert_eq!((v.lsn(), v.alloc_unit()), (Lsn::new(31, 200, 7), AllocUnitId(68)));
        assert_eq!(b[..16], [1, 2, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 11, 0]);
    }
}
