//! What every operation goes through: a switch, its virtual time, its number, perhaps the crash.
#![allow(clippy::disallowed_types, reason = "this is what stands below os::disk in a simulation")]

use super::DiskOptions;
use super::content::Content;
use super::names::{FileNo, Names};
use crate::random::{Random, mix};
use crate::scheduler::{Crash, Scheduler, here};
use crate::state::Ending;
use crate::trace::Event;
use os::disk::Holder;
use os::sched::Scheduler as _;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub(crate) struct State {
    pub(crate) options: DiskOptions,
    pub(crate) random: Random,
    pub(crate) names: Names,
    pub(crate) contents: BTreeMap<FileNo, Content>,
    pub(crate) next_file: FileNo,
    pub(crate) operations: u64,
    pub(crate) refusals: u64,
    /// 0: never.
    pub(crate) crash_at: u64,
    pub(crate) refuse_at: Vec<u64>,
    pub(crate) fail_sync_at: Vec<u64>,
    pub(crate) crashed: bool,
    /// Folders that are locked, and by whom: a crash or the end of a process ends that.
    pub(crate) locked: BTreeMap<PathBuf, Holder>,
}

impl State {
    pub(crate) fn new(options: DiskOptions) -> State {
        State {
            random: Random::new(mix(options.seed, 5)),
            options,
            names: Names::default(),
            contents: BTreeMap::new(),
            next_file: 1,
            operations: 0,
            refusals: 0,
            crash_at: 0,
            refuse_at: Vec::new(),
            fail_sync_at: Vec::new(),
            crashed: false,
            locked: BTreeMap::new(),
        }
    }

    /// The same hardware, without content and without drawn faults.
    pub(crate) fn reborn(&self, seed: u64) -> State {
        let options = DiskOptions {
            seed,
            refuse_space_one_in: 0,
            fail_sync_one_in: 0,
            ..self.options.clone()
        };
        State { next_file: self.next_file, ..State::new(options) }
    }

    pub(crate) fn content(&mut self, file: FileNo) -> &mut Content {
        self.contents.get_mut(&file).expect("a file with a name or a handle has content")
    }

    pub(crate) fn used_bytes(&self) -> u64 {
        self.names.files().map(|f| self.contents.get(&f).map_or(0, Content::len)).sum()
    }

    /// Whether growth by that much is refused.
    pub(crate) fn refuses_space(&mut self, number: u64, more_bytes: u64) -> bool {
        let refused = due(&mut self.refuse_at, number)
            || self.used_bytes() + more_bytes > self.options.capacity_bytes
            || drawn(&mut self.random, self.options.refuse_space_one_in);
        self.refusals += u64::from(refused);
        refused
    }

    pub(crate) fn fails_sync(&mut self, number: u64) -> bool {
        due(&mut self.fail_sync_at, number)
            || drawn(&mut self.random, self.options.fail_sync_one_in)
    }

    /// Drops the content of files that nobody can reach any more.
    pub(crate) fn forget_unreachable(&mut self) {
        let names = &self.names;
        self.contents.retain(|&file, c| c.handles > 0 || names.reach(file));
    }
}

fn due(at: &mut Vec<u64>, number: u64) -> bool {
    match at.iter().position(|&n| n <= number) {
        Some(i) => {
            at.swap_remove(i);
            true
        }
        None => false,
    }
}

fn drawn(random: &mut Random, one_in: u64) -> bool {
    one_in > 0 && random.one_in(one_in)
}

fn gone() -> io::Error {
    io::Error::other("the simulated machine has crashed")
}

pub(crate) struct Inner {
    state: Mutex<State>,
}

impl Inner {
    pub(crate) fn new(state: State) -> Arc<Inner> {
        Arc::new(Inner { state: Mutex::new(state) })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A switch point, before an operation. An error or an unwinding on a machine that is gone.
    pub(crate) fn enter(&self) -> io::Result<Option<Scheduler>> {
        let task = here();
        if let Some(t) = &task {
            t.switch();
            if t.crashed() {
                return Err(gone());
            }
        }
        self.check(task.as_ref())?;
        Ok(task)
    }

    fn check(&self, task: Option<&Scheduler>) -> io::Result<()> {
        if task.is_some_and(|t| t.crashed()) {
            return Err(gone());
        }
        if !self.state().crashed {
            return Ok(());
        }
        if std::thread::panicking() {
            return Err(gone());
        }
        std::panic::resume_unwind(Box::new(Crash))
    }

    /// Lets the virtual time of an operation pass, mostly with others running.
    pub(crate) fn pass(&self, task: Option<&Scheduler>, usual_ns: u64) -> io::Result<()> {
        let Some(task) = task else { return Ok(()) };
        let (ns, waits) = {
            let mut s = self.state();
            if !s.options.latency {
                return Ok(());
            }
            let slow = if s.random.one_in(50) { 20 } else { 1 };
            (slow * (usual_ns / 2 + s.random.below(usual_ns)), s.random.one_in(2))
        };
        if !waits {
            task.core.advance(ns);
            return Ok(());
        }
        let nobody_wakes = 0_u8;
        let until_ns = task.core.now_ns() + ns;
        task.block(std::ptr::from_ref(&nobody_wakes) as usize, Some(until_ns));
        self.check(Some(task))
    }

    /// A read: counted only where the options say so.
    pub(crate) fn look<R>(
        &self,
        op: &'static str,
        name: &Arc<str>,
        f: impl FnOnce(&mut State) -> io::Result<R>,
    ) -> io::Result<R> {
        let task = self.enter()?;
        self.finish_look(task.as_ref(), op, name, (0, 0), f)
    }

    pub(crate) fn finish_look<R>(
        &self,
        task: Option<&Scheduler>,
        op: &'static str,
        name: &Arc<str>,
        (offset, len): (u64, u64),
        f: impl FnOnce(&mut State) -> io::Result<R>,
    ) -> io::Result<R> {
        if self.state().options.count_reads {
            return self.finish(task, op, name, (offset, len), |s, _| f(s));
        }
        let mut s = self.state();
        note(task, op, s.operations, name, offset, len);
        f(&mut s)
    }

    /// An operation that changes something and takes no time worth simulating.
    pub(crate) fn operate<R>(
        &self,
        op: &'static str,
        name: &Arc<str>,
        offset: u64,
        len: u64,
        f: impl FnOnce(&mut State, u64) -> io::Result<R>,
    ) -> io::Result<R> {
        let task = self.enter()?;
        self.finish(task.as_ref(), op, name, (offset, len), f)
    }

    /// Numbers the operation, does it, and crashes the machine if this is the one.
    pub(crate) fn finish<R>(
        &self,
        task: Option<&Scheduler>,
        op: &'static str,
        name: &Arc<str>,
        (offset, len): (u64, u64),
        f: impl FnOnce(&mut State, u64) -> io::Result<R>,
    ) -> io::Result<R> {
        let mut s = self.state();
        s.operations += 1;
        let number = s.operations;
        note(task, op, number, name, offset, len);
        let result = f(&mut s, number);
        if number != s.crash_at {
            return result;
        }
        s.crashed = true;
        drop(s);
        if let Some(t) = task {
            t.core.end(Ending::Crashed);
        }
        if std::thread::panicking() {
            return Err(gone());
        }
        match task {
            Some(t) => t.unwind(),
            None => std::panic::resume_unwind(Box::new(Crash)),
        }
    }
}

fn note(
    task: Option<&Scheduler>,
    op: &'static str,
    number: u64,
    name: &Arc<str>,
    offset: u64,
    len: u64,
) {
    if let Some(t) = task {
        t.note(Event::Disk { op, number, file: Arc::clone(name), offset, len }, 1_000);
    }
}
