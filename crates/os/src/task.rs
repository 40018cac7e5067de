//! Tasks: named threads, started here so that a simulator can start them instead.

use crate::sched;
use crate::sync::{Condvar, Mutex};
use crate::turn;
use std::sync::{Arc, LazyLock};
pub use std::thread::Scope;

/// Stack of a task; parser, binder, optimizer and evaluation have depth limits that fit it.
const STACK_BYTES: usize = 8 << 20;

struct Outcome<T> {
    result: Mutex<Option<std::thread::Result<T>>>,
    done: Condvar,
}

/// The right to wait for a task's end.
pub struct JoinHandle<T> {
    outcome: Arc<Outcome<T>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl<T> JoinHandle<T> {
    /// Waits for the end; the error is the panic payload.
    ///
    /// # Errors
    /// The payload of the panic that ended the task.
    pub fn join(mut self) -> std::thread::Result<T> {
        let result = {
            let mut slot = self.outcome.result.lock();
            loop {
                if let Some(r) = slot.take() {
                    break r;
                }
                self.outcome.done.wait(&mut slot);
            }
        };
        if let Some(t) = self.thread.take() {
            // The body's panic was caught and is in `result`.
            let _ = t.join();
        }
        result
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        self.outcome.result.lock().is_some()
    }
}

/// Starts a task.
///
/// # Panics
/// When the operating system refuses a thread.
#[allow(clippy::disallowed_methods)]
pub fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let outcome = Arc::new(Outcome { result: Mutex::new(None), done: Condvar::new() });
    let theirs = Arc::clone(&outcome);
    let by_bound = turn::is_bound();
    let run = move || {
        if by_bound {
            crate::processor::unbind_started();
        }
        let r = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
        *theirs.result.lock() = Some(r);
        theirs.done.notify_all();
        crate::heap::tell();
    };
    let thread = match sched::current() {
        Some(s) => {
            s.spawn(name, Box::new(run));
            None
        }
        None => Some(
            std::thread::Builder::new()
                .name(name.to_owned())
                .stack_size(STACK_BYTES)
                .spawn(run)
                .expect("a thread can be started"),
        ),
    };
    JoinHandle { outcome, thread }
}

/// The same for a background thread, for which others rarely wait: when it is woken, it takes no
/// processor from a thread that computes.
///
/// # Panics
/// When the operating system refuses a thread.
pub fn spawn_background<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    let simulated = sched::current().is_some();
    spawn(name, move || {
        if !simulated {
            crate::policy::batch();
        }
        body()
    })
}

/// Runs `body`, which may start tasks that borrow what outlives this call ([`start_within`]); all
/// of them have ended when it returns. Not for a simulator's tasks.
pub fn scope<'env, T>(body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
    std::thread::scope(body)
}

/// Starts a task within a scope; false when the operating system refuses a thread. A panic of the
/// body is the body's to catch.
pub fn start_within<'scope>(
    scope: &'scope Scope<'scope, '_>,
    name: &str,
    body: impl FnOnce() + Send + 'scope,
) -> bool {
    assert!(sched::current().is_none(), "a simulated task starts others by `spawn`");
    let by_bound = turn::is_bound();
    let run = move || {
        if by_bound {
            crate::processor::unbind_started();
        }
        body();
    };
    let thread = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    thread.spawn_scoped(scope, run).is_ok()
}

/// This thread's number with the system; 0 in a simulation, where tasks share threads.
pub fn thread_number() -> u32 {
    thread_local! {
        static NUMBER: u32 = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
    }
    match sched::current() {
        Some(_) => 0,
        None => NUMBER.with(|n| *n),
    }
}

/// Lets others run for a while, at least this long.
#[allow(clippy::disallowed_methods)]
pub fn sleep_ns(ns: u64) {
    match sched::current() {
        Some(s) => {
            let at = s.now_ns() + ns;
            let nobody_wakes = 0_u8;
            s.block(std::ptr::from_ref(&nobody_wakes) as usize, Some(at));
        }
        None => turn::aside(|| std::thread::sleep(std::time::Duration::from_nanos(ns))),
    }
}

/// Processors this process may use, by what its first caller was told: a thread that is bound
/// to one would be told of no more.
pub fn processors() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, usize::from));
    *PROCESSORS
}

/// The memory that the machine has; none where it does not tell.
#[allow(clippy::disallowed_methods)]
pub fn physical_memory_bytes() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let total = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}
