//! Worker threads of an instance: how many all statements together may have for their exchanges.
//!
//! A statement takes as many as it can get at once, the same number for each branch of its plan,
//! and runs with one thread if there are not enough for two. No statement waits for workers, so
//! none that holds some keeps others from ending. It costs one latch for each parallel run.

use base::SessionId;
use os::sync::Mutex;

/// The threads of an instance for parallel plans: `max worker threads`.
#[derive(Debug)]
pub struct Workers {
    threads_max: usize,
    processors: usize,
    crews: Mutex<Vec<CrewRow>>,
}

/// The threads of a statement that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CrewRow {
    /// Whose statement.
    pub session: SessionId,
    /// Workers of each branch of its plan.
    pub degree: usize,
    /// Threads in all; each is started when the run begins.
    pub threads: usize,
}

/// Threads that a statement has; given back when dropped.
#[derive(Debug)]
pub struct ThreadReservation<'w> {
    of: &'w Workers,
    crew: CrewRow,
    /// Workers of each branch.
    pub(crate) degree: usize,
}

impl Workers {
    /// So many threads, of which a statement that is not told otherwise uses one for each processor
    /// in each branch.
    pub fn new(threads_max: usize, processors: usize) -> Workers {
        Workers { threads_max, processors: processors.max(1), crews: Mutex::new(Vec::new()) }
    }

    /// The degree of a statement that neither an option nor a hint limits.
    pub fn processors(&self) -> usize {
        self.processors
    }

    /// The statements that have threads now.
    pub fn crews(&self) -> Vec<CrewRow> {
        self.crews.lock().clone()
    }

    /// Threads for a statement without a plan, of one branch; none in a simulation, as of plans.
    pub fn reserve_makers(
        &self,
        session: SessionId,
        degree: usize,
    ) -> Option<ThreadReservation<'_>> {
        match os::sched::current() {
            None => self.reserve(session, 1, degree),
            Some(_) => None,
        }
    }

    /// Threads for so many branches of a plan, `degree` for each, or fewer; `None` when there are
    /// not two for each.
    pub(crate) fn reserve(
        &self,
        session: SessionId,
        branches: usize,
        degree: usize,
    ) -> Option<ThreadReservation<'_>> {
        let mut crews = self.crews.lock();
        let used: usize = crews.iter().map(|c| c.threads).sum();
        let free = self.threads_max.saturating_sub(used);
        let degree = (free / branches.max(1)).min(degree);
        if degree < 2 {
            return None;
        }
        let crew = CrewRow { session, degree, threads: degree * branches };
        crews.push(crew);
        Some(ThreadReservation { of: self, crew, degree })
    }
}

impl ThreadReservation<'_> {
    /// Workers of each branch.
    pub fn degree(&self) -> usize {
        self.degree
    }

    /// Threads that are reserved.
    pub(crate) fn threads(&self) -> usize {
        self.crew.threads
    }
}

impl Drop for ThreadReservation<'_> {
    fn drop(&mut self) {
        let mut crews = self.of.crews.lock();
        // Equal ones are as good as each other.
        if let Some(at) = crews.iter().position(|c| *c == self.crew) {
            crews.swap_remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_share_threads_and_run_alone_when_there_are_too_few() {
        let workers = Workers::new(8, 4);
        let (a, b) = (SessionId(51), SessionId(52));
        let first = workers.reserve(a, 1, 4).expect("all are free");
        assert_eq!(workers.crews(), [CrewRow { session: a, degree: 4, threads: 4 }]);
        let second = workers.reserve(b, 2, 4).expect("two for each branch are left");
        assert_eq!((second.degree, second.threads()), (2, 4));
        assert!(workers.reserve(a, 1, 2).is_none(), "none is left");
        drop(first);
        assert_eq!(workers.crews(), [CrewRow { session: b, degree: 2, threads: 4 }]);
        assert!(workers.reserve(a, 3, 4).is_none(), "one for each branch is no use");
        drop(second);
        assert!(workers.crews().is_empty());
    }
}
