//! Processors: which ones this process may use, and threads that are bound (pinned) to one.
//!
//! Invariants
//!  1. Only a thread's [`Bound`] says to which processor it is bound. Only its methods change that;
//!     the thread itself calls them, or a thread that is about to wake it.
//!  2. A thread started by a bound thread is not bound.
//!  3. The set of processors that the process may use is read once, at its start.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static ALL: OnceLock<CpuSet> = OnceLock::new();

/// The processors that the process may use, as read by the first caller.
fn all() -> Option<&'static CpuSet> {
    if let Some(all) = ALL.get() {
        return Some(all);
    }
    let own = sched_getaffinity(None).ok()?;
    Some(ALL.get_or_init(|| own))
}

/// Their numbers; empty if the system does not say. Called before any thread is bound.
pub(crate) fn numbers() -> Vec<usize> {
    let Some(all) = all() else { return Vec::new() };
    (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number)).collect()
}

/// The one that this thread runs on at this moment.
pub(crate) fn here() -> usize {
    sched_getcpu()
}

/// A thread, and the processor it is bound to.
pub(crate) struct Bound {
    thread: Pid,
    /// The number + 1, or 0.
    to: AtomicUsize,
}

impl Bound {
    /// This thread, bound to no processor.
    pub(crate) fn none() -> Self {
        Bound { thread: rustix::thread::gettid(), to: AtomicUsize::new(0) }
    }

    /// The processor.
    pub(crate) fn to(&self) -> Option<usize> {
        self.to.load(Relaxed).checked_sub(1)
    }

    /// Unbinds the thread, unless it is bound to `on`.
    pub(crate) fn stay(&self, on: Option<usize>) {
        if self.to() != on {
            self.bind(None);
        }
    }

    /// Binds the thread to that processor, or to none. If the system has taken that processor from
    /// the process, the thread is bound to none.
    pub(crate) fn bind(&self, to: Option<usize>) {
        if self.to() == to {
            return;
        }
        let bound = to.filter(|number| {
            let mut one = CpuSet::new();
            one.set(*number);
            sched_setaffinity(Some(self.thread), &one).is_ok()
        });
        if bound.is_none()
            && self.to().is_some()
            && let Some(all) = all()
        {
            // When this is refused, the process may use fewer processors than at its start, and the
            // system has unbound the thread.
            let _ = sched_setaffinity(Some(self.thread), all);
        }
        self.to.store(bound.map_or(0, |number| number + 1), Relaxed);
    }
}

/// Unbinds this thread, which inherited the binding of the thread that started it.
pub(crate) fn unbind_started() {
    if let Some(all) = ALL.get() {
        let _ = sched_setaffinity(None, all);
    }
}
