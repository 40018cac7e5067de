//! What the verifier of a hobt reads and finds.

use base::PageId;
use page::{Finding, RowFault};

/// What is wrong, for CHECKDB to name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowFinding {
    /// About pages, order and links.
    Page(Finding),
    /// A record does not have the form of its layout: 8944.
    Record(PageId, u16, RowFault),
    /// A page is allocated to the hobt and nothing leads to it: 2533.
    Unreachable(PageId),
    /// A page is the hobt's and not allocated in the PFS: 8948.
    NotAllocated(PageId),
    /// A page is the hobt's and its extent is not in the IAM: 8906.
    NotInIam(PageId),
    /// A row points at a value off it that is not there, or not whole: page, slot, value: 8929.
    ValueMissing(PageId, u16, u64),
    /// A value is there that no row points at: 8964.
    ValueUnreferenced(PageId, u16, u64),
    /// The pieces of a value do not follow each other: 8961.
    ValueBroken(PageId, u16, u64),
    /// A forwarding stub leads to a place that has no row of its RID: 8993.
    NoForwarded(PageId, u16, (PageId, u16)),
    /// A forwarded row is led to by no stub at its RID: 8994.
    NoStub(PageId, u16, (PageId, u16)),
}

/// A live record, by its RID.
#[derive(Clone, Copy, Debug)]
pub struct RowLocation<'r> {
    /// Its page; of a forwarded row that of its stub, as its slot.
    pub page: PageId,
    /// Its slot.
    pub slot: u16,
    /// Its bytes.
    pub record: &'r [u8],
}

/// What verification found.
#[derive(Debug, Default)]
pub struct RowReport {
    /// What is wrong in the hobt's own pages.
    pub findings: Vec<RowFinding>,
    /// What is wrong in the pages of values off the rows.
    pub large: Vec<RowFinding>,
    /// Every row was seen: none is on a page that could not be used.
    pub complete: bool,
    /// Live rows.
    pub rows: u64,
    /// Pages in use.
    pub pages: u64,
}

/// Where an index entry has a column from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryPart {
    /// A physical column of the record.
    Column(usize),
    /// The record's own place: page, file, slot.
    Rid,
}
