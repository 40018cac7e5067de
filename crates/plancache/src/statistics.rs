//! What is counted of runs: of a statement, and of a whole procedure.
//!
//! Invariants
//!  1. Runs that are counted have ended without an error; the sums, the last, least and largest
//!     values are of the same runs.

use os::sync::Mutex;

/// One run of a statement or procedure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// CPU time.
    pub cpu_ns: u64,
    /// Time from begin to end.
    pub elapsed_ns: u64,
    /// Pages read or changed.
    pub logical_reads: u64,
    /// Those that came from disk.
    pub physical_reads: u64,
    /// Pages that the run made dirty.
    pub logical_writes: u64,
    /// Rows returned or affected.
    pub rows: u64,
    /// Memory for sorts and hashes that was granted.
    pub grant_bytes: u64,
    /// Of that, what was used at most.
    pub used_grant_bytes: u64,
    /// What it would have taken to keep all rows in memory, as the plan supposed.
    pub ideal_grant_bytes: u64,
    /// Pages written to spill files.
    pub spilled_pages: u64,
    /// Workers of each exchange; 1 where it ran alone.
    pub degree: u64,
    /// Threads that it had for them.
    pub threads: u64,
    /// Ghosts that its scans passed.
    pub ghosts_skipped: u64,
    /// Stored versions gone along to those that it sees.
    pub versions_traversed: u64,
    /// Locks it asked for.
    pub lock_requests: u64,
}

/// A number of all runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Of all runs together.
    pub total: u64,
    /// Of the last one.
    pub last: u64,
    /// The least.
    pub min: u64,
    /// The largest.
    pub max: u64,
}

impl Measure {
    fn add(&mut self, first: bool, value: u64) {
        self.total = self.total.saturating_add(value);
        self.last = value;
        self.min = if first { value } else { self.min.min(value) };
        self.max = self.max.max(value);
    }
}

/// What was counted. Times are wall times in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "measures are named as the fields of `Run`")]
pub struct ExecutionCounts {
    /// Runs.
    pub executions: u64,
    /// When the last one began.
    pub last_run_at: i64,
    pub cpu_ns: Measure,
    pub elapsed_ns: Measure,
    pub logical_reads: Measure,
    pub physical_reads: Measure,
    pub logical_writes: Measure,
    pub rows: Measure,
    pub grant_bytes: Measure,
    pub used_grant_bytes: Measure,
    pub ideal_grant_bytes: Measure,
    pub spilled_pages: Measure,
    pub degree: Measure,
    pub threads: Measure,
    pub ghosts_skipped: Measure,
    pub versions_traversed: Measure,
    pub lock_requests: Measure,
}

impl ExecutionCounts {
    fn add(&mut self, began_at: i64, run: &Run) {
        let first = self.executions == 0;
        self.executions += 1;
        self.last_run_at = self.last_run_at.max(began_at);
        self.cpu_ns.add(first, run.cpu_ns);
        self.elapsed_ns.add(first, run.elapsed_ns);
        self.logical_reads.add(first, run.logical_reads);
        self.physical_reads.add(first, run.physical_reads);
        self.logical_writes.add(first, run.logical_writes);
        self.rows.add(first, run.rows);
        self.grant_bytes.add(first, run.grant_bytes);
        self.used_grant_bytes.add(first, run.used_grant_bytes);
        self.ideal_grant_bytes.add(first, run.ideal_grant_bytes);
        self.spilled_pages.add(first, run.spilled_pages);
        self.degree.add(first, run.degree);
        self.threads.add(first, run.threads);
        self.ghosts_skipped.add(first, run.ghosts_skipped);
        self.versions_traversed.add(first, run.versions_traversed);
        self.lock_requests.add(first, run.lock_requests);
    }
}

/// Counts runs. What never ran takes a pointer; adding a run is a short lock that only sessions
/// which end the same statement at the same moment meet at.
#[derive(Debug, Default)]
pub struct Statistics(Mutex<Option<Box<ExecutionCounts>>>);

impl Statistics {
    /// Adds a run that began at a wall time.
    pub fn add(&self, began_at: i64, run: &Run) {
        self.0.lock().get_or_insert_default().add(began_at, run);
    }

    /// What was counted; `None` before the first run.
    pub fn counted(&self) -> Option<ExecutionCounts> {
        self.0.lock().as_deref().copied()
    }

    /// Forgets all runs: the plan is another one.
    pub(crate) fn forget(&self) {
        *self.0.lock() = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_last_least_and_largest_are_of_the_same_runs() {
        let statistics = Statistics::default();
        assert_eq!(statistics.counted(), None);
        for (at, rows) in [(10, 5), (30, 0), (20, 7)] {
            statistics.add(at, &Run { rows, cpu_ns: 2 * rows, ..Run::default() });
        }
        let counted = statistics.counted().unwrap();
        assert_eq!((counted.executions, counted.last_run_at), (3, 30));
        assert_eq!(counted.rows, Measure { total: 12, last: 7, min: 0, max: 7 });
        assert_eq!(counted.cpu_ns, Measure { total: 24, last: 14, min: 0, max: 14 });
        statistics.forget();
        assert_eq!(statistics.counted(), None);
    }
}
