//! Opens a database: doublewrite restore, redo, undo, definitions, pending drops.
//!
//! ```text
//!   redo ─ undo of definitions ─ definitions read ─ locks of the other losers ─ open
//!                                                                   undo of rows ─┘ beside others
//! ```
//!
//! Losers that changed only rows of tables are undone while the database is in use, where that is
//! sound: see `losers.rs`.

use crate::aborted::AbortedScan;
use crate::boot;
use crate::clean::GhostPages;
use crate::create::Sizing;
use crate::database::{Database, Environment};
use crate::drops::Drops;
use crate::files;
use crate::hobts::OpenHobts;
use crate::in_doubt::{self, DecisionScan};
use crate::kept_records::KeptScan;
use crate::losers::{OpenDeeds, abort_versioned, undo_alone};
use crate::named::Files;
use crate::redo_table::redo_table;
use base::{DatabaseId, FileId, Lsn, SqlError, SqlResult, messages};
use buffer::{BufferError, Pages, PagesOptions, log_end_of, restore_torn_pages};
use catalog::{DatabaseOptions, Identities, Publisher};
use os::clock::monotonic_ns;
use os::disk::{File, OpenMode};
use os::latch::LatchClass;
use os::sync::{Mutex, RwLock};
use os::wait::Waiter;
use recovery::{RecoveryError, RedoReport};
use space::{Space, read_file_facts};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use txn::{Begin, Transactions};
use version::DatabaseStore;
use wal::{CheckpointPointer, FoundLog, LogOptions, RecordView, Seal, WalError, kinds};
use work::{
    DelayedDurability, Engine, Home, RECOVERY_VERSIONS, STATEMENT_VERSIONS, SnapshotState,
    TRANSACTION_VERSIONS,
};

/// What recovery did, for the error log.
#[derive(Clone, Debug, Default)]
pub struct RecoveryReport {
    /// Pages repaired from the doublewrite area.
    pub torn_pages: usize,
    /// Analysis and redo.
    pub redone: RedoReport,
    /// Transactions over several databases that are committed, by the deciding database.
    pub settled: usize,
    /// Transactions that were rolled back before the database was opened.
    pub undone: usize,
    /// Transactions whose records stay, and do not count: accelerated recovery.
    pub aborted: usize,
    /// Transactions that are rolled back while the database is in use.
    pub put_off: usize,
    /// The end of the readable log, if the database was opened for emergencies and has one.
    pub stopped_at: Option<Lsn>,
    /// The duration of the doublewrite restore.
    pub restore_ns: u64,
    /// The duration of the undo before the database was opened.
    pub undo_ns: u64,
    /// The total duration.
    pub total_ns: u64,
}

/// What recovery takes down while it reads the log.
struct LogScan {
    ghosts: GhostPages,
    deeds: OpenDeeds,
    aborted: AbortedScan,
    kept: KeptScan,
    several: DecisionScan,
    /// No transaction has a number that no transaction can have.
    is_sound: bool,
}

impl LogScan {
    /// For a log with that last checkpoint.
    fn from(pointer: CheckpointPointer) -> LogScan {
        LogScan {
            ghosts: GhostPages::default(),
            deeds: OpenDeeds::default(),
            aborted: AbortedScan::from(pointer.checkpoint),
            kept: KeptScan::from(pointer),
            several: DecisionScan::default(),
            is_sound: true,
        }
    }

    fn see(&mut self, record: &RecordView<'_>, transactions: &Transactions) {
        self.ghosts.see(record);
        self.deeds.see(record);
        self.aborted.see(record);
        self.kept.see(record);
        self.several.see(record);
        if record.kind() == kinds::BEGIN
            && let Some(begin) = Begin::parse(record.payload())
        {
            self.is_sound &= transactions.raise_id(begin.id.0);
        }
    }
}

/// Floors 2 to 4 of a database, connected to each other.
pub(crate) struct StorageFloors {
    pub(crate) env: Environment,
    pub(crate) id: DatabaseId,
    pub(crate) files: Files,
    pub(crate) home: Arc<Home>,
    pub(crate) pages: Arc<Pages>,
    pub(crate) space: Arc<Space>,
    pub(crate) hobts: Arc<OpenHobts>,
    pub(crate) versions: Option<Arc<DatabaseStore>>,
    pub(crate) survives: bool,
    pub(crate) sealed: Option<Seal>,
}

/// Why a database could not be opened.
#[derive(Clone, Debug)]
pub enum OpenError {
    /// A file is missing, cannot be read, or belongs to another database. Recovery has not begun.
    Pending(SqlError),
    /// The log, or what it says about pages, is damaged, so recovery is impossible. Neither the log
    /// nor pages were written then.
    Suspect {
        /// Where the log is damaged, if it is; zero if its headers are damaged.
        at: Option<Lsn>,
        /// The reason, for the error log.
        why: String,
        /// The error for users.
        error: SqlError,
    },
}

impl OpenError {
    /// A file that cannot be used.
    pub(crate) fn file(name: &str, path: &Path, e: &dyn std::fmt::Display) -> OpenError {
        let why = SqlError::new(messages::FILE_NOT_OPENED, &[&path.display(), &e]);
        OpenError::pending(name, why.with_state(101))
    }

    /// A data file whose first page is damaged, or is not the first page of a database.
    pub(crate) fn header(name: &str, path: &Path) -> OpenError {
        let property = "PageAudit";
        let why = SqlError::new(messages::FILE_HEADER_INVALID, &[&path.display(), &property]);
        OpenError::pending(name, why)
    }

    fn pending(name: &str, why: SqlError) -> OpenError {
        let refused = SqlError::new(messages::DATABASE_INACCESSIBLE, &[&name]).with_state(2);
        OpenError::Pending(refused.after(why))
    }

    /// A database that a later version of this program has written.
    fn later(name: &str, version: u32) -> OpenError {
        let said = messages::DATABASE_OF_LATER_VERSION;
        OpenError::pending(name, SqlError::new(said, &[&name, &version, &boot::VERSION]))
    }

    /// The error of an unusable log.
    pub(crate) fn of_log(name: &str, path: &Path, e: WalError) -> OpenError {
        match e.damaged_at() {
            Some(at) => {
                let why = format!("file '{}': {e}", path.display());
                OpenError::Suspect { at: Some(at), why, error: e.into_sql(name) }
            }
            None => OpenError::file(name, path, &e),
        }
    }

    /// The error of a failed redo.
    fn of_redo(name: &str, path: &Path, e: RecoveryError) -> OpenError {
        match e {
            RecoveryError::Log(e) => OpenError::of_log(name, path, e),
            e => OpenError::from(e.into_sql(name)),
        }
    }

    /// The error of a page that is needed to read anything.
    pub(crate) fn page(e: BufferError) -> OpenError {
        OpenError::from(SqlError::from(e))
    }

    /// The error for users.
    pub fn sql(&self) -> &SqlError {
        match self {
            OpenError::Pending(error) | OpenError::Suspect { error, .. } => error,
        }
    }
}

impl std::fmt::Display for OpenError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OpenError::Pending(error) => write!(f, "{}", error.text()),
            OpenError::Suspect { why, .. } => write!(f, "{why}"),
        }
    }
}

/// Any error within recovery.
impl From<SqlError> for OpenError {
    fn from(error: SqlError) -> OpenError {
        OpenError::Suspect { at: None, why: error.text().to_owned(), error }
    }
}

impl From<OpenError> for SqlError {
    fn from(e: OpenError) -> SqlError {
        match e {
            OpenError::Pending(error) | OpenError::Suspect { error, .. } => error,
        }
    }
}

/// The files of a database, checked before anything is written.
pub(crate) struct JudgedFiles {
    data: Arc<dyn File>,
    found: FoundLog,
}

impl JudgedFiles {
    pub(crate) fn of(
        env: &Environment,
        name: &str,
        files: &Files,
    ) -> Result<JudgedFiles, OpenError> {
        let open = |path: &Path, direct| {
            let opened = env.disk.open(path, OpenMode { create: false, direct });
            let ours = opened.and_then(|file| file.keep_others_out(path).map(|()| file));
            ours.map_err(|e| OpenError::file(name, path, &e))
        };
        let (data, log_file) = (open(&files.data, true)?, open(&files.log, false)?);
        let of_log = |e| OpenError::of_log(name, &files.log, e);
        let found = FoundLog::find(log_file).map_err(of_log)?;
        // This page may be torn; it is checked again after the restore.
        if let Ok(facts) = read_file_facts(&*data, FileId(1)) {
            belongs(name, files, &facts.family, &found)?;
        }
        // The records of another version must not be redone: they mean something else.
        if let Some(version) = boot::later_version(&*data) {
            return Err(OpenError::later(name, version));
        }
        let home = log_end_of(&*data).map_err(|e| OpenError::file(name, &files.data, &e))?;
        found.must_reach(home).map_err(of_log)?;
        Ok(JudgedFiles { data, found })
    }
}

fn belongs(
    name: &str,
    files: &Files,
    family: &[u8; 16],
    found: &FoundLog,
) -> Result<(), OpenError> {
    match found.family() == *family {
        true => Ok(()),
        false => {
            let why = SqlError::new(messages::FILES_DO_NOT_MATCH, &[&files.log.display()]);
            Err(OpenError::pending(name, why))
        }
    }
}

impl Database {
    /// Opens a database and recovers it.
    ///
    /// # Errors
    /// What is wrong with its files. It stays closed.
    pub fn open(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
    ) -> Result<(Arc<Database>, RecoveryReport), OpenError> {
        let began = monotonic_ns();
        let mut report = RecoveryReport::default();
        let JudgedFiles { data, found } = JudgedFiles::of(env, name, files)?;
        let all = BTreeMap::from([(1, Arc::clone(&data))]);
        let of_page = |e: BufferError| OpenError::page(e.in_file(&files.data.display()));
        report.torn_pages = restore_torn_pages(id, &all).map_err(of_page)?.len();
        report.restore_ns = monotonic_ns() - began;
        let facts =
            read_file_facts(&*data, FileId(1)).map_err(|_| OpenError::header(name, &files.data))?;
        belongs(name, files, &facts.family, &found)?;
        let options = LogOptions { durable: true, ..sizing.log };
        let log = found.open(options).map_err(|e| OpenError::of_log(name, &files.log, e))?;
        let options = PagesOptions { database: id, durable: true, salvaged: false };
        let pages = Pages::new(&env.pool, &log, &redo_table(), options);
        #[cfg(feature = "mutations")]
        if env.engine.transactions.mutations.has(txn::Mutation::RedoOnlySkipped) {
            pages.mutate("redo-only");
        }
        pages.attach(FileId(1), &files.data.to_string_lossy(), data);
        let recovered = Self::recover(env, id, name, files, sizing, &pages, &mut report);
        if recovered.is_err() {
            pages.close();
            env.engine.decisions.leave(id);
        }
        let database = recovered?;
        report.total_ns = monotonic_ns() - began;
        Ok((database, report))
    }

    fn recover(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
        pages: &Arc<Pages>,
        report: &mut RecoveryReport,
    ) -> Result<Arc<Database>, OpenError> {
        let log = Arc::clone(pages.log());
        let transactions = &env.engine.transactions;
        let mut scan = LogScan::from(log.checkpoint());
        let redone = recovery::redo(&log, pages, log.checkpoint().min_lsn, |record| {
            scan.see(record, transactions);
        });
        report.redone = redone.map_err(|e| OpenError::of_redo(name, &files.log, e))?;
        let LogScan { ghosts, mut deeds, aborted, kept, several, is_sound } = scan;
        if !is_sound {
            return Err(SqlError::new(messages::LOG_CORRUPT, &[&name]).into());
        }
        let decisions = &env.engine.decisions;
        let settled = several.settle(decisions, &mut report.redone.losers);
        let settled = settled.known(id, name)?;
        let tables = boot::read_tables(pages).map_err(OpenError::page)?;
        // No check has found the log unusable: it is written from here on.
        log.go_on().map_err(|e| e.into_sql(name))?;
        let opened = StorageFloors::wire(env, id, name, files, Arc::clone(pages), sizing, true)?;
        opened.expect_versions(boot::read_xsn(pages).map_err(OpenError::page)?);
        ghosts.hand_to(&opened.home);
        let open = aborted.hand_to(&opened.home, &settled, &transactions.mutations);
        let mut kept = kept.of_losers(&settled);
        opened.hobts.enter_system(&tables);
        report.settled = settled.len();
        in_doubt::commit(&log, settled);
        decisions.enter(id, &log, several.decided(), true);
        let small = opened.home.undone_records_max();
        let open = (open, &mut kept);
        let versioned = deeds.take_versioned((&log, small), &mut report.redone.losers, open);
        let versioned = versioned.map_err(|e| e.into_sql(name))?;
        let parted = deeds.part(&log, &report.redone.losers, &kept);
        let (rows, others) = parted.map_err(|e| e.into_sql(name))?;
        let from = monotonic_ns();
        report.undone = undo_alone(&opened.home, &others, &kept)?;
        report.aborted = abort_versioned(&opened.home, versioned)?;
        report.undo_ns = monotonic_ns() - from;
        // A loser that changed only rows is undone after the definitions, which say what it
        // changed.
        let database = opened.load()?;
        let rows = database.put_off(rows);
        let from = monotonic_ns();
        report.undone += undo_alone(&database.home, &rows, &kept)?;
        database.restore_own_files();
        report.undo_ns += monotonic_ns() - from;
        report.put_off = database.put_off_count();
        if database.options.read().accelerated_recovery {
            // An earlier build may have made it.
            database.note_accelerated()?;
        }
        wish_versions(&env.engine, &database.home, &database.options.read());
        // After a clean stop a checkpoint would save the next recovery nothing. Otherwise the
        // checkpointer takes it, so that no session waits for pages to be written. Pages of losers
        // that were put off change once more before it.
        let recovered = report.redone.applied > 0 || report.undone > 0;
        database.recovered.store(recovered && report.put_off == 0, Relaxed);
        database.free_entered(|_| true);
        database.no_more_asked();
        Ok(database)
    }
}

impl StorageFloors {
    /// Reads the definitions.
    pub(crate) fn load(self) -> SqlResult<Arc<Database>> {
        let name = self.home.name();
        let mut work = self.env.system_work();
        let system = Arc::clone(&self.env.system);
        let loaded = catalog::load(&*self.hobts, &mut work, self.id, &name, system)?;
        self.hobts.enter_loaded(&loaded);
        let log = Arc::clone(self.pages.log());
        self.home.set_delayed_durability(durability(loaded.options.delayed_durability));
        let database = Arc::new(Database {
            env: self.env,
            id: self.id,
            files: self.files,
            home: self.home,
            pages: self.pages,
            space: self.space,
            log,
            hobts: self.hobts,
            versions: self.versions,
            drops: Drops::default(),
            publisher: Publisher::new(loaded.view),
            ids: Arc::new(loaded.ids),
            identities: Arc::new(Identities::new(&loaded.identities)),
            modifications: Arc::new(loaded.modifications),
            options: RwLock::new(loaded.options),
            file_notes: RwLock::new(files::named_at_first(self.id, &name)),
            loaded_files: loaded.files,
            checkpointing: Mutex::of(LatchClass::Checkpoint, ()),
            sweeping: Mutex::default(),
            cleaner: Mutex::default(),
            recovered: AtomicBool::new(false),
            put_off: Mutex::default(),
            survives: self.survives,
            sealed: self.sealed,
            stopping: Arc::new(Waiter::new()),
        });
        database.drops.enter(&loaded.dropped);
        let known = Arc::downgrade(&database);
        let name = move |object| {
            let table = known.upgrade()?.view().table(object)?;
            Some(table.two_part_name())
        };
        database.home.set_names(Box::new(name));
        Ok(database)
    }
}

/// Applies the versions that a database's options ask for, after the undo without sessions. Tempdb
/// has none.
pub(crate) fn wish_versions(engine: &Engine, home: &Home, options: &DatabaseOptions) {
    let statement = if options.read_committed_snapshot { STATEMENT_VERSIONS } else { 0 };
    let transaction = if options.snapshot_isolation { TRANSACTION_VERSIONS } else { 0 };
    let recovery = if options.accelerated_recovery { RECOVERY_VERSIONS } else { 0 };
    // The other cases are handled when the first transaction draws a number: master always keeps
    // versions.
    if statement | recovery != 0 {
        engine.note_versions();
    }
    home.choose_store(options.accelerated_recovery);
    home.set_versioning(statement | transaction | recovery);
    let optimized = options.optimized_locking && home.is_versioned();
    if optimized {
        engine.note_optimized_locking();
    }
    home.set_optimized_locking(optimized);
    let state = if options.snapshot_isolation { SnapshotState::On } else { SnapshotState::Off };
    // No reader as of an older moment exists at the start. In a new database every change has left
    // a version.
    home.set_snapshot_state(state, txn::CommitTime(0));
    engine.note_rule(options.ghost_cleanup_rule);
    home.set_ghost_rule(options.ghost_cleanup_rule);
}

/// The setting as units of work have it.
pub(crate) fn durability(setting: catalog::DelayedDurability) -> DelayedDurability {
    match setting {
        catalog::DelayedDurability::Disabled => DelayedDurability::Disabled,
        catalog::DelayedDurability::Allowed => DelayedDurability::Allowed,
        catalog::DelayedDurability::Forced => DelayedDurability::Forced,
    }
}
