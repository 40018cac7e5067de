//! Parking by address: how latches that are one atomic word wait.
//!
//! The caller checks its word in `validate`, which runs while the queue of that address is
//! locked, so a wake that follows a change of the word is never lost.

use crate::sched;
use parking_lot_core as plc;
use std::time::{Duration, Instant};

/// A waiting thread keeps its turn for so long: most waits end within it. Where a wait is longer,
/// the latch's holder has mostly been taken off its processor. Another thread that computes instead
/// would soon wait for the same latch, and all that have waited would come back at once.
const BRIEFLY: Duration = Duration::from_millis(1);

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

/// Wakes all threads parked on an address.
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
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

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
