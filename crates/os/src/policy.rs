//! The scheduling policy of background threads: SCHED_BATCH.
//!
//! When a thread is woken, the kernel mostly lets it run before the thread that runs already. Each
//! write that ends wakes the checkpointer, thousands of times a second, and the session whose
//! processor it takes may hold the latch that others want next. A thread with the policy
//! SCHED_BATCH waits for the running thread when it is woken (sched(7)); its share of the
//! processor's time is the same.
//!
//! If the process was started with another policy than the ordinary one, or may not change it, the
//! policy stays as it is. A thread that a batch thread starts is a batch thread, too.

use libc::{SCHED_BATCH, SCHED_OTHER, sched_getscheduler, sched_param, sched_setscheduler};

/// Makes this thread a batch thread.
pub(crate) fn batch() {
    // SAFETY: 0 is this thread; all zeros are a value of `sched_param` (another libc than glibc has
    // more in it than the priority), which is read during the call. Refused, it goes on as it was.
    unsafe {
        if sched_getscheduler(0) == SCHED_OTHER {
            let param: sched_param = std::mem::zeroed();
            let _ = sched_setscheduler(0, SCHED_BATCH, &raw const param);
        }
    }
}
