//! A database in memory: hobts as sorted vectors behind the traits of `access` and `catalog`.
//! Nothing is undone here; what these fakes are for is what was asked of them.
#![allow(dead_code, reason = "each test uses a part of it")]

use access::{
    BulkLoad, Field, Hobt, InsertOutcome, Loader, LockPlan, PageHint, RowCursor, RowKey, ScanRange,
    SourceSize, TableSink, TableSource, WriteError,
};
use base::{AllocUnitId, DatabaseId, HobtId, PageId, SessionId, SqlResult};
use catalog::view::IndexKind;
use catalog::{
    Builder, DroppedUnit, HobtPlaces, HobtSpec, SYSTEM_TABLES, SystemHobts, SystemTableId,
    UnitKind, UnitPlaces,
};
use os::sync::Mutex;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use types::compare_storage;
use work::{Engine, Work};

type Row = Vec<Option<Vec<u8>>>;

/// A unit of work with a transaction open.
pub(crate) fn work() -> Work {
    let engine = Arc::new(Engine::new(lock::Table::new(&lock::Options::default())));
    another_work(&engine, 51)
}

/// Another session of the same engine, with a transaction open.
pub(crate) fn another_work(engine: &Arc<Engine>, session: i16) -> Work {
    let mut work = Work::new(engine, SessionId(session), Arc::new(os::wait::Waiter::new()));
    work.begin(false, "");
    work
}

/// A heap or tree.
pub(crate) struct FakeHobt {
    pub(crate) spec: HobtSpec,
    rows: Mutex<Vec<(u64, Row)>>,
    next_rid: Mutex<u64>,
}

fn owned(row: &[Field<'_>]) -> Row {
    row.iter().map(|f| f.inline().map(<[u8]>::to_vec)).collect()
}

impl FakeHobt {
    pub(crate) fn new(spec: &HobtSpec) -> Arc<FakeHobt> {
        let rows = Mutex::new(Vec::new());
        Arc::new(FakeHobt { spec: spec.clone(), rows, next_rid: Mutex::new(1) })
    }

    /// The same rows with what they are in columns that were added.
    fn widened(&self, spec: &HobtSpec) -> Arc<FakeHobt> {
        let mut rows = self.rows.lock().clone();
        for (_, row) in &mut rows {
            let late = row.len() + spec.added.len() - spec.columns.len();
            row.extend(spec.added[late..].iter().map(|d| d.as_deref().map(<[u8]>::to_vec)));
        }
        let next_rid = Mutex::new(*self.next_rid.lock());
        Arc::new(FakeHobt { spec: spec.clone(), rows: Mutex::new(rows), next_rid })
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        self.rows.lock().iter().map(|(_, row)| row.clone()).collect()
    }

    /// Compares a key's first fields with a row's.
    fn order(&self, key: &[Option<&[u8]>], row: &Row) -> Ordering {
        for (part, &wanted) in self.spec.key.iter().zip(key) {
            let column = self.spec.columns[part.field];
            let order = match (wanted, row[part.field].as_deref()) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(a), Some(b)) => compare_storage(column.sql_type, column.collation).of(a, b),
            };
            let order = if part.descending { order.reverse() } else { order };
            if order != Ordering::Equal {
                return order;
            }
        }
        Ordering::Equal
    }

    fn key_of<'a>(&self, row: &'a Row) -> Vec<Option<&'a [u8]>> {
        self.spec.key.iter().map(|k| row[k.field].as_deref()).collect()
    }

    fn put(&self, mut row: Row) -> Result<InsertOutcome, WriteError> {
        assert_eq!(row.len(), self.spec.columns.len(), "a row has every physical column");
        for (field, column) in row.iter().zip(&self.spec.columns) {
            assert!(field.is_some() || column.nullable, "NULL only where it may be");
            if let (Some(bytes), Some(width)) = (field, types::fixed_width(column.sql_type)) {
                assert_eq!(bytes.len(), usize::from(width), "fixed columns have their width");
            }
        }
        let mut rows = self.rows.lock();
        if self.spec.kind == IndexKind::Heap {
            let mut next = self.next_rid.lock();
            let rid = *next;
            *next += 1;
            rows.push((rid, row));
            return Ok(InsertOutcome { rid: Some(rid.to_le_bytes()), uniquifier: None });
        }
        let mut uniquifier = None;
        if !self.spec.unique && self.spec.kind == IndexKind::Clustered {
            let declared = self.key_of(&row)[..self.spec.declared_key].to_vec();
            let same = rows.iter().filter(|r| self.order(&declared, &r.1).is_eq()).count();
            if same > 0 {
                uniquifier = Some(same as u32);
                let at = self.spec.key.last().expect("a tree has a key").field;
                row[at] = Some((same as u32).to_le_bytes().to_vec());
            }
        }
        let at = rows.binary_search_by(|r| self.order(&self.key_of(&row), &r.1).reverse());
        match at {
            Ok(_) => Err(WriteError::Duplicate),
            Err(at) => {
                rows.insert(at, (0, row));
                Ok(InsertOutcome { rid: None, uniquifier })
            }
        }
    }

    fn find(&self, key: RowKey<'_>) -> Result<usize, WriteError> {
        let rows = self.rows.lock();
        let found = if self.spec.kind == IndexKind::Heap {
            let rid = key.fields[0].inline().and_then(|b| b.try_into().ok());
            let rid = rid.map(u64::from_le_bytes);
            rows.iter().position(|r| Some(r.0) == rid)
        } else {
            let wanted: Vec<_> = key.fields.iter().map(|f| f.inline()).collect();
            assert_eq!(wanted.len(), self.spec.key.len(), "the full key names a row");
            rows.iter().position(|r| self.order(&wanted, &r.1).is_eq())
        };
        found.ok_or(WriteError::Vanished)
    }
}

impl TableSource for FakeHobt {
    fn scan(
        &self,
        _: &mut Work,
        range: &ScanRange<'_>,
        _: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        let bound = |b: access::KeyBound<'_>| -> Vec<Option<Vec<u8>>> { owned(b.fields) };
        let (lower, upper) = (range.lower.map(bound), range.upper.map(bound));
        let within = |row: &Row| {
            let order = |b: &Row| {
                let key: Vec<_> = b.iter().map(|f| f.as_deref()).collect();
                self.order(&key, row)
            };
            lower.as_ref().is_none_or(|b| order(b).is_le())
                && upper.as_ref().is_none_or(|b| order(b).is_ge())
        };
        let rows = self.rows.lock().iter().filter(|r| within(&r.1)).cloned().collect();
        Ok(Box::new(FakeCursor { rows, at: None }))
    }

    fn size(&self) -> SourceSize {
        SourceSize { rows: self.rows.lock().len() as u64, pages: 1 }
    }
}

struct FakeCursor {
    rows: Vec<(u64, Row)>,
    at: Option<usize>,
}

impl RowCursor for FakeCursor {
    fn next(&mut self, _: &mut Work) -> SqlResult<bool> {
        let next = self.at.map_or(0, |n| n + 1);
        self.at = Some(next);
        Ok(next < self.rows.len())
    }

    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        let row = &self.rows[self.at.expect("the cursor stands on a row")].1;
        Ok(row[column].as_deref().map_or(Field::Null, Field::Inline))
    }

    fn hint(&self) -> Option<PageHint> {
        None
    }

    fn rid(&self) -> Option<[u8; 8]> {
        let rid = self.rows[self.at.expect("the cursor stands on a row")].0;
        (rid != 0).then(|| rid.to_le_bytes())
    }

    fn release_row(&mut self, _: &mut Work) {}

    fn rewind(&mut self, _: &mut Work, _: &ScanRange<'_>) -> SqlResult<()> {
        self.at = None;
        Ok(())
    }
}

impl TableSink for FakeHobt {
    fn insert(
        &self,
        _: &mut Work,
        row: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        self.put(owned(row))
    }

    fn update(
        &self,
        _: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let at = self.find(key)?;
        let (rid, _) = self.rows.lock().remove(at);
        if rid != 0 {
            self.rows.lock().insert(at, (rid, owned(row)));
            return Ok(InsertOutcome::default());
        }
        self.put(owned(row))
    }

    fn delete(&self, _: &mut Work, key: RowKey<'_>, _: &LockPlan) -> Result<(), WriteError> {
        let at = self.find(key)?;
        self.rows.lock().remove(at);
        Ok(())
    }
}

impl BulkLoad for FakeHobt {
    fn load(&self, _: &mut Work, fill: access::Fill) -> SqlResult<Box<dyn Loader + '_>> {
        assert!((1..=100).contains(&fill.leaf), "a fill factor of {fill:?}");
        assert!(self.rows.lock().is_empty(), "only an empty hobt is loaded");
        Ok(Box::new(FakeLoader { hobt: self, count: 0 }))
    }
}

struct FakeLoader<'a> {
    hobt: &'a FakeHobt,
    count: u64,
}

impl Loader for FakeLoader<'_> {
    fn push(&mut self, _: &mut Work, row: &[Field<'_>]) -> Result<(), WriteError> {
        let row = owned(row);
        if let Some((_, last)) = self.hobt.rows.lock().last()
            && self.hobt.spec.kind != IndexKind::Heap
        {
            let declared = &self.hobt.key_of(&row)[..self.hobt.spec.declared_key];
            assert!(self.hobt.order(declared, last).is_ge(), "keys ascend");
            let full = self.hobt.key_of(&row);
            assert!(self.hobt.spec.unique || self.hobt.order(&full, last).is_gt(), "twins differ");
            if self.hobt.spec.unique && self.hobt.order(declared, last).is_eq() {
                return Err(WriteError::Duplicate);
            }
        }
        self.count += 1;
        self.hobt.put(row).map(drop)
    }

    fn finish(self: Box<Self>, _: &mut Work) -> SqlResult<u64> {
        Ok(self.count)
    }
}

/// What [`FakeDatabase::snapshot`] keeps.
pub(crate) struct Snapshot(Vec<FakeEntry>);

type FakeEntry = (HobtId, Arc<FakeHobt>, Vec<(u64, Row)>);

/// The hobts of a database.
pub(crate) struct FakeDatabase {
    pub(crate) id: DatabaseId,
    hobts: Mutex<BTreeMap<HobtId, Arc<FakeHobt>>>,
    next_unit: Mutex<u32>,
    pub(crate) dropped: Mutex<Vec<DroppedUnit>>,
}

impl FakeDatabase {
    pub(crate) fn new(id: u16) -> FakeDatabase {
        let id = DatabaseId(id);
        let system = SYSTEM_TABLES.iter().map(|table| {
            let spec = HobtSpec::of_system(id, table);
            (spec.hobt, FakeHobt::new(&spec))
        });
        FakeDatabase {
            id,
            hobts: Mutex::new(system.collect()),
            next_unit: Mutex::new(256),
            dropped: Mutex::default(),
        }
    }

    pub(crate) fn hobt(&self, id: HobtId) -> Arc<FakeHobt> {
        Arc::clone(self.hobts.lock().get(&id).expect("the hobt was made"))
    }

    /// Everything as it is now, to come back to.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let hobts = self.hobts.lock();
        Snapshot(hobts.iter().map(|(id, h)| (*id, Arc::clone(h), h.rows.lock().clone())).collect())
    }

    /// Everything as it was then: a rollback.
    pub(crate) fn restore(&self, to: Snapshot) {
        let mut hobts = self.hobts.lock();
        hobts.clear();
        for (id, hobt, rows) in to.0 {
            *hobt.rows.lock() = rows;
            hobts.insert(id, hobt);
        }
    }

    /// Loses the rows of a system table.
    pub(crate) fn empty(&self, name: &str) {
        for table in SYSTEM_TABLES.iter().filter(|t| t.name == name) {
            self.hobt(table.id.hobt()).rows.lock().clear();
        }
    }

    /// A system table loses the rows that hold this text.
    pub(crate) fn lose(&self, name: &str, text: &str) {
        let stored: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let holds = |row: &Row| row.iter().flatten().any(|field| *field == stored);
        for table in SYSTEM_TABLES.iter().filter(|t| t.name == name) {
            self.hobt(table.id.hobt()).rows.lock().retain(|(_, row)| !holds(row));
        }
    }

    /// Every row of every system table.
    pub(crate) fn system_rows(&self) -> Vec<(&'static str, Vec<Row>)> {
        SYSTEM_TABLES.iter().map(|t| (t.name, self.hobt(t.id.hobt()).rows())).collect()
    }
}

impl SystemHobts for FakeDatabase {
    fn open(&self, table: SystemTableId) -> Arc<dyn Hobt> {
        self.hobt(table.hobt())
    }
}

impl Builder for FakeDatabase {
    fn growth(&self, _: &Work, _: &HobtSpec) -> SqlResult<Option<access::Growth>> {
        Ok(None)
    }

    fn reorganize(&self, _: &mut Work, _: &HobtSpec, _: u8, _: bool) -> SqlResult<()> {
        unreachable!("rows without pages are in order")
    }

    fn create_hobt(&self, _: &mut Work, spec: &HobtSpec) -> SqlResult<HobtPlaces> {
        let mut next = self.next_unit.lock();
        let unit = *next;
        *next += 1;
        let fresh = self.hobts.lock().insert(spec.hobt, FakeHobt::new(spec)).is_none();
        assert!(fresh, "a hobt is made once");
        let tree = spec.kind != IndexKind::Heap;
        let places = UnitPlaces {
            unit: AllocUnitId(unit),
            kind: UnitKind::Rows,
            first_iam: PageId::new(1, unit * 10),
            root: if tree { PageId::new(1, unit * 10 + 1) } else { PageId::NONE },
            first_page: PageId::new(1, unit * 10 + 1),
        };
        Ok(HobtPlaces { units: vec![places] })
    }

    fn add_columns(&self, _: &mut Work, spec: &HobtSpec) -> SqlResult<Option<UnitPlaces>> {
        let wide = self.hobt(spec.hobt).widened(spec);
        self.hobts.lock().insert(spec.hobt, wide);
        Ok(None)
    }

    fn drop_hobt_after_commit(&self, _: &mut Work, dropped: &[DroppedUnit]) -> SqlResult<()> {
        self.dropped.lock().extend_from_slice(dropped);
        Ok(())
    }

    fn open(&self, spec: &HobtSpec) -> SqlResult<Arc<dyn Hobt>> {
        Ok(self.hobt(spec.hobt))
    }
}
