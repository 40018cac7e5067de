//! Who runs, who could, who waits: the tables of one run, changed by the baton's holder only.
//!
//! Invariants
//!  1. A task is in exactly one place: running, `runnable`, `blocked`, or ended.
//!  2. No order depends on an address: `blocked` is in order of arrival, keys are only compared.
//!  3. Once an ending is set it stays, and nobody is in `blocked` any more.

use crate::random::Random;
use crate::trace::{Event, Trace};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

pub(crate) const NEVER: u64 = u64::MAX;

/// Where one thread waits for the baton.
pub(crate) struct Slot {
    granted: AtomicBool,
    thread: OnceLock<std::thread::Thread>,
    /// Calls that a task which has unwound may still make before it is unwound again.
    pub(crate) grace: AtomicU32,
}

impl Slot {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Slot {
            granted: AtomicBool::new(false),
            thread: OnceLock::new(),
            grace: AtomicU32::new(0),
        })
    }

    pub(crate) fn belongs_to(&self, thread: std::thread::Thread) {
        assert!(self.thread.set(thread).is_ok(), "a slot has one thread");
    }

    pub(crate) fn grant(&self) {
        self.granted.store(true, Ordering::Release);
        self.thread.get().expect("a task is registered with its thread").unpark();
    }

    pub(crate) fn wait(&self) {
        while !self.granted.swap(false, Ordering::Acquire) {
            std::thread::park();
        }
    }
}

/// Why a run ended before its tasks did.
#[derive(Clone, Debug)]
pub(crate) enum Ending {
    Crashed,
    Stopped(String),
    Failed(String),
}

pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) slot: Arc<Slot>,
    pub(crate) thread: Option<std::thread::JoinHandle<()>>,
    priority: u32,
    timed_out: bool,
}

struct BlockedTask {
    key: usize,
    task: usize,
    deadline_ns: u64,
}

/// How the next task is chosen; drawn per run.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// All alike.
    Even,
    /// The one of higher priority of two drawn ones, mostly: some tasks fall far behind.
    Unfair,
}

pub(crate) struct State {
    pub(crate) random: Random,
    pub(crate) tasks: Vec<Task>,
    pub(crate) trace: Trace,
    pub(crate) ending: Option<Ending>,
    /// Tasks that have ended and whose thread is to be joined.
    pub(crate) ended: Option<usize>,
    pub(crate) live: usize,
    running: usize,
    runnable: Vec<usize>,
    blocked: Vec<BlockedTask>,
    choice: Choice,
    wakes_in_order: bool,
}

impl State {
    pub(crate) fn new(mut random: Random, trace_keep: usize) -> Self {
        let choice = random.pick(&[Choice::Even, Choice::Unfair]);
        let wakes_in_order = random.one_in(2);
        State {
            random,
            tasks: Vec::new(),
            trace: Trace::new(trace_keep),
            ending: None,
            ended: None,
            live: 0,
            running: 0,
            runnable: Vec::new(),
            blocked: Vec::new(),
            choice,
            wakes_in_order,
        }
    }

    pub(crate) fn add(&mut self, name: &str, slot: Arc<Slot>) -> usize {
        let task = self.tasks.len();
        let priority = self.random.below(1 << 20) as u32;
        let name = name.to_owned();
        self.tasks.push(Task { name, slot, thread: None, priority, timed_out: false });
        self.live += 1;
        self.runnable.push(task);
        task
    }

    pub(crate) fn make_runnable(&mut self, task: usize) {
        self.runnable.push(task);
    }

    pub(crate) fn block(&mut self, task: usize, key: usize, deadline_ns: u64) {
        assert!(self.ending.is_none(), "nobody blocks on a halted machine");
        self.tasks[task].timed_out = false;
        self.blocked.push(BlockedTask { key, task, deadline_ns });
    }

    pub(crate) fn timed_out(&self, task: usize) -> bool {
        self.tasks[task].timed_out
    }

    pub(crate) fn blocked_count(&self) -> usize {
        self.blocked.len()
    }

    pub(crate) fn next_deadline_ns(&self) -> u64 {
        self.blocked.iter().map(|b| b.deadline_ns).min().unwrap_or(NEVER)
    }

    /// Makes one or all that wait on a key runnable; says how many.
    pub(crate) fn wake(&mut self, key: usize, all: bool) -> usize {
        let waiting = self.blocked.iter().filter(|b| b.key == key).count();
        if waiting == 0 {
            return 0;
        }
        if all {
            let runnable = &mut self.runnable;
            self.blocked.retain(|b| {
                if b.key == key {
                    runnable.push(b.task);
                }
                b.key != key
            });
            return waiting;
        }
        let nth = if self.wakes_in_order { 0 } else { self.random.below(waiting as u64) as usize };
        let mut of_key = self.blocked.iter().enumerate().filter(|(_, b)| b.key == key);
        let (at, _) = of_key.nth(nth).expect("fewer were drawn than wait");
        let woken = self.blocked.remove(at);
        self.runnable.push(woken.task);
        1
    }

    /// Makes those whose time has come runnable.
    pub(crate) fn expire(&mut self, now_ns: u64) {
        let (runnable, tasks) = (&mut self.runnable, &mut self.tasks);
        self.blocked.retain(|b| {
            let due = b.deadline_ns <= now_ns;
            if due {
                tasks[b.task].timed_out = true;
                runnable.push(b.task);
            }
            !due
        });
    }

    /// Ends the run: everybody wakes, and unwinds at the next call.
    pub(crate) fn end(&mut self, now_ns: u64, ending: Ending) {
        if self.ending.is_some() {
            return;
        }
        self.ending = Some(ending);
        self.trace.note(now_ns, self.running, Event::Ending);
        for b in self.blocked.drain(..) {
            self.tasks[b.task].timed_out = true;
            self.runnable.push(b.task);
        }
    }

    /// Takes one runnable task out and makes it the running one. `now_ns` moves on when all
    /// wait for time. None when every task has ended.
    pub(crate) fn choose(&mut self, now_ns: &mut u64) -> Option<usize> {
        self.expire(*now_ns);
        if self.runnable.is_empty() {
            match self.next_deadline_ns() {
                NEVER if self.blocked.is_empty() => return None,
                NEVER => {
                    let text = format!("deadlock: nobody can run\n{}", self.describe());
                    self.end(*now_ns, Ending::Failed(text));
                }
                at => {
                    *now_ns = at;
                    self.expire(at);
                }
            }
        }
        let n = self.runnable.len() as u64;
        let mut at = self.random.below(n) as usize;
        if let (Choice::Unfair, true) = (self.choice, n > 1 && self.ending.is_none()) {
            let other = self.random.below(n) as usize;
            let higher = self.priority(other) > self.priority(at);
            if higher && !self.random.one_in(16) {
                at = other;
            }
        }
        let next = self.runnable.swap_remove(at);
        if next != self.running {
            self.trace.note(*now_ns, self.running, Event::Switch { to: next });
            self.running = next;
        }
        Some(next)
    }

    fn priority(&self, at: usize) -> u32 {
        self.tasks[self.runnable[at]].priority
    }

    /// Moves a task's priority now and then, so that who falls behind changes.
    pub(crate) fn shuffle_priority(&mut self, task: usize) {
        if self.random.one_in(64) {
            self.tasks[task].priority = self.random.below(1 << 20) as u32;
        }
    }

    /// Who waits for what.
    pub(crate) fn describe(&self) -> String {
        let mut out = String::new();
        for b in &self.blocked {
            let name = &self.tasks[b.task].name;
            let _ = write!(out, "  {name} (task {}) waits on {:#x}", b.task, b.key);
            let _ = match b.deadline_ns {
                NEVER => writeln!(out),
                at => writeln!(out, " until {at} ns"),
            };
        }
        for &t in &self.runnable {
            let _ = writeln!(out, "  {} (task {t}) can run", self.tasks[t].name);
        }
        out
    }

    pub(crate) fn dump_trace(&self) -> String {
        let names: Vec<&str> = self.tasks.iter().map(|t| t.name.as_str()).collect();
        self.trace.dump(&names)
    }
}
