//! Processors: which ones this process may use, and threads that are bound to one.
//!
//! Invariants
//!  1. Only a thread's [`Bound`] says which processor it is bound to, and only its methods change
//!     that: by the thread itself, or by who is about to wake it.
//!  2. A thread that is started by a bound one is not bound.
//!  3. What the process may use is asked once, at its start.

use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_getcpu, sched_setaffinity};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

static ALL: OnceLock<CpuSet> = OnceLock::new();

/// Those the process may use, as its first caller was allowed.
fn all() -> Option<&'static CpuSet> {
    if let Some(all) = ALL.get() {
        return Some(all);
    }
    let own = sched_getaffinity(None).ok()?;
    Some(ALL.get_or_init(|| own))
}

/// Their numbers; none where the system doesn't say. To be called before any thread is bound.
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
    /// This thread, which is bound to none.
    pub(crate) fn none() -> Self {
        Bound { thread: rustix::thread::gettid(), to: AtomicUsize::new(0) }
    }

    /// The processor.
    pub(crate) fn to(&self) -> Option<usize> {
        self.to.load(Relaxed).checked_sub(1)
    }

    /// It may go on there, bound or not; it is bound to no other.
    pub(crate) fn stay(&self, on: Option<usize>) {
        if self.to() != on {
            self.bind(None);
        }
    }

    /// From now on it runs there alone, or wherever the system puts it. Where the system has taken
    /// that processor from the process, it is bound to none.
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
            // Refused, it is allowed less than at the start, and the system has unbound it.
            let _ = sched_setaffinity(Some(self.thread), all);
        }
        self.to.store(bound.map_or(0, |number| number + 1), Relaxed);
    }
}

/// Takes back what this thread has from the one that started it.
pub(crate) fn unbind_started() {
    if let Some(all) = ALL.get() {
        let _ = sched_setaffinity(None, all);
    }
}
