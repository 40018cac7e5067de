//! `current`: the current row of a record, the only way to it.
//!
//! The newest state of a row is the record that stands on its page, whoever wrote it. It is a row
//! or a ghost; the kind of the record says which. This file does not ask whether its writer has
//! committed: a reader learns that from locks and tags. Older states of the row are found by
//! `versions.rs`.

use page::RecordKind;

/// What a record says now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Current<'a> {
    /// A row.
    Row(&'a [u8]),
    /// Deleted, perhaps not yet committed.
    Ghost,
}

/// The current row of a record.
#[inline]
pub(crate) fn current(record: &[u8]) -> Current<'_> {
    if RecordKind::of(record[0]).is_ghost() { Current::Ghost } else { Current::Row(record) }
}
