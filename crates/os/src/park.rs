//! Parking by address: how latches that are one atomic word wait.
//!
//! The caller checks its word in `validate`, which runs while the queue of that address is
//! locked, so a wake that follows a change of the word is never lost.

use crate::sched;
use parking_lot_core as plc;

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
