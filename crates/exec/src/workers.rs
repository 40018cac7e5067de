//! Worker threads of an instance: how many statements may have for their exchanges, together.
//!
//! A statement takes what it can have at once, for as many workers in each branch of its plan as
//! that suffices for, and runs alone where it does not suffice for two. Nobody waits for workers,
//! so nobody who holds some keeps others from ending.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// `cost threshold for parallelism` where nobody has set it.
const COST_THRESHOLD: usize = 5;

/// The threads of an instance for parallel plans: `max worker threads`.
#[derive(Debug)]
pub struct Workers {
    threads_max: usize,
    processors: usize,
    used: AtomicUsize,
    /// `max degree of parallelism`: 0 is the number of processors.
    degree_max: AtomicUsize,
    /// `cost threshold for parallelism`.
    cost_threshold: AtomicUsize,
}

/// Threads that a statement has; given back when dropped.
#[derive(Debug)]
pub(crate) struct Reserved<'w> {
    of: &'w Workers,
    threads: usize,
    /// Workers of each branch.
    pub(crate) degree: usize,
}

impl Workers {
    /// So many threads, of which a statement that is not told otherwise uses one for each processor
    /// in each branch.
    pub fn new(threads_max: usize, processors: usize) -> Workers {
        Workers {
            threads_max,
            processors: processors.max(1),
            used: AtomicUsize::new(0),
            degree_max: AtomicUsize::new(0),
            cost_threshold: AtomicUsize::new(COST_THRESHOLD),
        }
    }

    /// `max degree of parallelism` as it is set.
    pub fn degree_setting(&self) -> usize {
        self.degree_max.load(Relaxed)
    }

    /// Sets `max degree of parallelism`: 0 is the number of processors.
    pub fn set_degree(&self, degree: usize) {
        self.degree_max.store(degree, Relaxed);
    }

    /// What a statement may have that names no degree.
    pub fn degree_max(&self) -> usize {
        match self.degree_setting() {
            0 => self.processors,
            n => n,
        }
    }

    /// `cost threshold for parallelism`.
    pub fn cost_threshold(&self) -> usize {
        self.cost_threshold.load(Relaxed)
    }

    /// Sets `cost threshold for parallelism`.
    pub fn set_cost_threshold(&self, cost: usize) {
        self.cost_threshold.store(cost, Relaxed);
    }

    /// Threads there are.
    pub fn threads_max(&self) -> usize {
        self.threads_max
    }

    /// Threads in use.
    pub fn used(&self) -> usize {
        self.used.load(Relaxed)
    }

    /// Threads for so many branches of a plan, `degree` for each, or fewer; `None` when there are
    /// not two for each.
    pub(crate) fn reserve(&self, branches: usize, degree: usize) -> Option<Reserved<'_>> {
        let mut got = 0;
        let take = |used: usize| {
            let free = self.threads_max.saturating_sub(used);
            got = (free / branches.max(1)).min(degree);
            (got >= 2).then_some(used + got * branches)
        };
        self.used.fetch_update(Relaxed, Relaxed, take).ok()?;
        Some(Reserved { of: self, threads: got * branches, degree: got })
    }
}

impl Reserved<'_> {
    /// Threads that are reserved.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        self.of.used.fetch_sub(self.threads, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_share_threads_and_run_alone_when_there_are_too_few() {
        let workers = Workers::new(8, 4);
        let first = workers.reserve(1, 4).expect("all are free");
        assert_eq!((first.degree, workers.used()), (4, 4));
        let second = workers.reserve(2, 4).expect("two for each branch are left");
        assert_eq!((second.degree, workers.used()), (2, 8));
        assert!(workers.reserve(1, 2).is_none(), "none is left");
        drop(first);
        assert_eq!(workers.reserve(3, 4).map(|r| r.degree), None, "one for each branch is no use");
        drop(second);
        assert_eq!(workers.used(), 0);
    }
}
