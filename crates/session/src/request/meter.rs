//! Measures one run of a statement: processor time, elapsed time, pages, rows, memory, locks.
//!
//! Reading a thread's processor clock is a system call that costs a tenth of a short statement. So
//! it is read once a millisecond; in between the thread is assumed to run. The figure of a long
//! statement is exact, that of a short one is off by at most a millisecond, as SQL Server documents
//! for `total_worker_time`.

use os::clock::thread_cpu_ns;
use os::wait::{ThreadWaits, WaitKind};
use plancache::Run;
use showplan::{ResourceUse, Wait};

/// The maximum age of a reading of the processor clock.
const READING_NS: u64 = 1_000_000;

/// The processor clock of the thread that runs the session's request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessorClock {
    clock_ns: u64,
    cpu_ns: u64,
}

impl ProcessorClock {
    /// Another request begins, perhaps on another thread.
    pub(crate) fn begin(&mut self, clock_ns: u64, cpu_ns: u64) {
        *self = ProcessorClock { clock_ns, cpu_ns };
    }

    /// The processor time of the thread at the present moment `now_ns`.
    pub(super) fn at(&mut self, now_ns: u64) -> u64 {
        if now_ns.saturating_sub(self.clock_ns) > READING_NS {
            self.begin(now_ns, thread_cpu_ns());
        }
        self.cpu_ns + now_ns.saturating_sub(self.clock_ns)
    }
}

/// A run that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meter {
    pub(super) began_at: i64,
    pub(super) clock_ns: u64,
    pub(super) cpu_ns: u64,
    pub(super) dirtied: u64,
    pub(super) lock_requests: u64,
}

/// Figures of the last statement, which are shown behind its plan.
#[derive(Debug, Default)]
pub(crate) struct LastFigures {
    pub(crate) last: ResourceUse,
    /// For the running statement: whether it locks rows after they qualify, or why not.
    pub(crate) qualified: Option<&'static str>,
    /// The waits of the thread before the run, if they are wanted.
    pub(super) waited_before: Option<Box<ThreadWaits>>,
}

impl LastFigures {
    /// The waits of the run, with those of its workers.
    pub(crate) fn waits(&self, workers: Option<&ThreadWaits>) -> Vec<Wait> {
        let Some(before) = &self.waited_before else { return Vec::new() };
        let mut waits = os::wait::thread_waits().since(before);
        workers.iter().for_each(|more| waits.add(more));
        let wait = |(kind, count, time_ns): (WaitKind, u64, u64)| Wait {
            kind: kind.name(),
            count,
            time_ns,
        };
        waits.kinds().map(wait).collect()
    }
}

/// What the statements of a request have used so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(super) logical_reads: u64,
    pub(super) physical_reads: u64,
    pub(super) spilled_pages: u64,
    pub(super) rows: u64,
    pub(super) ghosts_skipped: u64,
    pub(super) versions_traversed: u64,
    /// Processor time of other threads than the request's own.
    pub(super) workers_ns: u64,
    /// Locks that those threads requested.
    pub(super) workers_locks: u64,
}

impl Sums {
    pub(super) fn add(&mut self, run: &Run, workers_ns: u64, workers_locks: u64) {
        self.workers_ns += workers_ns;
        self.workers_locks += workers_locks;
        self.ghosts_skipped += run.ghosts_skipped;
        self.versions_traversed += run.versions_traversed;
        self.logical_reads += run.logical_reads;
        self.physical_reads += run.physical_reads;
        self.spilled_pages += run.spilled_pages;
        self.rows += run.rows;
    }
}

/// The processor time and memory that a session uses.
#[derive(Default)]
pub(crate) struct Consumption {
    /// What the statements of the request have used so far.
    pub(crate) run: Sums,
    pub(crate) processor: ProcessorClock,
    pub(crate) took: LastFigures,
    /// Bytes that its requests have allocated and not freed, outside any account.
    pub(crate) kept_bytes: isize,
}
