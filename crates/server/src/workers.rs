//! The threads that run requests: bounded, started when needed, ended when idle for long.
//!
//! A request that finds all threads busy waits in a queue, which is counted as THREADPOOL.

use os::sync::{Condvar, Mutex};
use os::wait::{WaitKind, record};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Work = Box<dyn FnOnce() + Send>;

/// An idle thread beyond [`IDLE_MIN`] ends after this.
const IDLE_NS: u64 = 60_000_000_000;
const IDLE_MIN: usize = 2;

struct Queued {
    work: Work,
    /// Set when no thread was free for it.
    waits_since_ns: Option<u64>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Queued>,
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
}

impl Workers {
    /// A pool of at most so many threads; none yet.
    pub(crate) fn new(threads_max: usize) -> Arc<Workers> {
        Arc::new(Workers {
            queue: Mutex::new(Queue::default()),
            work_came: Condvar::new(),
            thread_went: Condvar::new(),
            threads_max: threads_max.max(1),
        })
    }

    /// Runs some work on a thread, now or when one is free.
    pub(crate) fn submit(self: &Arc<Self>, work: impl FnOnce() + Send + 'static) {
        let mut queue = self.queue.lock();
        if queue.waiting.len() < queue.idle {
            queue.waiting.push_back(Queued { work: Box::new(work), waits_since_ns: None });
            self.work_came.notify_one();
            return;
        }
        let grows = queue.threads < self.threads_max;
        let waits_since_ns = (!grows).then(os::clock::monotonic_ns);
        queue.waiting.push_back(Queued { work: Box::new(work), waits_since_ns });
        if grows {
            queue.threads += 1;
            drop(queue);
            self.start();
        }
    }

    /// A thread more. When the system refuses one, those that run will come to the work.
    fn start(self: &Arc<Self>) {
        let pool = Arc::clone(self);
        let started =
            catch_unwind(AssertUnwindSafe(|| os::task::spawn("worker", move || pool.work())));
        if started.is_err() {
            self.queue.lock().threads -= 1;
        }
    }

    fn work(&self) {
        let mut queue = self.queue.lock();
        loop {
            if let Some(next) = queue.waiting.pop_front() {
                drop(queue);
                if let Some(since_ns) = next.waits_since_ns {
                    record(WaitKind::Threadpool, since_ns);
                }
                // Work answers for its own panics; one that comes here costs nothing but itself.
                let _ = catch_unwind(AssertUnwindSafe(next.work));
                queue = self.queue.lock();
                continue;
            }
            if queue.closed {
                break;
            }
            queue.idle += 1;
            let until = os::clock::monotonic_ns() + IDLE_NS;
            let woken = self.work_came.wait_until(&mut queue, Some(until));
            queue.idle -= 1;
            if !woken && queue.waiting.is_empty() && queue.threads > IDLE_MIN {
                break;
            }
        }
        queue.threads -= 1;
        drop(queue);
        self.thread_went.notify_all();
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

    #[test]
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
}
