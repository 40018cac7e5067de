//! `RedoHandler`: what the log needs from the crates that write records into it.
//!
//! Do = redo by construction: `buffer::Change` and recovery call the same `apply`.

use crate::record::{Kind, RecordView};
use base::{AllocUnitId, PageId};
use page::PageBytes;

/// One operation on one page.
#[derive(Clone, Copy, Debug)]
pub struct PageOp<'a> {
    /// Which operation.
    pub kind: Kind,
    /// The page.
    pub page: PageId,
    /// The slot, or what the operation takes for one.
    pub slot: u16,
    /// The allocation unit.
    pub unit: AllocUnitId,
    /// What the handler wrote.
    pub payload: &'a [u8],
}

/// The record does not fit the page it is to change: one of them is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApplyError(pub &'static str);

/// What a record says, for fn_dblog. What is not there the record does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RecordDescription<'a> {
    /// LOP_...
    pub operation: &'static str,
    /// LCX_...
    pub context: &'static str,
    /// RowLog Contents 0, 1 and 2: what was written; or what was there, what is there now, and the
    /// key by which it is found again.
    pub contents: [Option<&'a [u8]>; 3],
    /// Where in the row something was changed, in bytes from its start.
    pub offset_in_row: Option<u16>,
    /// How many bytes it is now.
    pub modify_size: Option<u16>,
    /// How many records or images it has.
    pub elements: Option<u16>,
    /// Kind and level of a page that was formatted.
    pub format: Option<(u8, u8)>,
    /// Bits of a map: the first, how many, what they are now.
    pub bits: Option<(u32, u32, bool)>,
}

impl<'a> RecordDescription<'a> {
    /// An operation in its context, and nothing more.
    pub fn new(operation: &'static str, context: &'static str) -> Self {
        RecordDescription { operation, context, ..RecordDescription::default() }
    }

    /// With one image: what was written.
    #[must_use]
    pub fn with(mut self, image: &'a [u8]) -> Self {
        debug_assert_eq!(self.contents, [None; 3], "it is described once");
        self.contents[0] = Some(image);
        self.elements = Some(1);
        self
    }
}

/// Owner of a range of record kinds. Owned by `wal`, implemented by the crates that change pages,
/// wired in `database`.
pub trait RedoHandler: Send + Sync {
    /// The only code that changes page bytes for these kinds. Physiological: no other page, no
    /// allocation of space, no locks.
    ///
    /// # Errors
    /// When record and page do not fit; the page is then damaged and must not be used.
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError>;

    /// What a record says. Costs no allocation: fn_dblog asks for each record.
    fn describe<'a>(&self, record: &RecordView<'a>) -> RecordDescription<'a>;

    /// The same in words, where there is more to be said.
    fn explain(&self, _record: &RecordView<'_>) -> String {
        String::new()
    }
}

/// Which handler owns which kinds. The order of registration is on-disk format.
pub struct RedoTable {
    handlers: Vec<Option<&'static dyn RedoHandler>>,
}

impl Default for RedoTable {
    fn default() -> Self {
        RedoTable { handlers: vec![None; 256] }
    }
}

impl RedoTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives a range of kinds to a handler.
    #[must_use]
    pub fn with(
        mut self,
        kinds: std::ops::RangeInclusive<u8>,
        handler: &'static dyn RedoHandler,
    ) -> Self {
        assert!(!kinds.is_empty(), "a handler owns something");
        assert!(*kinds.start() > crate::kinds::UNDONE.0, "the log's own kinds have no page");
        for k in kinds {
            let place = &mut self.handlers[usize::from(k)];
            assert!(place.is_none(), "kind {k:#x} has one owner");
            *place = Some(handler);
        }
        self
    }

    /// Applies an operation.
    ///
    /// # Errors
    /// When no handler owns the kind, or record and page do not fit.
    #[inline]
    pub fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        debug_assert!(op.page.file.0 != 0, "file 0 has no pages");
        match self.handlers[usize::from(op.kind.0)] {
            Some(h) => h.apply(op, page),
            None => Err(ApplyError("no handler owns the record's kind")),
        }
    }

    /// The owner of a kind.
    pub fn handler(&self, kind: Kind) -> Option<&'static dyn RedoHandler> {
        self.handlers[usize::from(kind.0)]
    }
}
