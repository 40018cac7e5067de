//! An index that is built online: the origins of its entries, and the correction of one entry.
//!
//! Invariants
//!  1. The index is private until it is published: only the builder knows it, so the builder does
//!     not lock its rows.
//!  2. The correction of an entry is idempotent. It reports if another row's entry has the key.

use crate::build::rebuild::failed;
use crate::build::{
    Build, BuildError, DuplicateSink, Origin, RowFilter, build, entry_origins, refused, row_of,
    same_order,
};
use crate::context::{DdlContext, Place};
use access::{Field, Hobt, Isolation, LockPlan, RowCursor, RowKey, ScanRange, WriteError};
use base::SqlResult;
use catalog::HobtSpec;
use catalog::view::{Index, PhysicalColumn, Table};
use std::sync::Arc;
use types::{StorageOrder, compare_storage};
use work::Work;

/// Reads entries of the private index without row locks.
pub(super) const READ: LockPlan = LockPlan::read(Isolation::ReadUncommitted);
pub(super) const WRITE: LockPlan = LockPlan::change(Isolation::ReadCommitted);

/// An index that is being built.
pub(crate) struct Target<'a> {
    after: &'a Table,
    index: &'a Index,
    spec: HobtSpec,
    hobt: Arc<dyn Hobt>,
    /// The origins of its physical columns in the base's rows.
    pub(crate) origins: Vec<Origin>,
    filter: Option<RowFilter<'a>>,
    /// The rows of the base come in the order of this index.
    in_order: bool,
    orders: Vec<StorageOrder>,
    /// For each key column: its field in a note.
    pub(crate) key: Vec<usize>,
    /// For a unique index: the field of a note and the column of an entry with each part of the
    /// row's locator.
    pub(crate) locator: Vec<(usize, usize)>,
}

/// Whether an entry could be put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PutOutcome {
    Done,
    /// Another row's entry has the key.
    Taken,
}

impl<'a> Target<'a> {
    /// Opens the hobt of an index of the table after, and makes it private.
    pub(crate) fn open(
        place: &Place,
        before: &Table,
        (after, n): (&'a Table, usize),
    ) -> SqlResult<Target<'a>> {
        let index = &after.indexes[n];
        let spec = HobtSpec::of(after, index);
        let hobt = place.builder.open(&spec)?;
        if let Some(own) = hobt.capture() {
            own.set_private(true);
        }
        let origins = match index.kind.holds_entries() {
            true => entry_origins(before, index),
            false => row_origins(before, after),
        };
        let order = |k: &catalog::view::KeyField| {
            let column = spec.columns[k.field];
            compare_storage(column.sql_type, column.collation)
        };
        Ok(Target {
            orders: spec.key.iter().map(order).collect(),
            filter: RowFilter::of(before, index),
            in_order: index.kind.is_clustered() && same_order(before, after),
            key: Vec::new(),
            locator: Vec::new(),
            after,
            index,
            hobt,
            origins,
            spec,
        })
    }

    /// The origins of its key columns.
    pub(crate) fn key_origins(&self) -> impl Iterator<Item = &Origin> {
        self.spec.key.iter().map(|k| &self.origins[k.field])
    }

    /// Whether the key of an entry does not identify its row: in a unique nonclustered index
    /// another row may have had the same key.
    pub(crate) fn needs_locator(&self) -> bool {
        self.index.kind.holds_entries() && self.index.unique
    }

    /// Fills the index with the rows as they are now. `twice` gets the rows whose key it already
    /// has.
    pub(crate) fn load(
        &self,
        cx: &mut DdlContext<'_>,
        source: &dyn Hobt,
        twice: DuplicateSink<'_>,
    ) -> SqlResult<()> {
        let filter = self.filter.as_ref();
        let build_of = Build {
            source,
            target: &*self.hobt,
            spec: &self.spec,
            origins: &self.origins,
            sort: !self.in_order,
            filter,
            twice: Some(twice),
        };
        let loaded = build(cx, &build_of);
        loaded.map(drop).map_err(|e| self.failed(e))
    }

    /// Ends the private state of the index. Returns its number of rows.
    pub(crate) fn publish(&self) -> u64 {
        if let Some(own) = self.hobt.capture() {
            own.set_private(false);
        }
        self.hobt.size().rows
    }

    fn failed(&self, e: BuildError) -> base::SqlError {
        failed(self.after, self.index, e)
    }

    /// Whether the index should have an entry of a row under the key of a note.
    pub(crate) fn has(&self, row: &dyn RowCursor, note: &[Field<'_>]) -> SqlResult<bool> {
        if let Some(filter) = &self.filter
            && !filter.admits(row)?
        {
            return Ok(false);
        }
        for ((origin, &at), order) in self.key_origins().zip(&self.key).zip(&self.orders) {
            // The RID is the same, because the row was found by it.
            let Origin::Column(column) = origin else { continue };
            let same = match (row.field(*column)?.inline(), note[at].inline()) {
                (None, None) => true,
                (Some(now), Some(noted)) => order.of(now, noted).is_eq(),
                (None, Some(_)) | (Some(_), None) => false,
            };
            if !same {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn key_of<'n>(&self, note: &[Field<'n>]) -> Vec<Field<'n>> {
        self.key.iter().map(|&at| note[at]).collect()
    }

    /// Removes the entry that the row of a note has under the note's key, if it has one.
    pub(crate) fn remove(&self, work: &mut Work, note: &[Field<'_>]) -> SqlResult<()> {
        let key = self.key_of(note);
        if self.needs_locator() && self.owner(work, &key, note)? != Some(true) {
            return Ok(());
        }
        match self.hobt.delete(work, RowKey { fields: &key, hint: None }, &WRITE) {
            Ok(()) | Err(WriteError::Vanished) => Ok(()),
            Err(e) => Err(self.failed(refused(&self.spec, &[], e))),
        }
    }

    /// Inserts or updates the entry of a row that has the key of the note.
    pub(crate) fn put(
        &self,
        work: &mut Work,
        row: &dyn RowCursor,
        note: &[Field<'_>],
    ) -> SqlResult<PutOutcome> {
        let key = self.key_of(note);
        if self.needs_locator() && self.owner(work, &key, note)? == Some(false) {
            return Ok(PutOutcome::Taken);
        }
        let row = row_of(row, &self.origins, 0)?;
        let fields = row.fields();
        let written =
            match self.hobt.update(work, RowKey { fields: &key, hint: None }, &fields, &WRITE) {
                Err(WriteError::Vanished) => self.hobt.insert(work, &fields, &WRITE),
                done => done,
            };
        match written {
            Ok(_) => Ok(PutOutcome::Done),
            Err(e) => Err(self.failed(refused(&self.spec, &fields, e))),
        }
    }

    /// The error for two rows with the same key.
    pub(crate) fn duplicate(&self, row: &dyn RowCursor) -> SqlResult<base::SqlError> {
        let row = row_of(row, &self.origins, 0)?;
        Ok(self.failed(refused(&self.spec, &row.fields(), WriteError::Duplicate)))
    }

    /// Whether the entry with a key belongs to the row of a note; `None` if there is no such entry.
    fn owner(
        &self,
        work: &mut Work,
        key: &[Field<'_>],
        note: &[Field<'_>],
    ) -> SqlResult<Option<bool>> {
        let mut entry = self.hobt.scan(work, &ScanRange::equal(key), &READ)?;
        if !entry.next(work)? {
            return Ok(None);
        }
        for &(at, column) in &self.locator {
            let spec = self.spec.columns[column];
            let same = match (entry.field(column)?.inline(), note[at].inline()) {
                (None, None) => true,
                (Some(has), Some(noted)) => {
                    compare_storage(spec.sql_type, spec.collation).of(has, noted).is_eq()
                }
                (None, Some(_)) | (Some(_), None) => false,
            };
            if !same {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// The origins of the new base's columns in the old base. Uniquifiers are kept.
pub(super) fn row_origins(before: &Table, after: &Table) -> Vec<Origin> {
    let source = before.hobt_layout(before.base());
    let origin = |column: &PhysicalColumn| {
        let at = match *column {
            PhysicalColumn::Column(n) => {
                let id = after.columns[n].column_id;
                let old = before.columns.iter().position(|c| c.column_id == id);
                old.and_then(|n| source.position(PhysicalColumn::Column(n)))
            }
            PhysicalColumn::Uniquifier => source.position(PhysicalColumn::Uniquifier),
            PhysicalColumn::Dropped(_) | PhysicalColumn::Rid => None,
        };
        at.map_or(Origin::Constant(None), Origin::Column)
    };
    after.hobt_layout(after.base()).columns.iter().map(origin).collect()
}
