//! What one run of a statement takes: processor time, time, pages, rows, memory, locks.
//!
//! The processor's clock of a thread is a system call that costs as much as a short statement's
//! tenth. So it is read once a millisecond; in between the thread is taken to run. What is told of
//! a long statement is true, of a short one it is off by a millisecond at most, as SQL Server
//! documents for `total_worker_time`.

use os::clock::thread_cpu_ns;
use os::wait::{ThreadWaits, WaitKind};
use plancache::Run;
use showplan::{ResourceUse, Wait};

/// How old a reading of the processor's clock may be.
const READING_NS: u64 = 1_000_000;

/// The processor's clock of the thread that runs the session's request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessorClock {
    clock_ns: u64,
    cpu_ns: u64,
}

impl ProcessorClock {
    /// Another request, perhaps on another thread.
    pub(crate) fn begin(&mut self, clock_ns: u64, cpu_ns: u64) {
        *self = ProcessorClock { clock_ns, cpu_ns };
    }

    /// Processor time of the thread at a moment that is now.
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

/// What is told of the last statement behind its plan.
#[derive(Debug, Default)]
pub(crate) struct LastFigures {
    pub(crate) last: ResourceUse,
    /// Of the statement that runs: whether it locks rows when they qualify, or why not.
    pub(crate) qualified: Option<&'static str>,
    /// What the thread had waited for when it began, where that is wanted.
    pub(super) waited_before: Option<Box<ThreadWaits>>,
}

impl LastFigures {
    /// What it waited for, with these waits of its workers.
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

/// What the statements of a request took so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    pub(super) logical_reads: u64,
    pub(super) physical_reads: u64,
    pub(super) spilled_pages: u64,
    pub(super) rows: u64,
    pub(super) ghosts_skipped: u64,
    pub(super) versions_traversed: u64,
    /// Processor time of threads beside the request's own.
    pub(super) workers_ns: u64,
    /// Locks that those asked for.
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

/// What a session takes of its processor and its memory.
#[derive(Default)]
pub(crate) struct Consumption {
    /// What the statements of the request took so far.
    pub(crate) run: Sums,
    pub(crate) processor: ProcessorClock,
    pub(crate) took: LastFigures,
    /// What its requests have made and left, in no account.
    pub(crate) kept_bytes: isize,
}
