//! Databases that are dropped while others work, or work while others are dropped; trace flags.

use crate::heard::Response;
use crate::visit::Visit;
use crate::workers::GhostPlaces;
use crate::{Instance, InstanceOptions};
use access::Hobts as _;
use base::{AllocUnitId, DatabaseId, FileId, Lsn, SessionId, SqlResult, TransactionId, Xsn};
use catalog::view::{DatabaseView, SchemaId};
use database::Database;
use ddl::NewDatabase;
use os::disk::{Disk, File, FolderLock, Holder, LockRefusal, OpenMode, RealDisk};
use os::sync::{Condvar, Mutex};
use os::wait::{WaitKind, Waiter};
use session::{Login, Session};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use txn::AbortedTransaction;
use types::Value;
use work::{TraceFlag, Work};

/// Files whose removal waits: the end of a slow DROP DATABASE.
#[derive(Default)]
struct Gate {
    shut: Mutex<Option<&'static str>>,
    waits: AtomicU32,
    opened: Condvar,
}

/// The real disk behind a gate.
struct GatedDisk(Arc<Gate>);

impl Disk for GatedDisk {
    fn open(&self, path: &Path, how: OpenMode) -> io::Result<Arc<dyn File>> {
        RealDisk.open(path, how)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut shut = self.0.shut.lock();
        while shut.is_some_and(|name| {
            path.file_name().is_some_and(|f| f.to_string_lossy().contains(name))
        }) {
            self.0.waits.fetch_add(1, Relaxed);
            self.0.opened.wait(&mut shut);
        }
        drop(shut);
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

struct Stage {
    folder: PathBuf,
    gate: Arc<Gate>,
    instance: Arc<Instance>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.instance.stop();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn stage(name: &str) -> Stage {
    stage_with(name, &[])
}

fn stage_with(name: &str, trace_flags: &[u16]) -> Stage {
    let trace_flags = trace_flags.to_vec();
    stage_of(name, InstanceOptions { trace_flags, ..InstanceOptions::default() })
}

fn stage_of(name: &str, options: InstanceOptions) -> Stage {
    let folder = std::env::temp_dir().join(format!("ghostlight-{name}-{}", std::process::id()));
    let gate = Arc::<Gate>::default();
    let options = InstanceOptions { max_memory_bytes: 64 << 20, ..options };
    let disk = Arc::new(GatedDisk(Arc::clone(&gate)));
    let instance = Instance::open(disk, &folder, options).unwrap();
    Stage { folder, gate, instance }
}

fn create(instance: &Instance, name: &str) -> SqlResult<()> {
    instance.create_database(&NewDatabase {
        name: name.into(),
        collation: None,
        data: None,
        log: None,
    })
}

fn drop_it(instance: &Instance, name: &str) -> SqlResult<()> {
    instance.drop_database(name)
}

/// While a database is being closed others are made and dropped; its name and its number are not
/// given away before it is gone.
#[test]
fn a_slow_drop_keeps_nobody_waiting() {
    let s = stage("slow-drop");
    create(&s.instance, "slow").unwrap();
    let id = s.instance.database_by_name("slow").unwrap().id();
    *s.gate.shut.lock() = Some("slow");
    let instance = Arc::clone(&s.instance);
    let dropping = os::task::spawn("drop", move || drop_it(&instance, "slow"));
    while s.gate.waits.load(Relaxed) == 0 {
        os::task::sleep_ns(1_000_000);
    }
    create(&s.instance, "other").unwrap();
    assert_ne!(s.instance.database_by_name("other").unwrap().id(), id, "the number is taken");
    assert_eq!(create(&s.instance, "SLOW").unwrap_err().number(), 1801);
    assert_eq!(drop_it(&s.instance, "slow").unwrap_err().number(), 3701);
    drop_it(&s.instance, "other").unwrap();
    *s.gate.shut.lock() = None;
    s.gate.opened.notify_all();
    dropping.join().unwrap().unwrap();
    create(&s.instance, "slow").unwrap();
    assert_eq!(s.instance.database_by_name("slow").unwrap().id(), id);
}

/// Databases of which one is dropped by somebody else as soon as a view holds it.
struct DroppingVisit<'i> {
    visit: Visit<'i>,
    instance: &'i Instance,
    refused: AtomicU32,
}

impl sysviews::Databases for DroppingVisit<'_> {
    fn all(&self) -> Vec<Arc<Database>> {
        self.visit.all()
    }

    fn closed(&self) -> Vec<sysviews::ClosedDatabase> {
        self.visit.closed()
    }

    fn get(&self, id: DatabaseId) -> Option<Arc<Database>> {
        self.visit.get(id)
    }

    fn view(&self, id: DatabaseId) -> Option<Arc<DatabaseView>> {
        self.visit.view(id)
    }

    fn hold(&self, id: DatabaseId) -> SqlResult<Option<Arc<Database>>> {
        let held = self.visit.hold(id)?;
        if held.as_ref().is_some_and(|d| d.home().name() == "d") {
            assert_eq!(drop_it(self.instance, "d").unwrap_err().number(), 3702);
            self.refused.fetch_add(1, Relaxed);
        }
        Ok(held)
    }
}

/// A view that reads the pages of a database which is not its session's keeps it from being
/// dropped until it has answered, and not longer.
#[test]
fn a_view_holds_the_database_that_it_reads() {
    let s = stage("held-by-views");
    create(&s.instance, "d").unwrap();
    let id = s.instance.database_by_name("d").unwrap().id();
    let objects = sysviews::all();
    let work = Work::new(s.instance.engine(), SessionId(51), Arc::default());
    let everywhere = [Value::SmallInt(id.0 as i16), Value::Null, Value::Null, Value::Null];
    let views: [(&str, &[Value]); 4] = [
        ("dm_db_index_physical_stats", &everywhere),
        ("dm_db_partition_stats", &[]),
        ("allocation_units", &[]),
        ("partitions", &[]),
    ];
    for (name, arguments) in views {
        let view = objects.find(SchemaId::SYS, name).unwrap();
        let databases = DroppingVisit {
            visit: Visit::new(&s.instance, SessionId(51)),
            instance: &s.instance,
            refused: AtomicU32::new(0),
        };
        let system = sysviews::System {
            databases: &databases,
            sessions: &s.instance.registry,
            configuration: &s.instance.configuration,
            semaphores: &s.instance.semaphores,
            workers: &s.instance.query_workers,
            programs: &s.instance.programs,
            memory: &s.instance.memory,
            events: &s.instance.events,
            server: "",
            version: "",
            engine: s.instance.engine(),
            current: id,
            waiter: &os::wait::Waiter::new(),
            transaction: work.transaction_id(),
        };
        sysviews::open(&system, view.object_id, arguments).unwrap();
        assert_eq!(databases.refused.load(Relaxed), 1, "{name}");
        drop(databases);
        s.instance.system_view(id, view.object_id, arguments, &work).unwrap();
    }
    drop_it(&s.instance, "d").unwrap();
}

fn connect(instance: &Instance, database: &str) -> Session {
    let (user, database) = ("sa".to_owned(), database.to_owned());
    instance.connect(Login { user, database, odbc_defaults: true, ..Login::default() }).unwrap()
}

/// The rows of a batch without an error.
fn run(session: &mut Session, text: &str) -> Vec<Vec<Value>> {
    let heard = Response::ask(session, text);
    assert!(heard.error().is_none() && heard.goes_on, "{text}: {:?}", heard.error());
    heard.rows
}

/// While trace flag 661 is on the ghost cleaner leaves everything as it is, and forgets nothing:
/// once it is off all is cleared away.
#[test]
fn ghosts_wait_for_661_to_be_turned_off() {
    let s = stage("trace-661");
    create(&s.instance, "g").unwrap();
    let mut session = connect(&s.instance, "g");
    run(&mut session, "create table t (id int primary key); dbcc traceon (661, -1)");
    // A step that began before the flag was on is over now.
    drop(s.instance.cleaning.lock());
    // A rollback to a savepoint leaves ghosts, by whose keys the transaction's ranges are locked.
    let leave = "set transaction isolation level serializable; begin tran; select count(*) from t; \
                 save tran s; insert t values (1), (2); rollback tran s; commit; \
                 set transaction isolation level read committed";
    run(&mut session, leave);
    let mut ghosts = || {
        let stats = "select ghost_record_count from sys.dm_db_index_physical_stats(db_id(), \
                     object_id('t'), 1, null, 'DETAILED') where index_level = 0";
        run(&mut session, stats)
    };
    s.instance.clean_ghosts(&mut GhostPlaces::new());
    assert_eq!(ghosts(), [[Value::BigInt(2)]]);
    let queue = s.instance.database_by_name("g").unwrap();
    assert_eq!(queue.home().ghosts().count(), 1, "their page is still noted");
    run(&mut connect(&s.instance, ""), "dbcc traceoff (661, -1)");
    s.instance.clean_ghosts(&mut GhostPlaces::new());
    assert_eq!(ghosts(), [[Value::BigInt(0)]]);
    assert_eq!(queue.home().ghosts().count(), 0);
}

/// What stands behind -T is on before the first session comes, and the error log says so.
#[test]
fn flags_of_the_command_line_are_on_from_the_start() {
    let s = stage_with("trace-start", &[7006, 661, 661]);
    let flags = &s.instance.engine().trace_flags;
    let on = TraceFlag::ALL.into_iter().filter(|f| flags.is_on(*f));
    assert!(on.eq([TraceFlag::GhostCleanerOff, TraceFlag::GhostsOf2019]));
    let mut session = connect(&s.instance, "");
    let row = |flag| [flag, 1, 1, 0].map(Value::SmallInt);
    assert_eq!(run(&mut session, "dbcc tracestatus"), [row(661), row(7006)]);
    run(&mut session, "dbcc traceoff (661, 7006, -1)");
    assert!(run(&mut session, "dbcc tracestatus").is_empty());
    let log = std::fs::read_to_string(s.folder.join("errorlog")).unwrap();
    assert!(log.contains("Trace flag 661 is on.\n") && log.contains("Trace flag 7006 is on.\n"));
    assert!(!log.contains("has no effect"), "{log}");
    assert!(log.contains("DBCC TRACEOFF 661, 7006, server process ID (SPID) "), "{log}");
}

/// A tempdb without room: who gives way is told, and that versions are not kept, once.
#[test]
fn what_a_full_version_store_does_is_in_the_error_log() {
    let s = stage("full-store");
    create(&s.instance, "d").unwrap();
    let (mut reader, mut writer) = (connect(&s.instance, "d"), connect(&s.instance, "d"));
    run(&mut writer, "alter database d set allow_snapshot_isolation on");
    run(&mut writer, "create table t (id int primary key, v int, pad char(4000))");
    run(&mut writer, "insert t select value, 0, 'x' from generate_series(1, 10)");
    let read = "set transaction isolation level snapshot; begin tran; select count(*) from t";
    run(&mut reader, read);
    run(&mut writer, "update t set v = 1");
    let space = Arc::clone(s.instance.database(DatabaseId(2)).unwrap().space());
    let growth = space.growth(FileId(1)).unwrap();
    space.set_growth(FileId(1), space::GrowthOptions { pages: 0, ..growth });
    run(&mut writer, "create table #f (pad char(8000))");
    run(&mut writer, "begin try while 1 = 1 insert #f values ('x') end try begin catch end catch");
    let log = || std::fs::read_to_string(s.folder.join("errorlog")).unwrap();
    let count = |text: &str| log().matches(text).count();
    run(&mut writer, "update t set v = 2");
    run(&mut writer, "update t set v = 3");
    assert_eq!(count("Error: 3967, Severity: 17, State: 1."), 1, "{}", log());
    assert_eq!(count("has been marked as victim"), 1);
    run(&mut writer, "begin tran; update t set v = 4");
    run(&mut writer, "update t set pad = 'y'; update t set v = 5");
    run(&mut writer, "commit; create table u (id int primary key, pad char(4000))");
    run(&mut writer, "insert u select value, 'x' from generate_series(1, 100)");
    run(&mut writer, "begin tran; update u set pad = 'y'; commit");
    assert_eq!(count("Version store is full. New version(s) could not be added."), 1, "{}", log());
}

/// A flag of the command line that means nothing here is on, as DBCC TRACEON turns it on, and one
/// that cannot be is left out; the error log says of each that nothing comes of it.
#[test]
fn flags_of_the_command_line_without_effect_are_told() {
    let s = stage_with("trace-unknown", &[8649, 4199, 40_000]);
    let mut session = connect(&s.instance, "");
    let row = |flag| [flag, 1, 1, 0].map(Value::SmallInt);
    assert_eq!(run(&mut session, "dbcc tracestatus"), [row(4199), row(8649)]);
    run(&mut session, "dbcc traceon (1224) with no_infomsgs");
    let log = std::fs::read_to_string(s.folder.join("errorlog")).unwrap();
    assert!(log.contains("Trace flag 8649 is set, and has no effect"), "{log}");
    assert!(log.contains("Trace flag 1224 is set, and has no effect"), "{log}");
    assert!(log.contains("Ignoring trace flag 40000 specified during startup."), "{log}");
    assert!(!log.contains("Trace flag 4199 is set, and has no"), "{log}");
}

/// Trace flag 1222 brings the report of a deadlock into the error log.
#[test]
fn a_deadlock_is_reported_in_the_error_log_under_1222() {
    let s = stage("trace-1222");
    create(&s.instance, "g").unwrap();
    let mut one = connect(&s.instance, "g");
    run(&mut one, "create table t (id int primary key, v int); insert t values (1, 0), (2, 0)");
    let deadlock = |one: &mut Session| {
        run(one, "set deadlock_priority high; begin tran; update t set v = 1 where id = 1");
        let (instance, holds) = (Arc::clone(&s.instance), Arc::new(Waiter::new()));
        let told = Arc::clone(&holds);
        let other = os::task::spawn("other", move || {
            let mut two = connect(&instance, "g");
            run(&mut two, "begin tran; update t set v = 2 where id = 2");
            told.signal();
            let second = "begin try update t set v = 2 where id = 1; commit end try \
                          begin catch rollback end catch";
            run(&mut two, second);
        });
        let _ = holds.wait(WaitKind::SleepTask, None);
        run(one, "update t set v = 1 where id = 2; commit");
        other.join().unwrap();
    };
    let log = || std::fs::read_to_string(s.folder.join("errorlog")).unwrap();
    deadlock(&mut one);
    assert!(
        log().contains("Deadlock of 2 processes") && !log().contains("<deadlock>"),
        "{}",
        log()
    );
    run(&mut one, "dbcc traceon (1222)");
    deadlock(&mut one);
    assert!(!log().contains("<deadlock>"), "a session's flag is not the server's");
    run(&mut one, "dbcc traceon (1222, -1)");
    deadlock(&mut one);
    assert_eq!(log().matches("<deadlock>").count(), 1, "{}", log());
}

/// `--accelerated-recovery`: new databases of users have it, whatever model has; those that are
/// there keep what they have, and system databases never have it.
#[test]
fn new_databases_have_accelerated_recovery_where_the_server_says_so() {
    let accelerated = InstanceOptions { accelerated_recovery: true, ..InstanceOptions::default() };
    let mut s = stage_of("accelerated", accelerated);
    create(&s.instance, "first").unwrap();
    let on = |instance: &Instance| {
        let databases = instance.databases.read();
        let on = databases.values().filter(|o| o.database.home().is_accelerated());
        on.map(|o| o.database.home().name()).collect::<Vec<_>>()
    };
    assert_eq!(on(&s.instance), ["first"]);
    s.instance.stop().unwrap();
    let plain = InstanceOptions { max_memory_bytes: 64 << 20, ..InstanceOptions::default() };
    s.instance = Instance::open(Arc::new(RealDisk), &s.folder, plain).unwrap();
    create(&s.instance, "second").unwrap();
    assert_eq!(on(&s.instance), ["first"]);
}

/// What sp_configure says of the cleaner of versions the engine knows, from RECONFIGURE on and
/// after the next start.
#[test]
fn options_of_the_cleaner_reach_the_engine() {
    let mut s = stage("cleaner-options");
    let said = |s: &Stage| {
        let engine = s.instance.engine();
        let pages = engine.preallocated_pages_max();
        (engine.cleaner_threads(), engine.cleaner_retry_minutes(), pages)
    };
    assert_eq!(said(&s), (1, 15, 2048));
    let mut session = connect(&s.instance, "");
    run(&mut session, "exec sp_configure 'show advanced options', 1; reconfigure");
    run(&mut session, "exec sp_configure 'ADR Cleaner Thread Count', 4");
    run(&mut session, "exec sp_configure 'ADR cleaner retry timeout (min)', 0");
    run(&mut session, "exec sp_configure 'ADR Preallocation Factor', 1");
    assert_eq!(said(&s), (1, 15, 2048), "from RECONFIGURE on");
    run(&mut session, "reconfigure");
    assert_eq!(said(&s), (4, 0, 512));
    drop(session);
    s.instance.stop().unwrap();
    let plain = InstanceOptions { max_memory_bytes: 64 << 20, ..InstanceOptions::default() };
    s.instance = Instance::open(Arc::new(RealDisk), &s.folder, plain).unwrap();
    assert_eq!(said(&s), (4, 0, 512));
}

/// Accelerated recovery is turned off once no aborted transaction has rows that stand on pages, and
/// the error log tells for how many that was waited.
#[test]
fn accelerated_recovery_ends_after_the_aborted() {
    let s = stage("accelerated-off");
    create(&s.instance, "d").unwrap();
    let mut session = connect(&s.instance, "");
    run(&mut session, "alter database d set accelerated_database_recovery = on");
    let home = Arc::clone(s.instance.database_by_name("d").unwrap().home());
    assert!(home.is_accelerated());
    for n in 1..=3 {
        home.aborted().enter(AbortedTransaction {
            xsn: Xsn((1 << 47) + n),
            id: TransactionId(n),
            began_at: 0,
            begin: Lsn(1),
            end: Lsn(2),
            nested: false,
            units: vec![AllocUnitId(u32::MAX)],
        });
    }
    run(&mut session, "alter database d set accelerated_database_recovery = off");
    assert!(home.aborted().is_empty() && !home.is_accelerated() && !home.is_versioned());
    let log = std::fs::read_to_string(s.folder.join("errorlog")).unwrap();
    let told = "Accelerated recovery of database 'd' is turned off when the rows of 3 aborted";
    assert!(log.contains(told) && log.contains("] ADR disabled for the database."), "{log}");
}
