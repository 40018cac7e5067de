//! Totals of waits by kind: those of the instance, and those of the session that a thread serves.
//!
//! Invariants
//!  1. A wait is counted when it begins, and its time when it ends: for the instance, and for the
//!     session that the thread serves then.
//!  2. A thread serves one session at a time. When it stops, it serves the one before again.

use crate::sync::PaddedCell;
use crate::wait::WaitKind;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[derive(Debug)]
struct Total {
    count: AtomicU64,
    time_ns: AtomicU64,
    longest_ns: AtomicU64,
    signal_ns: AtomicU64,
}

#[allow(clippy::declare_interior_mutable_const)]
const NO_TOTAL: Total = Total {
    count: AtomicU64::new(0),
    time_ns: AtomicU64::new(0),
    longest_ns: AtomicU64::new(0),
    signal_ns: AtomicU64::new(0),
};

/// One row of sys.dm_os_wait_stats or sys.dm_exec_session_wait_stats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTotal {
    /// What was waited for.
    pub kind: WaitKind,
    /// Waits started.
    pub count: u64,
    /// Time of ended waits, signal time included.
    pub time_ns: u64,
    /// The longest ended wait.
    pub longest_ns: u64,
    /// Time from the signal until the thread ran again.
    pub signal_ns: u64,
}

/// Totals of every kind. Each number is exact, the set is not.
#[derive(Debug)]
pub struct WaitTotals([Total; WaitKind::ALL.len()]);

impl Default for WaitTotals {
    fn default() -> Self {
        WaitTotals::new()
    }
}

impl WaitTotals {
    /// Nothing was waited for yet.
    pub const fn new() -> Self {
        WaitTotals([NO_TOTAL; WaitKind::ALL.len()])
    }

    /// All kinds, in their order.
    pub fn read(&self) -> Vec<WaitTotal> {
        let row = |&kind: &WaitKind| {
            let t = &self.0[kind as usize];
            WaitTotal {
                kind,
                count: t.count.load(Relaxed),
                time_ns: t.time_ns.load(Relaxed),
                longest_ns: t.longest_ns.load(Relaxed),
                signal_ns: t.signal_ns.load(Relaxed),
            }
        };
        WaitKind::ALL.iter().map(row).collect()
    }

    /// Forgets all.
    pub fn clear(&self) {
        for t in &self.0 {
            t.count.store(0, Relaxed);
            t.time_ns.store(0, Relaxed);
            t.longest_ns.store(0, Relaxed);
            t.signal_ns.store(0, Relaxed);
        }
    }

    fn started(&self, kind: WaitKind) {
        self.0[kind as usize].count.fetch_add(1, Relaxed);
    }

    fn ended(&self, kind: WaitKind, time_ns: u64, signal_ns: u64) {
        let t = &self.0[kind as usize];
        t.time_ns.fetch_add(time_ns, Relaxed);
        t.longest_ns.fetch_max(time_ns, Relaxed);
        t.signal_ns.fetch_add(signal_ns, Relaxed);
    }
}

static INSTANCE: PaddedCell<WaitTotals> = PaddedCell(WaitTotals::new());

thread_local! {
    static SERVED: RefCell<Option<Arc<WaitTotals>>> = const { RefCell::new(None) };
}

/// Every kind's totals since start or [`clear_totals`].
pub fn totals() -> Vec<WaitTotal> {
    INSTANCE.read()
}

/// `DBCC SQLPERF('sys.dm_os_wait_stats', CLEAR)`.
pub fn clear_totals() {
    INSTANCE.clear();
}

/// Until this is dropped, waits of this thread count for a session too.
#[must_use]
pub struct SessionWaitScope(Option<Arc<WaitTotals>>);

impl Drop for SessionWaitScope {
    fn drop(&mut self) {
        let before = self.0.take();
        let _ended = SERVED.try_with(|served| served.replace(before));
    }
}

/// This thread's waits count for a session from now on.
pub fn serve(whom: Option<Arc<WaitTotals>>) -> SessionWaitScope {
    SessionWaitScope(SERVED.with(|served| served.replace(whom)))
}

/// The session that this thread serves, for threads that help it.
pub fn served() -> Option<Arc<WaitTotals>> {
    SERVED.with_borrow(Option::clone)
}

fn for_each(count: impl Fn(&WaitTotals)) {
    count(&INSTANCE);
    // A thread that ends serves nobody any more.
    let _ended = SERVED.try_with(|served| served.borrow().as_deref().map(count));
}

/// Counts a wait that has started.
pub(crate) fn started(kind: WaitKind) {
    for_each(|totals| totals.started(kind));
}

/// Adds the time of one that has ended.
pub(crate) fn ended(kind: WaitKind, time_ns: u64, signal_ns: u64) {
    for_each(|totals| totals.ended(kind, time_ns, signal_ns));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_count_for_whom_the_thread_serves() {
        let (outer, inner) = (Arc::new(WaitTotals::new()), Arc::new(WaitTotals::new()));
        let kind = WaitKind::SleepTask;
        let wait = |time_ns| {
            started(kind);
            ended(kind, time_ns, 1);
        };
        {
            let _outer = serve(Some(Arc::clone(&outer)));
            wait(10);
            {
                let _inner = serve(Some(Arc::clone(&inner)));
                wait(30);
            }
            wait(20);
        }
        wait(50);
        let of = |totals: &WaitTotals| totals.read()[kind as usize];
        let WaitTotal { count, time_ns, longest_ns, signal_ns, .. } = of(&outer);
        assert_eq!((count, time_ns, longest_ns, signal_ns), (2, 30, 20, 2));
        assert_eq!((of(&inner).count, of(&inner).time_ns), (1, 30));
        assert!(served().is_none());
        outer.clear();
        assert_eq!(of(&outer).count, 0);
    }
}
