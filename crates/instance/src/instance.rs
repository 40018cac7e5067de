//! `Instance`: everything that is one for all databases.

use crate::auto_statistics::Gathering;
use crate::closed::ClosedEntry;
use crate::definitions::Definitions;
use crate::error_log::ErrorLog;
use crate::list::List;
use base::{DatabaseId, SessionId, SqlError, SqlResult};
use catalog::view::DatabaseView;
use database::{Database, Environment, Sizing};
use exec::ResourceSemaphores;
use os::disk::FolderLock;
use os::memory::Memory;
use os::sync::{Mutex, RwLock};
use os::task::JoinHandle;
use os::wait::Waiter;
use plancache::Cache;
use rowstore::TempSpill;
use session::{Configuration, Login, Program, Registry, Session, Setting};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use sysviews::EventSession;
use work::Engine;

/// How an instance is opened.
#[derive(Clone, Debug)]
pub struct InstanceOptions {
    /// `--max-memory`; 1 GB by default, so that what depends on it is the same on each machine.
    pub max_memory_bytes: usize,
    /// `@@SERVERNAME`
    pub server_name: String,
    /// Databases are born with recovery SIMPLE instead of FULL.
    pub embedded: bool,
    /// Sizes of new databases.
    pub sizing: Sizing,
    /// `--accelerated-recovery`: users' databases are born with accelerated recovery, whatever
    /// model has.
    pub accelerated_recovery: bool,
    /// `-T`: trace flags that are on for the whole server from the start.
    pub trace_flags: Vec<u16>,
    /// What the process was started as, for whoever finds the folder in use.
    pub command: String,
    /// Where clients reach it, as `host,port`; empty where they cannot.
    pub address: String,
}

impl Default for InstanceOptions {
    fn default() -> Self {
        InstanceOptions {
            max_memory_bytes: 1 << 30,
            server_name: "GHOSTLIGHT".to_owned(),
            embedded: false,
            sizing: Sizing::default(),
            accelerated_recovery: false,
            trace_flags: Vec::new(),
            command: "an embedded engine".to_owned(),
            address: String::new(),
        }
    }
}

/// A database and the tasks that serve it.
pub(crate) struct Open {
    pub(crate) database: Arc<Database>,
    pub(crate) workers: Vec<JoinHandle<()>>,
}

/// The engine of a process, on a folder.
pub struct Instance {
    pub(crate) options: InstanceOptions,
    pub(crate) dir: PathBuf,
    /// Keeps others out of the folder until everything is closed.
    pub(crate) folder_lock: Mutex<Option<Box<dyn FolderLock>>>,
    pub(crate) env: Environment,
    pub(crate) memory: Arc<Memory>,
    pub(crate) semaphores: ResourceSemaphores,
    /// For parallel plans.
    pub(crate) query_workers: exec::Workers,
    pub(crate) databases: RwLock<BTreeMap<DatabaseId, Open>>,
    /// Those of the list that are not open.
    pub(crate) closed: RwLock<BTreeMap<DatabaseId, ClosedEntry>>,
    pub(crate) list: Mutex<List>,
    /// A database is not dropped while the ghost cleaner is in one.
    pub(crate) cleaning: Mutex<()>,
    /// One CREATE or DROP DATABASE decides at a time. Number and name of what is being closed then
    /// are still taken.
    pub(crate) creating: Mutex<BTreeMap<DatabaseId, String>>,
    /// Databases one of whose options is being changed that needs a turn.
    pub(crate) altering: Mutex<BTreeSet<DatabaseId>>,
    /// Of databases in SINGLE_USER the session that has entered first.
    pub(crate) claims: Mutex<BTreeMap<DatabaseId, SessionId>>,
    /// One file is changed at a time.
    pub(crate) filing: Mutex<()>,
    /// Numbers the owners of locks that views take.
    pub(crate) visits: std::sync::atomic::AtomicU64,
    pub(crate) registry: Arc<Registry>,
    /// Options of the server.
    pub(crate) configuration: Configuration,
    pub(crate) programs: Cache<Program>,
    pub(crate) spill: Arc<TempSpill>,
    pub(crate) definitions: Definitions,
    pub(crate) gathering: Gathering,
    pub(crate) log: Arc<ErrorLog>,
    /// What happened that views tell: deadlocks.
    pub(crate) events: EventSession,
    pub(crate) stopping: Arc<Waiter>,
    /// Rings the deadlock monitor.
    pub(crate) search_wanted: Arc<Waiter>,
    pub(crate) workers: Mutex<Vec<JoinHandle<()>>>,
    pub(crate) next_temp: std::sync::atomic::AtomicU64,
    pub(crate) me: Weak<Instance>,
}

impl Instance {
    /// A session for a login whose password has been checked.
    ///
    /// # Errors
    /// 4060 when its database cannot be opened.
    pub fn connect(&self, login: Login) -> SqlResult<Session> {
        Session::new(self.arc(), login)
    }

    /// `@@SERVERNAME`
    pub fn server_name(&self) -> &str {
        &self.options.server_name
    }

    /// What the options say of query memory.
    pub(crate) fn configure_memory(&self) {
        let (wait, least) = (Setting::QueryWait, Setting::MinQueryMemory);
        let (wait, least) = (self.configuration.in_use(wait), self.configuration.in_use(least));
        self.semaphores.configure(wait, least);
    }

    /// What the options say of the cleaner of versions.
    pub(crate) fn configure_cleaner(&self) {
        let in_use = |setting| u32::try_from(self.configuration.in_use(setting)).unwrap_or(0);
        let (threads, minutes) = (Setting::CleanerThreads, Setting::CleanerRetry);
        self.engine().configure_cleaner(in_use(threads), in_use(minutes));
        self.engine().configure_preallocation(in_use(Setting::Preallocation));
    }

    /// A line of the error log.
    pub fn write_log(&self, source: &str, line: &str) {
        self.log.line(source, line);
    }

    /// What the engine tells of a session goes into the error log from now on.
    pub(crate) fn hear_errors(&self) {
        let me = self.me.clone();
        let write = move |session, told: &SqlError| {
            if let Some(instance) = me.upgrade() {
                instance.log_error(session, told);
            }
        };
        let fresh = self.engine().error_log.set(Box::new(write)).is_ok();
        assert!(fresh, "an instance has one error log");
    }

    fn log_error(&self, session: SessionId, told: &SqlError) {
        let source = format!("spid{}", session.0);
        self.log.error(&source, told);
    }

    /// The data folder.
    pub fn dir(&self) -> &std::path::Path {
        &self.dir
    }

    /// Where its files are.
    pub fn disk(&self) -> &Arc<dyn os::disk::Disk> {
        &self.env.disk
    }

    /// The memory that everything here takes its share of.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    pub(crate) fn arc(&self) -> Arc<Instance> {
        self.me.upgrade().expect("an instance in use is alive")
    }

    /// Commits a fault from now on.
    #[cfg(feature = "mutations")]
    pub fn plant(&self, fault: txn::Mutation) {
        self.engine().transactions.mutations.plant(fault);
    }

    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.env.engine
    }

    /// An open database.
    pub fn database(&self, id: DatabaseId) -> Option<Arc<Database>> {
        self.databases.read().get(&id).map(|o| Arc::clone(&o.database))
    }

    /// What a session sees of a database: what all see, and its own changes.
    pub(crate) fn view_of(&self, session: SessionId, database: &Database) -> Arc<DatabaseView> {
        let published = database.view();
        match self.definitions.any() {
            false => published,
            true => self.definitions.view(session, database.id(), &published, catalog::preview),
        }
    }

    /// An open database by name, in any case.
    pub fn database_by_name(&self, name: &str) -> Option<Arc<Database>> {
        let databases = self.databases.read();
        let found = databases.values().find(|o| same_name(&o.database.home().name(), name));
        found.map(|o| Arc::clone(&o.database))
    }
}

/// Database names compare without case.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    a.trim_end().to_lowercase() == b.trim_end().to_lowercase()
}
