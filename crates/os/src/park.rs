//! Parking by address: how latches that are one atomic word wait.
//!
//! The caller checks its word in `validate`, which runs while the queue of that address is
//! locked, so a wake that follows a change of the word is never lost.

use crate::clock::monotonic_ns;
use crate::sched;
use parking_lot_core as plc;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

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
    // SAFETY: the callbacks neither panic nor park, and the address is used as a key only.
    unsafe {
        plc::park(address, validate, || {}, |_, _| {}, plc::DEFAULT_PARK_TOKEN, None);
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
