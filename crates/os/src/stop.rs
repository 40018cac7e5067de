//! Stopping the process: the answer to a failed sync or a broken in-memory invariant.
//!
//! Crash is better than corrupt. A simulated process stops by unwinding with [`StopPayload`].

use crate::sched;

/// The panic payload with which a simulated process stops itself.
#[derive(Debug)]
pub struct StopPayload {
    /// Why.
    pub reason: String,
}

/// Ends the process without another write. The next start recovers.
pub fn process(reason: &str) -> ! {
    if sched::current().is_some() {
        std::panic::panic_any(StopPayload { reason: reason.to_owned() });
    }
    eprintln!("Ghostlight stops: {reason}");
    std::process::abort()
}
