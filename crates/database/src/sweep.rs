//! The sweep of a database's versions, in one go: records by aborted transactions are reverted on
//! their pages, the transactions are forgotten, and versions that nobody needs leave the database's
//! own store. `sp_persistent_version_cleanup` asks for it, and whoever turns accelerated recovery
//! off.
//!
//! Invariants
//!  1. A transaction is forgotten when each hobt that has records by it was swept from its begin to
//!     its end, and no record was moved against the direction of the sweep meanwhile.
//!  2. One sweep at a time: what a sweep found in the map is there until it forgets it.
//!  3. It holds locks and latches only while a step lasts, and waits for nobody's: a hobt whose
//!     table is locked is tried again when all others are done, for as long as `ADR cleaner retry
//!     timeout (min)` says.

use crate::database::Database;
use access::{StoredHobt, SweepPosition};
use base::{AllocUnitId, SqlError, SqlResult};
use os::clock::monotonic_ns;
use os::sync::MutexGuard;
use os::wait::{WaitKind, Waiter, Wake};
use std::collections::BTreeMap;
use std::sync::Arc;
use wal::WalError;
use work::{CleanerPass, Work};

/// Pages of a step.
const STEP_PAGES: usize = 64;
/// How often a hobt is swept in which records move.
const ROUNDS_MAX: usize = 8;
/// How often it is looked whether another sweep has ended, or a table is locked no more.
const LOOK_NS: u64 = 10_000_000;
const MINUTE_NS: u64 = 60_000_000_000;

/// What is to be swept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SweepRequest {
    /// Records by aborted transactions.
    pub rows: bool,
    /// All pages, not only those of hobts that an aborted transaction has changed.
    pub every_page: bool,
    /// Versions in the database's own store.
    pub store: bool,
    /// Whether hobts whose tables are locked are tried again.
    pub retries: bool,
}

impl SweepRequest {
    /// Whatever needs it.
    pub const ALL: SweepRequest =
        SweepRequest { rows: true, every_page: false, store: true, retries: true };
}

/// A hobt that is swept.
struct HobtSweep {
    hobt: Arc<dyn StoredHobt>,
    /// Where the next step begins.
    from: Option<SweepPosition>,
    /// How often records had been moved when the first step was done.
    moved: Option<u64>,
    rounds: usize,
}

/// How far a hobt was swept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// To its end, and nothing was missed.
    Whole,
    /// To its end, again and again, and records were moved meanwhile.
    Moving,
    /// Its table is locked.
    Locked,
}

/// What a sweep did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SweepOutcome {
    /// Pages that were looked at, those of the store with them.
    pub pages: usize,
    /// Records that were reverted.
    pub reverted: u64,
    /// Transactions that were forgotten.
    pub forgotten: usize,
    /// Versions that left the store.
    pub versions: usize,
}

impl Database {
    /// Sweeps the database. Others read and write meanwhile.
    ///
    /// # Errors
    /// Damaged pages, a full log, no room; the waiter's cancellation; 3906 or 3908 if it is open
    /// for reading only. What was swept stays so.
    pub fn sweep_versions(&self, asked: SweepRequest, waiter: &Waiter) -> SqlResult<SweepOutcome> {
        if let Some(seal) = self.sealed {
            return Err(WalError::Sealed(seal).into_sql(&self.home.name()));
        }
        let _one = self.turn_to_sweep(waiter)?;
        let (times, mut outcome) = (self.home.cleaner_times(), SweepOutcome::default());
        if asked.rows {
            times.during(CleanerPass::Aborted, || self.sweep_rows(asked, waiter, &mut outcome))?;
        }
        if asked.store {
            times.during(CleanerPass::OffRow, || self.sweep_store(waiter, &mut outcome))?;
        }
        Ok(outcome)
    }

    /// Invariant 2.
    fn turn_to_sweep(&self, waiter: &Waiter) -> SqlResult<MutexGuard<'_, ()>> {
        loop {
            if let Some(turn) = self.sweeping.try_lock() {
                return Ok(turn);
            }
            pause(waiter)?;
        }
    }

    fn sweep_rows(
        &self,
        asked: SweepRequest,
        waiter: &Waiter,
        outcome: &mut SweepOutcome,
    ) -> SqlResult<()> {
        let aborted = self.home.aborted().list();
        let unknown = asked.every_page || aborted.iter().any(|a| a.units.is_empty());
        let hobts = match aborted.is_empty() && !asked.every_page {
            true => BTreeMap::new(),
            false if unknown => self.all_trees(),
            false => self.trees_of(aborted.iter().flat_map(|a| &a.units)),
        };
        if self.sweep_hobts(hobts.into_values(), asked.retries, waiter, outcome)? {
            // Invariant 1.
            aborted.iter().for_each(|a| self.home.aborted().forget(a.xsn));
            outcome.forgotten += aborted.len();
        }
        Ok(())
    }

    /// Whether all hobts were swept, and nothing was missed.
    fn sweep_hobts(
        &self,
        hobts: impl Iterator<Item = Arc<dyn StoredHobt>>,
        retries: bool,
        waiter: &Waiter,
        outcome: &mut SweepOutcome,
    ) -> SqlResult<bool> {
        let work = self.system_work();
        let begin = |hobt| HobtSweep { hobt, from: None, moved: None, rounds: 0 };
        let (mut left, mut until, mut is_whole) = (Vec::from_iter(hobts.map(begin)), None, true);
        loop {
            let mut locked = Vec::new();
            for mut sweep in left {
                match sweep.go_on(&work, waiter, outcome)? {
                    Progress::Whole => {}
                    Progress::Moving => is_whole = false,
                    Progress::Locked => locked.push(sweep),
                }
            }
            let minutes = u64::from(self.env.engine.cleaner_retry_minutes());
            let until = *until.get_or_insert_with(|| monotonic_ns() + minutes * MINUTE_NS);
            if locked.is_empty() || !retries || monotonic_ns() >= until {
                return Ok(is_whole && locked.is_empty());
            }
            pause(waiter)?;
            left = locked;
        }
    }

    /// All open hobts, and the trees of their large values.
    fn all_trees(&self) -> BTreeMap<AllocUnitId, Arc<dyn StoredHobt>> {
        let all = self.hobts.all().into_iter();
        let trees = all.flat_map(|hobt| [hobt.large(), Some(hobt)]).flatten();
        trees.map(|tree| (tree.spec().unit, tree)).collect()
    }

    /// Those of units; a unit that is not open was dropped, and its pages are freed with it.
    fn trees_of<'u>(
        &self,
        units: impl Iterator<Item = &'u AllocUnitId>,
    ) -> BTreeMap<AllocUnitId, Arc<dyn StoredHobt>> {
        units.filter_map(|unit| Some((*unit, self.hobts.open_unit(*unit)?))).collect()
    }

    fn sweep_store(&self, waiter: &Waiter, outcome: &mut SweepOutcome) -> SqlResult<()> {
        let Some(store) = self.home.version_stores().own() else { return Ok(()) };
        let (transactions, aborted) = (&self.env.engine.transactions, self.home.aborted());
        let commits = &transactions.commits;
        commits.collapse(|| transactions.points());
        let horizon = transactions.snapshots.store_horizon(commits);
        // In this order: who aborts enters the map before it is known that it has ended.
        let is_past = |by| commits.is_past(by, horizon) && !aborted.contains(by);
        let mut from = Some(0);
        while let Some(at) = from {
            waiter.check().map_err(SqlError::from)?;
            let step = store.reclaim(at, STEP_PAGES, &is_past);
            let step = step.map_err(|e| e.into_sql(&self.home.name()))?;
            outcome.pages += step.pages;
            outcome.versions += step.versions;
            from = step.next;
        }
        Ok(())
    }
}

impl HobtSweep {
    /// Sweeps on, to the end if the table is not locked. The same end is reached again where
    /// records were moved meanwhile.
    fn go_on(
        &mut self,
        work: &Work,
        waiter: &Waiter,
        outcome: &mut SweepOutcome,
    ) -> SqlResult<Progress> {
        loop {
            waiter.check().map_err(SqlError::from)?;
            let step = match self.hobt.revert_aborted(work, self.from.as_ref(), STEP_PAGES) {
                // Its pages may belong to another hobt by now.
                Err(_) if self.hobt.is_dropped() => return Ok(Progress::Whole),
                step => step?,
            };
            outcome.pages += step.pages;
            outcome.reverted += step.reverted;
            let moved = *self.moved.get_or_insert(step.moved);
            self.from = step.next;
            match &self.from {
                Some(_) if step.pages == 0 => return Ok(Progress::Locked),
                Some(_) => {}
                None if moved == step.moved => return Ok(Progress::Whole),
                None if self.rounds == ROUNDS_MAX => return Ok(Progress::Moving),
                None => (self.moved, self.rounds) = (None, self.rounds + 1),
            }
        }
    }
}

/// Waits a moment.
fn pause(waiter: &Waiter) -> SqlResult<()> {
    match waiter.wait(WaitKind::PvsCleanupLock, Some(monotonic_ns() + LOOK_NS)) {
        Wake::Cancelled(why) => Err(why.into()),
        _ => Ok(()),
    }
}
