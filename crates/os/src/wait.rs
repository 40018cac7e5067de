//! Waits with SQL Server's names: their kinds, their totals, and the waiter of a request.
//!
//! A wait is counted when it starts and timed when it ends (sys.dm_os_wait_stats). Signal time is
//! the time from the signal until the thread runs again.
//!
//! Invariants
//!  1. Every blocking of a request goes through [`Waiter::wait`] or [`timed`], under a kind.
//!  2. A signal that comes before the wait ends the wait at once: none is lost.
//!  3. Once cancelled, a waiter ends every wait at once until it is reset.

use crate::clock;
use crate::latch::{self, LatchClass};
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::turn::{self, Rest};
use crate::wait_totals::{self, started};
pub use crate::wait_totals::{
    SessionWaitScope, WaitTotal, WaitTotals, clear_totals, serve, served, totals,
};
use base::{SqlError, messages};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering::Relaxed};

macro_rules! wait_kinds {
    ($($kind:ident = $name:literal,)*) => {
        /// What is waited for.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u16)]
        pub enum WaitKind {
            $(#[doc = $name] $kind,)*
        }

        impl WaitKind {
            /// Every kind, in the order of the discriminants.
            pub const ALL: &[WaitKind] = &[$(WaitKind::$kind),*];

            /// The name that sys.dm_os_wait_stats shows.
            pub const fn name(self) -> &'static str {
                match self { $(WaitKind::$kind => $name),* }
            }
        }
    };
}

wait_kinds! {
    WriteLog = "WRITELOG",
    LogBuffer = "LOGBUFFER",
    LogMgrQueue = "LOGMGR_QUEUE",
    LogMgrReserveAppend = "LOGMGR_RESERVE_APPEND",
    CheckpointQueue = "CHECKPOINT_QUEUE",
    DirtyPagePoll = "DIRTY_PAGE_POLL",
    LazyWriterSleep = "LAZYWRITER_SLEEP",
    PageIoLatchSh = "PAGEIOLATCH_SH",
    PageIoLatchEx = "PAGEIOLATCH_EX",
    PageLatchSh = "PAGELATCH_SH",
    PageLatchEx = "PAGELATCH_EX",
    LatchSh = "LATCH_SH",
    LatchEx = "LATCH_EX",
    IoCompletion = "IO_COMPLETION",
    AsyncNetworkIo = "ASYNC_NETWORK_IO",
    WaitFor = "WAITFOR",
    SleepTask = "SLEEP_TASK",
    SleepSystemTask = "SLEEP_SYSTEMTASK",
    EnableVersioning = "ENABLE_VERSIONING",
    DisableVersioning = "DISABLE_VERSIONING",
    PvsCleanupLock = "PVS_CLEANUP_LOCK",
    RequestForDeadlockSearch = "REQUEST_FOR_DEADLOCK_SEARCH",
    ResourceSemaphore = "RESOURCE_SEMAPHORE",
    MemoryAllocationExt = "MEMORY_ALLOCATION_EXT",
    PreemptiveOsFlushFileBuffers = "PREEMPTIVE_OS_FLUSHFILEBUFFERS",
    PreemptiveOsWriteFileGather = "PREEMPTIVE_OS_WRITEFILEGATHER",
    Threadpool = "THREADPOOL",
    CxPacket = "CXPACKET",
    CxConsumer = "CXCONSUMER",
    SosSchedulerYield = "SOS_SCHEDULER_YIELD",
    LckSchS = "LCK_M_SCH_S",
    LckSchM = "LCK_M_SCH_M",
    LckIs = "LCK_M_IS",
    LckIu = "LCK_M_IU",
    LckIx = "LCK_M_IX",
    LckS = "LCK_M_S",
    LckU = "LCK_M_U",
    LckX = "LCK_M_X",
    LckSiu = "LCK_M_SIU",
    LckSix = "LCK_M_SIX",
    LckUix = "LCK_M_UIX",
    LckBu = "LCK_M_BU",
    LckRsS = "LCK_M_RS_S",
    LckRsU = "LCK_M_RS_U",
    LckRinNl = "LCK_M_RIn_NL",
    LckRinS = "LCK_M_RIn_S",
    LckRinU = "LCK_M_RIn_U",
    LckRinX = "LCK_M_RIn_X",
    LckRxS = "LCK_M_RX_S",
    LckRxU = "LCK_M_RX_U",
    LckRxX = "LCK_M_RX_X",
    LckSXactRead = "LCK_M_S_XACT_READ",
    LckSXactModify = "LCK_M_S_XACT_MODIFY",
    LckSXact = "LCK_M_S_XACT",
}

/// The waits of a thread: by kind, how many, and how long.
#[derive(Clone, Debug)]
pub struct ThreadWaits {
    waited_ns: u64,
    by_kind: [(u64, u64); WaitKind::ALL.len()],
}

impl Default for ThreadWaits {
    fn default() -> ThreadWaits {
        ThreadWaits::NONE
    }
}

impl ThreadWaits {
    const NONE: ThreadWaits = ThreadWaits { waited_ns: 0, by_kind: [(0, 0); WaitKind::ALL.len()] };

    fn note(&mut self, kind: WaitKind, time_ns: u64) {
        self.waited_ns += time_ns;
        let (count, sum_ns) = &mut self.by_kind[kind as usize];
        *count += 1;
        *sum_ns += time_ns;
    }

    /// Adds the waits of another thread.
    pub fn add(&mut self, more: &ThreadWaits) {
        self.waited_ns += more.waited_ns;
        for (own, of) in self.by_kind.iter_mut().zip(&more.by_kind) {
            *own = (own.0 + of.0, own.1 + of.1);
        }
    }

    /// The waits since an earlier copy of the same thread's.
    pub fn since(&self, earlier: &ThreadWaits) -> ThreadWaits {
        let mut later = self.clone();
        later.waited_ns = later.waited_ns.saturating_sub(earlier.waited_ns);
        for (own, of) in later.by_kind.iter_mut().zip(&earlier.by_kind) {
            *own = (own.0.saturating_sub(of.0), own.1.saturating_sub(of.1));
        }
        later
    }

    /// The kinds with at least one wait: how many, and how long in all.
    pub fn kinds(&self) -> impl Iterator<Item = (WaitKind, u64, u64)> {
        let each = WaitKind::ALL.iter().zip(&self.by_kind);
        each.filter(|(_, (count, _))| *count > 0).map(|(kind, (count, ns))| (*kind, *count, *ns))
    }
}

thread_local! {
    static OWN: RefCell<ThreadWaits> = const { RefCell::new(ThreadWaits::NONE) };
}

/// The waits of this thread since it began.
pub fn thread_waits() -> ThreadWaits {
    OWN.with_borrow(ThreadWaits::clone)
}

/// How long it has waited in all.
#[inline]
pub fn waited_ns() -> u64 {
    OWN.with_borrow(|own| own.waited_ns)
}

/// Adds an ended wait's time of this thread.
fn ended(kind: WaitKind, time_ns: u64, signal_ns: u64) {
    OWN.with_borrow_mut(|own| own.note(kind, time_ns));
    wait_totals::ended(kind, time_ns, signal_ns);
}

/// Times a blocking call other than a [`Waiter`]'s, such as a disk transfer or a send. The thread
/// gives up its turn meanwhile.
pub fn timed<R>(kind: WaitKind, blocking: impl FnOnce() -> R) -> R {
    started(kind);
    let from = clock::monotonic_ns();
    let r = turn::aside(blocking);
    ended(kind, clock::monotonic_ns().saturating_sub(from), 0);
    r
}

/// The same for a latch of a page or of memory. Most such waits are over sooner than another thread
/// is woken, so the thread keeps its turn.
pub fn timed_latch<R>(kind: WaitKind, class: LatchClass, blocking: impl FnOnce() -> R) -> R {
    started(kind);
    let from = clock::monotonic_ns();
    let r = blocking();
    let time_ns = clock::monotonic_ns().saturating_sub(from);
    ended(kind, time_ns, 0);
    latch::note(class, time_ns);
    r
}

/// Times a blocking call that returns when it was signalled, or 0 if it was not. From then on the
/// thread waited only to run.
pub fn timed_signalled(kind: WaitKind, blocking: impl FnOnce() -> u64) {
    started(kind);
    let from = clock::monotonic_ns();
    let signalled_at = turn::aside(blocking);
    let now = clock::monotonic_ns();
    let signal_ns = if signalled_at < from { 0 } else { now.saturating_sub(signalled_at) };
    ended(kind, now.saturating_sub(from), signal_ns);
}

/// A request's wait that occupies no thread: for the log, when the request has nothing else left to
/// do.
#[derive(Debug)]
pub struct DetachedWait {
    kind: WaitKind,
    since_ns: u64,
}

impl DetachedWait {
    /// The wait begins, for the session that this thread serves. Others see it at the request's
    /// waiter.
    pub fn begin(kind: WaitKind, waiter: &Waiter) -> DetachedWait {
        started(kind);
        let since_ns = clock::monotonic_ns();
        waiter.since_ns.store(since_ns, Relaxed);
        waiter.waiting.store(kind as u16 + 1, Relaxed);
        DetachedWait { kind, since_ns }
    }

    /// The wait has ended, for the session that this thread serves. What it waited for came at
    /// `came_ns`.
    pub fn end(self, waiter: &Waiter, came_ns: u64) {
        waiter.waiting.store(0, Relaxed);
        waiter.last.store(self.kind as u16 + 1, Relaxed);
        let now = clock::monotonic_ns();
        let signal_ns = now.saturating_sub(came_ns.max(self.since_ns));
        wait_totals::ended(self.kind, now.saturating_sub(self.since_ns), signal_ns);
    }
}

/// Counts a wait that had no thread of its own, such as that of a request in the workers' queue.
pub fn record(kind: WaitKind, since_ns: u64) {
    started(kind);
    wait_totals::ended(kind, clock::monotonic_ns().saturating_sub(since_ns), 0);
}

/// Counts a wait only for a turn: all of it is signal time.
pub(crate) fn record_signal(kind: WaitKind, since_ns: u64) {
    started(kind);
    let time_ns = clock::monotonic_ns().saturating_sub(since_ns);
    ended(kind, time_ns, time_ns);
}

/// Why a request is to end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CancelReason {
    /// The client sent an attention.
    Attention = 1,
    /// KILL, or the connection is gone.
    Kill = 2,
    /// The server is stopping.
    Shutdown = 3,
    /// ALTER DATABASE ... WITH ROLLBACK IMMEDIATE, or the like.
    RolledBack = 4,
}

impl From<CancelReason> for SqlError {
    /// The error with which the request ends. An attention is not reported to the client; the
    /// others end the connection.
    fn from(why: CancelReason) -> SqlError {
        match why {
            CancelReason::Attention => SqlError::new(messages::ATTENTION, &[]),
            CancelReason::Kill | CancelReason::Shutdown | CancelReason::RolledBack => {
                SqlError::new(messages::SESSION_KILLED, &[])
            }
        }
    }
}

/// How a wait ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wake {
    /// Somebody called [`Waiter::signal`].
    Signalled,
    /// The deadline passed.
    TimedOut,
    /// The request is to end.
    Cancelled(CancelReason),
}

#[derive(Default)]
struct Signal {
    raised: bool,
    at_ns: u64,
    /// The thread that waits, if it needs a turn to go on.
    resting: Option<Rest>,
}

/// A bit beside the cancellation: while it is set, the cancellation does not count.
const PUT_OFF: u8 = 0x80;

/// Cancellations of a waiter do not count until this is dropped.
struct CancelDeferral<'w> {
    waiter: &'w Waiter,
    /// Whether another caller has put them off already.
    already: bool,
}

impl CancelDeferral<'_> {
    fn new(waiter: &Waiter) -> CancelDeferral<'_> {
        let before = waiter.cancelled.fetch_or(PUT_OFF, Relaxed);
        CancelDeferral { waiter, already: before & PUT_OFF != 0 }
    }
}

impl Drop for CancelDeferral<'_> {
    fn drop(&mut self) {
        if !self.already {
            self.waiter.cancelled.fetch_and(!PUT_OFF, Relaxed);
        }
    }
}

/// Where one request waits: for locks, for grants, for time. At most one task waits at a time.
#[derive(Default)]
pub struct Waiter {
    signal: Mutex<Signal>,
    changed: Condvar,
    cancelled: AtomicU8,
    /// The kind of the wait in progress + 1, or 0.
    waiting: AtomicU16,
    last: AtomicU16,
    since_ns: AtomicU64,
}

impl Waiter {
    /// A waiter that nobody has signalled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for a signal, a cancellation or the deadline, whichever comes first.
    pub fn wait(&self, kind: WaitKind, deadline_ns: Option<u64>) -> Wake {
        started(kind);
        let from = clock::monotonic_ns();
        self.since_ns.store(from, Relaxed);
        self.waiting.store(kind as u16 + 1, Relaxed);
        let (wake, signalled_at) = match turn::resting() {
            Some(resting) => self.rest(&resting, deadline_ns),
            None => self.wait_for_signal(deadline_ns),
        };
        self.waiting.store(0, Relaxed);
        self.last.store(kind as u16 + 1, Relaxed);
        let now = clock::monotonic_ns();
        let signal_ns = if signalled_at == 0 { 0 } else { now.saturating_sub(signalled_at) };
        ended(kind, now.saturating_sub(from), signal_ns);
        wake
    }

    /// The same by a thread with a turn: the thread that signals it gives it one.
    fn rest(&self, resting: &Rest, deadline_ns: Option<u64>) -> (Wake, u64) {
        loop {
            let mut signal = self.signal.lock();
            if let Some(ended) = self.ended(&mut signal) {
                return ended;
            }
            signal.resting = Some(resting.clone());
            drop(signal);
            if !resting.rest(deadline_ns) {
                let timed_out = self.signal.lock().resting.take().is_some();
                match timed_out {
                    true => resting.give_up(),
                    false => resting.wait(),
                }
                let ended = self.ended(&mut self.signal.lock());
                return ended.unwrap_or((Wake::TimedOut, 0));
            }
        }
    }

    /// Whether the wait has ended: how, and when it was signalled.
    fn ended(&self, signal: &mut Signal) -> Option<(Wake, u64)> {
        if std::mem::take(&mut signal.raised) {
            return Some((Wake::Signalled, signal.at_ns));
        }
        self.cancellation().map(|why| (Wake::Cancelled(why), 0))
    }

    fn wait_for_signal(&self, deadline_ns: Option<u64>) -> (Wake, u64) {
        let mut signal = self.signal.lock();
        loop {
            if let Some(ended) = self.ended(&mut signal) {
                return ended;
            }
            if !self.changed.wait_until(&mut signal, deadline_ns) && !signal.raised {
                let cancelled = self.cancellation().map(Wake::Cancelled);
                return (cancelled.unwrap_or(Wake::TimedOut), 0);
            }
        }
    }

    /// Ends the wait in progress, or the next one.
    pub fn signal(&self) {
        let mut signal = self.signal.lock();
        signal.raised = true;
        signal.at_ns = clock::monotonic_ns();
        self.wake(signal);
    }

    /// Forgets a signal that nobody waited for.
    pub fn clear_signal(&self) {
        self.signal.lock().raised = false;
    }

    /// Asks the request to end: ends its wait, and [`Waiter::check`] fails from now on. A kill
    /// is not overwritten by a lesser reason.
    pub fn cancel(&self, why: CancelReason) {
        let signal = self.signal.lock();
        let lesser =
            |c| (c & !PUT_OFF != CancelReason::Kill as u8).then_some(c & PUT_OFF | why as u8);
        // The update fails only where a kill is set, which stays.
        let _ = self.cancelled.fetch_update(Relaxed, Relaxed, lesser);
        self.wake(signal);
    }

    /// Runs the clearing up that a request must not leave undone. A cancellation that comes before
    /// or during it counts afterwards.
    pub fn undisturbed<R>(&self, clear_up: impl FnOnce() -> R) -> R {
        let _put_off = CancelDeferral::new(self);
        clear_up()
    }

    fn wake(&self, mut signal: MutexGuard<'_, Signal>) {
        let resting = signal.resting.take();
        self.changed.notify_one();
        drop(signal);
        if let Some(resting) = resting {
            resting.end();
        }
    }

    /// Takes back the cancellation: the request has ended, another may begin.
    pub fn reset(&self) {
        self.cancelled.fetch_and(PUT_OFF, Relaxed);
    }

    /// The same, but a kill stays.
    pub fn reset_unless_killed(&self) {
        let kept = |c| (c & !PUT_OFF != CancelReason::Kill as u8).then_some(c & PUT_OFF);
        // The update fails only where a kill is set, which stays.
        let _ = self.cancelled.fetch_update(Relaxed, Relaxed, kept);
    }

    /// The cancellation, if one came.
    #[inline]
    pub fn cancellation(&self) -> Option<CancelReason> {
        match self.cancelled.load(Relaxed) {
            0 => None,
            1 => Some(CancelReason::Attention),
            2 => Some(CancelReason::Kill),
            3 => Some(CancelReason::Shutdown),
            c if c & PUT_OFF != 0 => None,
            _ => Some(CancelReason::RolledBack),
        }
    }

    /// What long computations call every few hundred rows; it also gives others their turn.
    ///
    /// # Errors
    /// The cancellation, if one came.
    #[inline]
    pub fn check(&self) -> Result<(), CancelReason> {
        self.look(true)
    }

    /// The same between two statements: `holds_locks` as in [`turn::look`].
    ///
    /// # Errors
    /// The cancellation, if one came.
    #[inline]
    pub fn look(&self, holds_locks: bool) -> Result<(), CancelReason> {
        turn::look(holds_locks);
        match self.cancellation() {
            None => Ok(()),
            Some(c) => Err(c),
        }
    }

    /// The wait in progress and since when, for sys.dm_exec_requests.
    pub fn current(&self) -> Option<(WaitKind, u64)> {
        let kind = self.waiting.load(Relaxed);
        let kind = *WaitKind::ALL.get(usize::from(kind).checked_sub(1)?)?;
        Some((kind, self.since_ns.load(Relaxed)))
    }

    /// The kind of the last ended wait.
    pub fn last(&self) -> Option<WaitKind> {
        WaitKind::ALL.get(usize::from(self.last.load(Relaxed)).checked_sub(1)?).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn who_clears_up_is_not_disturbed_and_hears_of_it_afterwards() {
        let w = Waiter::new();
        w.cancel(CancelReason::Attention);
        w.undisturbed(|| {
            assert_eq!(w.check(), Ok(()));
            w.cancel(CancelReason::Kill);
            w.cancel(CancelReason::Attention);
            w.undisturbed(|| assert_eq!(w.check(), Ok(())));
            w.reset_unless_killed();
            assert_eq!(w.check(), Ok(()));
        });
        assert_eq!(w.check(), Err(CancelReason::Kill));
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            w.undisturbed(|| panic!("a planted bug"));
        }));
        assert!(panicked.is_err());
        assert_eq!(w.check(), Err(CancelReason::Kill));
        w.undisturbed(|| w.reset());
        assert_eq!(w.check(), Ok(()));
    }

    #[test]
    fn a_signal_before_the_wait_is_not_lost_and_a_cancel_ends_every_wait() {
        let w = Waiter::new();
        w.signal();
        assert_eq!(w.wait(WaitKind::WaitFor, None), Wake::Signalled);
        w.cancel(CancelReason::Kill);
        w.cancel(CancelReason::Attention);
        assert_eq!(w.wait(WaitKind::WaitFor, None), Wake::Cancelled(CancelReason::Kill));
        w.reset();
        assert_eq!(w.wait(WaitKind::WaitFor, Some(1)), Wake::TimedOut);
    }

    #[test]
    fn a_signal_from_another_task_ends_the_wait_and_is_counted() {
        let w = Arc::new(Waiter::new());
        let before = totals()[WaitKind::LckSiu as usize].count;
        let theirs = Arc::clone(&w);
        let t = crate::task::spawn("signaller", move || {
            crate::task::sleep_ns(2_000_000);
            theirs.signal();
        });
        assert_eq!(w.wait(WaitKind::LckSiu, None), Wake::Signalled);
        t.join().unwrap();
        assert_eq!(totals()[WaitKind::LckSiu as usize].count, before + 1);
    }
}
