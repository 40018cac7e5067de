//! An index that is built online: where its entries come from, and how one is put right.
//!
//! Invariants
//!  1. It is private until it is published: nobody else knows of it, so its rows are not locked.
//!  2. Putting an entry right is idempotent, and says of itself when it could not be done.

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

/// Of its own entries it reads whatever is there.
pub(super) const READ: LockPlan = LockPlan::read(Isolation::ReadUncommitted);
pub(super) const WRITE: LockPlan = LockPlan::change(Isolation::ReadCommitted);

/// An index on its way.
pub(crate) struct Target<'a> {
    after: &'a Table,
    index: &'a Index,
    spec: HobtSpec,
    hobt: Arc<dyn Hobt>,
    /// Its physical columns, from the base's.
    pub(crate) origins: Vec<Origin>,
    filter: Option<RowFilter<'a>>,
    /// The base is in its order.
    in_order: bool,
    orders: Vec<StorageOrder>,
    /// By key column: which field of a note it is.
    pub(crate) key: Vec<usize>,
    /// Of a unique index: fields of a note and columns of an entry that say which row it is of.
    pub(crate) locator: Vec<(usize, usize)>,
}

/// What became of an entry that was to be put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PutOutcome {
    Done,
    /// Another row has the key.
    Taken,
}

impl<'a> Target<'a> {
    /// An index of the table after, whose hobt was made.
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

    /// Where its key columns come from.
    pub(crate) fn key_origins(&self) -> impl Iterator<Item = &Origin> {
        self.spec.key.iter().map(|k| &self.origins[k.field])
    }

    /// Whether its key alone does not say which row an entry is of.
    pub(crate) fn needs_locator(&self) -> bool {
        self.index.kind.holds_entries() && self.index.unique
    }

    /// Fills it with rows as they are now; `twice` is told of those whose key it has already.
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

    /// Others may get to know of it: how many rows it has.
    pub(crate) fn publish(&self) -> u64 {
        if let Some(own) = self.hobt.capture() {
            own.set_private(false);
        }
        self.hobt.size().rows
    }

    fn failed(&self, e: BuildError) -> base::SqlError {
        failed(self.after, self.index, e)
    }

    /// Whether a row belongs into it under the key of a note.
    pub(crate) fn has(&self, row: &dyn RowCursor, note: &[Field<'_>]) -> SqlResult<bool> {
        if let Some(filter) = &self.filter
            && !filter.admits(row)?
        {
            return Ok(false);
        }
        for ((origin, &at), order) in self.key_origins().zip(&self.key).zip(&self.orders) {
            // The row was found by its address.
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

    /// Takes the entry away that a row has under the key of a note, if it has one.
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

    /// Makes the entry of a row what it is to be; the row has the key of the note.
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

    /// The error of two rows with one key.
    pub(crate) fn duplicate(&self, row: &dyn RowCursor) -> SqlResult<base::SqlError> {
        let row = row_of(row, &self.origins, 0)?;
        Ok(self.failed(refused(&self.spec, &row.fields(), WriteError::Duplicate)))
    }

    /// Whether the entry of a key, if there is one, is of the row that a note is of.
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

/// The origins of a clustered index's columns from one with the same key: uniquifiers stay.
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
