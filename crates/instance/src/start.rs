//! Starting: system databases made at the first start, all databases opened, workers started;
//! and stopping, which leaves nothing to recover.

use crate::auto_statistics::Gathering;
use crate::closed::ClosedEntry;
use crate::configured;
use crate::definitions::Definitions;
use crate::error_log::ErrorLog;
use crate::instance::{Instance, InstanceOptions, Open};
use crate::list::List;
use crate::list_start;
use crate::opening::Opening;
use base::{DatabaseId, SqlError, SqlResult, messages};
use buffer::Pool;
use catalog::{DatabaseOption, DatabaseOptions, RecoveryModel};
use database::{Database, DeferredUndo, Environment, Files, RecoveryReport, Sizing};
use exec::{ResourceSemaphores, Workspace};
use os::disk::{Disk, FolderLock, Holder, LOCK_FILE, LockRefusal};
use os::memory::Memory;
use os::sync::{Mutex, RwLock};
use os::wait::{CancelReason, Waiter};
use plancache::Cache;
use rowstore::TempSpill;
use session::{Configuration, Registry, Setting};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use sysviews::EventSession;
use work::{Engine, Presumption};

/// The system databases; tempdb is made anew at each start.
pub(crate) const MASTER: DatabaseId = DatabaseId(1);
pub(crate) const TEMPDB: DatabaseId = DatabaseId(2);
pub(crate) const MODEL: DatabaseId = DatabaseId(3);
pub(crate) const MSDB: DatabaseId = DatabaseId(4);
pub(crate) const SYSTEM: [(DatabaseId, &str); 4] =
    [(MASTER, "master"), (TEMPDB, "tempdb"), (MODEL, "model"), (MSDB, "msdb")];

/// Of `--max-memory`, what cached plans may take, and what they may take of a small one.
const PLANS_SHARE: usize = 8;
const PLANS_BYTES_MIN: usize = 8 << 20;

/// How long rollbacks go on when the engine stops.
const UNDO_NS: u64 = 1_000_000_000;

/// Stands in the folder's lock before the address of a server.
const LISTENS: &str = "listening on ";

/// What a user can do about it.
const WITHOUT_LOCKS: &str = "Two processes in one folder would overwrite each other's data. \
    Mount it with locks (NFS: with a lock service, or with local_lock=flock where no other \
    machine uses it), or choose another folder";

/// Threads of all parallel plans together.
const WORKERS_MAX: usize = 512;

fn folder_error(dir: &Path, e: &std::io::Error) -> SqlError {
    let what = format!("master' (folder '{}': {e}), '", dir.display());
    SqlError::new(messages::DATABASE_INACCESSIBLE, &[&what])
}

impl Instance {
    /// Opens the engine on a folder, which is made when it is not there.
    ///
    /// # Errors
    /// What is wrong with the folder, with master or with model. Other databases that cannot be
    /// opened stay closed in a state that is seen, and the error log says why.
    pub fn open(
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: InstanceOptions,
    ) -> SqlResult<Arc<Instance>> {
        disk.create_dir(dir).map_err(|e| folder_error(dir, &e))?;
        // Before anything is read or written: the error log is moved on at each start.
        let folder_lock = lock_folder(&*disk, dir, &options)?;
        let log = Arc::new(ErrorLog::open(&disk, dir));
        log.line("Server", &format!("Ghostlight {} starts.", env!("CARGO_PKG_VERSION")));
        let env = environment(&disk, &options)?;
        turn_on_trace_flags(&env.0.engine, &options.trace_flags, &log);
        let configured = configured::read(&*disk, dir).map_err(|e| folder_error(dir, &e))?;
        let policy = configured.get(&Setting::InDoubt.option().id).copied();
        env.0.engine.decisions.presume(presumption(policy.unwrap_or_default()));
        let mut list = list_start::settled(&disk, dir, &log)?;
        let opening = Opening { env: &env.0, dir, options: &options, log: &log };
        let (open, closed) = open_all(&opening, &mut list)?;
        let tempdb = open.get(&TEMPDB).expect("tempdb was just made");
        let spill = TempSpill::new(tempdb.database.home(), &env.1);
        let store = version::TempdbStore::new(&tempdb.database.home().space);
        env.0.engine.keep_versions_in(store);
        let (env, memory) = env;
        let grants = memory.clerk("MEMORYCLERK_SQLQERESERVATIONS");
        let workspace = Workspace::of_limit(options.max_memory_bytes);
        let semaphores = ResourceSemaphores::new(&memory, &grants, workspace);
        let bytes_max = (options.max_memory_bytes / PLANS_SHARE).max(PLANS_BYTES_MIN);
        let plans = plancache::Options { bytes_max, memory: Some(Arc::clone(&memory)) };
        let max_memory_mb = i32::try_from(options.max_memory_bytes >> 20).unwrap_or(i32::MAX);
        let events = EventSession::new(&memory);
        let instance = Arc::new_cyclic(|me| Instance {
            dir: dir.to_owned(),
            folder_lock: Mutex::new(Some(folder_lock)),
            semaphores,
            query_workers: exec::Workers::new(WORKERS_MAX, os::task::processors()),
            memory,
            databases: RwLock::new(open),
            closed: RwLock::new(closed),
            list: Mutex::new(list),
            cleaning: Mutex::new(()),
            creating: Mutex::default(),
            altering: Mutex::default(),
            claims: Mutex::default(),
            filing: Mutex::new(()),
            visits: std::sync::atomic::AtomicU64::new(0),
            registry: Registry::new(),
            configuration: Configuration::new(&configured, max_memory_mb),
            programs: Cache::new(&plans),
            spill,
            definitions: Definitions::default(),
            gathering: Gathering::default(),
            log,
            events,
            stopping: Arc::new(Waiter::new()),
            search_wanted: Arc::new(Waiter::new()),
            workers: Mutex::default(),
            next_temp: std::sync::atomic::AtomicU64::new(1),
            me: me.clone(),
            env,
            options,
        });
        instance.hear_errors();
        instance.configure_memory();
        instance.configure_cleaner();
        // Caches and the pool's tables are there already: what comes from here on is by request.
        let pool = instance.memory.clerk("MEMORYCLERK_SQLBUFFERPOOL");
        instance.memory.watch_heap(&[pool]);
        os::heap::set_aside();
        instance.start_workers();
        instance.write_log("Server", "Ghostlight is ready.");
        Ok(instance)
    }

    /// The engine is about to stop: rollbacks go on for a moment, then what is left of them is the
    /// next start's, so that nobody waits for long ones.
    pub fn stops_soon(&self) {
        self.engine().leave_undo_at(os::clock::monotonic_ns().saturating_add(UNDO_NS));
    }

    /// Stops the engine: sessions are told to end, databases are closed with everything home.
    ///
    /// # Errors
    /// What could not be made durable; the next start recovers it.
    pub fn stop(&self) -> SqlResult<()> {
        self.write_log("Server", "Ghostlight stops.");
        self.stops_soon();
        self.stopping.cancel(CancelReason::Shutdown);
        self.search_wanted.signal();
        for task in std::mem::take(&mut *self.workers.lock()) {
            // A worker that panicked has said so; stopping goes on.
            let _ = task.join();
        }
        let result = close_all(std::mem::take(&mut *self.databases.write()));
        self.write_log("Server", "Ghostlight has stopped.");
        drop(self.folder_lock.lock().take());
        result
    }
}

/// Opens every database of the list; those that could not be are in a state that says why.
fn open_all(opening: &Opening<'_>, list: &mut List) -> SqlResult<(OpenDatabases, ClosedEntries)> {
    let (mut open, mut closed) = (OpenDatabases::new(), ClosedEntries::new());
    if let Err(e) = opening.all(list, &mut open, &mut closed) {
        opening.log.error("Server", &e);
        // Else their workers would go on without an instance. What is not written at the end is
        // recovered.
        let _ = close_all(open);
        return Err(e);
    }
    // Databases that are gone, and those that others have taken the numbers of, ask for nothing.
    opening.env.engine.decisions.release(|member| match open.get(&member.database) {
        Some(open) => open.database.log().family() != member.family,
        None => !list.entries().contains_key(&member.database),
    });
    Ok((open, closed))
}

/// `in-doubt xact resolution` as it is in use.
pub(crate) fn presumption(policy: i32) -> Presumption {
    match policy {
        1 => Presumption::Commit,
        2 => Presumption::Abort,
        _ => Presumption::None,
    }
}

/// Nobody else has the folder from now on, or the reason why we have it not.
fn lock_folder(
    disk: &dyn Disk,
    dir: &Path,
    options: &InstanceOptions,
) -> SqlResult<Box<dyn FolderLock>> {
    let command = match &*options.address {
        "" => options.command.clone(),
        address => format!("{} {LISTENS}{address}", options.command),
    };
    let folder = dir.display();
    let not_locked = |why: String| SqlError::new(messages::FOLDER_NOT_LOCKED, &[&folder, &why]);
    disk.lock_folder(dir, &Holder::here(&command)).map_err(|refused| match refused {
        LockRefusal::Held(Some(by)) => {
            let advice = match by.command.split_once(LISTENS) {
                Some((_, address)) => format!("Connect to it with -S {address}, or stop it."),
                None => "Wait for its end, or stop it.".to_owned(),
            };
            SqlError::new(messages::FOLDER_IN_USE, &[&folder, &by, &advice])
        }
        LockRefusal::Held(None) => {
            let (by, advice) = ("a process that has not said which", "Stop it first.");
            SqlError::new(messages::FOLDER_IN_USE, &[&folder, &by, &advice])
        }
        LockRefusal::Unsupported(e) => {
            not_locked(format!("its file system supports no locks ({e}). {WITHOUT_LOCKS}"))
        }
        LockRefusal::File(e) => {
            not_locked(format!("its file {LOCK_FILE} cannot be opened to write ({e})"))
        }
    })
}

/// The flags of `-T`, each told to the error log: as DBCC TRACEON takes them.
fn turn_on_trace_flags(engine: &Engine, numbers: &[u16], log: &ErrorLog) {
    let mut known = BTreeSet::new();
    for number in numbers.iter().copied().collect::<BTreeSet<u16>>() {
        let Ok(flag) = i16::try_from(number) else {
            let ignored = SqlError::new(messages::TRACE_FLAG_NOT_AT_START, &[&number]);
            log.line("Server", ignored.text());
            continue;
        };
        known.insert(flag);
        log.line("Server", &format!("Trace flag {flag} is on."));
        if !work::means_something(flag) {
            let without = SqlError::new(messages::TRACE_FLAG_WITHOUT_EFFECT, &[&flag]);
            log.line("Server", without.text());
        }
    }
    engine.trace_flags.turn_on(&Vec::from_iter(known));
}

fn environment(
    disk: &Arc<dyn Disk>,
    options: &InstanceOptions,
) -> SqlResult<(Environment, Arc<Memory>)> {
    let memory = Memory::new(options.max_memory_bytes);
    let short = |_| SqlError::new(messages::OUT_OF_MEMORY, &[&"default"]);
    // Half for pages, three eighths for sorts and hashes (`exec::Workspace`), the rest for plans,
    // locks and what sessions receive.
    let frames = (options.max_memory_bytes / 2 / 8224).max(64);
    let pool = Pool::new(&memory, frames).map_err(short)?;
    let locks_max =
        (options.max_memory_bytes / 8 / lock::LOCK_BYTES).clamp(10_000, 4_000_000) as u32;
    let lock_options = lock::Options { locks_max, ..lock::Options::default() };
    let engine = Arc::new(Engine::new(lock::Table::new(&lock_options)));
    engine.graves.attach(&memory);
    let system = Arc::new(sysviews::all());
    Ok((
        Environment { disk: Arc::clone(disk), pool, engine, system, formats: database::formats() },
        memory,
    ))
}

type ClosedEntries = BTreeMap<DatabaseId, ClosedEntry>;
pub(crate) type OpenDatabases = BTreeMap<DatabaseId, Open>;

/// Closes every database; the first failure, of those there were.
fn close_all(databases: OpenDatabases) -> SqlResult<()> {
    let closed = databases.into_values().map(|open| open.database.close(open.workers));
    closed.fold(Ok(()), Result::and)
}

/// What a new database has set: what is set in model of the versions of rows, where that is there
/// already; master and msdb always have those for transactions, and no system database is born with
/// accelerated recovery.
pub(crate) fn first_options(
    id: DatabaseId,
    options: &InstanceOptions,
    model: Option<&DatabaseOptions>,
) -> DatabaseOptions {
    let mut facts = DatabaseOptions::default();
    if options.embedded || id == MASTER || id == TEMPDB || id == MSDB {
        facts.set(DatabaseOption::Recovery(RecoveryModel::Simple));
    }
    let has_transactions = model.is_some_and(|m| m.snapshot_isolation);
    facts.set(DatabaseOption::SnapshotIsolation(has_transactions || id == MASTER || id == MSDB));
    let has_statements = model.is_some_and(|m| m.read_committed_snapshot);
    facts.set(DatabaseOption::ReadCommittedSnapshot(has_statements));
    let is_accelerated =
        options.accelerated_recovery || model.is_some_and(|m| m.accelerated_recovery);
    let is_system = SYSTEM.iter().any(|(system, _)| *system == id);
    facts.set(DatabaseOption::AcceleratedRecovery(is_accelerated && !is_system));
    facts
}

/// Makes a database in new files.
pub(crate) fn make(
    env: &Environment,
    dir: &Path,
    id: DatabaseId,
    name: &str,
    sizing: &Sizing,
    facts: &DatabaseOptions,
    survives: bool,
) -> SqlResult<Arc<Database>> {
    Database::create(env, id, name, &Files::of(dir, name), sizing, facts, survives)
}

/// A database whose workers are at it: also the undo of what its recovery has put off.
pub(crate) fn at_work(database: Arc<Database>, log: &Arc<ErrorLog>) -> Open {
    let mut workers = database.start_workers();
    if database.put_off_count() > 0 {
        let (undone, log) = (Arc::clone(&database), Arc::clone(log));
        let name = format!("recovery {}", database.home().name());
        workers.push(os::task::spawn(&name, move || {
            let done = undone.undo_put_off();
            say_undone(&undone.home().name(), &done, &log);
        }));
    }
    Open { database, workers }
}

/// Who rolls back while others are at work, as the error log names him.
fn recovery_source() -> String {
    format!("spid{}s", work::RECOVERY_SESSION)
}

fn say_undone(name: &str, done: &DeferredUndo, log: &ErrorLog) {
    let ms = done.undo_ns as f64 / 1e6;
    let ended = match (done.left, &done.error) {
        (0, _) => "is complete".to_owned(),
        (left, None) => format!("is stopped: {left} transactions are left to the next start"),
        (left, Some(e)) => {
            let what = "keep their locks until the next start";
            format!("has failed: {left} transactions {what}: {}", e.text())
        }
    };
    let undone = done.undone;
    let line = format!(
        "Recovery of database '{name}' {ended}. Undo {ms:.1} ms ({undone} transactions) while it \
         was in use."
    );
    log.line(&recovery_source(), &line);
}

/// The line of SQL Server by which monitors find how long each phase took. Analysis and redo are
/// one pass over the log here.
fn completed(database: &Database, name: &str, r: &RecoveryReport) -> String {
    let ms = |ns: u64| ns / 1_000_000;
    let (accelerated, optimized) =
        (database.home().is_accelerated(), database.home().has_optimized_locking());
    format!(
        "Recovery completed for database {name} (database ID {}) in {} second(s) (analysis and \
         redo {} ms, undo {} ms.) ADR-enabled={}, Is primary=1, OL-Enabled={}. This is an \
         informational message only. No user action is required.",
        database.id(),
        r.total_ns.div_ceil(1_000_000_000),
        ms(r.redone.redo_ns),
        ms(r.undo_ns),
        u8::from(accelerated),
        u8::from(optimized),
    )
}

pub(crate) fn say_recovered(database: &Database, name: &str, r: &RecoveryReport, log: &ErrorLog) {
    let ms = |ns: u64| ns as f64 / 1e6;
    log.line(
        "spid5s",
        &format!(
            "Recovery of database '{name}': doublewrite restore {:.1} ms ({} pages), analysis and \
             redo {:.1} ms ({} groups, {} pages applied), undo {:.1} ms ({} transactions), total \
             {:.1} ms.",
            ms(r.restore_ns),
            r.torn_pages,
            ms(r.redone.redo_ns),
            r.redone.groups,
            r.redone.applied,
            ms(r.undo_ns),
            r.undone,
            ms(r.total_ns),
        ),
    );
    let had_work = r.redone.applied > 0 || r.undone + r.aborted + r.put_off > 0;
    if had_work {
        log.line("spid5s", &completed(database, name, r));
    }
    if r.settled > 0 {
        let line = format!(
            "Recovery of database '{name}': {} transactions over several databases are committed, \
             as the deciding database says.",
            r.settled
        );
        log.line("spid5s", &line);
    }
    if r.aborted > 0 {
        let line = format!(
            "Recovery of database '{name}': {} transactions are undone by the versions of the rows \
             that they have changed.",
            r.aborted
        );
        log.line("spid5s", &line);
    }
    if r.put_off > 0 {
        let line = format!(
            "Database '{name}' is in use while {} transactions are rolled back, which hold X on \
             the tables that they have changed.",
            r.put_off
        );
        log.line("spid5s", &line);
    }
}
