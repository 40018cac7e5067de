//! The baton: exactly one task of a run executes; who is next is drawn from the seed.
//!
//! A task gives the baton away in `switch` (once in k calls), in `block`, and by ending. Between
//! its calls nothing else happens. `wake` never gives it away: a condition variable releases its
//! mutex by `wake` and then blocks, and nothing may come between.
//!
//! Invariants
//!  1. `hot` and `state` are touched by the holder of the baton only; handing it over orders them.
//!  2. The state's lock is never held while a thread waits for the baton or unwinds.
//!  3. On a halted machine a call unwinds the task with [`Crash`], unless it unwinds already:
//!     then `block` hands the baton on, so that others unwind and release their locks.
#![allow(clippy::disallowed_types, reason = "this is what stands below os::sync in a simulation")]
#![allow(clippy::disallowed_methods, reason = "tasks are real threads, started here")]

use crate::random::{Random, mix};
use crate::simulation::Options;
use crate::state::{Ending, NEVER, Slot, State};
use crate::trace::Event;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The panic payload that unwinds the tasks of a halted machine.
#[derive(Debug)]
pub struct Crash;

/// Stack of a task's thread, as os::task gives it.
pub(crate) const STACK_BYTES: usize = 8 << 20;
/// Virtual time of one call.
const CALL_NS: u64 = 100;
/// Calls a task may make after it was unwound (to tell its joiner), before it is unwound again.
const GRACE_CALLS: u32 = 16;
/// Calls on a halted machine after which unwinding is taken to hang.
const HALTED_CALLS_MAX: u64 = 20_000_000;

/// What every call touches, without the state's lock.
struct HotState {
    calls: AtomicU64,
    now_ns: AtomicU64,
    countdown: AtomicU64,
    next_deadline_ns: AtomicU64,
    blocked: AtomicUsize,
    halted: AtomicBool,
    halted_calls: AtomicU64,
    entropy: AtomicU64,
}

/// One run.
pub(crate) struct Core {
    pub(crate) options: Options,
    switch_one_in: u64,
    hot: HotState,
    state: Mutex<State>,
    pub(crate) controller: Arc<Slot>,
}

/// The scheduler as one task sees it.
#[derive(Clone)]
pub struct Scheduler {
    pub(crate) core: Arc<Core>,
    pub(crate) me: usize,
    slot: Arc<Slot>,
}

thread_local! {
    static HERE: RefCell<Option<Scheduler>> = const { RefCell::new(None) };
}

/// The scheduler of this thread, if it is a task.
pub(crate) fn here() -> Option<Scheduler> {
    HERE.try_with(|h| h.try_borrow().ok().and_then(|h| h.clone())).ok().flatten()
}

impl Core {
    pub(crate) fn new(seed: u64, options: Options) -> Arc<Self> {
        let mut random = Random::new(mix(seed, 1));
        let drawn = random.pick(&[1, 2, 3, 5, 8, 16, 32, 64, 128]);
        let switch_one_in = options.switch_one_in.map_or(drawn, u64::from).max(1);
        Arc::new(Core {
            switch_one_in,
            hot: HotState {
                calls: AtomicU64::new(0),
                now_ns: AtomicU64::new(0),
                countdown: AtomicU64::new(0),
                next_deadline_ns: AtomicU64::new(NEVER),
                blocked: AtomicUsize::new(0),
                halted: AtomicBool::new(false),
                halted_calls: AtomicU64::new(0),
                entropy: AtomicU64::new(mix(seed, 2)),
            },
            state: Mutex::new(State::new(random, options.trace_keep)),
            controller: Slot::new(),
            options,
        })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn halted(&self) -> bool {
        self.hot.halted.load(Relaxed)
    }

    pub(crate) fn calls(&self) -> u64 {
        self.hot.calls.load(Relaxed)
    }

    pub(crate) fn now_ns(&self) -> u64 {
        self.hot.now_ns.load(Relaxed)
    }

    pub(crate) fn advance(&self, ns: u64) {
        self.hot.now_ns.store(self.now_ns() + ns, Relaxed);
    }

    /// Halts the machine; the caller's task unwinds at its next call, as all others do.
    pub(crate) fn end(&self, ending: Ending) {
        let mut s = self.state();
        s.end(self.now_ns(), ending);
        self.settle(&s);
    }

    /// The same from a panic hook, where the state's lock may be held by a bug of our own.
    pub(crate) fn end_from_hook(&self, me: &Scheduler, ending: Ending) {
        me.slot.grace.store(GRACE_CALLS, Relaxed);
        if let Ok(mut s) = self.state.try_lock() {
            s.end(self.now_ns(), ending);
            self.settle(&s);
        }
    }

    /// Brings the hot copy in line with the state.
    fn settle(&self, s: &State) {
        self.hot.blocked.store(s.blocked_count(), Relaxed);
        self.hot.next_deadline_ns.store(s.next_deadline_ns(), Relaxed);
        if s.ending.is_some() {
            self.hot.halted.store(true, Relaxed);
            self.hot.countdown.store(0, Relaxed);
        }
    }

    fn choose(&self, s: &mut State) -> Option<usize> {
        let mut now_ns = self.now_ns();
        let next = s.choose(&mut now_ns);
        self.hot.now_ns.store(now_ns, Relaxed);
        self.hot.countdown.store(s.random.below(2 * self.switch_one_in - 1), Relaxed);
        self.settle(s);
        next
    }

    /// The task that runs next, for the thread that watches over the run.
    pub(crate) fn next(&self) -> Option<Arc<Slot>> {
        let mut s = self.state();
        let next = self.choose(&mut s)?;
        Some(Arc::clone(&s.tasks[next].slot))
    }

    /// Registers a task whose thread is started by `start`, which gets the task's view.
    pub(crate) fn register(self: &Arc<Self>, name: &str) -> Scheduler {
        let slot = Slot::new();
        let me = self.state().add(name, Arc::clone(&slot));
        Scheduler { core: Arc::clone(self), me, slot }
    }
}

impl Scheduler {
    /// What a task's thread does: waits for the baton, runs, ends, gives the baton back.
    pub(crate) fn live<T>(self, body: impl FnOnce() -> T) -> Option<T> {
        self.slot.wait();
        HERE.with(|h| *h.borrow_mut() = Some(self.clone()));
        let result = {
            let _entered = os::sched::enter(Arc::new(self.clone()));
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(body))
        };
        let kept = match result {
            Ok(value) => Some(value),
            Err(payload) => {
                if !self.core.halted() && self.core.options.panics_fail {
                    self.core.end(Ending::Failed(format!(
                        "task {} ended by a panic: {}",
                        self.name(),
                        crate::hook::text(&*payload)
                    )));
                }
                None
            }
        };
        HERE.with(|h| h.borrow_mut().take());
        let mut s = self.core.state();
        s.trace.note(self.core.now_ns(), self.me, Event::TaskEnd);
        s.live -= 1;
        s.ended = Some(self.me);
        drop(s);
        self.core.controller.grant();
        kept
    }

    pub(crate) fn belongs_to(&self, thread: std::thread::Thread) {
        self.slot.belongs_to(thread);
    }

    pub(crate) fn name(&self) -> String {
        self.core.state().tasks[self.me].name.clone()
    }

    /// Whether the machine runs. On a halted one this unwinds, or says no to who may go on.
    fn alive(&self) -> bool {
        if !self.core.halted() {
            return true;
        }
        let calls = self.core.hot.halted_calls.fetch_add(1, Relaxed);
        if calls > HALTED_CALLS_MAX {
            let who = self.core.state().describe();
            eprintln!("tasks of a halted machine do not end; {} runs\n{who}", self.name());
            std::process::abort();
        }
        if std::thread::panicking() {
            return false;
        }
        let grace = self.slot.grace.load(Relaxed);
        if grace > 0 {
            self.slot.grace.store(grace - 1, Relaxed);
            return false;
        }
        self.unwind()
    }

    /// Unwinds this task, silently.
    pub(crate) fn unwind(&self) -> ! {
        self.slot.grace.store(GRACE_CALLS, Relaxed);
        std::panic::resume_unwind(Box::new(Crash))
    }

    /// Gives the baton to whom the seed chooses and waits until it comes back.
    fn hand_over(&self, mut s: MutexGuard<'_, State>) {
        let next = self.core.choose(&mut s).expect("the caller at least has not ended");
        if next == self.me {
            return;
        }
        let theirs = Arc::clone(&s.tasks[next].slot);
        drop(s);
        theirs.grant();
        self.slot.wait();
    }

    #[cold]
    fn switch_slowly(&self) {
        self.alive();
        let core = &*self.core;
        let mut s = core.state();
        if core.calls() > core.options.calls_max && !core.halted() {
            let text = format!("no end after {} scheduler calls\n{}", core.calls(), s.describe());
            s.end(core.now_ns(), Ending::Failed(text));
            core.settle(&s);
        }
        s.expire(core.now_ns());
        s.shuffle_priority(self.me);
        s.make_runnable(self.me);
        self.hand_over(s);
        self.alive();
    }

    /// Notes a disk operation and moves the time.
    pub(crate) fn note(&self, event: Event, ns: u64) {
        self.core.advance(ns);
        self.core.state().trace.note(self.core.now_ns(), self.me, event);
    }
}

impl os::sched::Scheduler for Scheduler {
    #[inline]
    fn switch(&self) {
        let hot = &self.core.hot;
        hot.calls.store(hot.calls.load(Relaxed) + 1, Relaxed);
        let now_ns = hot.now_ns.load(Relaxed) + CALL_NS;
        hot.now_ns.store(now_ns, Relaxed);
        let countdown = hot.countdown.load(Relaxed);
        let due = now_ns >= hot.next_deadline_ns.load(Relaxed);
        if countdown > 0 && !due && !hot.halted.load(Relaxed) {
            hot.countdown.store(countdown - 1, Relaxed);
            return;
        }
        self.switch_slowly();
    }

    fn block(&self, key: usize, deadline_ns: Option<u64>) -> bool {
        self.core.advance(CALL_NS);
        let alive = self.alive();
        let mut s = self.core.state();
        if alive {
            let event = Event::Block { timed: deadline_ns.is_some() };
            s.trace.note(self.core.now_ns(), self.me, event);
            s.block(self.me, key, deadline_ns.unwrap_or(NEVER));
        } else {
            s.make_runnable(self.me);
        }
        self.hand_over(s);
        // On a halted machine even who has just been woken goes no further.
        self.alive() && !self.core.state().timed_out(self.me)
    }

    fn wake(&self, key: usize, all: bool) {
        let hot = &self.core.hot;
        if hot.blocked.load(Relaxed) == 0 {
            return;
        }
        let mut s = self.core.state();
        let tasks = s.wake(key, all);
        if tasks == 0 {
            return;
        }
        s.trace.note(self.core.now_ns(), self.me, Event::Wake { tasks });
        if s.random.one_in(4) {
            hot.countdown.store(0, Relaxed);
        }
        self.core.settle(&s);
    }

    fn spawn(&self, name: &str, body: Box<dyn FnOnce() + Send>) {
        self.alive();
        let task = self.core.register(name);
        let theirs = task.clone();
        let thread = std::thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || {
                theirs.live(body);
            })
            .expect("a thread can be started");
        task.belongs_to(thread.thread().clone());
        let mut s = self.core.state();
        s.trace.note(self.core.now_ns(), self.me, Event::Spawn { task: task.me });
        s.tasks[task.me].thread = Some(thread);
        drop(s);
        os::sched::Scheduler::switch(self);
    }

    fn now_ns(&self) -> u64 {
        // A loop that waits by reading the clock must end.
        self.core.advance(1);
        self.core.now_ns()
    }

    fn random(&self) -> u64 {
        let hot = &self.core.hot;
        let mut r = Random::new(hot.entropy.load(Relaxed));
        let n = r.next_u64();
        hot.entropy.store(n ^ 0x5851_f42d_4c95_7f2d, Relaxed);
        n
    }

    fn crashed(&self) -> bool {
        self.core.halted()
    }
}
