//! When the log is full, a checkpoint may free some of it: whoever needs log asks for one and
//! waits, before it is refused with 9002.
//!
//! Invariants
//!  1. A round that is counted began after the asker asked, or the asker asks a second time.
//!  2. A wait is bounded, and ends when the request is cancelled.

use os::sync::{Condvar, Mutex};
use os::wait::{WaitKind, Waiter, timed};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

/// How long one round is waited for.
const ROUND_NS: u64 = 2_000_000_000;
/// The same where nothing cancels the wait: the asker may be the checkpointer itself.
const ROUND_OF_NOBODY_NS: u64 = 200_000_000;
/// How often the asker looks whether it is cancelled.
const LOOK_NS: u64 = 20_000_000;

/// Between those who need log and who takes checkpoints.
#[derive(Default)]
pub struct LogRelief {
    asked: AtomicBool,
    /// Checkpoints taken because somebody asked.
    rounds: Mutex<u64>,
    round: Condvar,
    /// Who takes them; without, nobody is waited for.
    checkpointer: OnceLock<Arc<Waiter>>,
}

impl LogRelief {
    /// Says whom to wake. Once, when somebody begins to take checkpoints.
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

    /// Whether somebody asks. Who calls takes a checkpoint then, and says [`LogRelief::done`].
    pub fn is_asked(&self) -> bool {
        self.asked.swap(false, SeqCst)
    }

    /// A checkpoint that was asked for was tried.
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
        asker.cancel(os::wait::Cancelled::Attention);
        assert!(!relief.wait(Some(&asker)), "a cancelled request waits for nobody");
    }
}
