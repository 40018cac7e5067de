//! Opening a database: doublewrite restore, redo, undo, definitions, what was left to drop.

use crate::boot;
use crate::clean::GhostPages;
use crate::create::Sizing;
use crate::database::{Database, Environment, Files};
use crate::drops::Drops;
use crate::files;
use crate::hobts::OpenHobts;
use crate::redo_table::redo_table;
use base::{DatabaseId, FileId, SqlError, SqlResult, messages};
use buffer::{Pages, PagesOptions, restore_torn_pages};
use catalog::{DatabaseOptions, Identities, Publisher};
use os::clock::monotonic_ns;
use os::disk::OpenHow;
use os::latch::LatchClass;
use os::sync::{Mutex, RwLock};
use os::wait::Waiter;
use recovery::Redone;
use space::{Space, read_file_facts};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use txn::Begin;
use types::Collation;
use wal::{Group, Log, LogOptions, TransactionChain, kinds};
use work::{
    DelayedDurability, Engine, Home, STATEMENT_VERSIONS, SnapshotState, TRANSACTION_VERSIONS,
};

/// What recovery did, for the error log.
#[derive(Clone, Debug, Default)]
pub struct RecoveryReport {
    /// Pages repaired from the doublewrite area.
    pub torn_pages: usize,
    /// Analysis and redo.
    pub redone: Redone,
    /// Transactions rolled back.
    pub undone: usize,
    /// Time of the doublewrite restore.
    pub restore_ns: u64,
    /// Time of undo.
    pub undo_ns: u64,
    /// Time of all.
    pub total_ns: u64,
}

/// Floors 2 to 4 of a database, wired.
pub(crate) struct Opened {
    pub(crate) env: Environment,
    pub(crate) id: DatabaseId,
    pub(crate) files: Files,
    pub(crate) home: Arc<Home>,
    pub(crate) pages: Arc<Pages>,
    pub(crate) space: Arc<Space>,
    pub(crate) hobts: Arc<OpenHobts>,
    pub(crate) survives: bool,
}

fn inaccessible(name: &str, file: &std::path::Path, e: &dyn std::fmt::Display) -> SqlError {
    let why = format!("{name}' (file '{}': {e}), '", file.display());
    SqlError::new(messages::DATABASE_INACCESSIBLE, &[&why])
}

impl Database {
    /// Opens a database and recovers it.
    ///
    /// # Errors
    /// 945, 823, 824, 9003, 9004: what is wrong with its files. It stays closed.
    pub fn open(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
    ) -> SqlResult<(Arc<Database>, RecoveryReport)> {
        let began = monotonic_ns();
        let mut report = RecoveryReport::default();
        let how = |direct| OpenHow { create: false, direct };
        let open = |path: &std::path::Path, direct| {
            env.disk.open(path, how(direct)).map_err(|e| inaccessible(name, path, &e))
        };
        let (data, log_file) = (open(&files.data, true)?, open(&files.log, false)?);
        let all = BTreeMap::from([(1, Arc::clone(&data))]);
        report.torn_pages = restore_torn_pages(id, &all)?.len();
        report.restore_ns = monotonic_ns() - began;
        let facts =
            read_file_facts(&*data, FileId(1)).map_err(|e| inaccessible(name, &files.data, &e))?;
        let options = LogOptions { durable: true, ..sizing.log };
        let log = Log::open(log_file, options).map_err(|e| inaccessible(name, &files.log, &e))?;
        if log.family() != facts.family {
            let what = "it is the log of another database";
            return Err(inaccessible(name, &files.log, &what));
        }
        let options = PagesOptions { database: id, durable: true };
        let pages = Pages::new(&env.pool, &log, &redo_table(), options);
        pages.attach(FileId(1), &files.data.to_string_lossy(), data);
        let recovered = Self::recover(env, id, name, files, sizing, &pages, &mut report);
        if recovered.is_err() {
            pages.close();
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
    ) -> SqlResult<Arc<Database>> {
        let log = Arc::clone(pages.log());
        let transactions = &env.engine.transactions;
        let (mut ghosts, mut sound) = (GhostPages::default(), true);
        let redone = recovery::redo(&log, pages, log.checkpoint().min_lsn, |record| {
            ghosts.see(record);
            if record.kind() == kinds::BEGIN
                && let Some(begin) = Begin::parse(record.payload())
            {
                sound &= transactions.raise_id(begin.id.0);
            }
        });
        report.redone = redone.map_err(|e| e.into_sql(name))?;
        if !sound {
            return Err(SqlError::new(messages::LOG_CORRUPT, &[&name]));
        }
        let opened = Opened::wire(env, id, name, files, Arc::clone(pages), sizing, true)?;
        opened.expect_versions(boot::read_xsn(pages)?);
        ghosts.hand_to(&opened.home);
        opened.hobts.enter_system(&boot::read_tables(pages)?);
        let from = monotonic_ns();
        report.undone = opened.undo_losers(&report.redone.losers)?;
        report.undo_ns = monotonic_ns() - from;
        let database = opened.load()?;
        // After a clean stop there is nothing that the next recovery could be spared. Else its
        // checkpoint is the checkpointer's: nobody waits for pages to come home.
        let recovered = report.redone.applied > 0 || report.undone > 0;
        database.recovered.store(recovered, Relaxed);
        database.free_entered(|_| true);
        Ok(database)
    }
}

impl Opened {
    /// Rolls back what did not finish, the newest first.
    fn undo_losers(&self, losers: &[TransactionChain]) -> SqlResult<usize> {
        let mut losers = losers.to_vec();
        losers.sort_by_key(|l| std::cmp::Reverse(l.last));
        let mut group = Group::new();
        let undo = self.home.undo();
        let name = self.home.name();
        for loser in &mut losers {
            let end = base::Lsn::ZERO;
            txn::roll_back(&self.pages, &undo, &mut group, loser, end, false, &|_| {})
                .map_err(|e| work::WorkError::Undo(e).into_sql(&name))?;
            group.clear();
            let pushed = group.push_plain(kinds::ABORT, loser.id, &[0; 8]);
            assert!(pushed.is_ok(), "an empty group has room for an abort");
            self.pages.log().append(&mut group, loser);
        }
        Ok(losers.len())
    }

    /// Reads the definitions.
    pub(crate) fn load(self) -> SqlResult<Arc<Database>> {
        let name = self.home.name();
        let mut work = self.env.system_work();
        let (collation, system) = (Collation::default(), Arc::clone(&self.env.system));
        let loaded = catalog::load(&*self.hobts, &mut work, self.id, &name, collation, system)?;
        self.hobts.enter_loaded(&loaded);
        let log = Arc::clone(self.pages.log());
        self.home.set_delayed_durability(durability(loaded.options.delayed_durability));
        wish_versions(&self.env.engine, &self.home, &loaded.options);
        let database = Arc::new(Database {
            env: self.env,
            id: self.id,
            files: self.files,
            home: self.home,
            pages: self.pages,
            space: self.space,
            log,
            hobts: self.hobts,
            drops: Drops::default(),
            publisher: Publisher::new(loaded.view),
            ids: Arc::new(loaded.ids),
            identities: Arc::new(Identities::new(&loaded.identities)),
            modifications: Arc::new(loaded.modifications),
            options: RwLock::new(loaded.options),
            file_notes: RwLock::new(files::named_at_first(self.id, &name)),
            loaded_files: loaded.files,
            checkpointing: Mutex::of(LatchClass::Checkpoint, ()),
            recovered: AtomicBool::new(false),
            survives: self.survives,
            stopping: Arc::new(Waiter::new()),
        });
        database.restore_own_files();
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

/// Which versions a database's options ask for when it is opened. Tempdb has none.
fn wish_versions(engine: &Engine, home: &Home, options: &DatabaseOptions) {
    let statement = if options.read_committed_snapshot { STATEMENT_VERSIONS } else { 0 };
    let transaction = if options.snapshot_isolation { TRANSACTION_VERSIONS } else { 0 };
    // Others are noted when the first transaction draws a number: master has versions everywhere.
    if statement != 0 {
        engine.note_versions();
    }
    home.set_versioning(statement | transaction);
    let optimized = options.optimized_locking && home.is_versioned();
    if optimized {
        engine.note_optimized_locking();
    }
    home.set_optimized_locking(optimized);
    let state = if options.snapshot_isolation { SnapshotState::On } else { SnapshotState::Off };
    // Nobody reads as of an older moment at the start; in a new database every change that there
    // ever was has left a version.
    home.set_snapshot_state(state, txn::CommitTime(0));
    engine.note_rule(options.ghost_cleanup_rule);
    home.set_ghost_rule(options.ghost_cleanup_rule);
}

/// The setting as units of work know it.
pub(crate) fn durability(setting: catalog::DelayedDurability) -> DelayedDurability {
    match setting {
        catalog::DelayedDurability::Disabled => DelayedDurability::Disabled,
        catalog::DelayedDurability::Allowed => DelayedDurability::Allowed,
        catalog::DelayedDurability::Forced => DelayedDurability::Forced,
    }
}
