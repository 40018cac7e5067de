//! One run from its seed to its end: starts the root task, joins every thread, says how it ended.
#![allow(clippy::disallowed_types, reason = "this is what stands below os::sync in a simulation")]

use crate::scheduler::{Core, STACK_BYTES, here};
use crate::state::Ending;
use crate::trace::Event;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::sync::Mutex;

/// What a run may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// A task is switched at one of this many points; None: drawn from the seed, 1 to 128.
    pub switch_one_in: Option<u32>,
    /// Events that a failure prints.
    pub trace_keep: usize,
    /// Scheduler calls after which the run is taken to have no end.
    pub calls_max: u64,
    /// Whether a panic of any task (other than the engine stopping itself) fails the run, even
    /// if somebody catches it.
    pub panics_fail: bool,
    /// Keep the threads of a run on one processor: only one runs anyway, and the baton passes
    /// several times faster.
    pub pinned: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            switch_one_in: None,
            trace_keep: 128,
            calls_max: 200_000_000,
            panics_fail: true,
            pinned: true,
        }
    }
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub enum RunEnd<T> {
    /// Every task ended; what the root task returned.
    Done(T),
    /// The machine crashed: go on with `Disk::after_crash`.
    Crashed,
    /// The process stopped itself, for this reason: go on with `Disk::after_stop`.
    Stopped(String),
    /// A task panicked, all deadlocked, or there was no end: the text, and the last events.
    Failed(String),
}

/// A run that is over.
#[derive(Debug)]
pub struct Run<T> {
    /// How it ended.
    pub ended: RunEnd<T>,
    /// A hash over every event: equal for equal seeds.
    pub trace_hash: u64,
    /// Calls at which a switch was possible.
    pub calls: u64,
    /// Virtual time that passed.
    pub now_ns: u64,
}

/// The run, as its tasks see it.
#[derive(Clone, Copy, Debug)]
pub struct Simulation {
    seed: u64,
}

impl Simulation {
    /// Runs `body` as the root task of a simulated process and waits for the end of all tasks.
    ///
    /// # Panics
    /// When the run fails: a task panicked, nobody could run, or there was no end.
    pub fn run<T: Send>(
        seed: u64,
        options: Options,
        body: impl FnOnce(&Simulation) -> T + Send,
    ) -> Run<T> {
        let run = Self::try_run(seed, options, body);
        if let RunEnd::Failed(text) = &run.ended {
            panic!("simulation of seed={seed} failed: {text}");
        }
        run
    }

    /// The same, where a failure is told in [`Run::ended`].
    ///
    /// # Panics
    /// When called inside a simulation.
    pub fn try_run<T: Send>(
        seed: u64,
        options: Options,
        body: impl FnOnce(&Simulation) -> T + Send,
    ) -> Run<T> {
        assert!(here().is_none(), "a simulation does not run inside a simulation");
        crate::hook::install();
        let core = Core::new(seed, options);
        let value = std::thread::scope(|scope| {
            let root = core.register("root");
            let theirs = root.clone();
            let place = core.options.pinned.then(Place::take).flatten();
            let thread = std::thread::Builder::new()
                .name("root".to_owned())
                .stack_size(STACK_BYTES)
                .spawn_scoped(scope, move || {
                    let _place = place.inspect(Place::pin);
                    theirs.live(|| body(&Simulation { seed }))
                })
                .expect("a thread can be started");
            root.belongs_to(thread.thread().clone());
            let mut root_thread = Some(thread);
            let mut value = None;
            watch(&core, || {
                let root = root_thread.take().expect("the root task ends once");
                value = root.join().expect("a task's thread catches its panics");
            });
            value
        });
        finish(&core, value)
    }

    /// The seed of the run.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Crashes the machine here and now.
    ///
    /// # Panics
    /// Always, with the payload [`crate::Crash`]: this is how the task ends.
    pub fn crash(&self) -> ! {
        let task = here().expect("a task of the simulation calls this");
        task.core.end(Ending::Crashed);
        task.unwind()
    }

    /// Adds a line to the events that a failure prints; a part of the run's hash.
    pub fn note(&self, text: &str) {
        if let Some(task) = here() {
            task.note(Event::Note(text.into()), 0);
        }
    }
}

/// Hands out the baton whenever a task has ended, after its thread is really gone.
fn watch(core: &Core, mut join_root: impl FnMut()) {
    core.controller.belongs_to(std::thread::current());
    while let Some(next) = core.next() {
        next.grant();
        core.controller.wait();
        let mut s = core.state();
        let ended = s.ended.take().expect("the watcher is called when a task has ended");
        let thread = s.tasks[ended].thread.take();
        drop(s);
        match thread {
            Some(t) => t.join().expect("a task's thread catches its panics"),
            None => join_root(),
        }
    }
}

fn finish<T>(core: &Core, value: Option<T>) -> Run<T> {
    let mut s = core.state();
    assert_eq!(s.live, 0, "every task has ended");
    let ended = match (s.ending.take(), value) {
        (Some(Ending::Crashed), _) => RunEnd::Crashed,
        (Some(Ending::Stopped(reason)), _) => RunEnd::Stopped(reason),
        (Some(Ending::Failed(text)), _) => {
            RunEnd::Failed(format!("{text}\nlast events:\n{}", s.dump_trace()))
        }
        (None, Some(value)) => RunEnd::Done(value),
        (None, None) => RunEnd::Failed("the root task panicked".to_owned()),
    };
    Run { ended, trace_hash: s.trace.hash(), calls: core.calls(), now_ns: core.now_ns() }
}

/// A processor that a run's threads share.
struct Place(usize);

/// Runs per processor at this moment.
static RUNS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

impl Place {
    /// The processor with the fewest runs of this process.
    fn take() -> Option<Place> {
        let allowed = sched_getaffinity(None).ok()?;
        let mut runs = RUNS.lock().ok()?;
        runs.resize(CpuSet::MAX_CPU, 0);
        let cpu = (0..CpuSet::MAX_CPU).filter(|&c| allowed.is_set(c)).min_by_key(|&c| runs[c])?;
        runs[cpu] += 1;
        Some(Place(cpu))
    }

    /// Threads that this one starts inherit it.
    fn pin(&self) {
        let mut set = CpuSet::new();
        set.set(self.0);
        // Without it the run is slower and otherwise the same.
        let _ = sched_setaffinity(None, &set);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Ok(mut runs) = RUNS.lock() {
            runs[self.0] -= 1;
        }
    }
}
