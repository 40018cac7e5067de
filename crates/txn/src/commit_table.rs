//! The commit table: from a transaction sequence number to when it was committed.
//!
//! A chunked array of atomics above a low-water mark; below it everything is committed and
//! visible to all. A commit is one store, the rows it wrote are not touched.
//!
//! Invariants
//!  1. A number goes from active to committed or aborted once, and never back.
//!  2. The timestamp is drawn, stored and the clock advanced inside one short latch, so that
//!     every commit at or before the clock is in the table.

use base::Xsn;
use os::sync::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

/// When a transaction was committed, in commit order; 0 is before every commit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct CommitTime(pub u64);

/// What became of a transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It goes on.
    Active,
    /// It was committed then.
    Committed(CommitTime),
    /// It never happened.
    Aborted,
}

const CHUNK: u64 = 4096;
const ABORTED: u64 = u64::MAX;

type Chunk = Arc<[AtomicU64]>;

/// From number to outcome.
pub struct CommitTable {
    chunks: RwLock<BTreeMap<u64, Chunk>>,
    low_water: AtomicU64,
    clock: AtomicU64,
    stamping: Mutex<()>,
}

impl Default for CommitTable {
    fn default() -> Self {
        CommitTable {
            chunks: RwLock::default(),
            low_water: AtomicU64::new(1),
            clock: AtomicU64::new(1),
            stamping: Mutex::new(()),
        }
    }
}

impl CommitTable {
    fn chunk(&self, number: u64) -> Chunk {
        debug_assert!(number <= Xsn::MAX.0, "a sequence number has 48 bits");
        if let Some(c) = self.chunks.read().get(&(number / CHUNK)) {
            return Arc::clone(c);
        }
        let mut chunks = self.chunks.write();
        let fresh = || (0..CHUNK).map(|_| AtomicU64::new(0)).collect();
        Arc::clone(chunks.entry(number / CHUNK).or_insert_with(fresh))
    }

    /// What became of a transaction.
    pub fn outcome(&self, xsn: Xsn) -> Outcome {
        assert_ne!(xsn, Xsn::NONE, "who wrote nothing has no outcome");
        if xsn.0 < self.low_water.load(Acquire) {
            return Outcome::Committed(CommitTime(0));
        }
        match self.chunk(xsn.0)[(xsn.0 % CHUNK) as usize].load(Acquire) {
            0 => Outcome::Active,
            ABORTED => Outcome::Aborted,
            time => {
                let now = self.clock.load(SeqCst);
                debug_assert!(time <= now + 1, "the clock follows within one stamp");
                Outcome::Committed(CommitTime(time))
            }
        }
    }

    /// Commits: from now on snapshots see it. The caller's log is durable (unless delayed).
    pub fn commit(&self, xsn: Xsn) -> CommitTime {
        assert_ne!(xsn, Xsn::NONE, "who wrote nothing needs no stamp");
        assert!(xsn.0 >= self.low_water.load(Acquire), "what goes on is not forgotten");
        let chunk = self.chunk(xsn.0);
        let _one = self.stamping.lock();
        let time = self.clock.load(Relaxed) + 1;
        assert!(time < ABORTED, "a commit time is no mark");
        let before = chunk[(xsn.0 % CHUNK) as usize].swap(time, Release);
        assert_eq!(before, 0, "a transaction ends once");
        self.clock.store(time, SeqCst);
        CommitTime(time)
    }

    /// Aborts: its versions never happened.
    pub fn abort(&self, xsn: Xsn) {
        assert_ne!(xsn, Xsn::NONE, "who wrote nothing needs no stamp");
        assert!(xsn.0 >= self.low_water.load(Acquire), "what goes on is not forgotten");
        let before = self.chunk(xsn.0)[(xsn.0 % CHUNK) as usize].swap(ABORTED, Release);
        assert_eq!(before, 0, "a transaction ends once");
    }

    /// The newest commit.
    pub fn clock(&self) -> CommitTime {
        CommitTime(self.clock.load(SeqCst))
    }

    /// Forgets everything below a number: all of it is committed and visible to everybody.
    pub fn forget_below(&self, xsn: Xsn) {
        assert!(xsn.0 <= Xsn::MAX.0, "a sequence number has 48 bits");
        self.low_water.fetch_max(xsn.0, AcqRel);
        self.chunks.write().retain(|k, _| (k + 1) * CHUNK > xsn.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_ordered_and_forgotten_ones_are_committed_for_all() {
        let t = CommitTable::default();
        assert_eq!(t.outcome(Xsn(5000)), Outcome::Active);
        let (a, b) = (t.commit(Xsn(5000)), t.commit(Xsn(3)));
        assert!(a < b && t.clock() == b);
        t.abort(Xsn(4));
        assert_eq!(t.outcome(Xsn(4)), Outcome::Aborted);
        t.forget_below(Xsn(4097));
        assert_eq!(t.outcome(Xsn(3)), Outcome::Committed(CommitTime(0)));
        assert_eq!(t.outcome(Xsn(5000)), Outcome::Committed(a));
    }
}
