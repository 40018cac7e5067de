//! The threads that run requests: bounded, started when needed, ended when idle for long.
//!
//! A request needs a turn to compute (`os::turn`) and a thread. It asks for the turn first: while
//! all are taken no thread is woken, and who ends a request goes on with the next. One that has its
//! turn and finds all threads waiting for something stays in the queue, counted as THREADPOOL.
//!
//! Invariants
//!  1. Each request in the queue has somebody who comes for it: a turn that is asked for, one that
//!     is on its way to a thread, or, when there are no more threads, whichever ends first.
//!  2. The mutex of the queue is not held while a turn is given back, since that may call for it.

use os::sync::{Condvar, Mutex, MutexGuard};
use os::turn;
use os::wait::{WaitKind, record};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

type Work = Box<dyn FnOnce() + Send>;

/// An idle thread beyond [`IDLE_MIN`] ends after this.
const IDLE_NS: u64 = 60_000_000_000;
const IDLE_MIN: usize = 2;

struct Queued {
    work: Work,
    /// Set when there was a turn and no thread for it.
    waits_since_ns: Option<u64>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Queued>,
    /// Turns that are asked for.
    asked: usize,
    /// Turns on their way to threads.
    given: usize,
    threads: usize,
    idle: usize,
    closed: bool,
}

/// The pool.
pub(crate) struct Workers {
    queue: Mutex<Queue>,
    work_came: Condvar,
    thread_went: Condvar,
    threads_max: usize,
    me: Weak<Workers>,
}

impl Workers {
    /// A pool of at most so many threads; none yet.
    pub(crate) fn new(threads_max: usize) -> Arc<Workers> {
        Arc::new_cyclic(|me| Workers {
            queue: Mutex::new(Queue::default()),
            work_came: Condvar::new(),
            thread_went: Condvar::new(),
            threads_max: threads_max.max(1),
            me: Weak::clone(me),
        })
    }

    /// Runs some work on a thread, now or when there is a turn for it.
    pub(crate) fn submit(&self, work: impl FnOnce() + Send + 'static) {
        let mut queue = self.queue.lock();
        queue.waiting.push_back(Queued { work: Box::new(work), waits_since_ns: None });
        self.ask(queue);
    }

    /// Asks for a turn where the queue needs one more.
    fn ask(&self, mut queue: MutexGuard<'_, Queue>) {
        if queue.asked + queue.given >= queue.waiting.len() {
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

    /// There is a turn that was asked for; false when nothing needs it any more.
    fn start(&self) -> bool {
        let mut queue = self.queue.lock();
        queue.asked -= 1;
        !queue.waiting.is_empty() && self.give(queue)
    }

    /// Gives a turn to a thread; false when all threads are at work.
    fn give(&self, mut queue: MutexGuard<'_, Queue>) -> bool {
        if queue.idle > queue.given {
            queue.given += 1;
            self.work_came.notify_one();
            return true;
        }
        if queue.threads == self.threads_max {
            let waits = queue.waiting.iter_mut().find(|w| w.waits_since_ns.is_none());
            if let Some(waits) = waits {
                waits.waits_since_ns = Some(os::clock::monotonic_ns());
            }
            return false;
        }
        queue.threads += 1;
        queue.given += 1;
        drop(queue);
        self.start_thread()
    }

    /// A thread more, for a turn that is given already. When the system refuses one, those that
    /// run will come to the work, or [`Workers::look_after`].
    fn start_thread(&self) -> bool {
        let Some(pool) = Weak::upgrade(&self.me) else { return false };
        let started =
            catch_unwind(AssertUnwindSafe(|| os::task::spawn("worker", move || pool.work())));
        if started.is_ok() {
            return true;
        }
        let mut queue = self.queue.lock();
        queue.threads -= 1;
        // Another thread may have come by and taken the turn.
        let is_left = queue.given > 0;
        queue.given -= usize::from(is_left);
        !is_left
    }

    fn work(&self) {
        let mut queue = self.queue.lock();
        loop {
            if queue.given > 0 {
                queue.given -= 1;
                drop(queue);
                turn::adopt();
                self.requests();
                turn::release();
                queue = self.queue.lock();
                continue;
            }
            if queue.closed && queue.waiting.is_empty() {
                self.work_came.notify_all();
                break;
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

    /// Waits for a turn; false when it has waited for long. A request that all threads were too
    /// busy for when its turn came is asked for again now: here is one.
    fn idle<'q>(&'q self, mut queue: MutexGuard<'q, Queue>) -> (MutexGuard<'q, Queue>, bool) {
        queue.idle += 1;
        if queue.asked + queue.given < queue.waiting.len() {
            self.ask(queue);
            queue = self.queue.lock();
        }
        let mut woken = true;
        if queue.given == 0 {
            let until = os::clock::monotonic_ns() + IDLE_NS;
            woken = self.work_came.wait_until(&mut queue, Some(until));
        }
        queue.idle -= 1;
        let is_needed = woken || queue.given > 0 || !queue.waiting.is_empty();
        let lasts = is_needed || queue.threads <= IDLE_MIN;
        (queue, lasts)
    }

    /// Asks again for what no thread could be started for. Called from time to time.
    pub(crate) fn look_after(&self) {
        self.ask(self.queue.lock());
    }

    /// One request after the other, until there is none or others are to have the turn.
    fn requests(&self) {
        loop {
            let mut queue = self.queue.lock();
            let Some(next) = queue.waiting.pop_front() else { return };
            drop(queue);
            if let Some(since_ns) = next.waits_since_ns {
                record(WaitKind::Threadpool, since_ns);
            }
            // Work answers for its own panics; one that comes here costs nothing but itself.
            let _ = catch_unwind(AssertUnwindSafe(next.work));
            if !turn::renew() {
                return self.ask(self.queue.lock());
            }
        }
    }

    /// Takes no more threads, and waits until all have ended or the time has come.
    pub(crate) fn close(&self, until_ns: u64) {
        let mut queue = self.queue.lock();
        queue.closed = true;
        self.work_came.notify_all();
        while queue.threads > 0 {
            if !self.thread_went.wait_until(&mut queue, Some(until_ns)) {
                break;
            }
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
