//! Eight sessions insert, update, delete, roll back to savepoints and altogether, commit, on a
//! disk that loses and tears writes; some rows have values off them. After each crash: every
//! acknowledged commit is there, no transaction is there in part, every structure is sound, and the
//! ghost cleaner leaves no ghost. Every third transaction is serializable: it reads a range first
//! and last, and has met no phantom. In a third of the runs rows have versions, in a third that is
//! switched while they go; with versions, every third transaction reads the table as of its begin
//! first and last, and finds the same; every fourth is under SNAPSHOT: it sees its moment and its
//! own changes, and has changed nothing that others have changed since.
//! Where all rows have versions locking is optimized in half of the runs.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use access::{
    Field, Isolation, KeyBound, LockPlan, RowKey, RowLocation, ScanMode, ScanRange, StoredHobt,
    WriteError,
};
use base::{DatabaseId, HobtId, IndexId, ObjectId, SessionId};
use catalog::view::{
    Column, Index, IndexColumn, IndexKind, Object, SchemaId, SystemObjects, Table,
};
use catalog::{Changes, DatabaseOptions, Delta, HobtSpec};
use database::{Database, Environment, Files, Sizing};
use lock::Timeout;
use os::disk::Disk;
use os::memory::Memory;
use os::sync::Mutex;
use os::wait::Waiter;
use sim::DiskOptions;
use sim::harness::{Plan, crash_runs};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use txn::Mutation;
use types::{Collation, SqlType};
use work::{CommitMode, Engine, STATEMENT_VERSIONS, Snapshot, Work};

const SESSIONS: u64 = 8;
const TRANSACTIONS: u64 = 6;
const KEYS: u64 = 120;
const HOBT: HobtId = HobtId(300);

fn environment(disk: Arc<dyn Disk>) -> Environment {
    let memory = Memory::new(64 << 20);
    Environment {
        disk,
        pool: buffer::Pool::new(&memory, 96).unwrap(),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    }
}

/// Tempdb has a disk of its own, which loses nothing.
fn add_version_store(env: &Environment) {
    let options = DiskOptions { latency: false, capacity_bytes: 1 << 40, ..DiskOptions::default() };
    let env = Environment { disk: Arc::new(sim::Disk::new(options)), ..env.clone() };
    env.disk.create_dir(Path::new("/data")).unwrap();
    let (files, options) = (Files::of(Path::new("/data"), "tempdb"), DatabaseOptions::default());
    let tempdb =
        Database::create(&env, DatabaseId(2), "tempdb", &files, &sizing(), &options, false);
    env.engine.keep_versions_in(version::TempdbStore::new(&tempdb.unwrap().home().space));
}

fn sizing() -> Sizing {
    let mut sizing = Sizing::default();
    sizing.data_growth.pages = 64;
    sizing.log.initial_bytes = 512 << 10;
    sizing.log.growth_bytes = 256 << 10;
    sizing
}

fn column(id: i32, name: &str, sql_type: SqlType) -> Column {
    Column {
        column_id: id,
        name: name.into(),
        sql_type,
        user_type_id: sql_type.user_type_id(),
        nullable: false,
        collation: Collation::default(),
        row_guid: false,
        identity: None,
        default: None,
        computed: None,
        physical: Some((id - 1) as u16),
    }
}

fn table() -> Table {
    Table {
        database: DatabaseId(5),
        object_id: ObjectId(100_000),
        schema_id: SchemaId::DBO,
        schema_name: "dbo".into(),
        name: "T".into(),
        columns: vec![
            column(1, "k", SqlType::Int),
            column(2, "v", SqlType::BigInt),
            column(3, "filler", SqlType::VARCHAR_MAX),
        ],
        indexes: vec![Index {
            index_id: IndexId(1),
            name: "PK_T".into(),
            kind: IndexKind::Clustered,
            unique: true,
            primary_key: true,
            unique_constraint: false,
            constraint_id: Some(ObjectId(100_001)),
            system_named: false,
            key: vec![IndexColumn { column: 0, descending: false }],
            included: Vec::new(),
            partitions: catalog::view::Partitions::one(HOBT),
            fill_factor: 0,
            auto_fill: None,
            padded: false,
            ignore_dup_key: false,
            disabled: false,
            filter: None,
            gathered: Default::default(),
        }],
        statistics: Vec::new(),
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        history: Default::default(),
        properties: Vec::new(),
        is_temp: false,
    }
}

/// What happened to a key, in the order in which its lock was held: transaction, value or none.
type History = BTreeMap<u64, Vec<(u64, Option<u64>)>>;

#[derive(Default)]
struct Oracle {
    made: Mutex<bool>,
    history: Mutex<History>,
    rolled_back: Mutex<BTreeSet<u64>>,
    committing: Mutex<BTreeSet<u64>>,
    acknowledged: Mutex<BTreeSet<u64>>,
    /// Those that are seen by nobody before they are durable, and whom a moment showed.
    full: Mutex<BTreeSet<u64>>,
    seen: Mutex<BTreeSet<u64>>,
    /// Ranges that were read twice, and ghosts that recovery found for the cleaner.
    ranges: AtomicU64,
    cleaned: AtomicU64,
    /// Moments that were read twice.
    moments: AtomicU64,
}

/// Whether rows of a run have versions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Versions {
    Never,
    Always,
    Switched,
}

impl Versions {
    fn of(seed: u64) -> Versions {
        [Versions::Never, Versions::Always, Versions::Switched][(seed % 3) as usize]
    }
}

/// A moment, by somebody who writes nothing, and what it showed.
struct Moment {
    reader: Work,
    snapshot: Snapshot,
    rows: Rows,
}

impl Moment {
    fn first(db: &Database, p: &Oracle) -> Option<Moment> {
        let mut reader = db.system_work();
        let snapshot = reader.statement_snapshot();
        let rows = as_of(db, &mut reader, &snapshot)?;
        p.seen.lock().extend(rows.values().map(|value| value / 1000));
        Some(Moment { reader, snapshot, rows })
    }

    fn again(mut self, db: &Database, p: &Oracle) {
        let Some(rows) = as_of(db, &mut self.reader, &self.snapshot) else { return };
        assert_eq!(rows, self.rows, "as of {:?}", self.snapshot.at());
        p.moments.fetch_add(1, Relaxed);
    }
}

/// The rows as of a moment; none when the disk refused.
fn as_of(db: &Database, reader: &mut Work, snapshot: &Snapshot) -> Option<Rows> {
    let hobt = db.hobts().get(HOBT).unwrap();
    let plan = LockPlan { as_of: Some(snapshot.at()), ..LockPlan::read(Isolation::ReadCommitted) };
    let mut cursor = hobt.scan(reader, &ScanRange::default(), &plan).ok()?;
    let mut found = Rows::new();
    while cursor.next(reader).ok()? {
        let bytes = |c: usize| cursor.field(c).unwrap().inline().unwrap().to_vec();
        let key = i32::from_le_bytes(bytes(0).try_into().unwrap()) as u64;
        let value = u64::from_le_bytes(bytes(1).try_into().unwrap());
        assert!(bytes(2).iter().all(|b| *b == value as u8), "a value belongs to another row");
        found.insert(key, value);
    }
    Some(found)
}

/// A transaction under SNAPSHOT: its moment, and what it sees, its own changes besides.
struct SnapshotTransaction {
    snapshot: Snapshot,
    rows: Rows,
}

impl SnapshotTransaction {
    fn first(db: &Database, work: &mut Work, p: &Oracle) -> Option<SnapshotTransaction> {
        let snapshot = work.statement_snapshot();
        let rows = as_of(db, work, &snapshot)?;
        p.seen.lock().extend(rows.values().map(|value| value / 1000));
        Some(SnapshotTransaction { snapshot, rows })
    }

    fn plan(&self) -> LockPlan {
        let at = Some(self.snapshot.at());
        let plan = LockPlan::change(Isolation::Snapshot);
        LockPlan { as_of: at, unchanged_since: at, ..plan }
    }

    /// A change of a key, whose lock is held: nobody else has changed it since the moment.
    fn changed(&mut self, key: u64, before: Option<u64>, now: Option<u64>) {
        assert_eq!(before, self.rows.get(&key).copied(), "key {key} was changed by another");
        match now {
            Some(value) => self.rows.insert(key, value),
            None => self.rows.remove(&key),
        };
    }
}

/// What a transaction has read and expects to stay.
enum Reads {
    Nothing,
    Range(WatchedRange),
    Moment(SnapshotTransaction),
}

impl Reads {
    /// Reads again what is to be the same; false when a lock or the disk refused.
    fn again(&self, db: &Database, work: &mut Work, r: &mut Random, p: &Oracle) -> bool {
        match self {
            Reads::Nothing => true,
            Reads::Range(watched) => watched.again(db, work, r, p),
            Reads::Moment(own) => {
                let Some(rows) = as_of(db, work, &own.snapshot) else { return false };
                assert_eq!(rows, own.rows, "its moment and its own changes");
                p.moments.fetch_add(1, Relaxed);
                true
            }
        }
    }
}

/// Rows by key, as a scan found them.
type Rows = BTreeMap<u64, u64>;

/// A range that a serializable transaction reads twice, and what it must find again.
struct WatchedRange {
    keys: std::ops::RangeInclusive<u64>,
    expected: Rows,
    /// Keys that were read as changed, and the change was taken back.
    keys_undone: Vec<u64>,
}

impl WatchedRange {
    fn first(db: &Database, work: &mut Work, r: &mut Random) -> Option<WatchedRange> {
        let low = r.below(KEYS);
        let keys = low..=(low + r.below(12));
        let expected = scan(db, work, &keys, r.below(2) == 0)?;
        Some(WatchedRange { keys, expected, keys_undone: Vec::new() })
    }

    /// An own change is expected to be found again.
    fn changed(&mut self, key: u64, now: Option<u64>) {
        if !self.keys.contains(&key) {
            return;
        }
        match now {
            Some(value) => self.expected.insert(key, value),
            None => self.expected.remove(&key),
        };
    }

    /// Reads the range again; false when a lock was refused.
    fn again(&self, db: &Database, work: &mut Work, r: &mut Random, p: &Oracle) -> bool {
        let Some(mut found) = scan(db, work, &self.keys, r.below(2) == 0) else { return false };
        let mut expected = self.expected.clone();
        for key in &self.keys_undone {
            found.remove(key);
            expected.remove(key);
        }
        assert_eq!(found, expected, "a phantom in {:?}", self.keys);
        p.ranges.fetch_add(1, Relaxed);
        true
    }
}

/// The rows of a range, locked; none when a lock was refused.
fn scan(
    db: &Database,
    work: &mut Work,
    keys: &std::ops::RangeInclusive<u64>,
    backward: bool,
) -> Option<Rows> {
    let hobt = db.hobts().get(HOBT).unwrap();
    let ends = [keys.start(), keys.end()].map(|k| (*k as i32).to_le_bytes());
    let ends = ends.each_ref().map(|k| [Field::Inline(&k[..])]);
    let bound = |n: usize| Some(KeyBound { fields: &ends[n], inclusive: true });
    let range = ScanRange { lower: bound(0), upper: bound(1), backward };
    let plan = LockPlan::read(Isolation::Serializable);
    let mut cursor = hobt.scan(work, &range, &plan).ok()?;
    let mut found = Rows::new();
    while cursor.next(work).ok()? {
        let bytes = |c: usize| cursor.field(c).unwrap().inline().unwrap().to_vec();
        let key = i32::from_le_bytes(bytes(0).try_into().unwrap()) as u64;
        found.insert(key, u64::from_le_bytes(bytes(1).try_into().unwrap()));
    }
    Some(found)
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn make(env: &Environment) -> Option<Arc<Database>> {
    let files = Files::of(Path::new("/data"), "t");
    let options = DatabaseOptions::default();
    let db = Database::create(env, DatabaseId(5), "t", &files, &sizing(), &options, true).ok()?;
    let mut work = Work::new(&env.engine, SessionId(50), Arc::default());
    work.begin(true, "");
    let table = table();
    let spec = HobtSpec::of(&table, table.base());
    let places = db.builder().create_hobt(&mut work, &spec).ok()?;
    let system = Arc::clone(db.hobts());
    let changes = Changes::new(&*system);
    changes.put_table(&mut work, None, &table).ok()?;
    changes.put_places(&mut work, HOBT, &places).ok()?;
    work.commit(CommitMode::Full).ok()?;
    db.publisher().publish(&[Delta::PutObject(Object::Table(Arc::new(table)))]);
    Some(db)
}

/// Ranges read twice, ghosts cleaned, moments read twice, in all runs.
static TOTALS: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

struct Row {
    key: [u8; 4],
    value: [u8; 8],
    filler: Vec<u8>,
}

impl Row {
    fn new(key: u64, value: u64, r: &mut Random) -> Row {
        let bytes = match r.below(6) {
            // Too long for a page.
            0 => 8_100 + r.below(12_000),
            // So long that every other key is at a leaf's edge.
            1..=3 => 2_500 + r.below(1_400),
            _ => 1 + r.below(800),
        };
        let filler = vec![value as u8; bytes as usize];
        Row { key: (key as i32).to_le_bytes(), value: value.to_le_bytes(), filler }
    }

    fn fields(&self) -> [Field<'_>; 3] {
        [Field::Inline(&self.key), Field::Inline(&self.value), Field::Inline(&self.filler)]
    }
}

/// One change of a random key; false when a lock or space was refused.
fn change(
    db: &Database,
    work: &mut Work,
    id: u64,
    r: &mut Random,
    p: &Oracle,
    undo: &mut Vec<u64>,
    reads: &mut Reads,
) -> bool {
    let plan = match reads {
        Reads::Moment(own) => own.plan(),
        Reads::Nothing | Reads::Range(_) => LockPlan::change(Isolation::ReadCommitted),
    };
    let hobt = db.hobts().get(HOBT).unwrap();
    let (key, what) = (r.below(KEYS), r.below(10));
    let value = id * 1000 + undo.len() as u64;
    let row = Row::new(key, value, r);
    let fields = row.fields();
    let found = RowKey { fields: &fields[..1], hint: None };
    let done = match what {
        0..=4 => hobt.insert(work, &fields, &plan).map(|_| Some(value)),
        5..=7 => hobt.update(work, found, &fields, &plan).map(|_| Some(value)),
        _ => hobt.delete(work, found, &plan).map(|()| None),
    };
    match done {
        Ok(now) => {
            let mut history = p.history.lock();
            let of_key = history.entry(key).or_default();
            let before = of_key.last().and_then(|(_, value)| *value);
            of_key.push((id, now));
            drop(history);
            undo.push(key);
            match reads {
                Reads::Nothing => {}
                Reads::Range(watched) => watched.changed(key, now),
                Reads::Moment(own) => own.changed(key, before, now),
            }
            true
        }
        Err(WriteError::Vanished) => {
            let seen = matches!(reads, Reads::Moment(own) if own.rows.contains_key(&key));
            assert!(!seen, "the moment sees key {key}, which is gone");
            true
        }
        Err(WriteError::Duplicate) => true,
        Err(_) => false,
    }
}

fn forget(p: &Oracle, id: u64, keys: &[u64]) {
    let mut history = p.history.lock();
    for key in keys {
        let list = history.get_mut(key).unwrap();
        let at = list.iter().rposition(|(t, _)| *t == id).unwrap();
        list.remove(at);
    }
}

fn transaction(
    db: &Database,
    work: &mut Work,
    id: u64,
    r: &mut Random,
    p: &Oracle,
    versions: Versions,
) {
    let reads = versions == Versions::Always && r.below(3) == 0;
    let moment = reads.then(|| Moment::first(db, p)).flatten();
    let own = versions == Versions::Always && r.below(4) == 0;
    change_some(db, work, id, r, p, own);
    if let Some(moment) = moment {
        moment.again(db, p);
    }
}

fn change_some(db: &Database, work: &mut Work, id: u64, r: &mut Random, p: &Oracle, own: bool) {
    let mut undo = Vec::new();
    work.begin(true, "");
    let first = match (own, r.below(3)) {
        (true, _) => SnapshotTransaction::first(db, work, p).map(Reads::Moment),
        (false, 0) => WatchedRange::first(db, work, r).map(Reads::Range),
        (false, _) => Some(Reads::Nothing),
    };
    let Some(mut reads) = first else { return work.roll_back().unwrap() };
    for _ in 0..1 + r.below(5) {
        let (mark, before) = (work.mark(), undo.len());
        let mut expected = match &reads {
            Reads::Nothing => None,
            Reads::Range(watched) => Some(watched.expected.clone()),
            Reads::Moment(own) => Some(own.rows.clone()),
        };
        if !change(db, work, id, r, p, &mut undo, &mut reads) {
            forget(p, id, &undo);
            return work.roll_back().unwrap();
        }
        if matches!(reads, Reads::Range(_)) && r.below(2) == 0 {
            // Another range, with what it has put itself: perhaps the key beyond it.
            expected = None;
            let Some(watched) = WatchedRange::first(db, work, r) else {
                forget(p, id, &undo);
                return work.roll_back().unwrap();
            };
            reads = Reads::Range(watched);
        }
        if r.below(4) == 0 {
            // What is forgotten must be forgotten while its locks keep others away.
            forget(p, id, &undo[before..]);
            let undone = undo.split_off(before);
            work.roll_back_to(&mark).unwrap();
            match (&mut reads, expected) {
                (Reads::Range(watched), Some(expected)) => watched.expected = expected,
                // What was read has been taken back: those keys are what they were.
                (Reads::Range(watched), None) => watched.keys_undone.extend(undone),
                (Reads::Moment(own), Some(expected)) => own.rows = expected,
                (Reads::Moment(_), None) | (Reads::Nothing, _) => {}
            }
        }
    }
    if !reads.again(db, work, r, p) {
        forget(p, id, &undo);
        return work.roll_back().unwrap();
    }
    if r.below(5) == 0 {
        forget(p, id, &undo);
        p.rolled_back.lock().insert(id);
        return work.roll_back().unwrap();
    }
    let mode = if r.below(4) == 0 { CommitMode::Delayed } else { CommitMode::Full };
    p.committing.lock().insert(id);
    let full = mode == CommitMode::Full
        || db.home().delayed_durability() == work::DelayedDurability::Disabled;
    if full {
        p.full.lock().insert(id);
    }
    work.commit(mode).unwrap();
    if full {
        p.acknowledged.lock().insert(id);
    }
}

fn workload(disk: Arc<sim::Disk>, seed: u64, p: Arc<Oracle>, fault: Option<Mutation>) {
    let env = environment(disk);
    plant(&env, fault);
    if env.disk.create_dir(Path::new("/data")).is_err() {
        return;
    }
    let Some(db) = make(&env) else { return };
    *p.made.lock() = true;
    add_version_store(&env);
    if seed.is_multiple_of(5) {
        // No ghost of a row goes under locks.
        env.engine.settle_under_locks(0);
    }
    let versions = Versions::of(seed);
    if versions == Versions::Always {
        db.home().set_versioning(STATEMENT_VERSIONS);
        db.home().set_optimized_locking(seed.is_multiple_of(2));
    }
    let session = |n: u64| {
        let (db, p, env) = (Arc::clone(&db), Arc::clone(&p), env.clone());
        os::task::spawn(&format!("session {n}"), move || {
            let mut r = Random(seed ^ (n << 32));
            let id = SessionId(51 + n as i16);
            let mut work = Work::new(&env.engine, id, Arc::default());
            work.set_timeout(Timeout::from_setting(20));
            for t in 0..TRANSACTIONS {
                if versions == Versions::Switched && r.below(3) == 0 {
                    db.home().set_versioning(STATEMENT_VERSIONS * r.below(2) as u8);
                }
                transaction(&db, &mut work, 1 + n * 1000 + t, &mut r, &p, versions);
                if r.below(12) == 0 {
                    let _ = db.checkpoint(false);
                }
                if r.below(6) == 0 {
                    db.home().graveyards().sweep(&env.engine);
                }
            }
        })
    };
    let tasks: Vec<_> = (0..SESSIONS).map(session).collect();
    for task in tasks {
        if let Err(panic) = task.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

fn recovered(db: &Database) -> BTreeMap<u64, u64> {
    let mut work = db.system_work();
    let plan = LockPlan::read(Isolation::ReadCommitted);
    let hobt = db.hobts().get(HOBT).expect("the table is known after recovery");
    let mut cursor = hobt.scan(&mut work, &ScanRange::default(), &plan).unwrap();
    let mut found = BTreeMap::new();
    while cursor.next(&mut work).unwrap() {
        let bytes = |c: usize| cursor.field(c).unwrap().inline().unwrap().to_vec();
        let key = i32::from_le_bytes(bytes(0).try_into().unwrap()) as u64;
        let value = u64::from_le_bytes(bytes(1).try_into().unwrap());
        assert!(bytes(2).iter().all(|b| *b == value as u8), "a value belongs to another row");
        found.insert(key, value);
    }
    found
}

fn ghosts(db: &Database) -> u64 {
    let hobt = db.hobts().get(HOBT).expect("the table is known after recovery");
    let leaf = |h: &dyn StoredHobt| {
        let levels = h.physical_stats(ScanMode::Detailed, db.engine(), &Waiter::new()).unwrap();
        levels[0].contents.as_ref().expect("the leaves were read").ghosts
    };
    leaf(&*hobt) + hobt.large().map_or(0, |large| leaf(&*large))
}

fn clean(db: &Database) {
    let mut last = None;
    loop {
        let progress = db.clean_ghosts(last, 3).unwrap();
        db.home().graveyards().sweep(db.engine());
        assert_eq!(progress.busy, 0, "nobody holds anything");
        last = progress.last;
        if last.is_none() && db.home().ghosts().count() == 0 {
            return;
        }
    }
}

/// What recovery noted is cleaned first; what a full log kept from being settled, and noted, is met
/// by the scan between.
fn clean_all(db: &Database, p: &Oracle) -> Rows {
    let before = ghosts(db);
    clean(db);
    p.cleaned.fetch_add(before - ghosts(db), Relaxed);
    let found = recovered(db);
    clean(db);
    assert_eq!(ghosts(db), 0, "ghosts that nobody clears away");
    assert_eq!(recovered(db), found, "cleaning changes no row");
    let report = db.check();
    assert!(report.is_clean(), "{report:?}");
    found
}

fn verify(disk: Arc<sim::Disk>, p: &Oracle) {
    if !*p.made.lock() {
        return;
    }
    let env = environment(disk);
    let files = Files::of(Path::new("/data"), "t");
    let (db, _) = Database::open(&env, DatabaseId(5), "t", &files, &sizing()).unwrap();
    let (undone, workers) = (Arc::clone(&db), db.start_workers());
    let undoing = os::task::spawn("recovery t", move || undone.undo_put_off());
    let left = undoing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert_eq!((left.left, left.error.is_none()), (0, true), "{left:?}");
    let report = db.check();
    assert!(report.is_clean(), "{report:?}");
    let hobt = db.hobts().get(HOBT).unwrap();
    let known = |r: RowLocation<'_>| {
        let tag = page::VersionTag::of(r.record);
        assert!(tag.is_none_or(|t| db.home().is_settled(t.writer)), "{tag:?} was not announced");
    };
    assert!(hobt.verify(&Waiter::new(), &mut { known }).unwrap().complete);
    let found = clean_all(&db, p);
    for (total, of_this) in TOTALS.iter().zip([&p.ranges, &p.cleaned, &p.moments]) {
        total.fetch_add(of_this.load(Relaxed), Relaxed);
    }
    // What somebody saw without a lock is durable, too.
    let seen: BTreeSet<u64> = p.seen.lock().intersection(&p.full.lock()).copied().collect();
    let acknowledged: BTreeSet<u64> = p.acknowledged.lock().union(&seen).copied().collect();
    let committing = p.committing.lock();
    let history = p.history.lock();
    let present = |id: u64| found.values().any(|v| v / 1000 == id);
    for (key, list) in history.iter() {
        // Only those that asked to commit may be there.
        let list: Vec<_> = list.iter().filter(|(t, _)| committing.contains(t)).collect();
        let now = found.get(key).copied();
        let least = list.iter().rposition(|(t, _)| acknowledged.contains(t));
        let mut states: Vec<Option<u64>> = vec![];
        if least.is_none() {
            states.push(None);
        }
        for (t, v) in &list[least.unwrap_or(0)..] {
            // A transaction that shows itself elsewhere must show itself here, or be overwritten.
            if present(*t) {
                states.clear();
            }
            states.push(*v);
        }
        assert!(states.contains(&now), "key {key} is {now:?}, may be {states:?}: {list:?}");
    }
    for key in found.keys() {
        assert!(history.contains_key(key), "key {key} was never written");
    }
    db.close(workers).unwrap();
}

#[test]
fn transactions_of_eight_sessions_survive_crashes_whole() {
    let cases = if std::env::var_os("GHOSTLIGHT_LONG").is_some() { 2000 } else { 60 };
    let plan = Plan {
        seeds: 0..cases / 10,
        cases: 10,
        depth: 3,
        disk: DiskOptions { refuse_space_one_in: 60, ..DiskOptions::default() },
        ..Plan::default()
    };
    let counts = crash_runs(&plan, |d, seed, p| workload(d, seed, p, None), |d, p| verify(d, &p));
    println!("{} crash points, {counts:?}", counts.crash_points());
    assert!(counts.crash_points() >= cases, "{counts:?}");
    let [ranges, cleaned, moments] = TOTALS.each_ref().map(|t| t.load(Relaxed));
    println!("{ranges} ranges and {moments} moments read twice, {cleaned} ghosts cleaned");
    assert!(ranges > cases && moments > cases && cleaned > 0, "the test does what it says");
}

fn plant(_env: &Environment, fault: Option<Mutation>) {
    #[cfg(feature = "mutations")]
    if let Some(fault) = fault {
        _env.engine.transactions.mutations.plant(fault);
    }
    assert!(cfg!(feature = "mutations") || fault.is_none(), "a build without faults");
}

/// A commit that is seen before it is durable is caught, and within so many seeds, of each of which
/// rows have versions. versions.5 reads the line.
#[cfg(feature = "mutations")]
#[test]
fn each_mutation_of_sessions_is_caught() {
    let (fault, began) = (Mutation::EarlyStamp, os::clock::monotonic_ns());
    let caught = (0..200).map(|n| 3 * n + 1).find_map(|seed| {
        let plan = Plan {
            seeds: seed..seed + 1,
            cases: 10,
            depth: 3,
            disk: DiskOptions { refuse_space_one_in: 60, ..DiskOptions::default() },
            ..Plan::default()
        };
        let work = |d, seed, p| workload(d, seed, p, Some(fault));
        let failed = sim::harness::try_crash_runs(&plan, work, |d, p| verify(d, &p)).err();
        failed.map(|text| text.lines().next().unwrap_or_default().to_owned())
    });
    let line = caught.unwrap_or_else(|| panic!("{fault:?} is not caught"));
    let seconds = (os::clock::monotonic_ns() - began) as f64 / 1e9;
    println!("\nmutation {fault:?}: {seconds:.1} s, crashes of eight sessions: {line}");
}
