//! What the table has done since it was made: in total, and for each kind of resource.
//!
//! Requests are counted in their partition, under the latch that each request takes anyway; so no
//! cache line is shared beyond that. They are also counted by thread, so that a statement's
//! requests can be told. Waits are counted in shared atomics: they are rare, and cost little beside
//! a wait.

use crate::resource::Kind;
use crate::table::Table;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What the table has done since it was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Requests, granted or not.
    pub requests: u64,
    /// Requests that had to queue.
    pub waits: u64,
    /// Waits that ended by LOCK_TIMEOUT.
    pub timeouts: u64,
    /// Deadlock victims.
    pub deadlocks: u64,
    /// Escalations that came about.
    pub escalations: u64,
    /// Memory the locks are reckoned at.
    pub memory_bytes: u64,
}

/// The same of one kind of resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct KindCounters {
    /// Requests, granted or not, tests and conversions among them.
    pub requests: u64,
    /// Requests whose owners waited.
    pub waits: u64,
    /// Of these waits, those that have ended, however they did.
    pub ended: u64,
    /// How long these took.
    pub waited_ns: u64,
    /// Those that ended by LOCK_TIMEOUT.
    pub timeouts: u64,
    /// Requests that were not to wait and were not granted: LOCK_TIMEOUT 0, NOWAIT.
    pub refused_at_once: u64,
    /// Deadlock victims.
    pub deadlocks: u64,
}

impl KindCounters {
    /// With those of another kind.
    #[must_use]
    pub fn and(self, other: KindCounters) -> KindCounters {
        KindCounters {
            requests: self.requests + other.requests,
            waits: self.waits + other.waits,
            ended: self.ended + other.ended,
            waited_ns: self.waited_ns + other.waited_ns,
            timeouts: self.timeouts + other.timeouts,
            refused_at_once: self.refused_at_once + other.refused_at_once,
            deadlocks: self.deadlocks + other.deadlocks,
        }
    }
}

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

/// Requests that this thread has made since it began, of any table: those that
/// [`Counters::requests`] counts.
pub fn thread_requests() -> u64 {
    REQUESTS.get()
}

/// This thread makes one.
#[inline]
pub(crate) fn count_request() {
    REQUESTS.set(REQUESTS.get() + 1);
}

#[derive(Default)]
pub(crate) struct KindTally {
    pub(crate) waits: AtomicU64,
    pub(crate) ended: AtomicU64,
    pub(crate) waited_ns: AtomicU64,
    pub(crate) timeouts: AtomicU64,
    pub(crate) refused_at_once: AtomicU64,
    pub(crate) deadlocks: AtomicU64,
}

#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) queued: AtomicU64,
    pub(crate) escalations: AtomicU64,
    pub(crate) kinds: [KindTally; Kind::ALL.len()],
}

impl Table {
    /// What the table has done so far, of each kind.
    pub fn kind_counters(&self) -> Vec<(Kind, KindCounters)> {
        let mut requests = [0; Kind::ALL.len()];
        for no in 0..self.shard_count() {
            let of_shard = self.shard_at(no).requests;
            requests.iter_mut().zip(of_shard).for_each(|(sum, n)| *sum += n);
        }
        let each = Kind::ALL.iter().zip(&self.tally.kinds).zip(requests);
        let counters = |((&kind, tally), requests): ((&Kind, &KindTally), u64)| {
            let counters = KindCounters {
                requests,
                waits: tally.waits.load(Relaxed),
                ended: tally.ended.load(Relaxed),
                waited_ns: tally.waited_ns.load(Relaxed),
                timeouts: tally.timeouts.load(Relaxed),
                refused_at_once: tally.refused_at_once.load(Relaxed),
                deadlocks: tally.deadlocks.load(Relaxed),
            };
            (kind, counters)
        };
        each.map(counters).collect()
    }

    /// What the table has done so far.
    pub fn counters(&self) -> Counters {
        let kinds = self.kind_counters().into_iter();
        let all = kinds.fold(KindCounters::default(), |all, (_, one)| all.and(one));
        Counters {
            requests: all.requests,
            waits: self.tally.queued.load(Relaxed),
            timeouts: all.timeouts + all.refused_at_once,
            deadlocks: all.deadlocks,
            escalations: self.tally.escalations.load(Relaxed),
            memory_bytes: self.budget().used_bytes() as u64,
        }
    }
}
