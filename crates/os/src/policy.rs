//! The policy by which the system schedules a thread: who works in the background is a batch.
//!
//! When a thread is woken, the system mostly lets it go before the one that runs. A checkpointer is
//! woken by each of its writes, thousands of times a second, and the session that it takes off its
//! processor may hold the latch that the others want next. A batch thread that is woken waits for
//! the one that runs (sched(7), SCHED_BATCH); its share of time is the same.
//!
//! Where the process was started with another policy than the ordinary one, or may not change it,
//! it stays as it is. What a batch thread starts is one, too.

use libc::{SCHED_BATCH, SCHED_OTHER, sched_getscheduler, sched_param, sched_setscheduler};

/// From now on this thread is a batch.
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
