//! A real table of a real database on a simulated disk, with columns of many types.

use access::{
    BatchColumn, BatchCursor, BulkLoad, Field, Fill, Hobt, Hobts, InsertOutcome, Loader, LockPlan,
    RowCursor, RowKey, ScanRange, SourceSize, TableSink, TableSource, WriteError,
};
use base::{DatabaseId, HobtId, IndexId, ObjectId, SessionId, SqlError, SqlResult, messages};
use catalog::view::{IndexKind, KeyField, SystemObjects};
use catalog::{DatabaseOptions, HobtColumn, HobtSpec};
use database::{Database, Environment, Files, Sizing};
use lock::Timeout;
use os::memory::Memory;
use sim::{Disk, DiskOptions};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use types::{
    Bytes, Collation, DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime, SqlType, Value,
    encode_storage,
};
use work::{CommitMode, Engine, STATEMENT_VERSIONS, TRANSACTION_VERSIONS, Work};

/// The key comes first; two columns of some types, to be compared.
pub(crate) const TYPES: [SqlType; 20] = [
    SqlType::Int,
    SqlType::Int,
    SqlType::BigInt,
    SqlType::SmallInt,
    SqlType::Bit,
    SqlType::decimal(9, 2),
    SqlType::decimal(30, 5),
    SqlType::Money,
    SqlType::Float,
    SqlType::Real,
    SqlType::Date,
    SqlType::DateTime,
    SqlType::SmallDateTime,
    SqlType::DateTime2(3),
    SqlType::DateTimeOffset(7),
    SqlType::varchar(40),
    SqlType::Char(5),
    SqlType::nvarchar(20),
    SqlType::varbinary(20),
    SqlType::UniqueIdentifier,
];
pub(crate) const ROWS: i32 = 2_600;
const HOBT: HobtId = HobtId(300);

pub(crate) type Row = Vec<Value>;

/// One of few values of a type.
pub(crate) fn value(sql_type: SqlType, seed: u32) -> Value {
    let (n, small) = (seed % 5, (seed % 5) as i32 - 2);
    let words = ["", "a", "A ", "Straße 12 in Berlin", "STRASSE"];
    let utc = DateTime2 { days: 738_000 + small, ticks: u64::from(n) * 10_000 };
    match sql_type {
        SqlType::Int => Value::Int(small * 1_000_000_000),
        SqlType::BigInt => Value::BigInt(i64::from(small) << 60),
        SqlType::SmallInt => Value::SmallInt(small as i16),
        SqlType::Bit => Value::Bit(n < 2),
        SqlType::Decimal { scale, .. } => {
            Value::Decimal(Decimal::new(i128::from(small) * 12_345, scale).unwrap())
        }
        SqlType::Money => Value::Money(i64::from(small) * 10_000),
        SqlType::Float => Value::Float([0.0, -0.0, 1.5, -1e300, 1e-9][n as usize]),
        SqlType::Real => Value::Real([0.0, -0.0, 1.5, -1e30, 1e-9][n as usize]),
        SqlType::Date => Value::Date(738_000 + small),
        SqlType::DateTime => Value::DateTime(DateTime { days: small, ticks: n }),
        SqlType::SmallDateTime => {
            Value::SmallDateTime(SmallDateTime { days: 40_000 + n as u16, minutes: n as u16 })
        }
        SqlType::DateTime2(_) => Value::DateTime2(utc),
        SqlType::DateTimeOffset(_) => {
            Value::DateTimeOffset(DateTimeOffset { utc, offset: small as i16 * 60 })
        }
        SqlType::UniqueIdentifier => Value::Guid([n as u8; 16]),
        SqlType::NVarChar(_) => Value::nvarchar(words[n as usize]),
        SqlType::VarBinary(_) => Value::Binary(Bytes::new(words[n as usize].as_bytes())),
        _ => Value::varchar(words[n as usize]).cut_to(sql_type),
    }
}

fn stored(value: &Value, sql_type: SqlType) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_storage(value, sql_type, &mut bytes);
    bytes
}

/// A table of its own database.
pub(crate) struct Table {
    env: Environment,
    kind: IndexKind,
    pub(crate) counted: Arc<CountingHobt>,
    _databases: [Arc<Database>; 2],
}

fn spec(kind: IndexKind) -> HobtSpec {
    let column = |(n, &sql_type): (usize, &SqlType)| HobtColumn {
        sql_type,
        nullable: n > 0,
        collation: Collation::default(),
    };
    let key = match kind {
        IndexKind::Heap => Vec::new(),
        _ => vec![KeyField { field: 0, descending: false }],
    };
    HobtSpec {
        database: DatabaseId(5),
        object_id: ObjectId(100_300),
        index_id: IndexId(1),
        hobt: HOBT,
        kind,
        columns: TYPES.iter().enumerate().map(column).collect(),
        added: Vec::new(),
        declared_key: key.len(),
        key,
        unique: true,
        fill_factor: 0,
        padded: false,
    }
}

fn database(env: &Environment, id: u16, name: &str, survives: bool) -> Arc<Database> {
    let files = Files::of(Path::new("/data"), name);
    let options = DatabaseOptions::default();
    Database::create(env, DatabaseId(id), name, &files, &Sizing::default(), &options, survives)
        .unwrap()
}

impl Table {
    /// With its rows: every seventh was deleted, a fifth of all values are NULL.
    pub(crate) fn new(kind: IndexKind) -> Table {
        let memory = Memory::new(64 << 20);
        let options =
            DiskOptions { latency: false, capacity_bytes: 1 << 40, ..DiskOptions::default() };
        let env = Environment {
            disk: Arc::new(Disk::new(options)),
            pool: buffer::Pool::new(&memory, 512).unwrap(),
            engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
            system: Arc::new(SystemObjects::default()),
            formats: database::formats(),
        };
        env.disk.create_dir(Path::new("/data")).unwrap();
        let tempdb = database(&env, 2, "tempdb", false);
        env.engine.keep_versions_in(version::TempdbStore::new(&tempdb.home().space));
        let db = database(&env, 5, "d", true);
        db.home().set_versioning(STATEMENT_VERSIONS | TRANSACTION_VERSIONS);
        let mut work = Work::new(&env.engine, SessionId(50), Arc::default());
        work.begin(true, "");
        db.builder().create_hobt(&mut work, &spec(kind)).unwrap();
        work.commit(CommitMode::Delayed).unwrap();
        let hobt: Arc<dyn Hobt> = db.hobts().get(HOBT).unwrap();
        let counted =
            Arc::new(CountingHobt { hobt, scans: AtomicUsize::new(0), batches: 0.into() });
        let table = Table { env, kind, counted, _databases: [tempdb, db] };
        table.fill();
        table
    }

    fn fill(&self) {
        let mut work = self.session(51);
        work.begin(true, "");
        for key in 0..ROWS {
            let rid = self.insert(&mut work, key);
            if key % 7 == 3 {
                self.delete_named(&mut work, key, rid).unwrap();
            }
        }
        work.commit(CommitMode::Delayed).unwrap();
    }

    /// Somebody who waits for nobody.
    pub(crate) fn session(&self, id: i16) -> Work {
        let mut work = Work::new(&self.env.engine, SessionId(id), Arc::default());
        work.set_timeout(Timeout::NO_WAIT);
        work
    }

    /// The RID of the row in a heap.
    pub(crate) fn insert(&self, work: &mut Work, key: i32) -> Option<[u8; 8]> {
        let mut dice = (key as u32).wrapping_mul(2_654_435_761);
        let fields: Vec<Option<Vec<u8>>> = TYPES
            .iter()
            .enumerate()
            .map(|(n, &sql_type)| {
                dice = dice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                match dice >> 16 {
                    _ if n == 0 => Some(key.to_le_bytes().to_vec()),
                    roll if roll % 5 == 0 => None,
                    roll => Some(stored(&value(sql_type, roll / 5), sql_type)),
                }
            })
            .collect();
        let fields: Vec<Field<'_>> =
            fields.iter().map(|f| f.as_ref().map_or(Field::Null, |b| Field::Inline(b))).collect();
        self.counted.insert(work, &fields, &change()).unwrap().rid
    }

    /// Deletes the row of a key, which is found in a heap by reading all.
    pub(crate) fn delete(&self, work: &mut Work, key: i32) {
        self.try_delete(work, key).unwrap();
    }

    /// The same, where another may have locked it.
    pub(crate) fn try_delete(&self, work: &mut Work, key: i32) -> Result<(), WriteError> {
        let bytes = key.to_le_bytes();
        let rid = {
            let mut cursor = self.counted.hobt.scan(work, &ScanRange::default(), &change())?;
            loop {
                assert!(cursor.next(work)?, "row {key} is there");
                if cursor.field(0)?.inline() == Some(&bytes) {
                    break cursor.rid();
                }
                cursor.release_row(work);
            }
        };
        self.delete_named(work, key, rid)
    }

    fn delete_named(
        &self,
        work: &mut Work,
        key: i32,
        rid: Option<[u8; 8]>,
    ) -> Result<(), WriteError> {
        let bytes = key.to_le_bytes();
        let name = match &rid {
            Some(rid) if self.kind == IndexKind::Heap => Field::Inline(rid),
            _ => Field::Inline(&bytes),
        };
        self.counted.delete(work, RowKey { fields: &[name], hint: None }, &change())
    }
}

fn change() -> LockPlan {
    LockPlan::change(access::Isolation::ReadCommitted)
}

/// The hobt, which counts how it is read.
pub(crate) struct CountingHobt {
    hobt: Arc<dyn Hobt>,
    pub(crate) scans: AtomicUsize,
    pub(crate) batches: AtomicUsize,
}

impl TableSource for CountingHobt {
    fn scan(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        self.scans.fetch_add(1, Relaxed);
        self.hobt.scan(work, range, locks)
    }

    fn batches(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
        columns: &[BatchColumn],
    ) -> SqlResult<Box<dyn BatchCursor + '_>> {
        self.batches.fetch_add(1, Relaxed);
        self.hobt.batches(work, range, locks, columns)
    }

    fn size(&self) -> SourceSize {
        self.hobt.size()
    }
}

impl TableSink for CountingHobt {
    fn insert(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        self.hobt.insert(work, row, locks)
    }

    fn update(
        &self,
        work: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        locks: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        self.hobt.update(work, key, row, locks)
    }

    fn delete(&self, work: &mut Work, key: RowKey<'_>, locks: &LockPlan) -> Result<(), WriteError> {
        self.hobt.delete(work, key, locks)
    }
}

impl BulkLoad for CountingHobt {
    fn load(&self, work: &mut Work, fill: Fill) -> SqlResult<Box<dyn Loader + '_>> {
        self.hobt.load(work, fill)
    }
}

/// Every plan reads the one table.
impl Hobts for Table {
    fn hobt(&self, _: DatabaseId, _: HobtId) -> SqlResult<Arc<dyn Hobt>> {
        Ok(Arc::clone(&self.counted) as Arc<dyn Hobt>)
    }

    fn system_view(
        &self,
        _: DatabaseId,
        object: ObjectId,
        _: &[Value],
        _: &Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        Err(SqlError::new(messages::INVALID_OBJECT, &[&object.0]))
    }
}
