//! Worker threads: they run requests. Their number is bounded; they are started when needed, and
//! end when idle for long.
//!
//! A request needs a turn to compute (`os::turn`) and a thread. It requests the turn first: while
//! all turns are taken, no thread is woken, and a thread that ends a request goes on with the next.
//! A request that has its turn but finds all threads waiting stays in the queue, counted as
//! THREADPOOL.
//!
//! One of the idle threads drives the sockets (it is the event loop): it waits for them, reads what
//! has come, and runs the first request itself. So a request that comes alone wakes no other
//! thread. In a busy server, a thread that has ended a request reads the next requests of all
//! connections at once. While the driver runs a short request, no thread drives:
//!
//! ```text
//!        nothing to run, and no thread drives       a request came, with a turn for it
//! idle ───────────────────────────────────> drives ────────────────────────────────> runs
//!  ^ └── called: all threads wait, or none has driven for long ──^                     │
//!  └──────────────────────── another thread drives ────────────────────────────────────┘
//! ```
//!
//! Invariants
//!  1. Every request in the queue is taken care of: a turn is requested for it, or a turn for it is
//!     on its way to a thread, or, when there are no more threads, the first thread that ends its
//!     request takes it.
//!  2. The mutex of the queue is not held while a turn is given back, since that may call back into
//!     the queue.
//!  3. No thread drives only while a thread computes that will look at the sockets when it is done.
//!     The last computing thread that begins to wait calls another to drive (`Watch::waits`). If a
//!     thread computes for long, the monitor calls another after a few milliseconds
//!     (`Watch::looks`).
//!  4. A computing thread may keep commits unflushed, so that commits of further requests share
//!     their flush, but only for about as long as a flush takes. If it then waits, it has the log
//!     writer flush them, since it may wait for a lock of one of them. The monitor has the log
//!     writer flush commits that were kept for too long.
//!  5. There is one thread more than requests that may run: so a driver is always available.

use os::sync::{Condvar, Mutex, MutexGuard};
use os::turn;
use os::wait::{WaitKind, record};
use session::UnflushedLog;
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{
    AtomicU64, AtomicUsize,
    Ordering::{Relaxed, SeqCst},
};
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use tokio::runtime::Runtime;

type Work = Box<dyn FnOnce() -> Option<UnflushedLog> + Send>;

/// An idle thread beyond [`IDLE_MIN`] ends after this.
const IDLE_NS: u64 = 60_000_000_000;
const IDLE_MIN: usize = 2;
/// How long commits are kept for those of requests that the same thread can run: about what a flush
/// takes.
const KEPT_NS: u64 = 150_000;
/// Commits are not kept before requests that take longer than this.
const SHORT_NS: u64 = 100_000;
/// For so long after several requests were there at once, more are expected.
const CROWD_NS: u64 = 2_000_000;

/// Polls of the runtime that read what has come: one to ask the system, one for the tasks.
const GLANCES: u32 = 2;

struct QueuedWork {
    work: Work,
    /// Set when there was a turn and no thread for it.
    waits_since_ns: Option<u64>,
}

/// Which thread drives the sockets, if any.
#[derive(Default)]
struct DriverState {
    /// The sockets' runtime; none in a pool without sockets, and when the pool has closed.
    runtime: Option<Arc<Runtime>>,
    /// Whether a thread drives.
    driven: bool,
    /// The driver only reads what has come, and runs one of these requests with the turn that it
    /// has.
    glances: bool,
    /// The driver is to stop driving and take a turn that was given.
    leaves: bool,
    /// An idle thread is on its way to drive.
    called: bool,
    /// How often a thread began to drive, and this number at the monitor's last look.
    begun: u64,
    seen: u64,
    /// Ends the driver's wait.
    waker: Option<Waker>,
}

impl DriverState {
    /// Whether there are sockets and no thread drives them.
    fn is_wanted(&self) -> bool {
        self.runtime.is_some() && !self.driven
    }
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<QueuedWork>,
    /// Turns that are asked for.
    asked: usize,
    /// Turns on their way to threads.
    given: usize,
    threads: usize,
    idle: usize,
    /// Threads that run requests.
    running: usize,
    driving: DriverState,
    closed: bool,
}

impl Queue {
    /// A pool that closes needs no driver.
    fn wants_driver(&self) -> bool {
        !self.closed && self.driving.is_wanted()
    }
}

thread_local! {
    /// Whether this thread drives the sockets.
    static DRIVES: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread keeps commits that are not yet flushed.
    static KEEPS: Cell<bool> = const { Cell::new(false) };
    /// How long its requests take.
    static TYPICAL_NS: Cell<u64> = const { Cell::new(0) };
}

/// The pool.
pub(crate) struct Workers {
    queue: Mutex<Queue>,
    work_came: Condvar,
    thread_went: Condvar,
    threads_max: usize,
    /// Threads that run requests and do not wait.
    computing: AtomicUsize,
    kept: Mutex<OwedLogs>,
    /// When a request last came while another was there.
    crowd_ns: AtomicU64,
    me: Weak<Workers>,
}

impl Workers {
    /// A pool that runs at most so many requests at a time; no thread yet.
    pub(crate) fn new(threads_max: usize) -> Arc<Workers> {
        Arc::new_cyclic(|me| Workers {
            queue: Mutex::new(Queue::default()),
            work_came: Condvar::new(),
            thread_went: Condvar::new(),
            threads_max: threads_max.max(1),
            computing: AtomicUsize::new(0),
            kept: Mutex::default(),
            crowd_ns: AtomicU64::new(0),
            me: Weak::clone(me),
        })
    }

    /// From now on its threads drive these sockets.
    pub(crate) fn drive_from_now_on(self: &Arc<Workers>, runtime: Runtime) {
        let mut queue = self.queue.lock();
        assert!(queue.driving.runtime.is_none(), "a pool has one set of sockets");
        queue.driving.runtime = Some(Arc::new(runtime));
        drop(queue);
        let me: Weak<Workers> = Arc::downgrade(self);
        turn::look_by(me);
        self.call_driver();
    }

    /// Runs some work on a thread, now or when there is a turn for it.
    pub(crate) fn submit(&self, work: impl FnOnce() + Send + 'static) {
        self.submit_request(move || {
            work();
            None
        });
    }

    /// The same for a request, whose answer may be sent by the thread that flushes a log.
    pub(crate) fn submit_request(
        &self,
        work: impl FnOnce() -> Option<UnflushedLog> + Send + 'static,
    ) {
        let mut queue = self.queue.lock();
        if queue.running + queue.given + queue.waiting.len() > 0 {
            self.crowd_ns.store(os::clock::monotonic_ns(), Relaxed);
        }
        queue.waiting.push_back(QueuedWork { work: Box::new(work), waits_since_ns: None });
        self.ask(queue);
    }

    /// Requests a turn if the queue needs one more.
    fn ask(&self, mut queue: MutexGuard<'_, Queue>) {
        let served = queue.asked + queue.given + usize::from(queue.driving.glances);
        if served >= queue.waiting.len() {
            return;
        }
        let me = Weak::clone(&self.me);
        let start = || -> turn::Start { Arc::new(move || me.upgrade().is_some_and(|p| p.start())) };
        if !turn::ask(start) {
            queue.asked += 1;
        } else if !self.give(queue) {
            turn::give_back();
        }
    }

    /// A requested turn is there; false when it is no longer needed.
    fn start(&self) -> bool {
        let mut queue = self.queue.lock();
        queue.asked -= 1;
        !queue.waiting.is_empty() && self.give(queue)
    }

    /// Gives a turn to a thread; false when all threads are busy. The driver that has just read the
    /// request comes first, since it is awake.
    fn give(&self, mut queue: MutexGuard<'_, Queue>) -> bool {
        if queue.running + queue.given >= self.threads_max {
            let waits = queue.waiting.iter_mut().find(|w| w.waits_since_ns.is_none());
            if let Some(waits) = waits {
                waits.waits_since_ns = Some(os::clock::monotonic_ns());
            }
            return false;
        }
        let claimed = queue.given;
        queue.given += 1;
        if DRIVES.get() && queue.driving.driven && !queue.driving.leaves {
            Self::leave(queue);
        } else if queue.idle + usize::from(queue.driving.leaves) > claimed {
            self.work_came.notify_one();
        } else if queue.threads < self.threads_in_all() {
            queue.threads += 1;
            drop(queue);
            return self.start_thread();
        } else if queue.driving.driven && !queue.driving.leaves && !queue.driving.glances {
            Self::leave(queue);
        }
        // Else a thread that runs nothing is on its way to the queue.
        true
    }

    /// Has the driver leave the sockets and take a turn that is given.
    fn leave(mut queue: MutexGuard<'_, Queue>) {
        queue.driving.leaves = true;
        let waker = queue.driving.waker.clone();
        drop(queue);
        // Without a waker the driver has not begun to wait, and looks before it does.
        waker.iter().for_each(Waker::wake_by_ref);
    }

    /// Invariant 5.
    fn threads_in_all(&self) -> usize {
        self.threads_max + 1
    }

    /// Starts one more thread, for a turn that is given already. When the system refuses one, the
    /// running threads will take the work, or [`Workers::look_after`] asks again.
    fn start_thread(&self) -> bool {
        if self.spawn() {
            return true;
        }
        let mut queue = self.queue.lock();
        queue.threads -= 1;
        // Another thread may have taken the turn.
        let is_left = queue.given > 0;
        queue.given -= usize::from(is_left);
        !is_left
    }

    fn spawn(&self) -> bool {
        let Some(pool) = Weak::upgrade(&self.me) else { return false };
        let started =
            catch_unwind(AssertUnwindSafe(|| os::task::spawn("worker", move || pool.work())));
        started.is_ok()
    }

    fn work(&self) {
        if let Some(me) = Weak::upgrade(&self.me) {
            turn::watched_by(me);
        }
        let mut queue = self.queue.lock();
        loop {
            if queue.given > 0 {
                queue.given -= 1;
                queue.running += 1;
                // It may be the thread that was called to drive: another can be called.
                queue.driving.called = false;
                drop(queue);
                turn::adopt();
                self.computing.fetch_add(1, SeqCst);
                self.requests();
                self.computing.fetch_sub(1, SeqCst);
                queue = self.queue.lock();
                queue.running -= 1;
                drop(queue);
                turn::release();
                queue = self.queue.lock();
                continue;
            }
            if queue.closed && queue.waiting.is_empty() {
                self.work_came.notify_all();
                break;
            }
            if queue.wants_driver() {
                queue = self.drive(queue, false);
                continue;
            }
            let lasts;
            (queue, lasts) = self.idle(queue);
            if !lasts {
                break;
            }
        }
        queue.threads -= 1;
        drop(queue);
        self.thread_went.notify_all();
    }

    /// Drives the sockets until there is a turn to take or the pool closes. With `glance`, only
    /// reads what has come.
    fn drive<'q>(
        &'q self,
        mut queue: MutexGuard<'q, Queue>,
        glance: bool,
    ) -> MutexGuard<'q, Queue> {
        let driving = &mut queue.driving;
        (driving.driven, driving.glances) = (true, glance);
        driving.called &= glance;
        driving.begun += 1;
        let runtime = driving.runtime.clone().expect("asked by the caller");
        drop(queue);
        DRIVES.set(!glance);
        let mut looks = 0;
        runtime.block_on(poll_fn(|context| {
            let mut queue = self.queue.lock();
            looks += 1;
            if glance && looks <= GLANCES {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if glance || queue.driving.leaves || queue.closed {
                return Poll::Ready(());
            }
            match &mut queue.driving.waker {
                Some(waker) => waker.clone_from(context.waker()),
                waker => *waker = Some(context.waker().clone()),
            }
            Poll::Pending
        }));
        DRIVES.set(false);
        drop(runtime);
        let mut queue = self.queue.lock();
        (queue.driving.driven, queue.driving.glances, queue.driving.leaves) = (false, false, false);
        queue
    }

    /// Wakes an idle thread, or starts one, to drive the sockets.
    fn call_driver(&self) {
        let mut queue = self.queue.lock();
        if !queue.wants_driver() || queue.driving.called {
            return;
        }
        if queue.idle > queue.given {
            queue.driving.called = true;
            self.work_came.notify_one();
        } else if queue.threads < self.threads_in_all() {
            queue.driving.called = true;
            queue.threads += 1;
            drop(queue);
            if !self.spawn() {
                let mut queue = self.queue.lock();
                queue.threads -= 1;
                queue.driving.called = false;
            }
        }
        // Else a thread that runs nothing is on its way, and drives when it has nothing to run.
    }

    /// Waits for a turn; false when it has waited for long. It also asks again for a request for
    /// which no thread was free when its turn came: here is one.
    fn idle<'q>(&'q self, mut queue: MutexGuard<'q, Queue>) -> (MutexGuard<'q, Queue>, bool) {
        queue.idle += 1;
        if queue.asked + queue.given < queue.waiting.len() {
            self.ask(queue);
            queue = self.queue.lock();
        }
        let mut woken = true;
        if queue.given == 0 && !queue.wants_driver() {
            let until = os::clock::monotonic_ns() + IDLE_NS;
            woken = self.work_came.wait_until(&mut queue, Some(until));
        }
        queue.idle -= 1;
        let is_needed = woken || queue.given > 0 || !queue.waiting.is_empty();
        let lasts = is_needed || queue.wants_driver() || queue.threads <= IDLE_MIN;
        (queue, lasts)
    }

    /// Asks again for requests for which no thread could be started. Called from time to time.
    pub(crate) fn look_after(&self) {
        self.ask(self.queue.lock());
    }

    /// Runs one request after the other, until there is none or others are to have the turn.
    /// Flushes what they committed when there is no further request, or soon.
    fn requests(&self) {
        loop {
            if KEEPS.get() && !self.may_keep() {
                self.flush_kept();
            }
            let Some(next) = self.next_request() else {
                if !self.flush_kept() {
                    return;
                }
                continue;
            };
            let began_ns = os::clock::monotonic_ns();
            if let Some(since_ns) = next.waits_since_ns {
                record(WaitKind::Threadpool, since_ns);
            }
            // A request handles its own panics; one that gets here costs only its request.
            if let Ok(Some(unflushed)) = catch_unwind(AssertUnwindSafe(next.work)) {
                self.keep(unflushed);
            }
            note_taken(os::clock::monotonic_ns().saturating_sub(began_ns));
            if !turn::renew() {
                self.flush_kept();
                return self.ask(self.queue.lock());
            }
        }
    }

    /// The next request. While commits are kept, it also reads requests from the sockets first.
    fn next_request(&self) -> Option<QueuedWork> {
        let mut queue = self.queue.lock();
        let glances =
            queue.waiting.is_empty() && KEEPS.get() && queue.wants_driver() && self.is_crowded();
        if glances {
            queue = self.drive(queue, true);
        }
        queue.waiting.pop_front()
    }

    /// Whether several requests were there at once a short time ago.
    fn is_crowded(&self) -> bool {
        os::clock::monotonic_ns().saturating_sub(self.crowd_ns.load(Relaxed)) < CROWD_NS
    }

    /// Starts no more threads, and waits until all have ended or the deadline has come. The sockets
    /// are no longer driven.
    pub(crate) fn close(&self, until_ns: u64) {
        let mut queue = self.queue.lock();
        self.begin_to_close(&mut queue);
        while queue.threads > 0 {
            if !self.thread_went.wait_until(&mut queue, Some(until_ns)) {
                break;
            }
        }
    }

    /// The same without the wait.
    pub(crate) fn abandon(&self) {
        self.begin_to_close(&mut self.queue.lock());
    }

    fn begin_to_close(&self, queue: &mut Queue) {
        queue.closed = true;
        self.work_came.notify_all();
        queue.driving.waker.iter().for_each(Waker::wake_by_ref);
    }

    /// The sockets, when no thread is to drive them any more.
    pub(crate) fn take_runtime(&self) -> Option<Arc<Runtime>> {
        self.queue.lock().driving.runtime.take()
    }
}

/// Logs that commits wait for, of requests whose threads went on to others.
#[derive(Default)]
struct OwedLogs {
    logs: Vec<UnflushedLog>,
    since_ns: u64,
}

impl Workers {
    fn keep(&self, log: UnflushedLog) {
        let mut kept = self.kept.lock();
        if kept.logs.is_empty() {
            kept.since_ns = os::clock::monotonic_ns();
        }
        if !kept.logs.iter().any(|one| one.is_same(&log)) {
            kept.logs.push(log);
        }
        KEEPS.set(true);
    }

    /// Whether this thread may run another request before it flushes the commits it keeps.
    fn may_keep(&self) -> bool {
        let age_ns = os::clock::monotonic_ns().saturating_sub(self.kept.lock().since_ns);
        age_ns < KEPT_NS && TYPICAL_NS.get() < SHORT_NS
    }

    /// Flushes what is kept; false when this thread keeps nothing.
    fn flush_kept(&self) -> bool {
        if !KEEPS.replace(false) {
            return false;
        }
        let logs = std::mem::take(&mut self.kept.lock().logs);
        // Leading one log's flushes may take long: the other logs go to their log writers.
        logs.iter().skip(1).for_each(UnflushedLog::hand_over);
        for log in logs {
            // A callback handles its own panics, too.
            let _ = catch_unwind(AssertUnwindSafe(|| log.flush()));
        }
        true
    }

    /// Has the log writers flush it: a thread that keeps commits waits, or computes for long.
    fn hand_over_kept(&self) {
        let logs = std::mem::take(&mut self.kept.lock().logs);
        logs.iter().for_each(UnflushedLog::hand_over);
    }
}

/// A request took so long; the typical time is an average of the last ones.
fn note_taken(ns: u64) {
    TYPICAL_NS.set(TYPICAL_NS.get() - TYPICAL_NS.get() / 8 + ns / 8);
}

impl turn::Watch for Workers {
    fn waits(&self, long: bool) {
        if KEEPS.replace(false) {
            self.hand_over_kept();
        }
        if self.computing.fetch_sub(1, SeqCst) == 1 && (long || self.is_crowded()) {
            self.call_driver();
        }
    }

    fn goes_on(&self) {
        self.computing.fetch_add(1, SeqCst);
    }

    fn looks(&self) {
        let mut queue = self.queue.lock();
        let lasts = queue.wants_driver() && queue.driving.seen == queue.driving.begun;
        queue.driving.seen = queue.driving.begun;
        drop(queue);
        if lasts {
            self.call_driver();
        }
        let kept = self.kept.lock();
        let old = os::clock::monotonic_ns().saturating_sub(kept.since_ns) > KEPT_NS;
        drop(kept);
        if old {
            self.hand_over_kept();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    fn threadpool_waits() -> u64 {
        os::wait::totals()[WaitKind::Threadpool as usize].count
    }

    fn work_beyond_the_threads_waits_and_all_of_it_is_done() {
        let pool = Workers::new(2);
        let (running, most, done) = Default::default();
        let (running, most, done): (Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>) =
            (running, most, done);
        let before = threadpool_waits();
        for i in 0..20 {
            let (running, most, done) = (running.clone(), most.clone(), done.clone());
            pool.submit(move || {
                most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                os::task::sleep_ns(2_000_000);
                running.fetch_sub(1, SeqCst);
                done.fetch_add(1, SeqCst);
                assert_ne!(i, 7, "a panic costs nothing but itself");
            });
        }
        pool.close(os::clock::monotonic_ns() + 10_000_000_000);
        assert_eq!((done.load(SeqCst), most.load(SeqCst)), (20, 2));
        assert!(threadpool_waits() >= before + 10);
        assert_eq!(pool.queue.lock().threads, 0);
    }

    /// All threads of the process share the turns, so one comes after the other.
    #[test]
    fn all_requests_are_run() {
        work_beyond_the_threads_waits_and_all_of_it_is_done();
        a_request_whose_turn_found_all_threads_busy_is_not_forgotten();
    }

    /// The turn for a request comes when its thread is still at work, and has nobody to go to.
    fn a_request_whose_turn_found_all_threads_busy_is_not_forgotten() {
        turn::limit(1);
        let pool = Workers::new(1);
        for _ in 0..20 {
            let (done, waits) = std::sync::mpsc::channel();
            pool.submit(|| {
                let until = os::clock::monotonic_ns() + 5_000_000;
                while os::clock::monotonic_ns() < until {
                    std::hint::spin_loop();
                }
            });
            os::task::sleep_ns(1_000_000);
            pool.submit(move || done.send(()).expect("somebody waits"));
            let ran = waits.recv_timeout(std::time::Duration::from_secs(10));
            assert!(ran.is_ok(), "a request waits for ever");
        }
        pool.close(os::clock::monotonic_ns() + 10_000_000_000);
        assert_eq!(pool.queue.lock().threads, 0);
    }
}
