//! Online build of a base with another key. Its rows get other locators, so every index of the
//! table is built with it.
//!
//! ```text
//!   old base ──scan──▶ sort by the new key ──▶ new base ──▶ each nonclustered index
//!        │                     └──▶ sort by the old locator ──▶ map: old locator ─▶ new one
//!        └──notes: old locators──▶ remove the row, by the map; then put the row as it is now
//! ```
//! SQL Server calls the map a mapping index. Only the builder changes the new base, the map and the
//! new indexes. So it makes the nonclustered indexes from the new base, and they always match it.
//!
//! Invariants
//!  1. A row of the old base is in the new one exactly if the map has its locator; the map says
//!     where.
//!  2. Each nonclustered index has an entry for each row of the new base that its filter admits.
//!     There is one exception: if another row had the key in a unique index, the row is in
//!     `unsettled`, and the builder looks at it again under Sch-M.
//!  3. To remove a row and put it again is idempotent. So notes need no order.

use super::catch_up::{CatchUp, NoteTarget, Pass};
use super::target::{PutOutcome, READ, WRITE, row_origins};
use crate::build::rebuild::failed;
use crate::build::sort::{BUFFER_BYTES_MAX, BUFFER_BYTES_MIN, ROWS_PER_CHECK, RowOrder, Sorter};
use crate::build::{
    Build, BuildError, Origin, RowFilter, Twins, build, entry_origins, fill, refused, row_of,
};
use crate::context::{DdlContext, Place};
use access::{
    Field, Hobt, InsertOutcome, RowCursor, RowKey, ScanRange, SpillFile, WriteError, next_note,
    note_field,
};
use base::{SqlError, SqlResult, messages};
use catalog::view::{Index, IndexKind, KeyField, PhysicalColumn, Table};
use catalog::{Changes, HobtPlaces, HobtSpec};
use exec::BuildGrant;
use os::sync::Mutex;
use std::sync::Arc;
use work::Work;

/// A copy of the fields of a row or of its key. It needs no page.
type OwnedFields = Vec<Option<Vec<u8>>>;

/// A hobt that only the builder knows.
struct PrivateHobt {
    spec: HobtSpec,
    hobt: Arc<dyn Hobt>,
}

impl PrivateHobt {
    fn open(place: &Place, spec: HobtSpec) -> SqlResult<PrivateHobt> {
        let hobt = place.builder.open(&spec)?;
        if let Some(own) = hobt.capture() {
            own.set_private(true);
        }
        Ok(PrivateHobt { spec, hobt })
    }

    /// The row with a key.
    fn row(
        &self,
        work: &mut Work,
        key: &OwnedFields,
    ) -> SqlResult<Option<Box<dyn RowCursor + '_>>> {
        let key = borrowed(key);
        let mut cursor = self.hobt.scan(work, &ScanRange::equal(&key), &READ)?;
        Ok(cursor.next(work)?.then_some(cursor))
    }

    fn delete(&self, work: &mut Work, key: &OwnedFields) -> Result<(), WriteError> {
        self.hobt.delete(work, RowKey { fields: &borrowed(key), hint: None }, &WRITE)
    }
}

/// A nonclustered index of the table, made from the new base.
struct Entries<'a> {
    /// The index's position in the table.
    n: usize,
    index: &'a Index,
    own: PrivateHobt,
    origins: Vec<Origin>,
    /// The columns of an entry that contain the row's locator.
    locator: Vec<usize>,
    filter: Option<RowFilter<'a>>,
}

impl Entries<'_> {
    /// The entry of a row of the new base, unless the filter keeps it out.
    fn entry_of(&self, row: &dyn RowCursor) -> SqlResult<Option<OwnedFields>> {
        if let Some(filter) = &self.filter
            && !filter.admits(row)?
        {
            return Ok(None);
        }
        let entry = row_of(row, &self.origins, 0)?;
        Ok(Some(owned(&entry.fields())))
    }

    fn key_of(&self, entry: &OwnedFields) -> OwnedFields {
        self.own.spec.key.iter().map(|k| entry[k.field].clone()).collect()
    }

    /// Whether the entry with that key belongs to the same row; in a unique index it may be another
    /// row's. `None` if there is no such entry.
    fn has(&self, work: &mut Work, entry: &OwnedFields) -> SqlResult<Option<bool>> {
        let Some(there) = self.own.row(work, &self.key_of(entry))? else { return Ok(None) };
        for &column in &self.locator {
            if there.field(column)?.inline() != entry[column].as_deref() {
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// The new base, the map, and the nonclustered indexes that are built with them.
pub(crate) struct MovedTable<'a> {
    after: &'a Table,
    base: PrivateHobt,
    origins: Vec<Origin>,
    map: PrivateHobt,
    map_places: HobtPlaces,
    /// The columns of the old base's locator; empty if it is a heap.
    old_locator: Vec<usize>,
    entries: Vec<Entries<'a>>,
    /// Invariant 2: positions of indexes, and new locators of rows.
    unsettled: Mutex<UnsettledRows>,
}

/// Rows whose entry is missing in a unique index, because another row had its key.
struct UnsettledRows {
    file: Box<dyn SpillFile>,
    /// The error that kept such a row from being noted.
    failed: Option<SqlError>,
}

impl<'a> MovedTable<'a> {
    /// Opens the hobts of all indexes, which the caller has made, and makes the map.
    pub(crate) fn open(
        cx: &mut DdlContext<'_>,
        place: &Place,
        before: &Table,
        after: &'a Table,
    ) -> SqlResult<MovedTable<'a>> {
        let base = PrivateHobt::open(place, HobtSpec::of(after, after.base()))?;
        if let Some(own) = base.hobt.capture() {
            own.number_twins();
        }
        let old = HobtSpec::of(before, before.base());
        let spec = map_of(place, &old, &base.spec);
        let map_places = place.builder.create_hobt(cx.work, &spec)?;
        let mut entries = Vec::new();
        for (n, index) in after.indexes.iter().enumerate().skip(1).filter(|(_, i)| !i.disabled) {
            let origins = entry_origins(after, index);
            let locates = |o: &Origin| match o {
                Origin::Column(c) => base.spec.key.iter().any(|k| k.field == *c),
                Origin::Rid => true,
                _ => false,
            };
            entries.push(Entries {
                n,
                index,
                own: PrivateHobt::open(place, HobtSpec::of(after, index))?,
                locator: (0..origins.len()).filter(|&n| locates(&origins[n])).collect(),
                origins,
                filter: RowFilter::of(after, index),
            });
        }
        // The new base gives new uniquifiers.
        let columns = after.hobt_layout(after.base()).columns;
        let origins = row_origins(before, after).into_iter().zip(&columns);
        let origins = origins.map(|(origin, column)| match column {
            PhysicalColumn::Uniquifier => Origin::Constant(None),
            _ => origin,
        });
        Ok(MovedTable {
            after,
            origins: origins.collect(),
            map: PrivateHobt::open(place, spec)?,
            map_places,
            old_locator: old.key.iter().map(|k| k.field).collect(),
            entries,
            base,
            unsettled: Mutex::new(UnsettledRows { file: cx.spill.create()?, failed: None }),
        })
    }

    /// Fills the base, the map and the indexes with the rows as they are now.
    pub(crate) fn load(
        &self,
        cx: &mut DdlContext<'_>,
        source: &dyn Hobt,
        notes: &CatchUp<'_>,
    ) -> SqlResult<()> {
        self.load_base(cx, source, notes).map_err(|e| failed(self.after, self.after.base(), e))?;
        for of in &self.entries {
            let twice =
                |entry: &[Field<'_>]| self.leave_unsettled(of.n, &self.locator_in(of, entry));
            let entries = Build {
                source: &*self.base.hobt,
                target: &*of.own.hobt,
                spec: &of.own.spec,
                origins: &of.origins,
                sort: true,
                filter: of.filter.as_ref(),
                twice: Some(&twice),
            };
            build(cx, &entries).map_err(|e| failed(self.after, of.index, e))?;
        }
        Ok(())
    }

    /// Fills the new base and the map.
    fn load_base(
        &self,
        cx: &mut DdlContext<'_>,
        source: &dyn Hobt,
        notes: &CatchUp<'_>,
    ) -> Result<(), BuildError> {
        let waiter = Arc::clone(cx.work.owner().waiter());
        // One grant for both sorts: the map's rows are short.
        let grant = cx.semaphores.ask_for_build(cx.work, BUFFER_BYTES_MAX, 1)?;
        let share = |parts: usize| (grant.bytes() / 4 * parts).max(BUFFER_BYTES_MIN);
        let mut mapped = Sorter::new(RowOrder::of(&self.map.spec), cx.spill, &waiter);
        mapped.buffer_max = share(1);
        if self.base.spec.kind.is_heap() {
            self.put_in_heap(cx, source, &mut mapped)?;
        } else {
            let mut sorter = Sorter::new(RowOrder::of(&self.with_locators()), cx.spill, &waiter);
            sorter.buffer_max = share(3);
            self.load_in_order(cx, source, notes, (sorter, &mut mapped), &grant)?;
        }
        grant.note_used(mapped.held_bytes());
        let mut loader = self.map.hobt.load(cx.work, fill(&self.map.spec))?;
        let mut sorted = mapped.finish()?;
        let mut rows = 0_u64;
        while let Some((order, packed)) = sorted.next()? {
            rows += 1;
            if rows.is_multiple_of(ROWS_PER_CHECK) {
                waiter.check().map_err(SqlError::from)?;
            }
            let mut row = Vec::with_capacity(self.map.spec.columns.len());
            order.unpack(packed, &mut row);
            loader.push(cx.work, &row).map_err(|e| self.failed_base(e))?;
        }
        loader.finish(cx.work)?;
        Ok(())
    }

    /// The layout of the sort: the new base's columns, then those of the old locator.
    fn with_locators(&self) -> HobtSpec {
        let mut wide = self.base.spec.clone();
        wide.columns.extend(&self.map.spec.columns[..self.map.spec.declared_key]);
        wide
    }

    /// The origins of the columns of this layout.
    fn origins_with_locators(&self) -> Vec<Origin> {
        let mut origins = self.origins.clone();
        match self.old_locator.is_empty() {
            true => origins.push(Origin::Rid),
            false => origins.extend(self.old_locator.iter().map(|c| Origin::Column(*c))),
        }
        origins
    }

    fn load_in_order(
        &self,
        cx: &mut DdlContext<'_>,
        source: &dyn Hobt,
        notes: &CatchUp<'_>,
        (mut sorter, mapped): (Sorter<'_>, &mut Sorter<'_>),
        grant: &BuildGrant<'_>,
    ) -> Result<(), BuildError> {
        let spec = &self.base.spec;
        let waiter = Arc::clone(cx.work.owner().waiter());
        let origins = self.origins_with_locators();
        let mut cursor = source.scan(cx.work, &ScanRange::default(), &crate::build::READ)?;
        while cursor.next(cx.work)? {
            sorter.push(&row_of(&*cursor, &origins, 0)?.fields())?;
            grant.note_used(sorter.held_bytes());
        }
        drop(cursor);
        let mut sorted = sorter.finish()?;
        let mut twins = Twins::of(spec);
        let mut loader = self.base.hobt.load(cx.work, fill(spec))?;
        let mut rows = 0_u64;
        while let Some((order, packed)) = sorted.next()? {
            rows += 1;
            if rows.is_multiple_of(ROWS_PER_CHECK) {
                waiter.check().map_err(SqlError::from)?;
            }
            let mut row = Vec::with_capacity(origins.len());
            order.unpack(packed, &mut row);
            let locator = row.split_off(self.origins.len());
            let twin = twins.as_mut().and_then(|t| t.next(spec, &row));
            if let (Some(twin), Some(last)) = (&twin, spec.key.last()) {
                row[last.field] = Field::Inline(twin);
            }
            match loader.push(cx.work, &row) {
                Ok(()) => mapped.push(&self.mapped(&locator, &self.key_of(&row, None)))?,
                // The builder looks at this row again later: one of the two may be gone by then.
                Err(WriteError::Duplicate) => notes.note_locator(&locator),
                Err(e) => return Err(refused(spec, &row, e)),
            }
        }
        loader.finish(cx.work)?;
        Ok(())
    }

    /// Fills a new heap row by row, because only the insert returns a row's RID.
    fn put_in_heap(
        &self,
        cx: &mut DdlContext<'_>,
        source: &dyn Hobt,
        mapped: &mut Sorter<'_>,
    ) -> Result<(), BuildError> {
        let origins = self.origins_with_locators();
        let mut cursor = source.scan(cx.work, &ScanRange::default(), &crate::build::READ)?;
        while cursor.next(cx.work)? {
            let row = row_of(&*cursor, &origins, 0)?;
            let mut fields = row.fields();
            let locator = fields.split_off(self.origins.len());
            let put = self.base.hobt.insert(cx.work, &fields, &WRITE);
            let rid = put.map_err(|e| refused(&self.base.spec, &fields, e))?.rid;
            mapped.push(&self.mapped(&locator, &self.key_of(&fields, rid.as_ref())))?;
        }
        Ok(())
    }

    /// The new locator of a row: its RID, or its key in the new base.
    fn key_of<'f>(&self, row: &[Field<'f>], rid: Option<&'f [u8; 8]>) -> Vec<Field<'f>> {
        match rid {
            Some(rid) => vec![Field::Inline(rid)],
            None => self.base.spec.key.iter().map(|k| row[k.field]).collect(),
        }
    }

    /// A row of the map: the old locator, then the new one.
    fn mapped<'f>(&self, old: &[Field<'f>], new: &[Field<'f>]) -> Vec<Field<'f>> {
        let row: Vec<Field<'f>> = old.iter().chain(new).copied().collect();
        assert_eq!(row.len(), self.map.spec.columns.len(), "a locator and a locator");
        row
    }

    /// The new locator in an entry.
    fn locator_in(&self, of: &Entries<'_>, entry: &[Field<'_>]) -> OwnedFields {
        let at = |origin: Origin| {
            let at = of.origins.iter().position(|o| *o == origin);
            at.and_then(|at| entry[at].inline()).map(<[u8]>::to_vec)
        };
        match self.base.spec.kind.is_heap() {
            true => vec![at(Origin::Rid)],
            false => self.base.spec.key.iter().map(|k| at(Origin::Column(k.field))).collect(),
        }
    }

    fn leave_unsettled(&self, n: usize, key: &OwnedFields) {
        let mut note = Vec::new();
        note_field(Some(&(n as u32).to_le_bytes()), &mut note);
        key.iter().for_each(|field| note_field(field.as_deref(), &mut note));
        let mut unsettled = self.unsettled.lock();
        if unsettled.failed.is_none()
            && let Err(e) = unsettled.file.append(&note)
        {
            unsettled.failed = Some(e);
        }
    }

    /// Removes the row with an old locator, and its entries, if the map has it.
    fn remove(&self, work: &mut Work, locator: &OwnedFields) -> SqlResult<()> {
        let Some(mapped) = self.map.row(work, locator)? else { return Ok(()) };
        let first = self.map.spec.declared_key;
        let fields = (first..self.map.spec.columns.len()).map(|n| mapped.field(n));
        let key = owned(&fields.collect::<SqlResult<Vec<_>>>()?);
        drop(mapped);
        let lost = || SqlError::new(messages::INTERNAL, &[&"a row that was mapped is not there"]);
        let row = self.base.row(work, &key)?.ok_or_else(lost)?;
        let mut gone = Vec::new();
        for of in &self.entries {
            gone.push(of.entry_of(&*row)?);
        }
        drop(row);
        for (of, entry) in self.entries.iter().zip(gone) {
            if let Some(entry) = entry
                && of.has(work, &entry)? == Some(true)
            {
                of.own.delete(work, &of.key_of(&entry)).map_err(|e| self.failed(of.index, e))?;
            }
        }
        let deleted = self.base.delete(work, &key);
        deleted.and_then(|()| self.map.delete(work, locator)).map_err(|e| self.failed_base(e))
    }

    /// Puts a row as it is now into the new base, the map and the indexes.
    fn put(
        &self,
        work: &mut Work,
        locator: &OwnedFields,
        row: &dyn RowCursor,
    ) -> SqlResult<PutOutcome> {
        let made = row_of(row, &self.origins, 0)?;
        let mut fields = made.fields();
        let InsertOutcome { uniquifier, rid } = match self.base.hobt.insert(work, &fields, &WRITE) {
            Ok(inserted) => inserted,
            Err(WriteError::Duplicate) => return Ok(PutOutcome::Taken),
            Err(e) => {
                let e = refused(&self.base.spec, &fields, e);
                return Err(failed(self.after, self.after.base(), e));
            }
        };
        let uniquifier = uniquifier.map(u32::to_le_bytes);
        if let (Some(own), Some(last)) = (&uniquifier, self.base.spec.key.last()) {
            fields[last.field] = Field::Inline(own);
        }
        let key = self.key_of(&fields, rid.as_ref());
        let map = self.mapped(&borrowed(locator), &key);
        self.map.hobt.insert(work, &map, &WRITE).map_err(|e| self.failed_base(e))?;
        let key = owned(&key);
        let put = self.base.row(work, &key)?;
        let lost = || SqlError::new(messages::INTERNAL, &[&"a row that was put is not there"]);
        let put = put.ok_or_else(lost)?;
        for of in &self.entries {
            if let Some(entry) = of.entry_of(&*put)?
                && self.put_entry(work, of, &entry)? == PutOutcome::Taken
            {
                self.leave_unsettled(of.n, &key);
            }
        }
        Ok(PutOutcome::Done)
    }

    fn put_entry(
        &self,
        work: &mut Work,
        of: &Entries<'_>,
        entry: &OwnedFields,
    ) -> SqlResult<PutOutcome> {
        let fields = borrowed(entry);
        match of.own.hobt.insert(work, &fields, &WRITE) {
            Ok(_) => Ok(PutOutcome::Done),
            Err(WriteError::Duplicate) => Ok(PutOutcome::Taken),
            Err(e) => {
                let e = match e {
                    // The record of a nonclustered index counts as a key.
                    WriteError::RowTooLong { bytes } => WriteError::KeyTooLong { bytes },
                    e => e,
                };
                Err(failed(self.after, of.index, refused(&of.own.spec, &fields, e)))
            }
        }
    }

    /// Puts the missing entries of unsettled rows. This runs under Sch-M, after the last notes.
    ///
    /// # Errors
    /// 1505.
    pub(crate) fn settle(&self, work: &mut Work) -> SqlResult<()> {
        let UnsettledRows { file, failed } = &mut *self.unsettled.lock();
        if let Some(e) = failed.take() {
            return Err(e);
        }
        file.rewind()?;
        let mut chunk = Vec::new();
        while file.read(&mut chunk)? {
            let (mut rest, mut fields) = (&*chunk, Vec::new());
            let count = 1 + self.map.spec.columns.len() - self.map.spec.declared_key;
            while next_note(&mut rest, count, &mut fields).is_some() {
                let number = fields[0].inline().and_then(|n| n.try_into().ok());
                let n = number.map_or(0, u32::from_le_bytes) as usize;
                let of = self.entries.iter().find(|of| of.n == n);
                let of = of.expect("an entry is of an index that is built");
                self.settle_one(work, of, &owned(&fields[1..]))?;
            }
        }
        Ok(())
    }

    fn settle_one(&self, work: &mut Work, of: &Entries<'_>, key: &OwnedFields) -> SqlResult<()> {
        let Some(row) = self.base.row(work, key)? else { return Ok(()) };
        let Some(entry) = of.entry_of(&*row)? else { return Ok(()) };
        drop(row);
        if of.has(work, &entry)? == Some(true)
            || self.put_entry(work, of, &entry)? == PutOutcome::Done
        {
            return Ok(());
        }
        let twice = refused(&of.own.spec, &borrowed(&entry), WriteError::Duplicate);
        Err(failed(self.after, of.index, twice))
    }

    /// Ends the private state of all hobts and drops the map, whose pages are freed at the commit.
    /// Returns the position and the number of rows of each index.
    pub(crate) fn publish(
        self,
        cx: &mut DdlContext<'_>,
        place: &Place,
    ) -> SqlResult<Vec<(usize, u64)>> {
        let mut rows = Vec::with_capacity(self.entries.len() + 1);
        let entries = self.entries.iter().map(|of| (of.n, &of.own));
        for (n, own) in [(0, &self.base)].into_iter().chain(entries) {
            if let Some(capture) = own.hobt.capture() {
                capture.set_private(false);
            }
            rows.push((n, own.hobt.size().rows));
        }
        let hobt = self.map.spec.hobt;
        let changes = Changes::new(&*place.system);
        changes.put_places(cx.work, hobt, &self.map_places)?;
        let dropped = changes.drop_hobt(cx.work, hobt)?;
        place.builder.drop_hobt_after_commit(cx.work, &dropped)?;
        Ok(rows)
    }

    /// The error of a write to a private hobt, in which no key may appear twice.
    fn failed(&self, index: &Index, e: WriteError) -> SqlError {
        match e {
            WriteError::Duplicate => {
                let what = "a row was met twice while its table was built anew";
                SqlError::new(messages::INTERNAL, &[&what])
            }
            e => failed(self.after, index, refused(&self.base.spec, &[], e)),
        }
    }

    fn failed_base(&self, e: WriteError) -> SqlError {
        self.failed(self.after.base(), e)
    }
}

impl NoteTarget for MovedTable<'_> {
    fn put_right(
        &self,
        work: &mut Work,
        _note: &[Field<'_>],
        locator: &[Field<'_>],
        row: Option<&dyn RowCursor>,
        pass: Pass,
    ) -> SqlResult<bool> {
        let locator = owned(locator);
        if pass != Pass::Puts {
            self.remove(work, &locator)?;
        } else if self.map.row(work, &locator)?.is_some() {
            // An earlier note of the same row has already put it.
            return Ok(true);
        }
        let Some(row) = row.filter(|_| pass != Pass::Removals) else { return Ok(true) };
        match (self.put(work, &locator, row)?, pass) {
            (PutOutcome::Done, _) => Ok(true),
            (PutOutcome::Taken, Pass::Puts) => {
                let made = row_of(row, &self.origins, 0)?;
                let twice = refused(&self.base.spec, &made.fields(), WriteError::Duplicate);
                Err(failed(self.after, self.after.base(), twice))
            }
            (PutOutcome::Taken, _) => Ok(false),
        }
    }
}

/// The definition of the map from the old base's locators to the new ones.
fn map_of(place: &Place, old: &HobtSpec, new: &HobtSpec) -> HobtSpec {
    let rid = catalog::HobtColumn {
        sql_type: types::SqlType::Binary(8),
        nullable: false,
        collation: types::Collation::default(),
    };
    let mut columns: Vec<_> = old.key.iter().map(|k| old.columns[k.field]).collect();
    if columns.is_empty() {
        columns.push(rid);
    }
    let declared_key = columns.len();
    match new.kind.is_heap() {
        true => columns.push(rid),
        false => columns.extend(new.key.iter().map(|k| new.columns[k.field])),
    }
    HobtSpec {
        hobt: place.ids.hobt(),
        kind: IndexKind::Clustered,
        columns,
        added: Vec::new(),
        key: (0..declared_key).map(|field| KeyField { field, descending: false }).collect(),
        declared_key,
        unique: true,
        fill_factor: 0,
        padded: false,
        database: new.database,
        object_id: new.object_id,
        index_id: base::IndexId(1),
    }
}

fn owned(fields: &[Field<'_>]) -> OwnedFields {
    fields.iter().map(|f| f.inline().map(<[u8]>::to_vec)).collect()
}

fn borrowed(fields: &OwnedFields) -> Vec<Field<'_>> {
    fields.iter().map(|f| f.as_deref().map_or(Field::Null, Field::Inline)).collect()
}
