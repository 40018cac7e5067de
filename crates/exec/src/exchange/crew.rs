//! A crew: the workers of one run of a statement, and what they share.
//!
//! It is made when the run begins and does not move in memory; workers and operators borrow it. It
//! is dropped after all threads of the run have ended.

use super::link::Link;
use super::stop::Stop;
use super::team::{Ranges, Team};
use super::worker;
use super::{Branch, ExchangeKind};
use crate::memory::GrantPool;
use crate::operator::Node;
use crate::run::Tallies;
use access::{Division, Hobt, Hobts, Isolation, LockPlan, Spill, TableReads};
use base::{SqlError, SqlResult, messages};
use os::sync::Mutex;
use os::task::{self, Scope};
use os::values::{self, ValueMemory};
use os::wait::{CancelReason, ThreadWaits, WaitTotals, Waiter};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use types::Value;
use types::datetime::{Dialect, Moment};
use work::{CommitTime, ReaderSeed, Work};

/// Makes a worker's copy of a branch's operators.
pub(crate) type MakeTree<'e> = dyn Fn(&Branch) -> SqlResult<Node> + Sync + 'e;

/// What a run lends to its crew.
pub(crate) struct CrewLoan<'e> {
    pub(crate) hobts: &'e [Arc<dyn Hobt>],
    pub(crate) resolver: &'e dyn Hobts,
    pub(crate) spill: &'e dyn Spill,
    pub(crate) branches: &'e [Branch],
    pub(crate) make_tree: &'e MakeTree<'e>,
    pub(crate) grant: &'e dyn GrantPool,
    pub(crate) variables: Vec<Value>,
    pub(crate) now: Moment,
    pub(crate) date_first: Value,
    pub(crate) dialect: Dialect,
    pub(crate) isolation: Isolation,
    pub(crate) as_of: Option<CommitTime>,
    /// Workers of each branch.
    pub(crate) degree: usize,
    /// Slots of the whole plan.
    pub(crate) slots: usize,
    pub(crate) cursors: usize,
    /// The cells in which each worker counts; those of a branch are next to each other.
    pub(crate) tallies: Vec<Arc<Tallies>>,
}

type Divisions<'e> = SqlResult<Vec<Box<dyn Division + 'e>>>;

/// See the module.
pub(crate) struct Crew<'e> {
    pub(crate) lent: CrewLoan<'e>,
    pub(crate) seed: ReaderSeed,
    pub(crate) stop: Stop,
    links: Vec<Arc<Link>>,
    /// The parts of each cursor's scan, made by the first worker that asks.
    divisions: Vec<OnceLock<Divisions<'e>>>,
    /// The waiter of each worker; those of a branch are next to each other.
    waiters: Vec<Arc<Waiter>>,
    /// The waiter of the thread that runs the statement.
    root: Arc<Waiter>,
    reports: Mutex<Vec<Report>>,
    /// Whether an aggregate of a worker has skipped a NULL.
    nulls: AtomicBool,
    /// The account of large values of workers: that of the thread that runs the statement.
    values: Option<Arc<ValueMemory>>,
    /// The session to which the workers' waits are charged.
    served: Option<Arc<WaitTotals>>,
}

/// What a worker has done.
pub(crate) struct Report {
    /// From 1, as SQL Server numbers threads.
    pub(crate) thread: usize,
    pub(crate) tallies: Arc<Tallies>,
    pub(crate) reads: Vec<TableReads>,
    pub(crate) cpu_ns: u64,
    pub(crate) lock_requests: u64,
    pub(crate) waits: ThreadWaits,
}

impl<'e> Crew<'e> {
    pub(crate) fn new(lent: CrewLoan<'e>, work: &Work) -> Crew<'e> {
        let degree = lent.degree;
        let link = |b: &Branch| {
            let consumers = if b.read_by.is_some() { degree } else { 1 };
            let ordered = matches!(b.kind, ExchangeKind::GatherOrdered(_));
            Arc::new(Link::new(degree, consumers, ordered))
        };
        let links = lent.branches.iter().map(link).collect();
        let divisions = (0..lent.cursors).map(|_| OnceLock::new()).collect();
        let waiters = (0..lent.branches.len() * degree).map(|_| Arc::default()).collect();
        Crew {
            seed: work.reader_seed(),
            stop: Stop::default(),
            links,
            divisions,
            waiters,
            root: Arc::clone(work.owner().waiter()),
            reports: Mutex::new(Vec::new()),
            nulls: AtomicBool::new(false),
            values: values::lent(),
            served: os::wait::served(),
            lent,
        }
    }

    /// Starts all workers; each waits until a consumer wants its rows.
    pub(crate) fn start<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        for branch in 0..self.lent.branches.len() {
            for number in 0..self.lent.degree {
                let started =
                    task::start_within(scope, "parallel", move || self.work(branch, number));
                if !started {
                    let what = "the system starts no more threads";
                    self.fail(SqlError::new(messages::INTERNAL, &[&what]));
                    return;
                }
            }
        }
    }

    /// Runs a worker to its end.
    fn work(&self, branch: usize, number: usize) {
        let link = &self.links[branch];
        link.wait_for_begin();
        if self.stop.is_over() {
            return;
        }
        let _lent = values::lend(self.values.clone());
        let _attended = values::attend(Arc::clone(&self.root), 0);
        let _serving = os::wait::serve(self.served.clone());
        let run = || worker::run(self, branch, number);
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)) {
            Ok(Ok(report)) => self.reports.lock().push(report),
            Ok(Err(error)) => self.fail(error),
            Err(payload) => {
                self.stop.panicked(payload);
                self.fail(SqlError::new(messages::INTERNAL, &[&"a worker panicked"]));
            }
        }
        self.leave_lanes(branch, number);
    }

    /// Producers of rows for a worker that has ended go on without it.
    fn leave_lanes(&self, branch: usize, number: usize) {
        for (link, below) in self.links.iter().zip(self.lent.branches) {
            if below.read_by == Some(branch) {
                link.close(number);
            }
        }
    }

    /// A worker's aggregates have skipped a NULL. It is noted before the worker's last rows are
    /// sent.
    pub(crate) fn note_nulls(&self) {
        self.nulls.store(true, Relaxed);
    }

    pub(crate) fn tallies(&self, branch: usize, number: usize) -> &Arc<Tallies> {
        &self.lent.tallies[branch * self.lent.degree + number]
    }

    pub(crate) fn waiter(&self, branch: usize, number: usize) -> &Arc<Waiter> {
        &self.waiters[branch * self.lent.degree + number]
    }

    /// Ends the statement with this error, unless it ends with another already.
    fn fail(&self, error: SqlError) {
        if self.stop.fail(error) {
            self.wake_all();
            self.root.signal();
        }
    }

    fn wake_all(&self) {
        self.waiters.iter().for_each(|w| w.cancel(CancelReason::Attention));
        self.links.iter().for_each(|link| link.begin());
    }

    /// The statement has ended: workers that still run must stop.
    pub(crate) fn dismiss(&self) {
        self.stop.end();
        self.wake_all();
    }

    /// What the workers have done, after all have ended.
    pub(crate) fn into_reports(self) -> Vec<Report> {
        // A packet may have been announced to a thread that no longer waits for it.
        self.root.clear_signal();
        std::mem::take(&mut *self.reports.lock())
    }
}

impl Team for Crew<'_> {
    fn link(&self, exchange: usize) -> Arc<Link> {
        Arc::clone(&self.links[exchange])
    }

    fn stop(&self) -> &Stop {
        &self.stop
    }

    fn saw_nulls(&self) -> bool {
        self.nulls.load(Relaxed)
    }

    fn divided(
        &self,
        cursor: usize,
        hobt: usize,
        work: &mut Work,
        ranges: Ranges<'_>,
        locks: &LockPlan,
    ) -> SqlResult<&[Box<dyn Division + '_>]> {
        let made = self.divisions[cursor].get_or_init(|| {
            let mut all = Vec::new();
            ranges(&mut |range| {
                let source = &self.lent.hobts[hobt];
                let divided = source.divide(work, range, locks, self.lent.degree)?;
                let what = "a source that is not divided is read by several";
                all.push(divided.ok_or_else(|| SqlError::new(messages::INTERNAL, &[&what]))?);
                Ok(())
            })?;
            Ok(all)
        });
        match made {
            Ok(all) => Ok(all),
            Err(e) => Err(e.clone()),
        }
    }
}
