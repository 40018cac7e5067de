//! Opens a database for emergencies: what can still be read of a database whose log or files are
//! damaged. The same way, with a sealed log, opens a database that is READ_ONLY.
//!
//! ```text
//!   files ─ overlay ─ redo as far as the log goes ─ undo, where redo met no damage ─ sealed log
//! ```
//! Nothing writes to its files, not even recovery: all writes go to an overlay (`overlay.rs`).
//! After the opening the log is sealed: a transaction that begins to write is refused with 3908.
//!
//! If no log can be read, the pages are used as they are: changes since the last checkpoint may be
//! missing.

use crate::aborted::AbortedScan;
use crate::boot;
use crate::create::Sizing;
use crate::database::{Database, Environment};
use crate::in_doubt::DecisionScan;
use crate::kept_records::{KeptOfLosers, KeptScan};
use crate::losers::{OpenDeeds, abort_versioned, undo_alone};
use crate::named::Files;
use crate::open::{JudgedFiles, OpenError, RecoveryReport, StorageFloors, wish_versions};
use crate::overlay::Overlay;
use crate::redo_table::redo_table;
use base::{DatabaseId, FileId, SqlError, SqlResult, messages};
use buffer::{Pages, PagesOptions, restore_torn_pages};
use os::clock::monotonic_ns;
use os::disk::{File, OpenMode};
use space::read_file_facts;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use txn::{AbortedTransaction, Begin};
use wal::{FoundLog, Log, LogOptions, Seal, kinds};
use work::Home;

/// The suffix of the files that are written instead.
const PLACE: &str = "emergency";

impl Database {
    /// Opens a database for emergencies: it can be read, not written.
    ///
    /// # Errors
    /// Not even its first pages can be read.
    pub fn open_emergency(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
    ) -> Result<(Arc<Database>, RecoveryReport), OpenError> {
        Self::open_sealed(env, id, name, files, sizing, Seal::Emergency)
    }

    /// Opens a database that is READ_ONLY: nothing of its files is written. A log that does not
    /// match the files is an error as usual. Recovery happens in memory.
    ///
    /// # Errors
    /// As of [`Database::open`].
    pub fn open_read_only(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
    ) -> Result<(Arc<Database>, RecoveryReport), OpenError> {
        drop(JudgedFiles::of(env, name, files)?);
        let opened = Self::open_sealed(env, id, name, files, sizing, Seal::ReadOnly)?;
        match opened.1.redone.skipped {
            0 => Ok(opened),
            _ => {
                // Nothing was written that closing would have to write back.
                let _ = opened.0.close(Vec::new());
                Err(SqlError::new(messages::LOG_CORRUPT, &[&name]).into())
            }
        }
    }

    fn open_sealed(
        env: &Environment,
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
        seal: Seal,
    ) -> Result<(Arc<Database>, RecoveryReport), OpenError> {
        let began = monotonic_ns();
        let mut report = RecoveryReport::default();
        let data = over(env, &files.data).map_err(|e| OpenError::file(name, &files.data, &e))?;
        let all = BTreeMap::from([(1, Arc::clone(&data))]);
        // A page that cannot be repaired is read as it is.
        report.torn_pages = restore_torn_pages(id, &all).map_or(0, |pages| pages.len());
        let facts =
            read_file_facts(&*data, FileId(1)).map_err(|_| OpenError::header(name, &files.data))?;
        let found = salvaged(env, &files.log, facts.family);
        let log = match found {
            Some(found) => {
                report.stopped_at = Some(found.end());
                let log = found.open(LogOptions { durable: false, ..sizing.log });
                log.and_then(|log| log.go_on().map(|()| log))
            }
            None => empty_log(env, &files.log, facts.family),
        };
        let log = log.map_err(|e| OpenError::of_log(name, &files.log, e))?;
        let pages = Pages::new(
            &env.pool,
            &log,
            &redo_table(),
            PagesOptions { database: id, durable: false, salvaged: true },
        );
        pages.attach(FileId(1), &files.data.to_string_lossy(), data);
        let read =
            Self::read_what_is_there((env, seal), id, name, files, sizing, &pages, &mut report);
        if read.is_err() {
            pages.close();
            env.engine.decisions.leave(id);
        }
        log.seal(seal);
        let database = read?;
        report.total_ns = monotonic_ns().saturating_sub(began);
        Ok((database, report))
    }

    fn read_what_is_there(
        (env, seal): (&Environment, Seal),
        id: DatabaseId,
        name: &str,
        files: &Files,
        sizing: &Sizing,
        pages: &Arc<Pages>,
        report: &mut RecoveryReport,
    ) -> Result<Arc<Database>, OpenError> {
        let transactions = &env.engine.transactions;
        let pointer = pages.log().checkpoint();
        let (mut several, mut aborted, mut kept) = (
            DecisionScan::default(),
            AbortedScan::from(pointer.checkpoint),
            KeptScan::from(pointer),
        );
        let mut deeds = OpenDeeds::default();
        if report.stopped_at.is_some() {
            let log = pages.log();
            let from = log.checkpoint().min_lsn;
            report.redone = recovery::redo_what_fits(log, pages, from, |record| {
                several.see(record);
                aborted.see(record);
                kept.see(record);
                deeds.see(record);
                if record.kind() == kinds::BEGIN
                    && let Some(begin) = Begin::parse(record.payload())
                {
                    transactions.raise_id(begin.id.0);
                }
            });
        }
        // Transactions in doubt are not undone: a reader sees their changes.
        let decisions = &env.engine.decisions;
        let settled = several.settle(decisions, &mut report.redone.losers).committed;
        report.settled = settled.len();
        let whole = seal == Seal::ReadOnly && report.redone.skipped == 0;
        decisions.enter(id, pages.log(), several.decided(), whole);
        let opened = StorageFloors::wire(env, id, name, files, Arc::clone(pages), sizing, true)?;
        opened.expect_versions(boot::read_xsn(pages).map_err(OpenError::page)?);
        let open = aborted.hand_to(&opened.home, &settled, &transactions.mutations);
        let kept = kept.of_losers(&settled);
        let tables = boot::read_tables(pages).map_err(OpenError::page)?;
        opened.hobts.enter_system(&tables);
        if report.redone.skipped == 0 {
            // If undo fails, readers see uncommitted changes: better than no data.
            let _ = undo_in_memory(&opened.home, deeds, (open, kept), report);
        }
        let database = StorageFloors { sealed: Some(seal), ..opened }.load()?;
        database.restore_own_files();
        wish_versions(&env.engine, &database.home, &database.options.read());
        Ok(database)
    }

    /// Whether it was opened for emergencies: it can be read, not written.
    pub fn is_emergency(&self) -> bool {
        self.sealed == Some(Seal::Emergency)
    }
}

/// Rolls back the losers, whose number goes into the report.
fn undo_in_memory(
    home: &Arc<Home>,
    mut deeds: OpenDeeds,
    (open, mut kept): (BTreeMap<u32, Vec<AbortedTransaction>>, KeptOfLosers),
    report: &mut RecoveryReport,
) -> SqlResult<()> {
    let (log, small) = (home.log(), home.undone_records_max());
    let losers = &mut report.redone.losers;
    let versioned = deeds.take_versioned((log, small), losers, (open, &mut kept));
    let versioned = versioned.map_err(|e| e.into_sql(&home.name()))?;
    report.aborted = abort_versioned(home, versioned)?;
    report.undone = undo_alone(home, losers, &kept)?;
    Ok(())
}

fn over(env: &Environment, path: &Path) -> std::io::Result<Arc<dyn File>> {
    let below = env.disk.open(path, OpenMode { create: false, direct: false })?;
    Overlay::over(&*env.disk, Some(below), &place_of(path))
}

fn place_of(path: &Path) -> std::path::PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(PLACE);
    path.with_file_name(name)
}

/// The readable part of the log, if it is this database's log.
fn salvaged(env: &Environment, path: &Path, family: [u8; 16]) -> Option<FoundLog> {
    let file = over(env, path).ok()?;
    // A header without a family may itself be damaged.
    let mut found = FoundLog::salvage(file).ok()?;
    if found.family() != family && found.family() != [0; 16] {
        return None;
    }
    found.widen().ok()?;
    Some(found)
}

/// An empty log, because pages need one; nobody reads it.
fn empty_log(env: &Environment, path: &Path, family: [u8; 16]) -> Result<Arc<Log>, wal::WalError> {
    let file = Overlay::over(&*env.disk, None, &place_of(path))?;
    let options = LogOptions { durable: false, ..LogOptions::default() };
    Log::create(file, family, options)
}
