//! Two databases that one transaction has written, opened again with and without each other.

use super::emergency::insert;
use super::tables::HOBTS;
use super::{environment, make_named, rows, sizing};
use base::{DatabaseId, Lsn, SessionId};
use database::{Database, Environment, Files, OpenError, RecoveryReport};
use os::disk::{Disk, RealDisk};
use std::path::PathBuf;
use std::sync::Arc;
use work::{CommitMode, Presumption, Work};

const FIRST: (DatabaseId, &str) = (DatabaseId(5), "first");
const SECOND: (DatabaseId, &str) = (DatabaseId(6), "second");

/// A folder with two databases, left when a commit over both was answered, and before the second
/// one's commit record was on disk.
struct Folder {
    dir: PathBuf,
}

impl Folder {
    fn left(name: &str) -> Folder {
        let dir = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        RealDisk.create_dir(&dir).unwrap();
        let env = environment(Arc::new(RealDisk));
        let [first, second] = [FIRST, SECOND].map(|db| make_named(&env, &dir, db, 1).unwrap());
        let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
        work.begin(true, "");
        // The deciding one is not the first that is written.
        insert(&second, &mut work, 7).unwrap();
        insert(&first, &mut work, 7).unwrap();
        let undurable = second.log().next_lsn();
        work.commit(CommitMode::Delayed).unwrap();
        assert!(second.log().durable_lsn() > undurable, "it is prepared");
        assert!(second.log().last_lsn() >= second.log().durable_lsn(), "its end is not on disk");
        assert_eq!(rows(&second, HOBTS[0]).len(), 1);
        drop((work, first, second));
        Folder { dir }
    }

    fn files(&self, (_, name): (DatabaseId, &str)) -> Files {
        Files::of(&self.dir, name)
    }

    fn bytes(&self, database: (DatabaseId, &str)) -> [Vec<u8>; 2] {
        let files = self.files(database);
        [&files.data, &files.log].map(|path| std::fs::read(path).unwrap())
    }

    fn open(
        &self,
        env: &Environment,
        database: (DatabaseId, &str),
    ) -> Result<(Arc<Database>, RecoveryReport), OpenError> {
        Database::open(env, database.0, database.1, &self.files(database), &sizing(1))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The second one asks the first; when it knows, the first one's log is kept no longer.
#[test]
fn a_database_asks_the_one_that_decides() {
    let folder = Folder::left("several-asks");
    let env = environment(Arc::new(RealDisk));
    let (first, report) = folder.open(&env, FIRST).unwrap();
    assert_eq!((report.settled, rows(&first, HOBTS[0]).len()), (0, 1));
    assert!(env.engine.decisions.oldest(FIRST.0) < Lsn::MAX, "somebody may ask");
    first.checkpoint(false).unwrap();
    let (second, report) = folder.open(&env, SECOND).unwrap();
    assert_eq!((report.settled, rows(&second, HOBTS[0]).len()), (1, 1));
    assert_eq!(env.engine.decisions.oldest(FIRST.0), Lsn::MAX, "nobody asks any more");
    first.close(Vec::new()).unwrap();
    drop((first, second));
    // Its own commit record is on disk now: it needs nobody.
    let env = environment(Arc::new(RealDisk));
    let (second, report) = folder.open(&env, SECOND).unwrap();
    assert_eq!((report.settled, rows(&second, HOBTS[0]).len()), (0, 1));
}

/// However often the first one is opened and closed before, it remembers.
#[test]
fn a_decision_is_kept_until_the_other_database_comes() {
    let folder = Folder::left("several-kept");
    for clean in [true, false, true] {
        let env = environment(Arc::new(RealDisk));
        let (first, _) = folder.open(&env, FIRST).unwrap();
        first.checkpoint(false).unwrap();
        if clean {
            first.close(Vec::new()).unwrap();
        }
    }
    let env = environment(Arc::new(RealDisk));
    let _first = folder.open(&env, FIRST).unwrap();
    let (second, report) = folder.open(&env, SECOND).unwrap();
    assert_eq!((report.settled, rows(&second, HOBTS[0]).len()), (1, 1));
}

/// Without the first one nobody knows: the second stays closed as it is, unless something is to be
/// presumed; in an emergency it is read.
#[test]
fn without_the_one_that_decides_a_database_stays_in_doubt() {
    let folder = Folder::left("several-doubt");
    let before = folder.bytes(SECOND);
    let env = environment(Arc::new(RealDisk));
    let refused = folder.open(&env, SECOND).map(drop).unwrap_err();
    assert!(matches!(refused, OpenError::Suspect { .. }), "{refused}");
    assert_eq!(refused.sql().number(), 3431);
    let files = folder.files(SECOND);
    let (id, name) = SECOND;
    let (second, _) = Database::open_emergency(&env, id, name, &files, &sizing(1)).unwrap();
    assert!(rows(&second, HOBTS[0]).len() <= 1);
    second.close(Vec::new()).unwrap();
    drop(second);
    assert!(before == folder.bytes(SECOND), "nothing of it was written");
    for (presumption, count) in [(Presumption::Commit, 1), (Presumption::Abort, 0)] {
        let [data, log] = &before;
        std::fs::write(&files.data, data).unwrap();
        std::fs::write(&files.log, log).unwrap();
        let env = environment(Arc::new(RealDisk));
        env.engine.decisions.presume(presumption);
        let (second, _) = folder.open(&env, SECOND).unwrap();
        second.undo_put_off();
        assert_eq!(rows(&second, HOBTS[0]).len(), count, "{presumption:?}");
        second.close(Vec::new()).unwrap();
    }
}

/// Another database under the first one's number knows nothing of it.
#[test]
fn another_database_of_that_number_is_not_asked() {
    let folder = Folder::left("several-other");
    let files = folder.files(FIRST);
    std::fs::remove_file(&files.data).unwrap();
    std::fs::remove_file(&files.log).unwrap();
    let env = environment(Arc::new(RealDisk));
    let _other = make_named(&env, &folder.dir, FIRST, 1).unwrap();
    let refused = folder.open(&env, SECOND).map(drop).unwrap_err();
    assert_eq!(refused.sql().number(), 3431);
}
