//! Spinning: a thread checks a latch or lock for some microseconds before it parks, as long as that
//! helps. The outcomes are counted (sys.dm_os_spinlock_stats).
//!
//! A spin without success ends with parking, which is a wait of its own kind: no thread sleeps in
//! here.

use crate::clock::monotonic_ns;
use crate::sync::PaddedCell;
use crate::{sched, task};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// How long a thread spins before it parks. That is longer than a latch is held for a change in
/// memory, or a row's lock at the end of a short transaction. It is shorter than two thread
/// switches and the cache misses that they cause.
const SPIN_NS: u64 = 10_000;
/// Checks between two readings of the clock.
const LOOKS: u32 = 8;

/// A successful spin counts as much as two that failed, up to this.
const WORTH_MAX: u32 = 32;
/// When spinning does not help, one wait of so many tries it.
const RETRY: u32 = 16;

/// Whether another thread can run while this one spins.
static OTHERS_RUN: LazyLock<bool> = LazyLock::new(|| task::processors() > 1);

/// What is looked at. The names are our own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum SpinKind {
    /// The latch of a page in memory.
    PageLatch,
    /// A lock that somebody else holds.
    Lock,
}

impl SpinKind {
    /// Every kind, in the order of the discriminants.
    pub const ALL: [SpinKind; 2] = [SpinKind::PageLatch, SpinKind::Lock];

    /// The name that sys.dm_os_spinlock_stats shows.
    pub const fn name(self) -> &'static str {
        match self {
            SpinKind::PageLatch => "PAGE_LATCH",
            SpinKind::Lock => "LOCK",
        }
    }
}

impl SpinKind {
    fn count(self, helped: bool, looks: u64) {
        let t = &TOTALS[self as usize];
        t.collisions.fetch_add(1, Relaxed);
        t.spins.fetch_add(looks, Relaxed);
        if !helped {
            t.backoffs.fetch_add(1, Relaxed);
        }
    }
}

struct Total {
    collisions: AtomicU64,
    spins: AtomicU64,
    backoffs: AtomicU64,
}

#[allow(clippy::declare_interior_mutable_const)]
const NO_TOTAL: Total =
    Total { collisions: AtomicU64::new(0), spins: AtomicU64::new(0), backoffs: AtomicU64::new(0) };

static TOTALS: [PaddedCell<Total>; SpinKind::ALL.len()] =
    [const { PaddedCell(NO_TOTAL) }; SpinKind::ALL.len()];

/// One row of sys.dm_os_spinlock_stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpinTotal {
    /// What was looked at.
    pub kind: SpinKind,
    /// How often a thread began to look.
    pub collisions: u64,
    /// Looks.
    pub spins: u64,
    /// How often it gave up and parked.
    pub backoffs: u64,
}

/// Every kind's totals since start or [`clear_totals`]. Each number is exact, the set is not.
pub fn totals() -> [SpinTotal; SpinKind::ALL.len()] {
    SpinKind::ALL.map(|kind| {
        let t = &TOTALS[kind as usize];
        SpinTotal {
            kind,
            collisions: t.collisions.load(Relaxed),
            spins: t.spins.load(Relaxed),
            backoffs: t.backoffs.load(Relaxed),
        }
    })
}

/// `DBCC SQLPERF('sys.dm_os_spinlock_stats', CLEAR)`.
pub fn clear_totals() {
    for t in &TOTALS {
        t.collisions.store(0, Relaxed);
        t.spins.store(0, Relaxed);
        t.backoffs.store(0, Relaxed);
    }
}

/// Spins before a thread parks, and counts whether that helps.
pub struct Spin {
    kind: SpinKind,
    worth: AtomicU32,
    waits: AtomicU32,
}

impl Spin {
    /// One that expects to help.
    pub const fn new(kind: SpinKind) -> Self {
        Spin { kind, worth: AtomicU32::new(WORTH_MAX), waits: AtomicU32::new(0) }
    }

    /// Spins until `free` returns true, for some microseconds; false when it did not. When two of
    /// three spins fail (the holder waits for the disk, say), only one wait of [`RETRY`] spins. In
    /// a simulation other tasks run only while this one waits, so it checks once.
    pub fn look(&self, free: impl Fn() -> bool) -> bool {
        if sched::current().is_some() {
            return free();
        }
        if !*OTHERS_RUN {
            let helped = free();
            self.kind.count(helped, 1);
            return helped;
        }
        let worth = self.worth.load(Relaxed);
        if worth == 0 && !self.waits.fetch_add(1, Relaxed).is_multiple_of(RETRY) {
            return false;
        }
        let (helped, looks) = look(free);
        let now = if helped { (worth + 2).min(WORTH_MAX) } else { worth.saturating_sub(1) };
        if now != worth {
            self.worth.store(now, Relaxed);
        }
        self.kind.count(helped, looks);
        helped
    }
}

/// Whether it helped, and how many looks it took.
fn look(free: impl Fn() -> bool) -> (bool, u64) {
    let until = monotonic_ns() + SPIN_NS;
    let mut looks = 0;
    loop {
        for _ in 0..LOOKS {
            looks += 1;
            if free() {
                return (true, looks);
            }
            std::hint::spin_loop();
        }
        if monotonic_ns() >= until {
            return (false, looks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn looking_goes_on_while_every_third_look_helps_and_is_tried_again_where_none_did() {
        if !*OTHERS_RUN {
            return;
        }
        let spin = Spin::new(SpinKind::Lock);
        let before = totals()[SpinKind::Lock as usize];
        assert!((0..300).all(|n| spin.look(|| n % 3 == 0) == (n % 3 == 0)), "always tried");
        let counted = totals()[SpinKind::Lock as usize];
        assert_eq!(counted.collisions - before.collisions, 300);
        assert_eq!(counted.backoffs - before.backoffs, 200);
        assert!(counted.spins - before.spins >= 100 + 200 * u64::from(LOOKS));
        let looks = Cell::new(0);
        let in_vain = || {
            looks.set(looks.get() + 1);
            false
        };
        assert!((0..WORTH_MAX).all(|_| !spin.look(in_vain)));
        looks.set(0);
        let tried = (0..10 * RETRY).filter(|_| {
            let before = looks.get();
            assert!(!spin.look(in_vain));
            looks.get() > before
        });
        assert_eq!(tried.count(), 10, "one of {RETRY}");
        while !spin.look(|| true) {}
        assert!(spin.look(|| true), "it helps again");
    }
}
