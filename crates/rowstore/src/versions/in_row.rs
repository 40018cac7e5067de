//! The in-row version: a former row stays in the record of the row after it, where transactions are
//! undone by their versions.
//!
//! Nothing is stored for it, and it is logged with the change itself. Its bytes are in the page's
//! format (`page/src/in_row.rs`); here is who leaves one, and who reads it.
//!
//! ```text
//!   a row is changed     by whom             what becomes of the row before
//!   for the first time   anybody             it stays in the row, where there is room
//!   again                the same            it goes to the store; the row has the tag alone
//!   again                another, later      it is dropped, or goes to the store with the row's
//!                                            image, if a snapshot needs it; then as the first time
//!   it is deleted        likewise            the ghost's own bytes are the row before
//! ```
//!
//! Invariants
//!  1. Nothing is behind an in-row version: it is left only where nothing behind the row's former
//!     record is needed, and who made that record is in the tag.
//!  2. It is left only where its page has room for it: it splits no page and forwards no row.
//!  3. The log of a change in a heap has the same bytes; that of one in an index says that they
//!     are made, and the change of the page makes them (`btree/src/kinds.rs`). An undo from the
//!     log restores the row before. If that had an in-row version itself, which nobody needed any
//!     more, it may come back without it.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use base::PageId;
use base::limits::VERSION_TAG_BYTES;
use btree::RECORD_MAX;
use page::{InRowVersion, VersionTag};

/// A record that another is about to replace.
#[derive(Clone, Copy)]
pub(crate) struct ReplacedRecord<'r> {
    pub(crate) record: &'r [u8],
    /// The page on which it stands.
    pub(crate) page: PageId,
    /// Bytes that are free on the page when the record that replaces it is there.
    pub(crate) room: usize,
}

impl<'r> ReplacedRecord<'r> {
    /// A record whose former state does not stay in the row.
    pub(crate) fn of(record: &'r [u8], page: PageId) -> ReplacedRecord<'r> {
        ReplacedRecord { record, page, room: 0 }
    }
}

impl RowHobt {
    /// How many bytes the row before a live record takes in the record that replaces it. `None`
    /// where it may not stay there, or there is no room (invariant 2). Nothing behind it is needed.
    pub(super) fn in_row_of(&self, old: ReplacedRecord<'_>, new: &[u8]) -> Option<usize> {
        // A ghost of a heap may have its tag over its row's last bytes: the row goes to the store.
        let is_ghost = page::is_ghost_record(new);
        if !self.home.is_accelerated() || self.spec.pieces || is_ghost || old.room == 0 {
            return None;
        }
        debug_assert!(VersionTag::is_on(new), "a record that gets a version has a tag");
        debug_assert!(new.len() > VERSION_TAG_BYTES, "and columns");
        let room = old.room.min(RECORD_MAX.saturating_sub(new.len()));
        InRowVersion::length_of(old.record, new, room)
    }

    /// Builds the row that a record keeps, for somebody who reads it.
    ///
    /// # Errors
    /// 824: its bytes make no sense.
    pub(super) fn read_in_row(
        &self,
        record: &[u8],
        page: PageId,
        out: &mut Vec<u8>,
    ) -> RowResult<()> {
        self.home.in_row().note_read();
        self.in_row_former(record, page, out)
    }

    /// Builds the row that a record keeps.
    ///
    /// # Errors
    /// 824: its bytes make no sense.
    pub(crate) fn in_row_former(
        &self,
        record: &[u8],
        page: PageId,
        out: &mut Vec<u8>,
    ) -> RowResult<()> {
        let what = "the in-row version of a record cannot be read";
        let built = page::in_row_former(record, out);
        built.ok_or_else(|| self.home.pages.corrupt(page, what).into())
    }
}

/// The length of a record's in-row version; 0 where it has none.
pub(crate) fn in_row_bytes(record: &[u8]) -> usize {
    page::in_row_version(record).map_or(0, <[u8]>::len)
}
