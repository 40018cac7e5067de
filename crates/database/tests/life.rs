//! A database is made, used, closed, crashed and opened again.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use access::{Field, Isolation, LockPlan, ScanRange, TableSource};
use base::{DatabaseId, HobtId, IndexId, ObjectId, SessionId};
use catalog::view::{IndexKind, KeyField, SystemObjects};
use catalog::{DatabaseOptions, HobtColumn, HobtSpec};
use database::{Database, Environment, Files, Sizing};
use os::disk::{Disk, RealDisk};
use os::memory::Memory;
use std::path::Path;
use std::sync::Arc;
use types::{Collation, SqlType};
use work::{CommitMode, Engine, Work};

fn environment(disk: Arc<dyn Disk>) -> Environment {
    let memory = Memory::new(64 << 20);
    Environment {
        disk,
        pool: buffer::Pool::new(&memory, 512).unwrap(),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    }
}

fn spec() -> HobtSpec {
    let column =
        HobtColumn { sql_type: SqlType::Int, nullable: false, collation: Collation::default() };
    HobtSpec {
        database: DatabaseId(5),
        object_id: ObjectId(100_000),
        index_id: IndexId(1),
        hobt: HobtId(300),
        kind: IndexKind::Clustered,
        columns: vec![column],
        key: vec![KeyField { field: 0, descending: false }],
        added: Vec::new(),
        declared_key: 1,
        unique: true,
        fill_factor: 0,
        padded: false,
    }
}

fn rows(hobt: &dyn TableSource, work: &mut Work) -> Vec<i32> {
    let plan = LockPlan::read(Isolation::ReadCommitted);
    let mut cursor = hobt.scan(work, &ScanRange::default(), &plan).unwrap();
    let mut found = Vec::new();
    while cursor.next(work).unwrap() {
        let bytes = cursor.field(0).unwrap().inline().unwrap();
        found.push(i32::from_le_bytes(bytes.try_into().unwrap()));
    }
    found
}

#[test]
fn rows_come_and_go_by_transactions() {
    let dir = std::env::temp_dir().join(format!("ghostlight-db-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    RealDisk.create_dir(&dir).unwrap();
    let env = environment(Arc::new(RealDisk));
    let files = Files::of(&dir, "life");
    let id = DatabaseId(5);
    let options = DatabaseOptions::default();
    let sizing = Sizing::default();
    let db = Database::create(&env, id, "life", &files, &sizing, &options, true).unwrap();
    let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
    work.begin(true, "");
    let places = db.builder().create_hobt(&mut work, &spec()).unwrap();
    assert_eq!(places.units.len(), 1);
    work.commit(CommitMode::Full).unwrap();
    let hobt = db.hobts().get(HobtId(300)).unwrap();
    let plan = LockPlan::change(Isolation::ReadCommitted);
    work.begin(true, "");
    for i in 0..2000_i32 {
        hobt.insert(&mut work, &[Field::Inline(&i.to_le_bytes())], &plan).unwrap();
    }
    work.commit(CommitMode::Full).unwrap();
    work.begin(true, "");
    for i in 500..1500_i32 {
        let bytes = i.to_le_bytes();
        let fields = [Field::Inline(&bytes)];
        hobt.delete(&mut work, access::RowKey { fields: &fields, hint: None }, &plan).unwrap();
    }
    let mark = work.mark();
    hobt.insert(&mut work, &[Field::Inline(&5000_i32.to_le_bytes())], &plan).unwrap();
    work.roll_back_to(&mark).unwrap();
    assert_eq!(rows(&*hobt, &mut work).len(), 1000);
    work.roll_back().unwrap();
    work.begin(true, "");
    assert_eq!(rows(&*hobt, &mut work), (0..2000).collect::<Vec<_>>());
    for i in 0..1000_i32 {
        let (old, new) = (i.to_le_bytes(), (i + 10_000).to_le_bytes());
        let fields = [Field::Inline(&old)];
        let key = access::RowKey { fields: &fields, hint: None };
        hobt.update(&mut work, key, &[Field::Inline(&new)], &plan).unwrap();
    }
    work.commit(CommitMode::Full).unwrap();
    work.begin(true, "");
    let expected: Vec<i32> = (1000..2000).chain(10_000..11_000).collect();
    assert_eq!(rows(&*hobt, &mut work), expected);
    work.commit(CommitMode::Full).unwrap();
    let report = db.check();
    assert!(report.is_clean(), "{report:?}");
    db.close(Vec::new()).unwrap();
    let home = Arc::downgrade(db.home());
    drop((db, hobt, work));
    assert!(home.upgrade().is_none(), "a closed database that nobody holds leaves memory");
    check_reopened(&files, &dir);
}

fn check_reopened(files: &Files, dir: &Path) {
    let env = environment(Arc::new(RealDisk));
    let (db, report) =
        Database::open(&env, DatabaseId(5), "life", files, &Sizing::default()).unwrap();
    assert_eq!((report.torn_pages, report.undone), (0, 0));
    db.close(Vec::new()).unwrap();
    std::fs::remove_dir_all(dir).unwrap();
}

/// What the boot page in the data file says of the version, where other builds look first.
fn version_in(files: &Files) -> u32 {
    let bytes = std::fs::read(&files.data).unwrap();
    let boot: &[u8; 8192] = bytes[9 * 8192..10 * 8192].try_into().unwrap();
    database::boot_version(page::PageView(boot))
}

/// A database that has accelerated recovery, or has ever had it, has a version that earlier builds
/// refuse. It is in the data file before anything of accelerated recovery is in the log.
#[test]
fn accelerated_recovery_changes_the_version() {
    let dir = std::env::temp_dir().join(format!("ghostlight-version-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    RealDisk.create_dir(&dir).unwrap();
    let env = environment(Arc::new(RealDisk));
    let sizing = Sizing::default();
    let make = |id, name, options: &DatabaseOptions| {
        let files = Files::of(&dir, name);
        let made = Database::create(&env, DatabaseId(id), name, &files, &sizing, options, true);
        (made.unwrap(), files)
    };
    let (db, files) = make(5, "later", &DatabaseOptions::default());
    assert_eq!(version_in(&files), 2);
    db.note_accelerated().unwrap();
    assert_eq!(version_in(&files), 6);
    db.note_accelerated().unwrap();
    db.close(Vec::new()).unwrap();
    drop(db);
    let (db, _) = Database::open(&env, DatabaseId(5), "later", &files, &sizing).unwrap();
    assert!(!db.home().is_accelerated(), "the option is what was set");
    db.close(Vec::new()).unwrap();
    assert_eq!(version_in(&files), 6, "it stays");
    let accelerated = DatabaseOptions { accelerated_recovery: true, ..DatabaseOptions::default() };
    let (db, files) = make(6, "born", &accelerated);
    assert_eq!(version_in(&files), 6);
    assert!(db.home().is_accelerated() && db.home().is_versioned());
    db.close(Vec::new()).unwrap();
    drop(db);
    let (db, _) = Database::open(&env, DatabaseId(6), "born", &files, &sizing).unwrap();
    assert!(db.home().is_accelerated(), "it is remembered");
    db.close(Vec::new()).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
}

/// A database of an earlier build that has accelerated recovery gets the version of this build when
/// it is opened, before a row of it gets an in-row version.
#[test]
fn an_earlier_accelerated_database_gets_this_builds_version() {
    let dir = std::env::temp_dir().join(format!("ghostlight-earlier-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    RealDisk.create_dir(&dir).unwrap();
    let env = environment(Arc::new(RealDisk));
    let sizing = Sizing::default();
    let files = Files::of(&dir, "earlier");
    let accelerated = DatabaseOptions { accelerated_recovery: true, ..DatabaseOptions::default() };
    let made =
        Database::create(&env, DatabaseId(5), "earlier", &files, &sizing, &accelerated, true);
    let db = made.unwrap();
    db.close(Vec::new()).unwrap();
    drop(db);
    let mut bytes = std::fs::read(&files.data).unwrap();
    let boot: &mut [u8; 8192] = (&mut bytes[9 * 8192..10 * 8192]).try_into().unwrap();
    boot[100] = 4;
    page::seal(boot);
    std::fs::write(&files.data, &bytes).unwrap();
    assert_eq!(version_in(&files), 4);
    let (db, _) = Database::open(&env, DatabaseId(5), "earlier", &files, &sizing).unwrap();
    assert_eq!(version_in(&files), 6, "in the file, where an earlier build looks first");
    db.close(Vec::new()).unwrap();
    std::fs::remove_dir_all(&dir).unwrap();
}
