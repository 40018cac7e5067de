//! When the log is full, a checkpoint may free some of it. So a session that needs log space asks
//! for a checkpoint and waits for it, before it is refused with 9002.
//!
//! Invariants
//!  1. The checkpoint that a session relies on began after the session asked; if it began earlier,
//!     the session asks a second time.
//!  2. The wait is bounded, and a cancellation ends it.

use os::sync::{Condvar, Mutex};
use os::wait::{WaitKind, Waiter, timed};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// How long a session waits for one checkpoint.
const ROUND_NS: u64 = 2_000_000_000;
/// The same for a caller whose wait nothing can cancel: it may be the checkpointer itself.
const ROUND_OF_NOBODY_NS: u64 = 200_000_000;
/// How often a waiting session checks whether it is cancelled.
const LOOK_NS: u64 = 20_000_000;

/// The exchange between sessions that need log space and the thread that takes checkpoints.
#[derive(Default)]
pub struct LogRelief {
    asked: AtomicBool,
    /// Checkpoints tried because a session asked.
    rounds: Mutex<u64>,
    round: Condvar,
    /// The thread that takes checkpoints. Without one, nobody waits.
    checkpointer: OnceLock<Arc<Waiter>>,
}

impl LogRelief {
    /// Sets the thread to wake. It is called once, when that thread begins to take checkpoints.
    pub fn served_by(&self, checkpointer: &Arc<Waiter>) {
        let first = self.checkpointer.set(Arc::clone(checkpointer)).is_ok();
        assert!(first, "a database has one checkpointer");
    }

    /// Asks for a checkpoint and waits for it; false when there was none.
    pub(crate) fn wait(&self, asker: Option<&Waiter>) -> bool {
        let Some(checkpointer) = self.checkpointer.get() else { return false };
        let round = if asker.is_some() { ROUND_NS } else { ROUND_OF_NOBODY_NS };
        let deadline = os::clock::monotonic_ns() + round;
        let before = *self.rounds.lock();
        self.asked.store(true, SeqCst);
        checkpointer.signal();
        timed(WaitKind::LogMgrReserveAppend, || {
            let mut rounds = self.rounds.lock();
            while *rounds == before {
                let now = os::clock::monotonic_ns();
                let ended = asker.is_some_and(|asker| asker.check().is_err())
                    || checkpointer.check().is_err();
                if ended || now > deadline {
                    return false;
                }
                self.round.wait_until(&mut rounds, Some(now + LOOK_NS));
            }
            true
        })
    }

    /// Whether a session has asked since the last call. If so, the caller takes a checkpoint and
    /// then calls [`LogRelief::done`].
    pub fn is_asked(&self) -> bool {
        self.asked.swap(false, SeqCst)
    }

    /// A checkpoint that was asked for has been tried.
    pub fn done(&self) {
        *self.rounds.lock() += 1;
        self.round.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_waits_for_a_round_and_not_without_a_checkpointer() {
        let relief = Arc::new(LogRelief::default());
        let (asker, checkpointer) = (Waiter::new(), Arc::new(Waiter::new()));
        assert!(!relief.wait(Some(&asker)), "nobody takes checkpoints");
        relief.served_by(&checkpointer);
        let (theirs, its) = (Arc::clone(&relief), Arc::clone(&checkpointer));
        let served = os::task::spawn("checkpointer", move || {
            its.wait(WaitKind::CheckpointQueue, None);
            assert!(theirs.is_asked() && !theirs.is_asked(), "once");
            theirs.done();
        });
        assert!(relief.wait(Some(&asker)));
        assert!(served.join().is_ok());
        asker.cancel(os::wait::CancelReason::Attention);
        assert!(!relief.wait(Some(&asker)), "a cancelled request waits for nobody");
    }
}
