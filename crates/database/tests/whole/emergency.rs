//! A database whose log or files are damaged is not opened and its files stay as they are; for an
//! emergency it is read as far as it goes, and never written.

use super::tables::{HOBTS, Row};
use super::{Random, environment, make, rows, sizing};
use access::{Isolation, LockPlan, WriteError};
use base::limits::PAGE_BYTES;
use base::{DatabaseId, Lsn, SessionId};
use database::{Database, Files, OpenError, RecoveryReport};
use os::disk::{Disk, OpenMode, RealDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use wal::{BlockFacts, BlockScan, FoundLog, Log};
use work::{CommitMode, Work};

const ID: DatabaseId = DatabaseId(5);
const HOW: OpenMode = OpenMode { create: false, direct: false };

/// A folder with a database that was left in the midst of its work: rows 0 to 199, each a commit of
/// its own, and 100 more of a transaction that is still open.
struct Folder {
    dir: PathBuf,
    files: Files,
}

impl Folder {
    /// With all pages home behind the last commit, or none.
    fn left(name: &str, written: bool) -> Folder {
        Folder::left_by(name, 1, written, |_| {})
    }

    /// By a run of that seed, of which something was done before the end.
    fn left_by(name: &str, seed: u64, written: bool, last: impl FnOnce(&Database)) -> Folder {
        let dir = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        RealDisk.create_dir(&dir).unwrap();
        let env = environment(Arc::new(RealDisk));
        let db = make(&env, &dir, seed).unwrap();
        let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
        for i in 0..200 {
            work.begin(true, "");
            insert(&db, &mut work, i).unwrap();
            work.commit(CommitMode::Full).unwrap();
        }
        work.begin(true, "");
        (1000..1100).for_each(|i| insert(&db, &mut work, i).unwrap());
        last(&db);
        db.log().flush_all();
        if written {
            db.pages().flush_dirty();
        }
        let files = db.files().clone();
        let copy = Folder { files: Files::of(&dir.join("left"), "t"), dir };
        RealDisk.create_dir(&copy.dir.join("left")).unwrap();
        std::fs::copy(&files.data, &copy.files.data).unwrap();
        std::fs::copy(&files.log, &copy.files.log).unwrap();
        copy
    }

    fn bytes(&self) -> [Vec<u8>; 2] {
        [&self.files.data, &self.files.log].map(|path| std::fs::read(path).unwrap())
    }

    fn flip(&self, log: bool, at: usize) {
        let path = if log { &self.files.log } else { &self.files.data };
        let mut bytes = std::fs::read(path).unwrap();
        bytes[at] ^= 4;
        std::fs::write(path, bytes).unwrap();
    }

    /// Where each block of the log begins, without touching the file.
    fn blocks(&self) -> Vec<(usize, BlockFacts)> {
        let copy = self.dir.join("copy");
        std::fs::copy(&self.files.log, &copy).unwrap();
        blocks_of(&RealDisk, &copy, false)
    }

    fn open(&self) -> Result<(Arc<Database>, RecoveryReport), OpenError> {
        Database::open(&environment(Arc::new(RealDisk)), ID, "t", &self.files, &sizing(1))
    }

    fn look_anyhow(&self) -> Result<(Arc<Database>, RecoveryReport), OpenError> {
        let env = environment(Arc::new(RealDisk));
        Database::open_emergency(&env, ID, "t", &self.files, &sizing(1))
    }

    /// What an emergency shows, and that it changes nothing.
    fn look(&self) -> (Vec<u64>, RecoveryReport) {
        let (before, env) = (self.bytes(), environment(Arc::new(RealDisk)));
        let opened = Database::open_emergency(&env, ID, "t", &self.files, &sizing(1));
        let (db, report) = opened.unwrap();
        assert!(db.is_emergency() && db.start_workers().is_empty());
        let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
        let found = rows(&db, HOBTS[0]).into_iter().map(|(key, ..)| key).collect();
        work.begin(true, "");
        let refused = insert(&db, &mut work, 7000);
        assert!(matches!(refused, Err(WriteError::Sql(e)) if e.number() == 3908));
        work.roll_back().unwrap();
        assert_eq!(db.checkpoint(false).unwrap_err().number(), 3908);
        drop(work);
        db.close(Vec::new()).unwrap();
        assert!(before == self.bytes(), "an emergency wrote");
        let names = RealDisk.list(&self.dir.join("left")).unwrap();
        assert_eq!(names.len(), 2, "nothing is left: {names:?}");
        (found, report)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

pub(crate) fn insert(db: &Database, work: &mut Work, i: u64) -> Result<(), WriteError> {
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let hobt = db.hobts().get(HOBTS[0]).unwrap();
    hobt.insert(work, &Row::new(i, i, &mut Random(i)).fields(), &plan).map(drop)
}

/// Where each block of a log begins in its file. `goes_on`: an incarnation follows them, which
/// knows that they are durable; else the file stays as it is.
fn blocks_of(disk: &dyn Disk, path: &Path, goes_on: bool) -> Vec<(usize, BlockFacts)> {
    let file = disk.open(path, HOW).unwrap();
    let log = match goes_on {
        true => Log::open(file, sizing(1).log),
        false => FoundLog::find(file).and_then(|found| found.open(sizing(1).log)),
    };
    let log = log.unwrap();
    let vlfs = log.vlfs();
    let mut scan = BlockScan::new(Arc::clone(&log), log.checkpoint().min_lsn);
    let mut found = Vec::new();
    while scan.next_block().unwrap() {
        let block = scan.block();
        let vlf = vlfs.iter().find(|v| v.sequence == block.lsn.vlf()).unwrap();
        found.push((vlf.offset as usize + block.lsn.block() as usize * 512, block));
    }
    // The incarnation that is open now.
    found.pop();
    found
}

/// Copies of simulated disks that were damaged, and told so.
pub(crate) static DAMAGED: AtomicUsize = AtomicUsize::new(0);

/// On a copy of what a crash has left, a byte of the log is flipped that is durable: the database
/// is suspect, its files stay as they are, and an emergency can be opened or is refused.
pub(crate) fn damage_is_told(disk: &sim::Disk, seed: u64) {
    let copy = disk.after_stop(seed);
    let files = Files::of(Path::new("/data"), "t");
    let blocks = blocks_of(&copy, &files.log, true);
    if blocks.len() < 2 {
        // The crash came right behind a checkpoint: no block is known to be durable.
        return;
    }
    let mut r = Random(seed);
    let (at, block) = blocks[r.below(blocks.len() as u64 - 1) as usize];
    let at = at as u64 + r.below((block.header_bytes + block.record_bytes) as u64);
    let mut byte = copy.bytes_at(&files.log, at, 1);
    byte[0] ^= 1 << r.below(8);
    copy.damage(&files.log, at, &byte);
    let bytes = |disk: &sim::Disk| {
        [&files.data, &files.log].map(|path| {
            let len = disk.open(path, HOW).unwrap().len().unwrap();
            disk.bytes_at(path, 0, len as usize)
        })
    };
    let before = bytes(&copy);
    let env = environment(Arc::new(copy.clone()));
    let opened = Database::open(&env, ID, "t", &files, &sizing(1));
    let told = opened.err().unwrap_or_else(|| panic!("damage at {} is not told", block.lsn));
    assert!(matches!(told, OpenError::Suspect { at: Some(_), .. }), "{told}");
    assert!(before == bytes(&copy), "a log that is damaged was written, or pages were");
    if let Ok((db, _)) = Database::open_emergency(&env, ID, "t", &files, &sizing(1)) {
        let _ = db.check();
        db.close(Vec::new()).unwrap();
    }
    assert!(before == bytes(&copy), "an emergency wrote");
    DAMAGED.fetch_add(1, Relaxed);
}

/// Where the block before one ends: in another VLF, perhaps.
fn ends_before(blocks: &[(usize, BlockFacts)], lsn: Lsn) -> Lsn {
    let (_, before) = blocks.iter().rfind(|(_, b)| b.lsn < lsn).unwrap();
    Lsn::new(before.lsn.vlf(), before.lsn.block() + before.bytes as u32 / 512, 0)
}

/// Damage in the midst of the log: the database is not opened, twice, with nothing written, and an
/// emergency shows the rows of before.
#[test]
fn a_damaged_log_is_told_and_read_up_to_the_damage() {
    let folder = Folder::left("damaged-log", false);
    let blocks = folder.blocks();
    // From the newest to the oldest: what is before is read.
    for back in [3, 60, 150] {
        let (at, block) = blocks[blocks.len() - back];
        let lsn = ends_before(&blocks, block.lsn);
        folder.flip(true, at + 40);
        for _ in 0..2 {
            let before = folder.bytes();
            let Err(OpenError::Suspect { at, why, error }) = folder.open() else {
                panic!("it is opened")
            };
            assert_eq!((at, error.number()), (Some(lsn), 9004), "{why}");
            assert!(why.contains(&format!("damaged at LSN {lsn}")), "{why}");
            assert!(before == folder.bytes(), "it was written");
        }
        let (found, report) = folder.look();
        assert_eq!(report.stopped_at, Some(lsn));
        assert!(found.len() < 200 && found.iter().copied().eq(0..found.len() as u64));
        assert!(report.redone.skipped == 0 && (back < 100 || found.len() < 120), "{report:?}");
    }
}

/// What was not committed is not shown, and a database that is whole is opened as before.
#[test]
fn an_emergency_shows_what_was_committed() {
    let folder = Folder::left("whole", false);
    let (found, report) = folder.look();
    assert_eq!((found, report.undone), ((0..200).collect(), 1));
    let (db, report) = folder.open().unwrap();
    assert_eq!(report.undone + report.put_off, 1);
    db.close(Vec::new()).unwrap();
    assert_eq!(folder.look().0.len(), 200);
}

/// With accelerated recovery a checkpoint carries the open transaction, whose log is not read: its
/// rows do not count, for an emergency, for readers alone, and when the database is opened.
#[test]
fn an_emergency_passes_rows_of_whom_a_checkpoint_carried() {
    let folder = Folder::left_by("carried", 3, true, |db| {
        db.checkpoint(false).unwrap();
        db.checkpoint(false).unwrap();
    });
    let (found, report) = folder.look();
    assert_eq!((found, report.aborted + report.undone), ((0..200).collect(), 1));
    let env = environment(Arc::new(RealDisk));
    let (db, _) = Database::open_read_only(&env, ID, "t", &folder.files, &sizing(1)).unwrap();
    assert_eq!(rows(&db, HOBTS[0]).len(), 200);
    db.close(Vec::new()).unwrap();
    let (db, report) = folder.open().unwrap();
    assert_eq!((report.aborted + report.undone, rows(&db, HOBTS[0]).len()), (1, 200));
    db.close(Vec::new()).unwrap();
}

/// Pages that are home know how far the log was durable, where nothing in the log does: its end is
/// cut off, with all that was written of it behind the pages.
#[test]
fn pages_newer_than_the_log_are_damage() {
    let folder = Folder::left("newer-pages", true);
    let blocks = folder.blocks();
    let from = blocks[blocks.len() - 40].0;
    let mut log = std::fs::read(&folder.files.log).unwrap();
    // As if nothing had ever been there: no later block, no note.
    let end = blocks.last().unwrap().0.max(from) + 512;
    log[from..end].fill(0);
    log[1536..2048].fill(0);
    std::fs::write(&folder.files.log, log).unwrap();
    let before = folder.bytes();
    let Err(OpenError::Suspect { at, .. }) = folder.open() else { panic!("it is opened") };
    assert!(at.is_some() && before == folder.bytes());
    let (found, report) = folder.look();
    assert!(report.redone.skipped > 0 && found.len() >= 200, "{} {report:?}", found.len());
}

/// Pages of `after`, but those that the log names before its damage as they were `before`: what a
/// crash may leave, as pages go home in any order.
fn mixed(before: &[u8], after: &[u8], named: &[u32]) -> Vec<u8> {
    let mut bytes = after.to_vec();
    for page in named {
        let at = *page as usize * PAGE_BYTES;
        bytes[at..at + PAGE_BYTES].copy_from_slice(&before[at..at + PAGE_BYTES]);
    }
    bytes
}

/// A split in the lost part of the log has moved a loser's row to a page that redo never sees: the
/// page is newer than the log, so undo leaves it, and nothing panics.
#[test]
fn undo_leaves_a_page_that_is_newer_than_the_log() {
    let dir = std::env::temp_dir().join(format!("ghostlight-moved-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    let folder = Folder { files: Files::of(&dir.join("left"), "t"), dir: dir.clone() };
    RealDisk.create_dir(&dir).unwrap();
    RealDisk.create_dir(&dir.join("left")).unwrap();
    let env = environment(Arc::new(RealDisk));
    let db = make(&env, &dir, 1).unwrap();
    let data = || {
        db.log().flush_all();
        db.pages().flush_dirty();
        std::fs::read(&db.files().data).unwrap()
    };
    let mut work = Work::new(&env.engine, SessionId(51), Arc::default());
    let mut put = |keys: &mut dyn Iterator<Item = u64>| {
        work.begin(true, "");
        keys.for_each(|key| insert(&db, &mut work, key).unwrap());
        work.commit(CommitMode::Full).unwrap();
    };
    put(&mut (0..2000));
    db.checkpoint(false).unwrap();
    let mut loser = Work::new(&env.engine, SessionId(52), Arc::default());
    loser.begin(true, "");
    insert(&db, &mut loser, 9_000_000).unwrap();
    let (before, cut) = (data(), db.log().durable_lsn());
    put(&mut (0..400).map(|i| 8_999_000 + i * 37 % 400));
    let after = data();
    std::fs::copy(&db.files().log, &folder.files.log).unwrap();
    let mut named = Vec::new();
    let mut scan = BlockScan::new(&**db.log(), db.log().checkpoint().min_lsn);
    while scan.next_block().unwrap() && scan.block().lsn < cut {
        named.extend(scan.records().filter_map(|r| r.page()).map(|page| page.page));
    }
    std::fs::write(&folder.files.data, mixed(&before, &after, &named)).unwrap();
    let blocks = folder.blocks();
    let (at, _) = blocks.iter().find(|(_, block)| block.lsn >= cut).unwrap();
    folder.flip(true, at + 40);
    let Err(OpenError::Suspect { at: Some(_), .. }) = folder.open() else { panic!("it is opened") };
    let (found, report) = folder.look();
    assert_eq!((report.redone.skipped, report.redone.losers.len()), (0, 1), "{report:?}");
    assert_eq!(report.undone, 0, "the row stands on a page that is newer");
    assert!(found.len() >= 2000 && found.contains(&9_000_000), "{}", found.len());
}

/// What is done to the bytes of a file.
type Damage = dyn Fn(&mut Vec<u8>);

/// Headers of the log: of the file, of its parts, both pointers; the file is gone.
#[test]
fn a_log_without_its_headers_is_told() {
    let folder = Folder::left("headers", true);
    let whole = folder.bytes();
    let cases: [(&str, &Damage); 4] = [
        ("a header of a part", &|log| log[8192 + 9] ^= 1),
        ("the file's header", &|log| log[5] ^= 1),
        ("both pointers", &|log| log[512..1536].fill(0xEE)),
        ("half a file", &|log| log.truncate(300_000)),
    ];
    for (what, change) in cases {
        let mut log = whole[1].clone();
        change(&mut log);
        std::fs::write(&folder.files.log, log).unwrap();
        let before = folder.bytes();
        assert!(folder.open().is_err(), "{what}");
        assert!(before == folder.bytes(), "{what}: it was written");
        let (found, _) = folder.look();
        assert!(found.len() >= 200, "{what}: {}", found.len());
    }
    std::fs::remove_file(&folder.files.log).unwrap();
    assert!(matches!(folder.open(), Err(OpenError::Pending(_))));
    assert!(folder.look_anyhow().unwrap().1.stopped_at.is_none());
}

/// The first page of the data file: nothing can be read.
#[test]
fn a_data_file_without_its_first_page_is_pending() {
    let folder = Folder::left("first-page", true);
    folder.flip(false, 200);
    let before = folder.bytes();
    assert!(matches!(folder.open(), Err(OpenError::Pending(_))));
    assert!(before == folder.bytes());
    assert!(matches!(folder.look_anyhow(), Err(OpenError::Pending(_))));
}
