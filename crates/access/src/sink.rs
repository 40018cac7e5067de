//! Writing: rows of one hobt inserted, updated, deleted.

use crate::entry_group::{Entry, EntryGroup};
use crate::{LockPlan, PageHint};
use base::SqlError;
use page::Field;
use std::any::Any;
use work::Work;

/// Which row: the full unique key of its hobt, or in a heap the 8 bytes of its RID.
#[derive(Clone, Copy, Debug)]
pub struct RowKey<'a> {
    /// Stored bytes of every key column (uniquifier or locator included), or of the RID.
    pub fields: &'a [Field<'a>],
    /// Where it was seen last.
    pub hint: Option<PageHint>,
}

/// What an insert decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct InsertOutcome {
    /// In a heap: where the row is.
    pub rid: Option<[u8; 8]>,
    /// In a clustered index that is not unique: the uniquifier, when the key was there already.
    pub uniquifier: Option<u32>,
}

/// Why a row was not written.
#[derive(Debug)]
pub enum WriteError {
    /// The key is there already: the caller names index and value (2601, 2627).
    Duplicate,
    /// The row is longer than a page allows (511).
    RowTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The index entry is longer than its index allows (1946).
    KeyTooLong {
        /// Its length.
        bytes: usize,
    },
    /// The row is gone or changed since it was found; the caller skips it.
    Vanished,
    /// Somebody has changed the row since the moment as of which its changer reads (3960).
    Conflict,
    /// Locks, space, log, damaged pages.
    Sql(SqlError),
}

impl From<SqlError> for WriteError {
    fn from(e: SqlError) -> Self {
        WriteError::Sql(e)
    }
}

/// Rows that can be written: a heap or an index.
pub trait TableSink: Send + Sync {
    /// Inserts a row of all physical columns.
    ///
    /// # Errors
    /// See [`WriteError`].
    fn insert(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError>;

    /// Replaces a row. In a heap, or when no key column changes, in place; else the old row
    /// becomes a ghost and the new one is inserted, in one log group.
    ///
    /// # Errors
    /// See [`WriteError`].
    fn update(
        &self,
        work: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError>;

    /// Deletes a row.
    ///
    /// # Errors
    /// See [`WriteError`].
    fn delete(&self, work: &mut Work, key: RowKey<'_>, locks: &LockPlan) -> Result<(), WriteError>;

    /// Whether entries may be put here together with others, as far as is known without a look at
    /// the rows.
    fn goes_together(&self, _locks: &LockPlan) -> bool {
        false
    }

    /// Spells a new row's entry and finds its place, to be put together with the row's others.
    /// `false`, and nothing is done, where it has to be inserted by itself.
    ///
    /// # Errors
    /// See [`WriteError`].
    fn prepare(
        &self,
        _work: &mut Work,
        _row: &[Field<'_>],
        _locks: &LockPlan,
        _entry: &mut Entry,
    ) -> Result<bool, WriteError> {
        Ok(false)
    }

    /// Puts the entries that the hobts of a table have prepared, in one log group; `hobt` gives
    /// them by their numbers. `false` where somebody is in the way, or a leaf has no room: keys
    /// that nobody has may be locked then, and nothing is put.
    ///
    /// # Errors
    /// See [`WriteError`].
    fn put_together<'h>(
        &'h self,
        _work: &mut Work,
        _hobt: &dyn Fn(usize) -> &'h dyn TableSink,
        _entries: &EntryGroup,
        _locks: &LockPlan,
    ) -> Result<bool, WriteError> {
        Ok(false)
    }

    /// Itself, to its own kind alone: to what entries of several hobts are put together by.
    fn as_any(&self) -> Option<&dyn Any> {
        None
    }
}
