//! BUFFER:, PAGE HEADER: and Allocation Status.
//!
//! A frame has fewer fields than in SQL Server. Here they mean:
//!
//! | field | |
//! |---|---|
//! | BUF @ | where the page's state word is |
//! | bpage, bpageno, bdbid | where its bytes are; page; database |
//! | breferences | other readers of the page now |
//! | bstat | of the state word: 0x100 in memory, 0x200 used lately, 0x400 waited for, |
//! | | 0x800 being written to disk, 0x1000 verified |
//! | bDirtyContext | the LSN from which redo must look at the page; 0 for a clean page |

use super::printout::Printout;
use super::read::{Allocation, PageCopy, PageOwner, pfs_words};
use base::DatabaseId;
use page::PageView;

/// Prints the facts of the page's frame.
pub(crate) fn buffer(database: DatabaseId, copy: &PageCopy, printed: &mut Printout) {
    printed.title("BUFFER:");
    let Some(frame) = copy.frame else { return };
    printed.object("BUFFER:", format!("BUF @{}", Address(frame.word_address)));
    printed.field("bpage", Address(frame.page_address));
    printed.field("bpageno", copy.id);
    printed.field("bdbid", database.0);
    printed.field("breferences", frame.readers);
    printed.field("bstat", format!("{:#x}", frame.flags));
    printed.field("bDirtyContext", Address(frame.dirty_since.0));
}

/// An address in the form of DBCC PAGE.
pub(crate) struct Address(pub(crate) u64);

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "0x{:016X}", self.0)
    }
}

/// `m_xdesId`
pub(crate) fn xdes_text(v: PageView<'_>) -> String {
    let (high, low) = v.xdes_id();
    format!("({high}:{low})")
}

/// Prints the header, and the page's state in the maps.
pub(crate) fn header(
    copy: &PageCopy,
    owner: Option<&PageOwner>,
    allocation: &Allocation,
    printed: &mut Printout,
) {
    let v = copy.view();
    printed.title("PAGE HEADER:");
    printed.object("PAGE HEADER:", format!("Page @{}", Address(copy.address())));
    printed.field("m_pageId", v.page_id());
    printed.field("m_headerVersion", v.header_version());
    printed.field("m_type", v.kind_byte());
    printed.field("m_typeFlagBits", format!("{:#x}", v.type_flags()));
    printed.field("m_level", v.level());
    printed.field("m_flagBits", format!("{:#x}", v.flags()));
    printed.field("m_objId (AllocUnitId.idObj)", v.alloc_unit().0);
    printed.field("m_indexId (AllocUnitId.idInd)", v.index_id());
    metadata(v, owner, printed);
    printed.field("m_prevPage", v.prev_page());
    printed.field("m_nextPage", v.next_page());
    printed.field("pminlen", v.min_len());
    printed.field("m_slotCnt", v.slot_count());
    printed.field("m_freeCnt", v.free_count());
    printed.field("m_freeData", v.free_data());
    printed.field("m_reservedCnt", v.reserved_count());
    printed.field("m_lsn", v.lsn());
    printed.field("m_xactReserved", v.xact_reserved());
    printed.field("m_xdesId", xdes_text(v));
    printed.field("m_ghostRecCnt", v.ghost_count());
    printed.field("m_tornBits", v.torn_bits().cast_signed());
    status(allocation, printed);
}

/// Prints the owners of the unit in the header.
fn metadata(v: PageView<'_>, owner: Option<&PageOwner>, printed: &mut Printout) {
    if v.alloc_unit().0 == 0 {
        return;
    }
    printed.field("Metadata: AllocUnitId", v.alloc_unit());
    let Some(owner) = owner else { return };
    printed.field("Metadata: PartitionId", owner.hobt.spec().hobt);
    printed.field("Metadata: IndexId", owner.index_id());
    printed.field("Metadata: ObjectId", owner.hobt.spec().object.0);
}

fn status(a: &Allocation, printed: &mut Printout) {
    let word = |(map, is): (_, bool), yes: &'static str, no: &'static str| {
        (format!("{map}"), if is { yes } else { no })
    };
    printed.object("PAGE HEADER:", "Allocation Status");
    let (gam, is) = word(a.gam, "ALLOCATED", "NOT ALLOCATED");
    printed.field(format!("GAM {gam}"), is);
    let (sgam, is) = word(a.sgam, "ALLOCATED", "NOT ALLOCATED");
    printed.field(format!("SGAM {sgam}"), is);
    let (map, byte) = a.pfs;
    printed.field(format!("PFS {map}"), format!("{:#x} {}", byte.0, pfs_words(byte)));
    let (diff, is) = word(a.diff, "CHANGED", "NOT CHANGED");
    printed.field(format!("DIFF {diff}"), is);
    let (ml, is) = word(a.ml, "MIN_LOGGED", "NOT MIN_LOGGED");
    printed.field(format!("ML {ml}"), is);
}
