//! How many locks there may be: a limit, drawn by the partitions in small lots.
//!
//! A partition asks once per lot, so the common lock costs no shared counter.
//!
//! Invariants
//!  1. The sum of all allowances never exceeds the limit.
//!  2. A partition has at most its allowance of entries.

use os::memory::{Memory, Reservation};
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Memory that one entry (a holder or a waiter) is reckoned at: its place in the partition's
/// map at usual load, and in its owner's list.
pub const LOCK_BYTES: usize = 112;

/// The most that a partition draws at once.
const LOT_MAX: u32 = 32;

/// The clerk's name in sys.dm_os_memory_clerks.
const CLERK: &str = "OBJECTSTORE_LOCK_MANAGER";

/// The limit and what is drawn.
pub(crate) struct Budget {
    locks_max: u32,
    /// What a partition draws at once: little where there is little.
    lot: u32,
    drawn: AtomicU32,
    memory: Option<Mutex<Reservation>>,
}

impl Budget {
    /// A budget of that many locks, reserved from the memory authority if one is given.
    pub(crate) fn new(locks_max: u32, partitions: usize, memory: Option<&Arc<Memory>>) -> Self {
        assert!(locks_max > 0, "a lock table without locks serves nobody");
        assert!(partitions > 0, "somebody draws");
        let memory = memory.map(|m| {
            let clerk = m.clerk(CLERK);
            Mutex::new(m.reserve(&clerk, 0).expect("nothing always fits"))
        });
        let share = locks_max as usize / partitions.max(1) / 8;
        let lot = share.clamp(1, LOT_MAX as usize) as u32;
        assert!(lot <= locks_max, "a lot can be drawn at all");
        Budget { locks_max, lot, drawn: AtomicU32::new(0), memory }
    }

    /// Adds to an allowance: a lot, or one where a lot doesn't fit. False when nothing is left.
    #[cold]
    pub(crate) fn draw(&self, allowance: &mut u32) -> bool {
        debug_assert!(*allowance <= self.locks_max, "invariant 1");
        for want in [self.lot, 1] {
            let fits = |n: u32| n.checked_add(want).filter(|&n| n <= self.locks_max);
            if self.drawn.fetch_update(Relaxed, Relaxed, fits).is_err() {
                continue;
            }
            if self.reserve(want) {
                *allowance += want;
                debug_assert!(*allowance <= self.locks_max, "invariant 1");
                return true;
            }
            let before = self.drawn.fetch_sub(want, Relaxed);
            assert!(before >= want, "what goes back was drawn");
        }
        false
    }

    fn reserve(&self, locks: u32) -> bool {
        assert!((1..=self.lot).contains(&locks), "a lot at most is drawn at once");
        match &self.memory {
            None => true,
            Some(m) => m.lock().grow(locks as usize * LOCK_BYTES).is_ok(),
        }
    }

    /// Takes a lot back from an allowance that has at least that much to spare.
    #[cold]
    pub(crate) fn give_back(&self, allowance: &mut u32) {
        assert!(*allowance >= self.lot, "an allowance gives back what it has");
        *allowance -= self.lot;
        let before = self.drawn.fetch_sub(self.lot, Relaxed);
        assert!(before >= self.lot, "what is given back was drawn");
        assert!(before <= self.locks_max, "invariant 1");
        if let Some(m) = &self.memory {
            m.lock().shrink(self.lot as usize * LOCK_BYTES);
        }
    }

    /// How much a partition keeps to spare, so that lots don't go to and fro.
    #[inline]
    pub(crate) fn spare_max(&self) -> u32 {
        debug_assert!(self.lot > 0, "a lot is something");
        2 * self.lot - 1
    }

    /// Whether so much is drawn that escalation should make room.
    pub(crate) fn is_tight(&self) -> bool {
        let drawn = self.drawn.load(Relaxed);
        debug_assert!(drawn <= self.locks_max, "invariant 1");
        u64::from(drawn) * 5 >= u64::from(self.locks_max) * 2
    }

    /// Memory that the drawn locks are reckoned at.
    pub(crate) fn used_bytes(&self) -> usize {
        let drawn = self.drawn.load(Relaxed);
        debug_assert!(drawn <= self.locks_max, "invariant 1");
        drawn as usize * LOCK_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowances_never_exceed_the_limit_and_come_back() {
        let memory = Memory::new(500 * LOCK_BYTES);
        let b = Budget::new(260, 1, Some(&memory));
        let mut mine = 0;
        assert!((0..3).all(|_| b.draw(&mut mine)) && mine == 96 && !b.is_tight());
        assert!((0..5).all(|_| b.draw(&mut mine)) && mine == 256 && b.is_tight());
        assert!((0..4).all(|_| b.draw(&mut mine)) && mine == 260);
        assert!(!b.draw(&mut mine));
        assert_eq!(b.used_bytes(), memory.reserved_bytes());
        b.give_back(&mut mine);
        assert_eq!((mine, memory.reserved_bytes()), (228, 228 * LOCK_BYTES));
    }

    #[test]
    fn the_memory_authority_can_refuse_before_the_limit() {
        let memory = Memory::new(3 * LOCK_BYTES);
        let b = Budget::new(1_000, 1, Some(&memory));
        let mut mine = 0;
        assert!((0..3).all(|_| b.draw(&mut mine)));
        assert!(!b.draw(&mut mine) && mine == 3);
    }
}
