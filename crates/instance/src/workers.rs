//! The clockwork of the process: deadlock monitor and lazy writer.

use crate::instance::Instance;
use lock::{Deadlock, DeadlockWitness};
use os::clock::monotonic_ns;
use os::wait::{WaitKind, Waiter, Wake};
use std::sync::Arc;

/// How often the lazy writer looks for free frames.
const LAZY_WRITER_NS: u64 = 20_000_000;

/// Writes deadlocks to the error log.
struct Witness(Arc<Instance>);

impl DeadlockWitness for Witness {
    fn saw(&self, deadlock: &Deadlock) {
        let victim = deadlock.members.get(deadlock.victim).map(|m| m.session.0);
        let line = format!(
            "Deadlock of {} processes; process {} is the victim.",
            deadlock.members.len(),
            victim.unwrap_or(0)
        );
        self.0.write_log("spid6s", &line);
    }
}

impl Instance {
    pub(crate) fn start_workers(&self) {
        let mut workers = self.workers.lock();
        let instance = self.arc();
        let stopping = Arc::clone(&self.stopping);
        workers.push(os::task::spawn("lazy writer", move || {
            let pool = Arc::clone(&instance.env.pool);
            drop(instance);
            while pause(&stopping, WaitKind::LazyWriterSleep, LAZY_WRITER_NS) {
                pool.lazy_write();
            }
        }));
        let instance = self.arc();
        let stopping = Arc::clone(&self.stopping);
        let wanted = Arc::clone(&self.search_wanted);
        let ring = Arc::clone(&wanted);
        self.engine().locks.on_deadlock_search_wanted(Box::new(move || ring.signal()));
        workers.push(os::task::spawn("deadlock monitor", move || {
            let locks = Arc::clone(&instance.engine().locks);
            let witness = Witness(instance);
            let mut next_ms = 100;
            while stopping.check().is_ok() {
                let until = monotonic_ns() + next_ms.min(100) * 1_000_000;
                let _ = wanted.wait(WaitKind::RequestForDeadlockSearch, Some(until));
                next_ms = locks.deadlock_step(&witness).next_in_ms;
            }
        }));
    }
}

/// Waits a while; false when the instance stops.
fn pause(stopping: &Waiter, kind: WaitKind, ns: u64) -> bool {
    !matches!(stopping.wait(kind, Some(monotonic_ns() + ns)), Wake::Cancelled(_))
}
