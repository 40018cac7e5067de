//! The interface to a simulator: which task runs next, what time it is, which bits are random.
//!
//! A simulated thread calls [`enter`]. From then on every wait, lock, latch and clock read of this
//! crate asks its scheduler. The threads are real, but only the one that holds the scheduler's
//! baton runs. Between two calls of this trait nothing else happens; so `try_lock` followed by
//! `block` loses no wake-up.
//!
//! Invariants
//!  1. Without a simulator no call here costs more than one relaxed load.
//!  2. A scheduler is per thread: several simulated instances live in one process.

use crate::sync::PaddedCell;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a simulator decides.
pub trait Scheduler: Send + Sync {
    /// A point at which another task may be chosen to run.
    fn switch(&self);
    /// Blocks until `key` is woken or virtual time passes `deadline_ns`; false when it passed.
    fn block(&self, key: usize, deadline_ns: Option<u64>) -> bool;
    /// Makes one or all tasks blocked on `key` runnable.
    fn wake(&self, key: usize, all: bool);
    /// Starts a task under this scheduler.
    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>);
    /// Virtual nanoseconds since the simulation began.
    fn now_ns(&self) -> u64;
    /// The next random number of the seed.
    fn random(&self) -> u64;
    /// Whether the simulated machine has crashed, so that unwinding code must not touch it.
    fn crashed(&self) -> bool;
}

/// Read wherever a simulation could switch: apart from what is written often.
static ENTERED: PaddedCell<AtomicUsize> = PaddedCell(AtomicUsize::new(0));

thread_local! {
    static CURRENT: RefCell<Option<Arc<dyn Scheduler>>> = const { RefCell::new(None) };
}

/// While it lives, this thread belongs to a scheduler.
pub struct SchedulerScope(());

/// Puts this thread under a scheduler.
pub fn enter(scheduler: Arc<dyn Scheduler>) -> SchedulerScope {
    CURRENT.with(|c| {
        let old = c.borrow_mut().replace(scheduler);
        assert!(old.is_none(), "a thread has one scheduler");
    });
    ENTERED.fetch_add(1, Ordering::Relaxed);
    SchedulerScope(())
}

impl Drop for SchedulerScope {
    fn drop(&mut self) {
        ENTERED.fetch_sub(1, Ordering::Relaxed);
        CURRENT.with(|c| c.borrow_mut().take());
    }
}

/// The scheduler of this thread, if it is simulated.
#[inline]
pub fn current() -> Option<Arc<dyn Scheduler>> {
    if ENTERED.load(Ordering::Relaxed) == 0 {
        return None;
    }
    current_slow()
}

#[cold]
fn current_slow() -> Option<Arc<dyn Scheduler>> {
    CURRENT.try_with(|c| c.borrow().clone()).ok().flatten()
}

/// A point at which the simulator may switch; nothing without one.
#[inline]
pub fn switch_point() {
    if let Some(s) = current() {
        s.switch();
    }
}

/// Whether this thread's simulated machine has crashed.
#[inline]
pub fn crashed() -> bool {
    current().is_some_and(|s| s.crashed())
}
