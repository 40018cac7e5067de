//! A whole database in motion: a tree and a heap, each with an index that the same transaction
//! maintains, large rows, tables that come and go, savepoints, full logs that may not grow,
//! delayed commits, checkpoints and the database's own workers, in a pool of 64 frames, on a
//! disk that loses and tears writes. After each crash: every acknowledged commit is there, later
//! ones are lost as a suffix, none is there in part, each index is its table, all is sound.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod change;
mod emergency;
mod oracle;
mod several;
mod tables;
mod taken_over;

use access::{Isolation, LockPlan, ScanRange};
use base::{DatabaseId, HobtId, SessionId};
use catalog::view::{Object, SystemObjects};
use catalog::{Changes, DatabaseOptions, Delta, HobtSpec};
use change::Session;
use database::{Database, DeferredUndo, Environment, Files, Sizing, SweepRequest};
use lock::Timeout;
use oracle::Oracle;
use os::disk::Disk;
use os::memory::Memory;
use os::task::JoinHandle;
use os::wait::Waiter;
use sim::DiskOptions;
use sim::harness::{Counts, Plan, try_crash_runs};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tables::{HOBTS, OBJECTS};
#[cfg(feature = "mutations")]
use txn::Mutation;
use work::{CommitMode, DelayedDurability, Engine, Work};

const SESSIONS: u64 = 8;
const TRANSACTIONS: u64 = 7;

pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn environment(disk: Arc<dyn Disk>) -> Environment {
    let memory = Memory::new(64 << 20);
    let engine = Engine::new(lock::Table::new(&lock::Options::default()));
    // Transactions are small here: some are undone from the log, some by versions.
    engine.undo_from_log(os::entropy::random_u64() % 8);
    // Some keep their log, from their begin on or from their second checkpoint on.
    engine.keep_at_most([0, 1_000, 2_000, 5_000, 16 << 20][os::entropy::random_u64() as usize % 5]);
    Environment {
        disk,
        pool: buffer::Pool::new(&memory, 64).unwrap(),
        engine: Arc::new(engine),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    }
}

fn sizing(seed: u64) -> Sizing {
    let mut sizing = Sizing::default();
    sizing.data_growth.pages = 64;
    sizing.log.initial_bytes = 768 << 10;
    // Every other log may not grow: 9002, and what was begun must still be rolled back.
    sizing.log.growth_bytes = if seed.is_multiple_of(2) { 0 } else { 256 << 10 };
    sizing
}

/// Whether a run's database has accelerated recovery: with a log that may grow, and with one that
/// may not.
fn is_accelerated(seed: u64) -> bool {
    matches!(seed % 6, 2 | 3)
}

fn make(env: &Environment, dir: &Path, seed: u64) -> Option<Arc<Database>> {
    make_named(env, dir, (DatabaseId(5), "t"), seed)
}

fn make_named(
    env: &Environment,
    dir: &Path,
    (id, name): (DatabaseId, &str),
    seed: u64,
) -> Option<Arc<Database>> {
    let files = Files::of(dir, name);
    let accelerated_recovery = is_accelerated(seed);
    let options = DatabaseOptions { accelerated_recovery, ..DatabaseOptions::default() };
    let sizing = sizing(seed);
    let db = Database::create(env, id, name, &files, &sizing, &options, true).ok()?;
    HOBTS.iter().for_each(|h| db.ids().used_hobt(*h));
    let mut work = Work::new(&env.engine, SessionId(50), Arc::default());
    work.begin(true, "");
    let tables = [tables::tree(), tables::heap()];
    for table in &tables {
        let system = Arc::clone(db.hobts());
        let changes = Changes::new(&*system);
        for index in &table.indexes {
            let spec = HobtSpec::of(table, index);
            let places = db.builder().create_hobt(&mut work, &spec).ok()?;
            changes.put_places(&mut work, index.partitions.sole(), &places).ok()?;
        }
        changes.put_table(&mut work, None, table).ok()?;
    }
    work.commit(CommitMode::Full).ok()?;
    for table in tables {
        db.publisher().publish(&[Delta::PutObject(Object::Table(Arc::new(table)))]);
    }
    Some(db)
}

/// Faults of accelerated recovery.
#[cfg(feature = "mutations")]
const ACCELERATED_FAULTS: [(&str, Mutation); 8] = [
    ("map uncarried", Mutation::MapUncarried),
    ("active ones uncarried", Mutation::ActiveUncarried),
    ("forgotten early", Mutation::ForgottenEarly),
    ("reclaimed unasked", Mutation::ReclaimedUnasked),
    ("map unread", Mutation::MapUnread),
    ("kept record lost", Mutation::KeptLost),
    ("aborted passed", Mutation::AbortedPassed),
    ("redo-only skipped", Mutation::RedoOnlySkipped),
];

/// Faults of the engine, which a start has from its begin on.
fn plant_in_engine(engine: &Engine, fault: Option<&str>) {
    #[cfg(feature = "mutations")]
    if let Some((_, mutation)) = ACCELERATED_FAULTS.iter().find(|(name, _)| Some(*name) == fault) {
        engine.transactions.mutations.plant(*mutation);
    }
    #[cfg(not(feature = "mutations"))]
    let _ = (engine, fault);
}

fn plant(db: &Database, fault: Option<&str>) {
    plant_in_engine(db.engine(), fault);
    #[cfg(feature = "mutations")]
    match fault {
        Some(fault) if ACCELERATED_FAULTS.iter().any(|(name, _)| *name == fault) => {}
        Some(fault) if db.log().mutate(fault) => {}
        Some(fault) => db.pages().mutate(fault),
        None => {}
    }
    #[cfg(not(feature = "mutations"))]
    let _ = (db, fault);
}

fn workload(disk: Arc<sim::Disk>, seed: u64, p: Arc<Oracle>, fault: Option<&str>) {
    let env = environment(disk);
    if env.disk.create_dir(Path::new("/data")).is_err() {
        return;
    }
    let Some(db) = make(&env, Path::new("/data"), seed) else { return };
    plant(&db, fault);
    db.home().set_delayed_durability(DelayedDurability::Allowed);
    *p.made.lock() = true;
    let workers = db.start_workers();
    let session = |n: u64| {
        let (db, p, env) = (Arc::clone(&db), Arc::clone(&p), env.clone());
        os::task::spawn(&format!("session {n}"), move || {
            let mut work = Work::new(&env.engine, SessionId(51 + n as i16), Arc::default());
            work.set_timeout(Timeout::from_setting(20));
            let r = Random(seed ^ (n << 32));
            let mut session = Session { db: &db, work, r, p: &p, undo: Vec::new(), passing: None };
            for t in 0..TRANSACTIONS {
                session.transaction(1 + n * 1000 + t, OBJECTS + 2 + (n * 100 + t) as i32);
                if session.r.below(12) == 0 {
                    let _ = db.checkpoint(false);
                }
                match session.r.below(24) {
                    0 => sweep(&db, SweepRequest::ALL),
                    // The store alone, as `@clean_option` of sp_persistent_version_cleanup has it.
                    1 | 2 => sweep(&db, SweepRequest { rows: false, ..SweepRequest::ALL }),
                    _ => {}
                }
                if is_accelerated(seed) && n == 0 && t == 2 {
                    session.idle(500_000 + n * 1000, OBJECTS + 2 + 9_000);
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
    // Also a running database is sound, and its indexes are its tables.
    let found = look(&db);
    p.compare(&found);
    let _ = db.close(workers);
}

fn bytes(cursor: &dyn access::RowCursor, column: usize) -> &[u8] {
    cursor.field(column).unwrap().inline().unwrap()
}

fn int(bytes: &[u8]) -> u64 {
    i32::from_le_bytes(bytes.try_into().unwrap()) as u64
}

fn long(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().unwrap())
}

/// Key, value and RID of each row, in the order of the scan.
fn rows(db: &Database, hobt: HobtId) -> Vec<(u64, u64, Option<[u8; 8]>)> {
    let mut work = db.system_work();
    let plan = LockPlan::read(Isolation::ReadCommitted);
    let hobt = db.hobts().get(hobt).expect("the table is known");
    let mut cursor = hobt.scan(&mut work, &ScanRange::default(), &plan).unwrap();
    let mut rows = Vec::new();
    while cursor.next(&mut work).unwrap() {
        rows.push((int(bytes(&*cursor, 0)), long(bytes(&*cursor, 1)), cursor.rid()));
    }
    rows
}

/// Everything that is in the database, by key; checks it against itself.
fn look(db: &Database) -> BTreeMap<u64, u64> {
    let report = db.check();
    assert!(report.is_clean(), "{report:?}");
    let plan = LockPlan::read(Isolation::ReadCommitted);
    let mut found = BTreeMap::new();
    let (tree, heap) = (rows(db, HOBTS[0]), rows(db, HOBTS[2]));
    let mut work = db.system_work();
    let mut index = Vec::new();
    let by_value = db.hobts().get(HOBTS[1]).unwrap();
    let mut cursor = by_value.scan(&mut work, &ScanRange::default(), &plan).unwrap();
    while cursor.next(&mut work).unwrap() {
        index.push((long(bytes(&*cursor, 0)), int(bytes(&*cursor, 1))));
    }
    let mut expected: Vec<_> = tree.iter().map(|(k, v, _)| (*v, *k)).collect();
    expected.sort_unstable();
    assert_eq!(index, expected, "the index on v is the tree");
    drop(cursor);
    let mut index = Vec::new();
    let by_key = db.hobts().get(HOBTS[3]).unwrap();
    let mut cursor = by_key.scan(&mut work, &ScanRange::default(), &plan).unwrap();
    while cursor.next(&mut work).unwrap() {
        index.push((int(bytes(&*cursor, 0)), <[u8; 8]>::try_from(bytes(&*cursor, 1)).unwrap()));
    }
    drop(cursor);
    let mut expected: Vec<_> = heap.iter().map(|(k, _, rid)| (*k, rid.unwrap())).collect();
    expected.sort_unstable();
    assert_eq!(index, expected, "the index on k is the heap");
    found.extend(tree.iter().map(|(k, v, _)| (*k, *v)));
    found.extend(heap.iter().map(|(k, v, _)| (1000 + k, *v)));
    for object in db.view().objects() {
        if let Object::Table(table) = object
            && table.object_id.0 > OBJECTS + 1
        {
            let rows = rows(db, table.base().partitions.sole());
            assert_eq!(rows.len(), change::PASSING_ROWS as usize, "{} is whole", table.name);
            found.insert(table.object_id.0 as u64, rows[0].1);
        }
    }
    found
}

/// Losers that were left by a stop so far.
static STOPPED: AtomicUsize = AtomicUsize::new(0);
/// Losers that entered the aborted map, and transactions in the map of a database that was opened.
static ABORTED: AtomicUsize = AtomicUsize::new(0);
static IN_MAP: AtomicUsize = AtomicUsize::new(0);
/// Transactions that left the map after a sweep, and records that sweeps reverted.
static FORGOTTEN: AtomicUsize = AtomicUsize::new(0);
static REVERTED: AtomicUsize = AtomicUsize::new(0);
/// Parts of transactions that were rolled back by versions, as sweeps found them.
static PARTS: AtomicUsize = AtomicUsize::new(0);
/// Losers that were undone beside others so far.
static PUT_OFF: AtomicUsize = AtomicUsize::new(0);

/// Opened, with its workers at it and who undoes what was put off.
fn open(
    disk: &Arc<sim::Disk>,
    fault: Option<&str>,
) -> (Arc<Database>, Vec<JoinHandle<()>>, JoinHandle<DeferredUndo>) {
    let env = environment(Arc::clone(disk) as Arc<dyn Disk>);
    plant_in_engine(&env.engine, fault);
    let files = Files::of(Path::new("/data"), "t");
    let (db, report) = Database::open(&env, DatabaseId(5), "t", &files, &sizing(0)).unwrap();
    ABORTED.fetch_add(report.aborted, Relaxed);
    IN_MAP.fetch_add(db.home().aborted().count(), Relaxed);
    let (undone, workers) = (Arc::clone(&db), db.start_workers());
    let undoing = os::task::spawn("recovery t", move || undone.undo_put_off());
    (db, workers, undoing)
}

/// Takes off the pages what aborted transactions have left. A full log may refuse it.
fn sweep(db: &Database, asked: SweepRequest) {
    PARTS.fetch_add(db.home().aborted().list().iter().filter(|a| a.nested).count(), Relaxed);
    if let Ok(done) = db.sweep_versions(asked, &Waiter::new()) {
        FORGOTTEN.fetch_add(done.forgotten, Relaxed);
        REVERTED.fetch_add(done.reverted as usize, Relaxed);
    }
}

fn ended(undoing: JoinHandle<DeferredUndo>) -> DeferredUndo {
    let report = undoing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    assert!(report.error.is_none(), "{report:?}");
    report
}

fn verify(disk: Arc<sim::Disk>, p: &Oracle, fault: Option<&str>) {
    if !*p.made.lock() {
        return;
    }
    emergency::damage_is_told(&disk, os::entropy::random_u64());
    // Closed in the midst of its undo, before it or behind it, and opened again.
    let (db, workers, undoing) = open(&disk, fault);
    let midst = (db.log().next_lsn().0 % 7) * 50_000;
    os::task::sleep_ns(midst);
    db.close(workers).unwrap();
    let first = ended(undoing);
    drop(db);
    let (db, workers, undoing) = open(&disk, fault);
    let second = ended(undoing);
    assert_eq!(second.left, 0, "{second:?}");
    PUT_OFF.fetch_add(first.undone + second.undone, Relaxed);
    STOPPED.fetch_add(first.left, Relaxed);
    p.compare(&look(&db));
    // The same without the records of aborted transactions, and nothing is kept for them.
    sweep(&db, SweepRequest::ALL);
    assert_eq!(db.home().aborted().count(), 0, "all are reverted");
    p.compare(&look(&db));
    db.close(workers).unwrap();
}

fn run(seeds: std::ops::Range<u64>, fault: Option<&'static str>) -> Result<Counts, String> {
    let plan = Plan {
        seeds,
        cases: 10,
        depth: 3,
        disk: DiskOptions { refuse_space_one_in: 60, ..DiskOptions::default() },
        ..Plan::default()
    };
    try_crash_runs(&plan, |d, seed, p| workload(d, seed, p, fault), |d, p| verify(d, &p, fault))
}

#[test]
fn a_whole_database_survives_crashes() {
    let cases = if std::env::var_os("GHOSTLIGHT_LONG").is_some() { 2000 } else { 180 };
    let counts = run(0..cases / 10, None).unwrap_or_else(|e| panic!("{e}"));
    println!("{} crash points, {counts:?}", counts.crash_points());
    assert!(counts.crash_points() >= cases, "{counts:?}");
    let (beside, stopped) = (PUT_OFF.load(Relaxed), STOPPED.load(Relaxed));
    println!("{beside} losers undone beside others, {stopped} left by a stop");
    let (aborted, in_map) = (ABORTED.load(Relaxed), IN_MAP.load(Relaxed));
    println!("{aborted} losers aborted by versions, {in_map} transactions in maps at a start");
    let (forgotten, reverted) = (FORGOTTEN.load(Relaxed), REVERTED.load(Relaxed));
    let parts = PARTS.load(Relaxed);
    println!("{forgotten} left the map, {reverted} records reverted by sweeps, {parts} parts");
    let damaged = emergency::DAMAGED.load(Relaxed);
    println!("{damaged} copies were damaged, and told so");
    assert!(beside > 0 && stopped > 0 && damaged > 50, "the test does what it says");
    assert!(aborted > 0 && in_map > aborted, "with accelerated recovery, too");
    assert!(forgotten > 0 && reverted > forgotten && parts > 0, "and with sweeps and parts");
}

/// Each planted fault is caught, and within this many crash points.
#[cfg(feature = "mutations")]
#[test]
fn each_mutation_is_caught_within_500_crash_points() {
    let accelerated = ACCELERATED_FAULTS.iter().map(|(name, _)| *name);
    for fault in
        ["log-sync", "doublewrite", "write-ahead", "group-end"].into_iter().chain(accelerated)
    {
        // A seed has 10 cases of at most 3 crash points.
        let of_accelerated = ACCELERATED_FAULTS.iter().any(|(name, _)| *name == fault);
        let seeds = (0..51).filter(|seed| !of_accelerated || is_accelerated(*seed)).take(17);
        let caught = seeds.into_iter().find_map(|seed| {
            let failed = run(seed..seed + 1, Some(fault)).err();
            failed.map(|text| (seed, text.lines().next().unwrap_or_default().to_owned()))
        });
        let (seed, line) = caught.unwrap_or_else(|| panic!("{fault} is not caught"));
        println!("{fault}, seed {seed}: {line}");
    }
}
