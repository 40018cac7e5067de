//! `RedoHandler`: what the log needs from whoever writes records into it.
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

/// What a record means, for fn_dblog.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Described {
    /// LOP_...
    pub operation: &'static str,
    /// LCX_...
    pub context: &'static str,
    /// In words.
    pub text: String,
}

/// Owner of a range of record kinds. Owned by `wal`, implemented by whoever changes pages, wired
/// in `database`.
pub trait RedoHandler: Send + Sync {
    /// The only code that changes page bytes for these kinds. Physiological: no other page, no
    /// allocation of space, no locks.
    ///
    /// # Errors
    /// When record and page do not fit; the page is then damaged and must not be used.
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError>;

    /// What a record means.
    fn describe(&self, record: &RecordView<'_>) -> Described;
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
    /// When nobody owns the kind, or record and page do not fit.
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
