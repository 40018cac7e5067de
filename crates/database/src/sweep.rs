//! The sweep of a database's versions, in one go: records by aborted transactions are reverted on
//! their pages, the transactions are forgotten, and versions that nobody needs leave the database's
//! own store, and the records of their rows. `sp_persistent_version_cleanup` asks for it, and
//! whoever turns accelerated recovery off.
//!
//! Invariants
//!  1. A transaction is forgotten when each hobt that has records by it was swept from its begin to
//!     its end.
//!  2. One sweep at a time: what a sweep found in the map is there until it forgets it.
//!  3. It holds locks and latches only while a step lasts, and waits for nobody's: a hobt whose
//!     table is locked is tried again when all others are done, for as long as `ADR cleaner retry
//!     timeout (min)` says.
//!  4. The log says that a transaction is forgotten (REVERTED) behind all records that revert its
//!     rows. The transaction has left the map by then: a checkpoint behind REVERTED does not carry
//!     it.

use crate::database::Database;
use access::{StoredHobt, SweepPosition};
use base::{AllocUnitId, SqlError, SqlResult, Xsn};
use os::clock::monotonic_ns;
use os::sync::{Mutex, MutexGuard};
use os::task::JoinHandle;
use os::wait::{WaitKind, Waiter, Wake};
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{AbortedTransaction, Mutation, NumberPayload, Outcome};
use wal::{Group, LogReservation, TransactionChain, WalError, kinds};
use work::{CleanerPass, PassedPages, Work};

/// Pages of a step.
const STEP_PAGES: usize = 64;
/// Log of a REVERTED record, with its share of a block.
const REVERTED_BYTES: u64 = 64;
/// How long the cleaner rests between sweeps.
const REST_NS: u64 = 1_000_000_000;
const REST_AFTER_FAULT_NS: u64 = 10 * REST_NS;
/// How long it rests at least between passes over records; and 20 times as long as one took.
const REST_IN_ROW_NS: u64 = 10 * REST_NS;
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
    /// Versions in the records of rows.
    pub in_row: bool,
    /// Whether hobts whose tables are locked are tried again.
    pub retries: bool,
}

impl SweepRequest {
    /// Whatever needs it.
    pub const ALL: SweepRequest =
        SweepRequest { rows: true, every_page: false, store: true, in_row: true, retries: true };
}

/// What a sweep of a hobt looks for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SweptVersions {
    /// Records by aborted transactions.
    Aborted,
    /// Versions in records; where some were left, or everywhere.
    InRow { every: bool },
}

/// A hobt that is swept.
struct HobtSweep {
    hobt: Arc<dyn StoredHobt>,
    /// Where the next step begins.
    from: Option<SweepPosition>,
}

/// How far a hobt was swept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// To its end.
    Whole,
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
    /// Versions that left the records of their rows.
    pub in_row: u64,
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
        let swept = self.sweep_in_turn(asked, waiter);
        // A cancelled sweep has met no fault.
        if swept.is_ok() || waiter.check().is_ok() {
            self.home.cleaner_times().note_fault(swept.as_ref().err().cloned());
        }
        swept
    }

    fn sweep_in_turn(&self, asked: SweepRequest, waiter: &Waiter) -> SqlResult<SweepOutcome> {
        let (times, mut outcome) = (self.home.cleaner_times(), SweepOutcome::default());
        if asked.rows {
            times.during(CleanerPass::Aborted, || self.sweep_rows(asked, waiter, &mut outcome))?;
        }
        if asked.in_row {
            let sought = SweptVersions::InRow { every: asked.every_page };
            self.sweep_hobts(self.all_trees().into_values(), sought, false, waiter, &mut outcome)?;
        }
        if asked.store {
            times.during(CleanerPass::OffRow, || self.sweep_store(waiter, &mut outcome))?;
        }
        Ok(outcome)
    }

    /// Starts the cleaner of an accelerated database, if it does not run. It ends when the database
    /// is closed.
    pub fn start_cleaner(self: &Arc<Self>) {
        let mut cleaner = self.cleaner.lock();
        if cleaner.is_some() || self.sealed.is_some() || self.stopping.check().is_err() {
            return;
        }
        let database = Arc::clone(self);
        let name = format!("version cleaner {}", self.home.name());
        *cleaner = Some(os::task::spawn_background(&name, move || database.clean_versions()));
    }

    /// Waits for the cleaner to end. The database stops.
    pub(crate) fn join_cleaner(&self) {
        let cleaner: Option<JoinHandle<()>> = self.cleaner.lock().take();
        // A cleaner that panicked has reported it; closing goes on.
        let _ = cleaner.map(JoinHandle::join);
    }

    /// Sweeps again and again. After a sweep that fails, as at a damaged page or in a full log, the
    /// cleaner rests longer.
    fn clean_versions(self: &Arc<Self>) {
        let (mut rest, mut seen) = (REST_NS, None);
        let mut in_row_at = monotonic_ns() + REST_IN_ROW_NS;
        loop {
            let until = Some(monotonic_ns() + rest);
            if let Wake::Cancelled(_) = self.stopping.wait(WaitKind::SleepTask, until) {
                return;
            }
            let transactions = &self.env.engine.transactions;
            let horizon = transactions.snapshots.store_horizon(&transactions.commits);
            let stored = self.home.version_stores().own().map(|store| store.usage().generated);
            // A store that got nothing since a sweep by the same horizon has nothing to reclaim.
            let now = Some((horizon, stored));
            let asked = SweepRequest {
                rows: !self.home.aborted().is_empty(),
                store: now != seen || !self.home.aborted().is_empty(),
                // Tables that are locked now are tried again by the next sweep.
                retries: false,
                every_page: false,
                in_row: monotonic_ns() >= in_row_at,
            };
            self.revert_by_several();
            self.make_versions_room();
            let wanted = asked.rows || asked.store || asked.in_row;
            let began = monotonic_ns();
            let failed = wanted && self.sweep_versions(asked, &self.stopping).is_err();
            if asked.in_row {
                let ended = monotonic_ns();
                in_row_at = ended + REST_IN_ROW_NS.max(20 * (ended - began));
            }
            seen = now.filter(|_| !failed);
            rest = if failed { REST_AFTER_FAULT_NS } else { REST_NS };
        }
    }

    /// Makes pages of the store ahead, as `ADR Preallocation Factor` says. Where there is no room
    /// the store stays as it is: whoever needs a page asks again, and is told.
    fn make_versions_room(&self) {
        let stores = self.home.version_stores();
        if let Some(store) = stores.own().filter(|_| stores.keeps_own()) {
            let _ = store.make_ahead(self.env.engine.preallocated_pages_max());
        }
    }

    /// Reverts rows by as many threads as `ADR Cleaner Thread Count` says, each a hobt at a time.
    /// The sweep that follows finds little to do. What fails here fails there, and is reported.
    fn revert_by_several(self: &Arc<Self>) {
        let aborted = self.home.aborted().list();
        let threads = self.env.engine.cleaner_threads() as usize;
        let trees: Vec<_> = match aborted.is_empty() || threads < 2 {
            true => return,
            false => self.trees_to_sweep(&aborted, false).into_values().collect(),
        };
        let others = threads.min(trees.len()).saturating_sub(1);
        let left = Arc::new(Mutex::new(trees));
        let share = |database: &Database, left: &Mutex<Vec<Arc<dyn StoredHobt>>>| {
            let (work, waiter) = (database.system_work(), &database.stopping);
            loop {
                let Some(hobt) = left.lock().pop() else { return };
                let mut sweep = HobtSweep { hobt, from: None };
                let mut outcome = SweepOutcome::default();
                let _ = sweep.go_on(&work, SweptVersions::Aborted, waiter, &mut outcome);
            }
        };
        let spawn = |n: usize| {
            let (database, left) = (Arc::clone(self), Arc::clone(&left));
            let name = format!("version cleaner {} {n}", self.home.name());
            os::task::spawn_background(&name, move || share(&database, &left))
        };
        let tasks: Vec<_> = (2..2 + others).map(spawn).collect();
        share(self, &left);
        for task in tasks {
            // One that panicked has reported it; the sweep does its part.
            let _ = task.join();
        }
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
        let hobts = self.trees_to_sweep(&aborted, asked.every_page);
        let mutations = &self.env.engine.transactions.mutations;
        if mutations.has(Mutation::ForgottenEarly)
            || self.sweep_hobts(
                hobts.into_values(),
                SweptVersions::Aborted,
                asked.retries,
                waiter,
                outcome,
            )?
        {
            outcome.forgotten += self.forget(&aborted)?;
        }
        Ok(())
    }

    /// Lets the map forget transactions (invariants 1 and 4), and says so in the log. How many.
    fn forget(&self, aborted: &[AbortedTransaction]) -> SqlResult<usize> {
        let mut room = LogReservation::none(&self.log);
        let all = REVERTED_BYTES * aborted.len() as u64;
        room.grow(all).map_err(|e| e.into_sql(&self.home.name()))?;
        let mut group = Group::new();
        for transaction in aborted {
            self.home.aborted().forget(transaction.xsn);
            os::sched::switch_point();
            group.clear();
            let number = NumberPayload(transaction.xsn).bytes();
            let pushed = group.push_plain(kinds::REVERTED, 0, &number);
            assert!(pushed.is_ok(), "an empty group has room for a number");
            self.log.append(&mut group, &mut TransactionChain::default());
        }
        Ok(aborted.len())
    }

    /// The trees that may have records by these transactions.
    fn trees_to_sweep(
        &self,
        aborted: &[AbortedTransaction],
        every_page: bool,
    ) -> BTreeMap<AllocUnitId, Arc<dyn StoredHobt>> {
        let unknown = every_page || aborted.iter().any(|a| a.units.is_empty());
        match aborted.is_empty() && !every_page {
            true => BTreeMap::new(),
            false if unknown => self.all_trees(),
            false => self.trees_of(aborted.iter().flat_map(|a| &a.units)),
        }
    }

    /// Whether all hobts were swept to their ends.
    fn sweep_hobts(
        &self,
        hobts: impl Iterator<Item = Arc<dyn StoredHobt>>,
        sought: SweptVersions,
        retries: bool,
        waiter: &Waiter,
        outcome: &mut SweepOutcome,
    ) -> SqlResult<bool> {
        let work = self.system_work();
        let begin = |hobt| HobtSweep { hobt, from: None };
        let (mut left, mut until) = (Vec::from_iter(hobts.map(begin)), None);
        loop {
            let mut locked = Vec::new();
            for mut sweep in left {
                match sweep.go_on(&work, sought, waiter, outcome)? {
                    Progress::Whole => {}
                    Progress::Locked => locked.push(sweep),
                }
            }
            let minutes = u64::from(self.env.engine.cleaner_retry_minutes());
            let until = *until.get_or_insert_with(|| monotonic_ns() + minutes * MINUTE_NS);
            if locked.is_empty() || !retries || monotonic_ns() >= until {
                return Ok(locked.is_empty());
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
        let unasked = transactions.mutations.has(Mutation::ReclaimedUnasked);
        let is_past = |by| commits.is_past(by, horizon) && (unasked || !aborted.contains(by));
        let (mut from, mut passed) = (Some(0), PassedPages::default());
        while let Some(at) = from {
            waiter.check().map_err(SqlError::from)?;
            let step = store.reclaim(at, STEP_PAGES, &is_past);
            let step = step.map_err(|e| e.into_sql(&self.home.name()))?;
            outcome.pages += step.pages;
            outcome.versions += step.versions;
            step.kept_for.iter().for_each(|by| self.note_kept(*by, &mut passed));
            from = step.next;
        }
        self.home.cleaner_times().note_passed(passed);
        Ok(())
    }

    /// Counts a page that stays in the store since a version there waits for a transaction.
    fn note_kept(&self, superseder: Xsn, passed: &mut PassedPages) {
        let aborted = self.home.aborted();
        let commits = &self.env.engine.transactions.commits;
        let count = match aborted.contains(superseder) {
            true if aborted.list().first().is_some_and(|a| a.xsn == superseder) => {
                &mut passed.for_oldest_aborted
            }
            true => &mut passed.for_other_aborted,
            false if commits.outcome(superseder) == Outcome::Active => &mut passed.for_active,
            // Who has just been rolled back frees its versions itself; else a snapshot reads it.
            false => &mut passed.for_snapshots,
        };
        *count += 1;
    }
}

impl HobtSweep {
    /// Sweeps on, to the end if the table is not locked.
    fn go_on(
        &mut self,
        work: &Work,
        sought: SweptVersions,
        waiter: &Waiter,
        outcome: &mut SweepOutcome,
    ) -> SqlResult<Progress> {
        loop {
            waiter.check().map_err(SqlError::from)?;
            let from = self.from.as_ref();
            let step = match sought {
                SweptVersions::Aborted => self.hobt.revert_aborted(work, from, STEP_PAGES),
                SweptVersions::InRow { every } => {
                    self.hobt.drop_in_row_versions(work, from, (STEP_PAGES, every))
                }
            };
            let step = match step {
                // Its pages may belong to another hobt by now.
                Err(_) if self.hobt.is_dropped() => return Ok(Progress::Whole),
                step => step?,
            };
            outcome.pages += step.pages;
            match sought {
                SweptVersions::Aborted => outcome.reverted += step.reverted,
                SweptVersions::InRow { .. } => outcome.in_row += step.reverted,
            }
            self.from = step.next;
            match &self.from {
                Some(_) if step.pages == 0 => return Ok(Progress::Locked),
                Some(_) => {}
                None => return Ok(Progress::Whole),
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
