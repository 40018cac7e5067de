//! A log block: the unit of log I/O, of checksums, and so of group atomicity.
//!
//! | off | len | field |
//! |---|---|---|
//! | 0 | 4 | magic |
//! | 4 | 4 | VLF sequence number |
//! | 8 | 4 | offset in the VLF, in 512-byte units |
//! | 12 | 2 | size in 512-byte units |
//! | 14 | 2 | records |
//! | 16 | 4 | bytes used, header included |
//! | 20 | 4 | checksum of the block before (rule 4: the chain) |
//! | 24 | 4 | checksum of this block, this field taken as zero |
//! | 28 | 4 | where the durable log ended when it was closed; 0 = not said |
//! | 32 | | records, each led by its length |
//!
//! That end is how many VLFs before the block's own, in the upper 12 bits, and the offset there in
//! 512-byte units, in the lower 20. Blocks of builds before the field have 0 in it.

use crate::record::RecordView;
use base::Lsn;
use base::limits::{LOG_BLOCK_BYTES_MAX, LOG_SECTOR_BYTES};
use os::vm::AlignedBuffer;

/// Size of the header.
pub(crate) const BLOCK_HEADER_BYTES: usize = 32;
/// Records of a block at most: the LSN after the last one is still of the same block.
pub(crate) const RECORDS_MAX: usize = Lsn::SLOT_MAX as usize - 1;
const MAGIC: u32 = 0x3142_4C47;
/// Of the field for the durable log's end; an LSN has as many for a block.
const OFFSET_BITS: u32 = 20;
const VLFS_BEHIND_MAX: u32 = (1 << (32 - OFFSET_BITS)) - 1;
const _: () = assert!(Lsn::BLOCK_MAX >> OFFSET_BITS == 0, "an offset fits its bits");

/// The bytes of a block in memory: room for the longest, at a multiple of what a disk transfers.
/// Without memory for one the process stops: half a step of the log's tail cannot be taken back.
pub(crate) struct Buffer {
    room: AlignedBuffer,
    len: usize,
}

impl Buffer {
    pub(crate) fn new() -> Buffer {
        Buffer { room: AlignedBuffer::or_stop(LOG_BLOCK_BYTES_MAX), len: 0 }
    }

    /// Puts bytes behind those that are there.
    #[inline]
    pub(crate) fn extend_from_slice(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        self.room[self.len..end].copy_from_slice(bytes);
        self.len = end;
    }

    /// So many bytes from now on, those that are new zero.
    pub(crate) fn resize(&mut self, len: usize) {
        if len > self.len {
            self.room[self.len..len].fill(0);
        }
        self.len = len;
    }
}

impl std::ops::Deref for Buffer {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        &self.room[..self.len]
    }
}

impl std::ops::DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.room[..self.len]
    }
}

/// A block that is being filled, or waits to be written.
pub(crate) struct Block {
    pub(crate) lsn: Lsn,
    pub(crate) bytes: Buffer,
    pub(crate) count: u16,
}

fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

fn checksum(bytes: &[u8]) -> u32 {
    assert!(bytes.len() >= BLOCK_HEADER_BYTES, "a checksum covers the header");
    let front = crc32c::crc32c(&bytes[..24]);
    crc32c::crc32c_append(crc32c::crc32c_append(front, &[0; 4]), &bytes[28..])
}

/// The durable log's end as the header of a block has it.
fn end_word(block: Lsn, durable_end: Lsn) -> u32 {
    debug_assert!(durable_end <= block, "what is durable was closed before");
    let behind = block.vlf().checked_sub(durable_end.vlf());
    let behind = behind.filter(|n| *n <= VLFS_BEHIND_MAX && durable_end != Lsn::ZERO);
    behind.map_or(0, |n| n << OFFSET_BITS | durable_end.block())
}

impl Block {
    /// An empty block at a place.
    pub(crate) fn open(lsn: Lsn, buffer: Buffer) -> Block {
        let mut block = Block { lsn, bytes: buffer, count: 0 };
        block.begin(lsn);
        block
    }

    /// Forgets what it has, and begins at a place.
    pub(crate) fn begin(&mut self, lsn: Lsn) {
        assert_eq!(lsn.slot(), 0, "a block starts at slot 0");
        let header = crate::vlf::VLF_HEADER_BYTES / LOG_SECTOR_BYTES as u64;
        assert!(u64::from(lsn.block()) >= header, "blocks come behind the VLF's header");
        (self.lsn, self.count) = (lsn, 0);
        self.bytes.resize(0);
        self.bytes.resize(BLOCK_HEADER_BYTES);
    }

    pub(crate) fn is_empty(&self) -> bool {
        let bare = self.bytes.len() == BLOCK_HEADER_BYTES;
        debug_assert_eq!(self.count == 0, bare, "records have bytes");
        self.count == 0
    }

    /// Whether a group fits.
    pub(crate) fn has_room(&self, bytes: usize, records: usize) -> bool {
        debug_assert!(self.bytes.len() >= BLOCK_HEADER_BYTES, "an open block has its header");
        self.bytes.len() + bytes <= LOG_BLOCK_BYTES_MAX
            && usize::from(self.count) + records <= RECORDS_MAX
    }

    /// The LSN that the next record gets.
    pub(crate) fn next_lsn(&self) -> Lsn {
        debug_assert_eq!(self.lsn.slot(), 0, "a block starts at slot 0");
        debug_assert!(usize::from(self.count) <= RECORDS_MAX, "the next LSN is of this block");
        Lsn(self.lsn.0 + u64::from(self.count) + 1)
    }

    /// Units the block takes on disk.
    pub(crate) fn units(&self) -> u32 {
        debug_assert!(self.bytes.len() <= LOG_BLOCK_BYTES_MAX, "60 KB at most");
        self.bytes.len().div_ceil(LOG_SECTOR_BYTES) as u32
    }

    /// Fills the header and pads to whole units; returns the checksum for the next block.
    /// `durable_end` is where the durable log ends.
    pub(crate) fn close(&mut self, previous_checksum: u32, durable_end: Lsn) -> u32 {
        assert!(self.count > 0, "a block without records is not written");
        assert!(self.bytes.len() <= LOG_BLOCK_BYTES_MAX, "60 KB at most");
        let (units, used) = (self.units(), self.bytes.len() as u32);
        let b = &mut self.bytes;
        b[..4].copy_from_slice(&MAGIC.to_le_bytes());
        b[4..8].copy_from_slice(&self.lsn.vlf().to_le_bytes());
        b[8..12].copy_from_slice(&self.lsn.block().to_le_bytes());
        b[12..14].copy_from_slice(&(units as u16).to_le_bytes());
        b[14..16].copy_from_slice(&self.count.to_le_bytes());
        b[16..20].copy_from_slice(&used.to_le_bytes());
        b[20..24].copy_from_slice(&previous_checksum.to_le_bytes());
        b[28..32].copy_from_slice(&end_word(self.lsn, durable_end).to_le_bytes());
        let sum = checksum(b);
        b[24..28].copy_from_slice(&sum.to_le_bytes());
        b.resize(units as usize * LOG_SECTOR_BYTES);
        let read_back = BlockView::parse(b, self.lsn);
        debug_assert!(read_back.is_some_and(|v| v.checksum() == sum), "it reads back");
        debug_assert!(read_back.is_some_and(|v| v.previous_checksum() == previous_checksum));
        sum
    }
}

/// A sound block's bytes.
#[derive(Clone, Copy)]
pub(crate) struct BlockView<'a> {
    pub(crate) bytes: &'a [u8],
}

impl<'a> BlockView<'a> {
    /// Units that the block at the start of `sector` claims to take; 0 when it is none.
    pub(crate) fn claimed_units(sector: &[u8], at: Lsn) -> u32 {
        debug_assert_eq!(at.slot(), 0, "a block starts at slot 0");
        if sector.len() < BLOCK_HEADER_BYTES
            || u32_at(sector, 0) != MAGIC
            || u32_at(sector, 4) != at.vlf()
            || u32_at(sector, 8) != at.block()
        {
            return 0;
        }
        let units = u32::from(u16_at(sector, 12));
        if units as usize * LOG_SECTOR_BYTES <= LOG_BLOCK_BYTES_MAX { units } else { 0 }
    }

    /// The VLF that a block at the start of `sector` claims to be of; 0 when it is none.
    pub(crate) fn claimed_vlf(sector: &[u8; LOG_SECTOR_BYTES]) -> u32 {
        if u32_at(sector, 0) == MAGIC { u32_at(sector, 4) } else { 0 }
    }

    /// The block at a place, if the bytes are one and its checksum is right.
    pub(crate) fn parse(bytes: &'a [u8], at: Lsn) -> Option<BlockView<'a>> {
        let units = Self::claimed_units(bytes, at) as usize;
        let whole = bytes.get(..units * LOG_SECTOR_BYTES).filter(|b| !b.is_empty())?;
        let used = u32_at(whole, 16) as usize;
        let used = whole.get(..used).filter(|b| b.len() >= BLOCK_HEADER_BYTES)?;
        (checksum(used) == u32_at(used, 24)).then_some(BlockView { bytes: used })
    }

    pub(crate) fn previous_checksum(self) -> u32 {
        debug_assert!(self.bytes.len() >= BLOCK_HEADER_BYTES, "a parsed block has its header");
        u32_at(self.bytes, 20)
    }

    pub(crate) fn checksum(self) -> u32 {
        debug_assert!(self.bytes.len() >= BLOCK_HEADER_BYTES, "a parsed block has its header");
        u32_at(self.bytes, 24)
    }

    /// Where the durable log ended when this block, of that VLF, was closed, if it says so: the
    /// blocks before that were on disk then.
    pub(crate) fn durable_end(self) -> Option<Lsn> {
        let (word, own) = (u32_at(self.bytes, 28), u32_at(self.bytes, 4));
        let vlf = own.checked_sub(word >> OFFSET_BITS).filter(|vlf| *vlf > 0 && word != 0)?;
        Some(Lsn::new(vlf, word & Lsn::BLOCK_MAX, 0))
    }

    pub(crate) fn units(self) -> u32 {
        let units = u32::from(u16_at(self.bytes, 12));
        debug_assert!(units as usize * LOG_SECTOR_BYTES >= self.bytes.len(), "as it was parsed");
        units
    }
}

/// The records of a block's used bytes, open or closed.
pub(crate) fn records_of(block: Lsn, bytes: &[u8]) -> impl Iterator<Item = RecordView<'_>> {
    assert_eq!(block.slot(), 0, "a block starts at slot 0");
    assert!(bytes.len() >= BLOCK_HEADER_BYTES, "records follow the header");
    let mut at = BLOCK_HEADER_BYTES;
    let mut slot = 0;
    std::iter::from_fn(move || {
        slot += 1;
        let lsn = Lsn(block.0 + slot);
        let record = RecordView::parse(lsn, bytes.get(at..)?)?;
        at += record.bytes.len();
        Some(record)
    })
}
