//! Parking by address: how latches that are one atomic word wait.
//!
//! The caller checks its word in `validate`, which runs while the queue of that address is
//! locked, so a wake that follows a change of the word is never lost.

use crate::clock::monotonic_ns;
use crate::sched;
use parking_lot_core as plc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long is looked before a thread parks: longer than a latch is held for a change in memory,
/// or the lock of a row at the end of a short transaction; shorter than two switches of threads
/// with what these lose of their caches.
const SPIN_NS: u64 = 10_000;
/// Looks between two readings of the clock.
const LOOKS: u32 = 8;

/// A helpful look is worth two that were for nothing, up to this.
const WORTH_MAX: u32 = 32;
/// How often looking is tried where it didn't help.
const RETRY: u32 = 16;

/// A turn is kept so long by who waits for what is mostly over at once.
const BRIEFLY: Duration = Duration::from_micros(100);

/// Whether somebody else can run while this thread looks.
static OTHERS_RUN: LazyLock<bool> = LazyLock::new(|| crate::task::processors() > 1);

/// Looking before parking, as long as that helps: a counter of what it came to.
pub struct Spin {
    worth: AtomicU32,
    waits: AtomicU32,
}

impl Spin {
    /// One that expects to help.
    pub const fn new() -> Self {
        Spin { worth: AtomicU32::new(WORTH_MAX), waits: AtomicU32::new(0) }
    }

    /// Looks whether `free` says that there is nothing to wait for, for some microseconds; false
    /// where it did not come to that. Where two of three looks were for nothing (who holds it
    /// waits for the disk), one of [`RETRY`] is tried. In a simulation others move only when this
    /// task waits: one look.
    pub fn look(&self, free: impl Fn() -> bool) -> bool {
        if sched::current().is_some() || !*OTHERS_RUN {
            return free();
        }
        let worth = self.worth.load(Relaxed);
        if worth == 0 && !self.waits.fetch_add(1, Relaxed).is_multiple_of(RETRY) {
            return false;
        }
        let helped = look(free);
        let worth = if helped { (worth + 2).min(WORTH_MAX) } else { worth.saturating_sub(1) };
        self.worth.store(worth, Relaxed);
        helped
    }
}

impl Default for Spin {
    fn default() -> Self {
        Spin::new()
    }
}

fn look(free: impl Fn() -> bool) -> bool {
    let until = monotonic_ns() + SPIN_NS;
    loop {
        for _ in 0..LOOKS {
            if free() {
                return true;
            }
            std::hint::spin_loop();
        }
        if monotonic_ns() >= until {
            return false;
        }
    }
}

/// Parks until [`wake_all`] or [`wake_one`] on the same address, unless `validate` says no.
pub fn wait(address: usize, validate: impl FnOnce() -> bool) {
    if let Some(s) = sched::current() {
        if validate() {
            s.block(address, None);
        }
        return;
    }
    park(address, validate, None);
}

/// Parks until woken, true; or until the time has come.
fn park(address: usize, validate: impl FnOnce() -> bool, until: Option<Instant>) -> bool {
    // SAFETY: the callbacks neither panic nor park, and the address is used as a key only.
    let parked =
        unsafe { plc::park(address, validate, || {}, |_, _| {}, plc::DEFAULT_PARK_TOKEN, until) };
    parked != plc::ParkResult::TimedOut
}

/// The same for what is over sooner than another thread is woken: for a while this thread keeps its
/// turn to compute. `validate` may be asked twice.
#[allow(clippy::disallowed_methods, reason = "no simulated thread comes here")]
pub fn wait_briefly(address: usize, validate: impl Fn() -> bool) {
    if sched::current().is_some() {
        return wait(address, validate);
    }
    let until = Instant::now() + BRIEFLY;
    if !park(address, &validate, Some(until)) {
        crate::turn::aside(|| wait(address, validate));
    }
}

/// Wakes everybody parked on an address.
pub fn wake_all(address: usize) {
    if let Some(s) = sched::current() {
        s.wake(address, true);
        return;
    }
    // SAFETY: the address is used as a key only.
    unsafe {
        plc::unpark_all(address, plc::DEFAULT_UNPARK_TOKEN);
    }
}

/// Wakes one task parked on an address.
pub fn wake_one(address: usize) {
    if let Some(s) = sched::current() {
        s.wake(address, false);
        return;
    }
    // SAFETY: the callback does not panic and the address is used as a key only.
    unsafe {
        plc::unpark_one(address, |_| plc::DEFAULT_UNPARK_TOKEN);
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
        let spin = Spin::new();
        assert!((0..300).all(|n| spin.look(|| n % 3 == 0) == (n % 3 == 0)), "always tried");
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

    #[test]
    fn a_long_wait_that_began_briefly_ends_when_it_is_woken() {
        let word = AtomicU32::new(0);
        let address = std::ptr::from_ref(&word) as usize;
        std::thread::scope(|scope| {
            scope.spawn(|| wait_briefly(address, || word.load(Relaxed) == 0));
            crate::task::sleep_ns(2_000_000);
            word.store(1, Relaxed);
            wake_all(address);
        });
    }
}
