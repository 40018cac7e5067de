//! What a log has done since it was opened: flushes, waits for them, growth, truncation; and how
//! long threads hold its latch.
//!
//! Cost: a flush adds to three counters, a commit that waits to two, an append to none. One append
//! of 32 reads the clock twice.

use crate::append::Tail;
use crate::log::Log;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// One append is timed for each so many records of a block.
const TIMED_EVERY: u16 = 32;

/// The running counters.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) flushes: AtomicU64,
    pub(crate) flushed_bytes: AtomicU64,
    pub(crate) write_ns: AtomicU64,
    pub(crate) flush_waits: AtomicU64,
    pub(crate) flush_wait_ns: AtomicU64,
    pub(crate) growths: AtomicU64,
    pub(crate) shrinks: AtomicU64,
    pub(crate) truncations: AtomicU64,
}

/// What a log has done. Each number is exact, but the numbers are not read at one instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LogActivity {
    /// Flushes that wrote something; each of them one or more blocks.
    pub flushes: u64,
    /// Bytes of these blocks.
    pub flushed_bytes: u64,
    /// Time of their writes and syncs.
    pub write_ns: u64,
    /// Commits that waited for a flush, their own or another's.
    pub flush_waits: u64,
    /// How long they waited.
    pub flush_wait_ns: u64,
    /// Times the file became longer.
    pub growths: u64,
    /// Times it became shorter.
    pub shrinks: u64,
    /// Times that virtual log files became free.
    pub truncations: u64,
    /// Appends whose hold of the log's latch was timed: one of 32.
    pub timed_holds: u64,
    /// How long they held it.
    pub held_ns: u64,
}

/// The timed holds of the latch; the latch protects these counters.
#[derive(Clone, Copy, Default)]
pub(crate) struct HoldTimes {
    timed: u64,
    ns: u64,
}

impl Tail {
    /// When the hold began, if this hold is to be timed. The caller has just taken the latch.
    #[inline]
    pub(crate) fn hold_begins(&self) -> Option<u64> {
        let timed = self.block.count.is_multiple_of(TIMED_EVERY);
        timed.then(os::clock::monotonic_ns)
    }

    /// The caller is about to release the latch.
    #[inline]
    pub(crate) fn hold_ends(&mut self, began: Option<u64>) {
        if let Some(began) = began {
            self.holds.timed += 1;
            self.holds.ns += os::clock::monotonic_ns().saturating_sub(began);
        }
    }
}

impl Log {
    /// What it has done since it was opened.
    pub fn activity(&self) -> LogActivity {
        let HoldTimes { timed, ns } = self.tail.lock().holds;
        let c = &self.counters;
        let read = |n: &AtomicU64| n.load(Relaxed);
        LogActivity {
            flushes: read(&c.flushes),
            flushed_bytes: read(&c.flushed_bytes),
            write_ns: read(&c.write_ns),
            flush_waits: read(&c.flush_waits),
            flush_wait_ns: read(&c.flush_wait_ns),
            growths: read(&c.growths),
            shrinks: read(&c.shrinks),
            truncations: read(&c.truncations),
            timed_holds: timed,
            held_ns: ns,
        }
    }
}
