//! `current`: decides which row of a record is the current one. Nothing else decides that.
//!
//! ```text
//!   the record's writer           the current row
//!   committed, or active          the record: a row, or none if it is a ghost
//!   aborted, and undone           the record that undo has restored; it has another writer
//!   aborted, in the aborted map   the version before: in a store, in the ghost's bytes, or none
//! ```
//!
//! A row by an active transaction is current, too. A reader that may not see it yet learns that
//! from locks (`locking/row.rs`, `locking/writer.rs`) or from its moment (`versions/mod.rs`).
//!
//! Mostly the aborted map is empty. Then the question costs one load and one compare, and the
//! record's status byte answers it. The same holds for records without tags: in a database
//! without versions no aborted transaction leaves records behind.
//!
//! A reader of such a row gets the version before it (`RowHobt::former_row`). A writer puts that
//! version in the place of the record first, and then finds a record whose writer is another
//! (`revert/mod.rs`). So does a sweep, and whoever cleans a page.
//!
//! Whether a record *is a ghost* is another question, about its bytes: `page::is_ghost_record`.
//! Redo, undo, settling, the cleaner, space and counts of records ask that one.

use crate::heap::bare_ghosts::BareGhosts;
use base::PageId;
use page::{Previous, RecordKind, VersionTag};
use work::Home;

/// The current row of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum CurrentRow<'a> {
    /// The record, which is a row.
    Row(&'a [u8]),
    /// No row: it was deleted, perhaps not yet committed, or inserted by an aborted transaction.
    Ghost,
    /// The version before the record, whose writer was aborted.
    Former(Previous),
}

/// The current row of a record at a place. Its page is latched. Its tag may be one of those that
/// had no room on their pages (`bare`).
#[inline]
pub(crate) fn current<'r>(
    home: &Home,
    bare: &BareGhosts,
    record: &'r [u8],
    place: (PageId, u16),
) -> CurrentRow<'r> {
    match home.aborted().is_empty() {
        true => by_status(record),
        false => judged(home, bare, record, place),
    }
}

#[cold]
fn judged<'r>(
    home: &Home,
    bare: &BareGhosts,
    record: &'r [u8],
    place: (PageId, u16),
) -> CurrentRow<'r> {
    if home.aborted().is_passed_over() {
        return by_status(record);
    }
    match before_aborted(home, bare.tag_of(record, place)) {
        None => by_status(record),
        Some(Previous::None) => CurrentRow::Ghost,
        Some(before) => CurrentRow::Former(before),
    }
}

/// The version before a record with a tag, if its writer was aborted.
pub(crate) fn before_aborted(home: &Home, tag: Option<VersionTag>) -> Option<Previous> {
    tag.filter(|tag| home.aborted().contains(tag.writer)).map(VersionTag::before)
}

/// The answer of the status byte alone.
#[inline]
fn by_status(record: &[u8]) -> CurrentRow<'_> {
    if RecordKind::of(record[0]).is_ghost() { CurrentRow::Ghost } else { CurrentRow::Row(record) }
}
