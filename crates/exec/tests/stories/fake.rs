//! Tables in memory behind the doors of `access`, and all that a run needs.

use access::{
    BulkLoad, Field, Hobt, Hobts, InsertOutcome, Isolation, KeyBound, Loader, LockPlan, PageHint,
    RowCursor, RowKey, ScanRange, SourceSize, Spill, SpillFile, TableSink, TableSource, WriteError,
};
use base::{DatabaseId, HobtId, ObjectId, PageId, SessionId, SqlError, SqlResult, messages};
use builtins::{Fact, Question, SessionFacts};
use exec::{
    ExecContext, Executor, GrantTerms, IdentitySource, Outcome, ResourceSemaphores, RowSink,
    Workspace,
};
use os::memory::{Clerk, Memory};
use os::sync::Mutex;
use os::wait::Waiter;
use plan::{IdentityColumn, PhysicalPlan};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};
use types::datetime::{Dialect, Moment};
use types::{Collation, SqlType, Value, compare_storage, encode_storage};
use work::{Engine, Work};

pub(crate) type Row = Vec<Option<Vec<u8>>>;

/// A heap (no key) or an index.
pub(crate) struct Fake {
    /// Key columns: field, type, descending.
    pub(crate) key: Vec<(usize, SqlType, bool)>,
    /// So many of them are unique.
    pub(crate) unique: Option<usize>,
    /// The field of the uniquifier.
    pub(crate) uniquifier: Option<usize>,
    pub(crate) rows: Mutex<Vec<(u64, Row)>>,
    pub(crate) released: AtomicUsize,
    next_rid: AtomicI64,
}

impl Fake {
    pub(crate) fn heap() -> Arc<Fake> {
        Fake::tree(&[], None)
    }

    pub(crate) fn tree(key: &[(usize, SqlType, bool)], unique: Option<usize>) -> Arc<Fake> {
        Fake::with_uniquifier(key, unique, None)
    }

    pub(crate) fn with_uniquifier(
        key: &[(usize, SqlType, bool)],
        unique: Option<usize>,
        uniquifier: Option<usize>,
    ) -> Arc<Fake> {
        Arc::new(Fake {
            key: key.to_vec(),
            unique,
            uniquifier,
            rows: Mutex::default(),
            released: AtomicUsize::new(0),
            next_rid: AtomicI64::new(1),
        })
    }

    /// Adds a row of values without asking anybody.
    pub(crate) fn load(&self, values: &[(Value, SqlType)]) {
        let row: Row = values
            .iter()
            .map(|(v, t)| {
                let mut bytes = Vec::new();
                (!v.is_null()).then(|| {
                    encode_storage(v, *t, &mut bytes);
                    bytes
                })
            })
            .collect();
        let fields: Vec<Field<'_>> = row.iter().map(field).collect();
        self.put(&fields).expect("a test loads no duplicates");
    }

    /// All rows, decoded, in key order.
    pub(crate) fn values(&self, types: &[SqlType]) -> Vec<Vec<Value>> {
        let rows = self.rows.lock();
        let decode = |row: &Row| {
            let one = |(f, &t): (&Option<Vec<u8>>, &SqlType)| {
                f.as_ref().map_or(Value::Null, |b| types::decode_storage(b, t).unwrap())
            };
            row.iter().zip(types).map(one).collect()
        };
        rows.iter().map(|(_, row)| decode(row)).collect()
    }

    fn compare_key(&self, fields: &[Field<'_>], row: &(u64, Row)) -> Ordering {
        if self.key.is_empty() {
            let rid = fields[0].inline().expect("a RID");
            return u64::from_le_bytes(rid.try_into().unwrap()).cmp(&row.0);
        }
        for (f, (column, sql_type, descending)) in fields.iter().zip(&self.key) {
            let order = match (f.inline(), &row.1[*column]) {
                (None, None) => Ordering::Equal,
                (None, Some(_)) => Ordering::Less,
                (Some(_), None) => Ordering::Greater,
                (Some(a), Some(b)) => compare_storage(*sql_type, Collation::default()).of(a, b),
            };
            if order.is_ne() {
                return if *descending { order.reverse() } else { order };
            }
        }
        Ordering::Equal
    }

    fn order(&self, a: &(u64, Row), b: &(u64, Row)) -> Ordering {
        let fields: Vec<Field<'_>> = self.key.iter().map(|k| field(&a.1[k.0])).collect();
        if fields.is_empty() { a.0.cmp(&b.0) } else { self.compare_key(&fields, b) }
    }

    fn put(&self, row: &[Field<'_>]) -> Result<InsertOutcome, WriteError> {
        let bytes: usize = row.iter().filter_map(|f| f.inline()).map(<[u8]>::len).sum();
        if bytes > 8053 {
            return Err(WriteError::RowTooLong { bytes: bytes + 7 });
        }
        let mut new: Row = row.iter().map(|f| f.inline().map(<[u8]>::to_vec)).collect();
        let mut rows = self.rows.lock();
        let key = |new: &Row, n: usize| -> Vec<Option<Vec<u8>>> {
            self.key.iter().take(n).map(|k| new[k.0].clone()).collect()
        };
        let equal = |n: usize| {
            let key = key(&new, n);
            let fields: Vec<Field<'_>> = key.iter().map(field).collect();
            rows.iter().filter(|r| self.compare_key(&fields, r).is_eq()).count()
        };
        let mut inserted = InsertOutcome::default();
        if let Some(unique) = self.unique
            && equal(unique) > 0
        {
            return Err(WriteError::Duplicate);
        }
        if let Some(column) = self.uniquifier {
            let count = equal(self.key.len() - 1);
            new[column] = (count > 0).then(|| (count as u32).to_le_bytes().to_vec());
            inserted.uniquifier = (count > 0).then_some(count as u32);
        }
        let rid = self.next_rid.fetch_add(1, Relaxed) as u64;
        if self.key.is_empty() {
            inserted.rid = Some(rid.to_le_bytes());
        }
        let row = (rid, new);
        let at = rows.partition_point(|r| self.order(r, &row).is_lt());
        rows.insert(at, row);
        Ok(inserted)
    }

    fn find(&self, key: RowKey<'_>) -> Result<usize, WriteError> {
        let rows = self.rows.lock();
        rows.iter()
            .position(|r| self.compare_key(key.fields, r).is_eq())
            .ok_or(WriteError::Vanished)
    }
}

fn field(bytes: &Option<Vec<u8>>) -> Field<'_> {
    bytes.as_ref().map_or(Field::Null, |b| Field::Inline(b))
}

struct Bound {
    fields: Row,
    inclusive: bool,
}

impl Bound {
    fn of(bound: &KeyBound<'_>) -> Bound {
        let fields = bound.fields.iter().map(|f| f.inline().map(<[u8]>::to_vec)).collect();
        Bound { fields, inclusive: bound.inclusive }
    }
}

struct Cursor<'a> {
    table: &'a Fake,
    lower: Option<Bound>,
    upper: Option<Bound>,
    backward: bool,
    at: Option<(u64, Row)>,
}

impl Cursor<'_> {
    fn within(&self, row: &(u64, Row)) -> bool {
        let side = |bound: &Option<Bound>, wanted: Ordering| {
            bound.as_ref().is_none_or(|b| {
                let fields: Vec<Field<'_>> = b.fields.iter().map(field).collect();
                let order = self.table.compare_key(&fields, row);
                order == wanted || (order.is_eq() && b.inclusive)
            })
        };
        side(&self.lower, Ordering::Less) && side(&self.upper, Ordering::Greater)
    }
}

impl RowCursor for Cursor<'_> {
    fn next(&mut self, _: &mut Work) -> SqlResult<bool> {
        let rows = self.table.rows.lock();
        let beyond = |r: &&(u64, Row)| {
            self.at.as_ref().is_none_or(|at| {
                let order = self.table.order(at, r);
                if self.backward { order.is_gt() } else { order.is_lt() }
            })
        };
        let fits = |r: &&(u64, Row)| beyond(r) && self.within(r);
        let next = if self.backward {
            rows.iter().rev().find(fits).cloned()
        } else {
            let from = self
                .at
                .as_ref()
                .map_or(0, |at| rows.partition_point(|r| self.table.order(r, at).is_le()));
            rows[from..].iter().find(fits).cloned()
        };
        drop(rows);
        let found = next.is_some();
        if found {
            self.at = next;
        }
        Ok(found)
    }

    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        Ok(field(&self.at.as_ref().expect("the cursor stands on a row").1[column]))
    }

    fn hint(&self) -> Option<PageHint> {
        let slot = self.at.as_ref()?.0 as u16;
        Some(PageHint { page: PageId::new(1, 300), slot })
    }

    fn rid(&self) -> Option<[u8; 8]> {
        self.table.key.is_empty().then(|| self.at.as_ref().map(|r| r.0.to_le_bytes()))?
    }

    fn release_row(&mut self, _: &mut Work) {
        self.table.released.fetch_add(1, Relaxed);
    }

    fn rewind(&mut self, _: &mut Work, range: &ScanRange<'_>) -> SqlResult<()> {
        self.lower = range.lower.as_ref().map(Bound::of);
        self.upper = range.upper.as_ref().map(Bound::of);
        self.backward = range.backward;
        self.at = None;
        Ok(())
    }
}

impl TableSource for Fake {
    fn scan(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        _: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        let mut cursor =
            Cursor { table: self, lower: None, upper: None, backward: false, at: None };
        cursor.rewind(work, range)?;
        Ok(Box::new(cursor))
    }

    fn size(&self) -> SourceSize {
        SourceSize { rows: self.rows.lock().len() as u64, pages: 1 }
    }
}

impl TableSink for Fake {
    fn insert(
        &self,
        _: &mut Work,
        row: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        self.put(row)
    }

    fn update(
        &self,
        _: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let at = self.find(key)?;
        let old = self.rows.lock().remove(at);
        match self.put(row) {
            Ok(inserted) if self.key.is_empty() => {
                // A heap's row keeps its place.
                let mut rows = self.rows.lock();
                rows.last_mut().expect("it was inserted").0 = old.0;
                rows.sort_by_key(|r| r.0);
                Ok(InsertOutcome { rid: Some(old.0.to_le_bytes()), ..inserted })
            }
            Ok(inserted) => Ok(inserted),
            Err(e) => {
                self.rows.lock().insert(at, old);
                Err(e)
            }
        }
    }

    fn delete(&self, _: &mut Work, key: RowKey<'_>, _: &LockPlan) -> Result<(), WriteError> {
        let at = self.find(key)?;
        self.rows.lock().remove(at);
        Ok(())
    }
}

impl BulkLoad for Fake {
    fn load(&self, _: &mut Work, _: access::Fill) -> SqlResult<Box<dyn Loader + '_>> {
        Err(SqlError::new(messages::NOT_SUPPORTED, &[&"bulk load"]))
    }
}

/// Spill files in memory; counts them.
#[derive(Default)]
pub(crate) struct Spills {
    pub(crate) made: AtomicUsize,
}

#[derive(Default)]
struct SpillInMemory {
    rows: Vec<Vec<u8>>,
    at: usize,
    bytes: u64,
}

impl Spill for Spills {
    fn create(&self) -> SqlResult<Box<dyn SpillFile>> {
        self.made.fetch_add(1, Relaxed);
        Ok(Box::new(SpillInMemory::default()))
    }
}

impl SpillFile for SpillInMemory {
    fn append(&mut self, bytes: &[u8]) -> SqlResult<()> {
        self.bytes += bytes.len() as u64;
        self.rows.push(bytes.to_vec());
        Ok(())
    }

    fn rewind(&mut self) -> SqlResult<()> {
        self.at = 0;
        Ok(())
    }

    fn next(&mut self) -> SqlResult<Option<&[u8]>> {
        self.at += 1;
        Ok(self.rows.get(self.at - 1).map(Vec::as_slice))
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn position(&self) -> u64 {
        self.rows.len() as u64
    }

    fn seek(&mut self, position: u64) -> SqlResult<()> {
        self.at = position as usize;
        Ok(())
    }
}

/// Facts of a session that knows little.
pub(crate) struct Facts;

impl SessionFacts for Facts {
    fn fact(&self, fact: Fact) -> SqlResult<Value> {
        Ok(if fact == Fact::RowCount { Value::BigInt(7) } else { Value::Null })
    }

    fn resolve(&self, _: Question, _: &[Value]) -> SqlResult<Value> {
        Ok(Value::Null)
    }

    fn clock(&self) -> Moment {
        Moment::of(&Value::Date(738_000)).expect("a date is a moment")
    }

    fn dialect(&self) -> Dialect {
        Dialect::default()
    }

    fn random(&self) -> u64 {
        4
    }
}

/// Identity values from memory.
#[derive(Default)]
pub(crate) struct Identities {
    last: Mutex<BTreeMap<i32, i128>>,
}

impl IdentitySource for Identities {
    fn next(
        &self,
        _: &mut Work,
        _: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
    ) -> SqlResult<i128> {
        let mut last = self.last.lock();
        let next = last.get(&object.0).map_or(column.seed, |n| n + column.increment);
        last.insert(object.0, next);
        Ok(next)
    }

    fn given(
        &self,
        _: &mut Work,
        _: DatabaseId,
        object: ObjectId,
        _: &IdentityColumn,
        value: i128,
    ) -> SqlResult<()> {
        let mut last = self.last.lock();
        let n = last.entry(object.0).or_insert(value);
        *n = (*n).max(value);
        Ok(())
    }
}

/// Collects rows.
#[derive(Default)]
pub(crate) struct Rows(pub(crate) Vec<Vec<Value>>);

impl RowSink for Rows {
    fn row(&mut self, values: &[Value]) -> SqlResult<()> {
        self.0.push(values.to_vec());
        Ok(())
    }
}

/// A session with tables.
pub(crate) struct Bench {
    pub(crate) work: Work,
    pub(crate) waiter: Arc<Waiter>,
    pub(crate) tables: BTreeMap<u32, Arc<Fake>>,
    pub(crate) variables: Vec<Value>,
    pub(crate) spills: Spills,
    pub(crate) identities: Identities,
    pub(crate) limit_bytes: usize,
    pub(crate) memory: Arc<Memory>,
    pub(crate) clerk: Arc<Clerk>,
}

pub(crate) struct Tables<'a>(&'a BTreeMap<u32, Arc<Fake>>);

impl Hobts for Tables<'_> {
    fn hobt(&self, _: DatabaseId, hobt: HobtId) -> SqlResult<Arc<dyn Hobt>> {
        let found = self.0.get(&hobt.0).map(|t| Arc::clone(t) as Arc<dyn Hobt>);
        found.ok_or_else(|| SqlError::new(messages::INVALID_OBJECT, &[&hobt.0]))
    }

    fn system_view(
        &self,
        _: DatabaseId,
        object: ObjectId,
        arguments: &[Value],
        _: &work::Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        let _ = arguments;
        let table = &self.0[&object.0.unsigned_abs()];
        Ok(Arc::clone(table) as Arc<dyn TableSource>)
    }
}

impl Default for Bench {
    fn default() -> Self {
        let engine = Arc::new(Engine::new(lock::Table::new(&lock::Options::default())));
        let waiter = Arc::new(Waiter::new());
        let memory = Memory::new(1 << 30);
        Bench {
            work: Work::new(&engine, SessionId(51), Arc::clone(&waiter)),
            waiter,
            tables: BTreeMap::new(),
            variables: Vec::new(),
            spills: Spills::default(),
            identities: Identities::default(),
            limit_bytes: 1 << 28,
            clerk: memory.clerk("MEMORYCLERK_SQLQERESERVATIONS"),
            memory,
        }
    }
}

impl Bench {
    /// Semaphores that grant a statement `limit_bytes` at most.
    pub(crate) fn semaphores(&self) -> ResourceSemaphores {
        let workspace = Workspace {
            regular_bytes: 2 * self.limit_bytes,
            small_bytes: 2 * self.limit_bytes,
            query_bytes_max: self.limit_bytes,
            small_query_bytes_max: self.limit_bytes,
            timeout_ms: 1_000,
        };
        ResourceSemaphores::new(&self.memory, &self.clerk, workspace)
    }

    /// Runs something with a context.
    pub(crate) fn with<R>(&mut self, f: impl FnOnce(&mut ExecContext<'_>) -> R) -> R {
        let semaphores = self.semaphores();
        let result = self.within(&semaphores, f);
        assert_eq!(self.memory.reserved_bytes(), 0, "a run gives its memory back");
        result
    }

    /// The same with memory that others may want, too.
    pub(crate) fn within<R>(
        &mut self,
        semaphores: &ResourceSemaphores,
        f: impl FnOnce(&mut ExecContext<'_>) -> R,
    ) -> R {
        let tables = Tables(&self.tables);
        if !self.work.is_active() {
            self.work.begin(false, "");
        }
        let mut context = ExecContext {
            work: &mut self.work,
            private: None,
            hobts: &tables,
            spill: &self.spills,
            variables: &mut self.variables,
            facts: &Facts,
            identity: &self.identities,
            callout: &exec::NoCallout,
            grant: GrantTerms { semaphores, workers: None },
            isolation: Isolation::ReadCommitted,
            as_of: None,
            qualifies_first: false,
            row_limit: None,
        };
        f(&mut context)
    }

    /// Runs a plan: its rows and outcome.
    pub(crate) fn run(&mut self, plan: &PhysicalPlan) -> SqlResult<(Vec<Vec<Value>>, Outcome)> {
        let mut rows = Rows::default();
        let mut executor = Executor::new(plan)?;
        let outcome = self.with(|cx| executor.run(cx, &mut rows))?;
        // Running again gives the same, unless something changed.
        if matches!(plan.statement, plan::Statement::Query(_)) {
            let mut again = Rows::default();
            self.with(|cx| executor.run(cx, &mut again))?;
            assert_eq!(again.0, rows.0, "an executor can run again");
        }
        Ok((rows.0, outcome))
    }

    /// The rows of a query.
    pub(crate) fn rows(&mut self, plan: &PhysicalPlan) -> Vec<Vec<Value>> {
        self.run(plan).expect("the query runs").0
    }
}

/// A small generator of random numbers, the same for each seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}
