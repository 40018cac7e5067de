//! Whom recovery takes over, on a disk that fails nobody: who has changed rows, where nothing that
//! it needs is held.

use super::tables::{HOBTS, OBJECTS, Row};
use super::{Random, environment, make, rows, sizing};
use access::{Isolation, LockPlan};
use base::{DatabaseId, ObjectId, SessionId};
use database::{Database, Files, RecoveryReport};
use lock::{Duration, Mode, Owner, OwnerId, OwnerKind, Resource};
use os::disk::{Disk, RealDisk};
use std::path::Path;
use std::sync::Arc;
use work::{Engine, RECOVERY_SESSION, Work};

/// A database with a row of a transaction that could not be undone, as its close leaves it.
fn left(dir: &Path) {
    let _ = std::fs::remove_dir_all(dir);
    RealDisk.create_dir(dir).unwrap();
    let env = environment(Arc::new(RealDisk));
    let db = make(&env, dir, 1).unwrap();
    let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
    let plan = LockPlan::change(Isolation::ReadCommitted);
    work.begin(true, "left");
    let row = Row::new(7, 70, &mut Random(1));
    db.hobts().get(HOBTS[0]).unwrap().insert(&mut work, &row.fields(), &plan).unwrap();
    db.home().set_undo(txn::UndoTable::default());
    work.roll_back().unwrap_err();
    db.close(Vec::new()).unwrap();
}

/// Somebody who holds S on a table of the database that comes.
fn holder(engine: &Engine, table: i32) -> Arc<Owner> {
    let id = OwnerId::new(OwnerKind::Session, 60);
    let owner = Owner::new(id, SessionId(60), Arc::default());
    let table = Resource::object(DatabaseId(5), ObjectId(table));
    let held = engine.locks.try_lock_now(&owner, table, Mode::S, Duration::Long, None);
    assert!(held.unwrap().is_some());
    owner
}

/// Opens it beside somebody who holds a table, and looks.
fn open(dir: &Path, held: i32, look: impl FnOnce(&Arc<Database>, &RecoveryReport, &Engine)) {
    let env = environment(Arc::new(RealDisk));
    let owner = holder(&env.engine, held);
    let files = Files::of(dir, "t");
    let (db, report) = Database::open(&env, DatabaseId(5), "t", &files, &sizing(1)).unwrap();
    look(&db, &report, &env.engine);
    db.close(Vec::new()).unwrap();
    env.engine.locks.release_all(&owner);
}

#[test]
fn who_cannot_be_taken_over_is_undone_first() {
    let dir = std::env::temp_dir().join(format!("ghostlight-taken-{}", std::process::id()));
    left(&dir);
    // Nobody undoes: it is left once more.
    open(&dir, OBJECTS + 1, |db, report, engine| {
        assert_eq!((report.undone, report.put_off), (0, 1));
        let table = Resource::object(DatabaseId(5), ObjectId(OBJECTS));
        let holders = engine.locks.holders_of(table);
        assert_eq!(holders.iter().map(|h| h.1).collect::<Vec<_>>(), [RECOVERY_SESSION]);
        let open = db.home().open_parts();
        assert_eq!((open.len(), open[0].session), (1, RECOVERY_SESSION));
        assert!(open[0].reserved_bytes > 0 && open[0].next_undo.is_some(), "{open:?}");
        let first = open[0].begin.unwrap();
        let checkpoint = db.checkpoint(true).unwrap();
        assert!(checkpoint.min_lsn <= first && !db.log().checkpoint().clean, "its log stays");
    });
    open(&dir, OBJECTS, |db, report, _| {
        assert_eq!((report.undone, report.put_off), (1, 0), "its table is held");
        assert_eq!(rows(db, HOBTS[0]), []);
    });
    open(&dir, OBJECTS, |db, report, _| {
        assert_eq!((report.undone, report.put_off), (0, 0), "it is over");
        assert!(db.check().is_clean());
    });
    std::fs::remove_dir_all(&dir).unwrap();
}
