//! A database whose recovery has put off a transaction of rows: it is in use, its tables are locked
//! as if that transaction went on, and whoever waits for one of them reads what was there before.
//!
//! The undo is held at its first read of the log until the test has looked around.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod heard;

use heard::Response;
use instance::{Instance, InstanceOptions};
use os::disk::{Disk, File, FileStats, FolderLock, Holder, LockRefusal, OpenMode, RealDisk};
use os::sync::{Condvar, Mutex};
use session::{Login, Session};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use types::Value;

/// What those who undo wait at.
#[derive(Default)]
struct Gate {
    shut: Mutex<bool>,
    opened: Condvar,
    /// The file that the task "stop" wrote last.
    closing: Mutex<PathBuf>,
}

impl Gate {
    fn pass(&self) {
        let name = std::thread::current().name().unwrap_or_default().to_owned();
        let mut shut = self.shut.lock();
        while *shut && name.starts_with("recovery ") {
            self.opened.wait(&mut shut);
        }
    }

    fn wrote(&self, path: &Path) {
        if std::thread::current().name() == Some("stop") {
            *self.closing.lock() = path.to_owned();
        }
    }

    fn open(&self) {
        *self.shut.lock() = false;
        self.opened.notify_all();
    }
}

/// The real disk behind a gate.
struct GatedDisk(Arc<Gate>);

struct GatedFile(Arc<dyn File>, Arc<Gate>, PathBuf);

impl File for GatedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.1.pass();
        self.0.read_at(buf, offset)
    }
    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.1.wrote(&self.2);
        self.0.write_at(buf, offset)
    }
    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }
    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }
    fn stats(&self) -> &FileStats {
        self.0.stats()
    }
}

impl Disk for GatedDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Arc<dyn File>> {
        let file = RealDisk.open(path, how)?;
        Ok(Arc::new(GatedFile(file, Arc::clone(&self.0), path.to_owned())))
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn exists(&self, path: &Path) -> bool {
        RealDisk.exists(path)
    }
    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        RealDisk.list(dir)
    }
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        RealDisk.create_dir(dir)
    }
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        RealDisk.sync_dir(dir)
    }
    fn lock_folder(&self, dir: &Path, holder: &Holder) -> Result<Box<dyn FolderLock>, LockRefusal> {
        RealDisk.lock_folder(dir, holder)
    }
}

const ROWS: i64 = 1000;

/// The same in each database: rows of a tree with an index, and of a heap.
const TABLES: [&str; 5] = [
    "CREATE TABLE t (k int NOT NULL PRIMARY KEY, v int NOT NULL, w varchar(max) NOT NULL)",
    "CREATE INDEX it ON t (v)",
    "CREATE TABLE h (k int NOT NULL, v int NOT NULL, w varchar(max) NOT NULL)",
    "CREATE TABLE other (id int NOT NULL PRIMARY KEY, v int NOT NULL)",
    "INSERT t SELECT value, value, REPLICATE('w', value) FROM GENERATE_SERIES(1, 1000); \
     INSERT h SELECT * FROM t; INSERT other VALUES (1, 42)",
];

const LOSE: &str = "BEGIN TRANSACTION lost; UPDATE t SET v = v + 1000, w = w + 'x'; \
    DELETE h WHERE k % 2 = 0; UPDATE h SET w = REPLICATE(CAST('y' AS varchar(max)), 9000) \
    WHERE k < 10; INSERT h SELECT 2000 + k, v, w FROM t WHERE k < 100";
const SUMS: &str = "SELECT (SELECT SUM(v + LEN(w)) FROM t), (SELECT SUM(v + LEN(w)) FROM h), \
    (SELECT COUNT(*) FROM h)";
/// Of values, and of letters as many; rows.
const BEFORE: [i64; 3] = [ROWS * (ROWS + 1), ROWS * (ROWS + 1), ROWS];

fn open(dir: &Path, gate: &Arc<Gate>) -> Arc<Instance> {
    let mut options = InstanceOptions { max_memory_bytes: 64 << 20, ..InstanceOptions::default() };
    options.sizing.data_pages = 512;
    Instance::open(Arc::new(GatedDisk(Arc::clone(gate))), dir, options).unwrap()
}

fn connect(instance: &Instance, database: &str) -> Session {
    let (user, database) = ("sa".to_owned(), database.to_owned());
    instance.connect(Login { user, database, odbc_defaults: true, ..Login::default() }).unwrap()
}

fn ask(session: &mut Session, text: &str) -> Vec<Vec<Value>> {
    let heard = Response::ask(session, text);
    assert!(heard.error().is_none(), "{text}: {:?}", heard.messages);
    heard.rows
}

fn numbers(session: &mut Session, text: &str) -> Vec<i64> {
    let whole = |value: &Value| match value {
        Value::SmallInt(n) => i64::from(*n),
        Value::Int(n) => i64::from(*n),
        Value::BigInt(n) => *n,
        other => panic!("{text}: {other:?}"),
    };
    ask(session, text).iter().flatten().map(whole).collect()
}

fn words(session: &mut Session, text: &str) -> Vec<String> {
    ask(session, text).iter().flatten().map(|v| v.to_string().trim_end().to_owned()).collect()
}

fn error(session: &mut Session, text: &str) -> Option<i32> {
    Response::ask(session, text).error().map(base::SqlError::number)
}

/// A folder as a crash leaves it: `plain` and `versioned` have a transaction without an end, which
/// changed rows; `defined` has one that has defined something, too.
fn crashed(dir: &Path, copy: &Path) {
    let _ = std::fs::remove_dir_all(dir);
    let _ = std::fs::remove_dir_all(copy);
    let instance = open(dir, &Arc::default());
    let mut losers = Vec::new();
    for name in ["plain", "versioned", "defined"] {
        ask(&mut connect(&instance, ""), &format!("CREATE DATABASE {name}"));
        let mut session = connect(&instance, name);
        if name == "versioned" {
            ask(&mut session, "ALTER DATABASE versioned SET READ_COMMITTED_SNAPSHOT ON");
        }
        TABLES.iter().for_each(|text| drop(ask(&mut session, text)));
        ask(&mut session, LOSE);
        if name == "defined" {
            ask(&mut session, "CREATE TABLE never (k int NOT NULL); INSERT never VALUES (1)");
        }
        // Behind it: the log is durable.
        ask(&mut connect(&instance, name), "INSERT other VALUES (2, 43)");
        losers.push(session);
    }
    copy_files(dir, copy);
    drop(losers);
    instance.stop().unwrap();
    std::fs::remove_dir_all(dir).unwrap();
}

fn copy_files(dir: &Path, copy: &Path) {
    std::fs::create_dir_all(copy).unwrap();
    for file in std::fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        std::fs::copy(&path, copy.join(path.file_name().unwrap())).unwrap();
    }
}

fn folders(name: &str) -> [PathBuf; 2] {
    let of = |what: &str| {
        std::env::temp_dir().join(format!("ghostlight-{name}-{what}-{}", std::process::id()))
    };
    [of("before"), of("after")]
}

/// Who looks around while the undo is held.
fn look_around(instance: &Instance) {
    let mut a = connect(instance, "plain");
    assert_eq!(numbers(&mut a, "SELECT v FROM other ORDER BY id"), [42, 43]);
    let dirty = numbers(&mut a, "SELECT SUM(v) FROM t WITH (NOLOCK)");
    assert_eq!(dirty, [ROWS * (ROWS + 1) / 2 + ROWS * 1000], "uncommitted rows are there");
    for text in ["SELECT SUM(v) FROM t", "UPDATE h SET v = 0", "DROP TABLE t"] {
        let text = format!("SET LOCK_TIMEOUT 20; {text}");
        assert_eq!(error(&mut a, &text), Some(1222), "{text}");
    }
    let locks = "SELECT RTRIM(resource_type) + ' ' + RTRIM(request_mode) + ISNULL(' ' + \
                 OBJECT_NAME(NULLIF(resource_associated_entity_id, 0)), '') \
                 FROM sys.dm_tran_locks WHERE request_session_id = 20 AND \
                 resource_database_id = DB_ID() ORDER BY 1";
    assert_eq!(words(&mut a, locks), ["DATABASE S", "OBJECT X h", "OBJECT X t"]);
    let active = "SELECT a.name, CAST(a.transaction_state AS varchar(9)), \
                  CAST(d.database_transaction_state AS varchar(9)), \
                  CASE WHEN d.database_transaction_log_bytes_reserved > \
                  d.database_transaction_log_bytes_used THEN 'reserved' END \
                  FROM sys.dm_tran_active_transactions a \
                  JOIN sys.dm_tran_database_transactions d ON d.transaction_id = a.transaction_id \
                  WHERE a.transaction_state = 7 AND d.database_id = DB_ID()";
    assert_eq!(words(&mut a, active), ["lost", "7", "4", "reserved"]);
    let mut b = connect(instance, "");
    assert_eq!(error(&mut b, "DROP DATABASE plain"), Some(3702), "it is in use");
    let alone = "ALTER DATABASE plain SET READ_COMMITTED_SNAPSHOT ON WITH NO_WAIT";
    assert_eq!(error(&mut b, alone), Some(5070), "rows of the loser have no versions");
    let alone = "ALTER DATABASE plain SET ACCELERATED_DATABASE_RECOVERY = ON WITH NO_WAIT";
    assert_eq!(error(&mut b, alone), Some(5070), "the loser is undone from the log");
    ask(&mut a, "CHECKPOINT");
    let wait = "SELECT log_reuse_wait_desc FROM sys.databases WHERE name = 'plain'";
    assert_eq!(words(&mut a, wait), ["ACTIVE_TRANSACTION"]);
}

#[test]
fn a_database_is_in_use_while_a_loser_is_undone() {
    let [dir, copy] = folders("beside");
    crashed(&dir, &copy);
    let gate = Arc::new(Gate::default());
    *gate.shut.lock() = true;
    let instance = open(&copy, &gate);
    for name in ["versioned", "defined"] {
        let mut session = connect(&instance, name);
        assert_eq!(numbers(&mut session, SUMS), BEFORE, "{name} is undone before anybody comes");
    }
    assert_eq!(error(&mut connect(&instance, "defined"), "SELECT * FROM never"), Some(208));
    look_around(&instance);
    let theirs = Arc::clone(&instance);
    let waits = os::task::spawn("reader", move || numbers(&mut connect(&theirs, "plain"), SUMS));
    let mut a = connect(&instance, "plain");
    let blocked = "SELECT COUNT(*) FROM sys.dm_exec_requests WHERE blocking_session_id = 20";
    while numbers(&mut a, blocked) != [1] {
        os::task::sleep_ns(1_000_000);
    }
    gate.open();
    assert_eq!(waits.join().unwrap(), BEFORE);
    let held = "SELECT COUNT(*) FROM sys.dm_tran_locks WHERE request_session_id = 20";
    assert_eq!(numbers(&mut a, held), [0]);
    let check = Response::ask(&mut a, "DBCC CHECKDB");
    assert!(check.messages.iter().any(|m| m.text().contains("found 0 allocation errors and 0")));
    drop(a);
    ask(&mut connect(&instance, ""), "ALTER DATABASE plain SET READ_COMMITTED_SNAPSHOT ON");
    instance.stop().unwrap();
    let log = std::fs::read_to_string(copy.join("errorlog")).unwrap();
    let told = |what: &str| log.lines().filter(|l| l.contains(what)).count();
    assert_eq!(told("Database 'plain' is in use while 1 transactions are rolled back"), 1);
    assert_eq!(told("Recovery of database 'plain' is complete. Undo "), 1);
    assert_eq!((told("is in use while"), told("(1 transactions), total")), (1, 2), "{log}");
    std::fs::remove_dir_all(&copy).unwrap();
}

/// Stopped before it has come far: the next start finds the loser, and undoes it.
#[test]
fn a_stop_leaves_the_undo_to_the_next_start() {
    let [dir, copy] = folders("stopped");
    crashed(&dir, &copy);
    let gate = Arc::new(Gate::default());
    *gate.shut.lock() = true;
    let instance = open(&copy, &gate);
    let theirs = Arc::clone(&instance);
    let stops = os::task::spawn("stop", move || theirs.stop());
    // System databases are closed first, msdb as the last of them. Then `plain` is, which waits for
    // who undoes; he reads the log at last, and sees that he is to stop.
    while !gate.closing.lock().ends_with("msdb_log.ldf") {
        os::task::sleep_ns(1_000_000);
    }
    os::task::sleep_ns(1_000_000_000);
    gate.open();
    stops.join().unwrap().unwrap();
    drop(instance);
    let log = std::fs::read_to_string(copy.join("errorlog")).unwrap();
    assert!(log.contains("is stopped: 1 transactions are left to the next start"), "{log}");
    let instance = open(&copy, &Arc::default());
    assert_eq!(numbers(&mut connect(&instance, "plain"), SUMS), BEFORE);
    instance.stop().unwrap();
    std::fs::remove_dir_all(&copy).unwrap();
}

/// A session that rolls back when the engine stops, and does not end in time, is held where it
/// reads the log: its database is closed under it. The rest of the undo is the next start's.
#[test]
fn a_stop_leaves_a_rollback_to_the_next_start() {
    let [dir, copy] = folders("rolling");
    crashed(&dir, &copy);
    let gate = Arc::new(Gate::default());
    let instance = open(&copy, &gate);
    let mut session = connect(&instance, "plain");
    assert_eq!(numbers(&mut session, SUMS), BEFORE);
    let changes = "DECLARE @n int = 0; BEGIN TRAN; \
        WHILE @n < 20 BEGIN UPDATE t SET v = v + 1, w = w + 'z'; SET @n += 1 END";
    ask(&mut session, changes);
    let other = connect(&instance, "plain");
    *gate.shut.lock() = true;
    // The name is one that the gate knows.
    let rolls_back = os::task::spawn("recovery of a session", move || {
        let mut session = session;
        let heard = Response::ask(&mut session, "ROLLBACK");
        heard.error().map(base::SqlError::number)
    });
    os::task::sleep_ns(300_000_000);
    let began = os::clock::monotonic_ns();
    instance.stop().unwrap();
    let took = os::clock::monotonic_ns() - began;
    gate.open();
    let told = rolls_back.join().unwrap();
    assert!(told.is_some(), "its rollback did not end, and it is not told of a panic");
    assert_ne!(told, Some(3624), "a panic");
    drop((other, instance));
    assert!(took < 20_000_000_000, "{took}");
    let instance = open(&copy, &Arc::default());
    assert_eq!(numbers(&mut connect(&instance, "plain"), SUMS), BEFORE);
    instance.stop().unwrap();
    let log = std::fs::read_to_string(copy.join("errorlog")).unwrap();
    assert!(!log.contains("panicked"), "{log}");
    std::fs::remove_dir_all(&copy).unwrap();
}

/// Waits until the error log of a folder has a line.
fn await_line(dir: &Path, what: &str) -> String {
    for _ in 0..3_000 {
        let log = std::fs::read_to_string(dir.join("errorlog")).unwrap();
        if log.contains(what) {
            return log;
        }
        os::task::sleep_ns(10_000_000);
    }
    panic!("the error log has no line \"{what}\"");
}

/// A page that the cleaner cannot read is told once, and so is that it works again.
#[test]
fn what_ends_the_cleaner_is_in_the_error_log() {
    let [dir, copy] = folders("cleaner");
    let _ = (std::fs::remove_dir_all(&dir), std::fs::remove_dir_all(&copy));
    let instance = open(&dir, &Arc::default());
    ask(&mut connect(&instance, ""), "CREATE DATABASE fast");
    let mut session = connect(&instance, "fast");
    ask(&mut session, "ALTER DATABASE fast SET ACCELERATED_DATABASE_RECOVERY = ON");
    ask(&mut session, "CREATE TABLE t (k int NOT NULL PRIMARY KEY, v int NOT NULL, w char(40))");
    ask(
        &mut session,
        "INSERT t SELECT value, 0, CONCAT('needle ', value) FROM GENERATE_SERIES(1, 1000)",
    );
    ask(&mut session, "BEGIN TRANSACTION; UPDATE t SET v = k");
    ask(&mut connect(&instance, "fast"), "CHECKPOINT");
    copy_files(&dir, &copy);
    drop(session);
    instance.stop().unwrap();

    let path = copy.join("fast.mdf");
    let sound = std::fs::read(&path).unwrap();
    let needle = b"needle 777 ";
    // On its page, and in the copy from which a torn page is restored.
    let mut damaged = sound.clone();
    let places = sound.windows(needle.len()).enumerate().filter(|(_, bytes)| bytes == needle);
    places.for_each(|(at, _)| damaged[at] ^= 0x20);
    assert_ne!(damaged, sound);
    std::fs::write(&path, &damaged).unwrap();
    let instance = open(&copy, &Arc::default());
    let told = "The cleaner of versions in database 'fast' was ended by error 824, severity 24";
    await_line(&copy, told);
    let mut session = connect(&instance, "fast");
    assert_eq!(error(&mut session, "SELECT SUM(v) FROM t"), Some(824));
    assert_eq!(error(&mut session, "EXEC sp_persistent_version_cleanup 'fast'"), Some(824));
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    for at in (0..sound.len()).filter(|&at| sound[at] != damaged[at]) {
        file.write_all_at(&sound[at..=at], at as u64).unwrap();
    }
    ask(&mut session, "EXEC sp_persistent_version_cleanup 'fast'");
    let log = await_line(&copy, "The cleaner of versions in database 'fast' works again.");
    assert_eq!(log.matches(told).count(), 1, "{log}");
    assert_eq!(numbers(&mut session, "SELECT SUM(v) FROM t"), [0]);
    instance.stop().unwrap();
    let _ = (std::fs::remove_dir_all(&dir), std::fs::remove_dir_all(&copy));
}
