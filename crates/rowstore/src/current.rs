//! `current`: the current row of a record, the only way to it.
//!
//! Without row versions the current row is the record itself, unless it is a ghost. When
//! versions come, aborted ones are skipped here and nowhere else.

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
