//! A log that may not grow and is full; a rollback that fails. Neither loses or invents a row.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use access::{Field, Fill, Isolation, LockPlan, ScanRange, WriteError};
use base::{DatabaseId, HobtId, IndexId, ObjectId, SessionId};
use catalog::view::{IndexKind, KeyField, SystemObjects};
use catalog::{DatabaseOptions, HobtColumn, HobtSpec};
use database::{Database, Environment, Files, Sizing};
use lock::Timeout;
use os::disk::{Disk, RealDisk};
use os::memory::Memory;
use std::path::PathBuf;
use std::sync::Arc;
use types::{Collation, SqlType};
use work::{CommitMode, Engine, Work};

const PLAN: LockPlan = LockPlan::change(Isolation::ReadCommitted);

fn environment() -> Environment {
    let memory = Memory::new(64 << 20);
    Environment {
        disk: Arc::new(RealDisk),
        pool: buffer::Pool::new(&memory, 512).unwrap(),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    }
}

fn spec(hobt: u32, kind: IndexKind) -> HobtSpec {
    let column =
        |sql_type| HobtColumn { sql_type, nullable: false, collation: Collation::default() };
    let key = match kind {
        IndexKind::Heap => Vec::new(),
        _ => vec![KeyField { field: 0, descending: false }],
    };
    HobtSpec {
        database: DatabaseId(5),
        object_id: ObjectId(100_000 + hobt as i32),
        index_id: IndexId(1),
        hobt: HobtId(hobt),
        kind,
        columns: vec![column(SqlType::Int), column(SqlType::varchar(8000))],
        added: Vec::new(),
        declared_key: key.len(),
        key,
        unique: true,
        fill_factor: 0,
        padded: false,
    }
}

struct Place {
    env: Environment,
    db: Arc<Database>,
    work: Work,
    dir: PathBuf,
}

fn sizing() -> Sizing {
    let mut sizing = Sizing::default();
    (sizing.log.initial_bytes, sizing.log.growth_bytes) = (1 << 20, 0);
    sizing
}

fn place(name: &str) -> Place {
    let dir = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    RealDisk.create_dir(&dir).unwrap();
    let (env, files) = (environment(), Files::of(&dir, "d"));
    let options = DatabaseOptions::default();
    let db = Database::create(&env, DatabaseId(5), "d", &files, &sizing(), &options, true).unwrap();
    let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
    work.set_timeout(Timeout::from_setting(20));
    Place { env, db, work, dir }
}

fn fields<'a>(key: &'a [u8; 4], filler: &'a [u8]) -> [Field<'a>; 2] {
    [Field::Inline(key), Field::Inline(filler)]
}

fn keys(db: &Database, work: &mut Work, hobt: u32) -> Vec<i32> {
    let hobt = db.hobts().get(HobtId(hobt)).unwrap();
    let plan = LockPlan::read(Isolation::ReadCommitted);
    let mut cursor = hobt.scan(work, &ScanRange::default(), &plan).unwrap();
    let mut found = Vec::new();
    while cursor.next(work).unwrap() {
        found.push(i32::from_le_bytes(
            cursor.field(0).unwrap().inline().unwrap().try_into().unwrap(),
        ));
    }
    found
}

fn is_full(e: &WriteError) -> bool {
    matches!(e, WriteError::Sql(e) if e.number() == 9002)
}

#[test]
fn a_full_log_refuses_and_rolls_back() {
    for (kind, loads) in [
        (IndexKind::Clustered, true),
        (IndexKind::Clustered, false),
        (IndexKind::Heap, true),
        (IndexKind::Heap, false),
    ] {
        let mut p = place("full");
        p.work.begin(true, "");
        p.db.builder().create_hobt(&mut p.work, &spec(300, kind)).unwrap();
        let hobt = p.db.hobts().get(HobtId(300)).unwrap();
        let filler = [b'x'; 3000];
        let mut refused = false;
        let mut loader =
            loads.then(|| hobt.load(&mut p.work, Fill { leaf: 100, interior: 100 }).unwrap());
        for i in 0..10_000_i32 {
            let (key, work) = (i.to_le_bytes(), &mut p.work);
            let done = match &mut loader {
                Some(loader) => loader.push(work, &fields(&key, &filler)),
                None => hobt.insert(work, &fields(&key, &filler), &PLAN).map(|_| ()),
            };
            if let Err(e) = done {
                assert!(is_full(&e), "{e:?}");
                refused = true;
                break;
            }
        }
        assert!(refused, "one megabyte of log takes no thirty of rows");
        drop(loader);
        p.work.roll_back().unwrap();
        assert!(p.db.hobts().get(HobtId(300)).is_none(), "it was never made");
        p.db.checkpoint(false).unwrap();
        let report = p.db.check();
        assert!(report.is_clean(), "{report:?}");
        p.db.close(Vec::new()).unwrap();
        std::fs::remove_dir_all(&p.dir).unwrap();
    }
}

/// Rows of a heap become shorter and longer where they are.
#[test]
fn rows_of_a_heap_shrink_on_their_page() {
    let mut p = place("shrink");
    p.work.begin(true, "");
    p.db.builder().create_hobt(&mut p.work, &spec(300, IndexKind::Heap)).unwrap();
    p.work.commit(CommitMode::Full).unwrap();
    let hobt = p.db.hobts().get(HobtId(300)).unwrap();
    p.work.begin(true, "");
    let key = 7_i32.to_le_bytes();
    let mut rid =
        hobt.insert(&mut p.work, &fields(&key, &[b'x'; 500]), &PLAN).unwrap().rid.unwrap();
    for bytes in [10, 400, 3, 3000, 2999] {
        let at = [Field::Inline(&rid)];
        let at = access::RowKey { fields: &at, hint: None };
        let row = vec![b'y'; bytes];
        let moved = hobt.update(&mut p.work, at, &fields(&key, &row), &PLAN).unwrap().rid.unwrap();
        assert_eq!(moved[..6], rid[..6], "its page has room");
        rid = moved;
    }
    p.work.commit(CommitMode::Full).unwrap();
    assert_eq!(keys(&p.db, &mut p.work, 300), [7]);
    assert!(p.db.check().is_clean());
    p.db.close(Vec::new()).unwrap();
    std::fs::remove_dir_all(&p.dir).unwrap();
}

/// What cannot be undone keeps its locks, and its log over checkpoints, until the next start.
#[test]
fn a_rollback_that_fails_is_made_good_by_the_next_start() {
    let mut p = place("stuck");
    p.work.begin(true, "");
    let changes = catalog::DatabaseOption::DelayedDurability(catalog::DelayedDurability::Allowed);
    let tables = txn::UndoTable::default();
    p.db.set_option(&mut p.work, changes).unwrap();
    p.db.home().set_undo(tables);
    let owner = std::sync::Arc::downgrade(p.work.owner());
    p.work.roll_back().unwrap_err();
    assert!(owner.upgrade().is_some(), "its locks have an owner");
    p.work.begin(true, "");
    let other = catalog::DatabaseOption::DelayedDurability(catalog::DelayedDurability::Forced);
    let refused = p.db.set_option(&mut p.work, other).unwrap_err();
    assert_eq!(refused.number(), 1222, "its row is still locked: {refused:?}");
    p.work.roll_back().unwrap();
    p.db.checkpoint(false).unwrap();
    p.db.close(Vec::new()).unwrap();
    drop((p.db, p.work, p.env));
    assert!(owner.upgrade().is_none(), "it goes with the engine");
    let env = environment();
    let files = Files::of(&p.dir, "d");
    let (db, report) = Database::open(&env, DatabaseId(5), "d", &files, &sizing()).unwrap();
    assert_eq!(report.undone, 1, "the next start finds it without an end");
    assert_eq!(db.options().delayed_durability, catalog::DelayedDurability::Disabled);
    db.close(Vec::new()).unwrap();
    std::fs::remove_dir_all(&p.dir).unwrap();
}

/// A drop is committed whether or not there is log to free its pages with: the checkpointer does it
/// when there is, and meanwhile the pages are known to be its own.
#[test]
fn pages_of_a_drop_are_freed_when_the_log_has_room_again() {
    let mut p = place("drop");
    let system = Arc::clone(p.db.hobts());
    let changes = catalog::Changes::new(&*system);
    p.work.begin(true, "");
    for hobt in [300, 301] {
        let spec = spec(hobt, IndexKind::Clustered);
        let places = p.db.builder().create_hobt(&mut p.work, &spec).unwrap();
        changes.put_places(&mut p.work, spec.hobt, &places).unwrap();
    }
    p.work.commit(CommitMode::Full).unwrap();
    p.work.begin(true, "");
    let dropped = changes.drop_hobt(&mut p.work, HobtId(300)).unwrap();
    p.db.builder().drop_hobt_after_commit(&mut p.work, &dropped).unwrap();
    let mut other = Work::new(&p.env.engine, SessionId(52), Arc::default());
    other.begin(true, "");
    let hobt = p.db.hobts().get(HobtId(301)).unwrap();
    let filler = [b'x'; 3000];
    let mut insert = |i: i32| hobt.insert(&mut other, &fields(&i.to_le_bytes(), &filler), &PLAN);
    let refused = (0..10_000).find_map(|i| insert(i).err()).expect("one megabyte is soon full");
    assert!(is_full(&refused), "{refused:?}");
    p.work.commit(CommitMode::Full).unwrap();
    let unit = space::AllocUnit::open(dropped[0].places.unit, dropped[0].places.first_iam);
    assert!(p.db.hobts().get(HobtId(300)).is_none(), "it is dropped");
    assert!(p.db.space().unit_exists(&unit).unwrap(), "no log, no freeing");
    let report = p.db.check();
    assert!(report.is_clean(), "{report:?}");
    other.roll_back().unwrap();
    let workers = p.db.start_workers();
    for _ in 0..1_000 {
        if !p.db.space().unit_exists(&unit).unwrap() {
            break;
        }
        os::task::sleep_ns(10_000_000);
    }
    assert!(!p.db.space().unit_exists(&unit).unwrap(), "freed in the background");
    let report = p.db.check();
    assert!(report.is_clean(), "{report:?}");
    p.db.close(workers).unwrap();
    std::fs::remove_dir_all(&p.dir).unwrap();
}
