//! What happened lately: a ring of the last events, and a hash over all of them.
//!
//! The hash is how two runs of one seed are compared, so nothing that differs between two
//! processes (an address, a real time) goes into it.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::Arc;

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Switch { to: usize },
    Block { timed: bool },
    Wake { tasks: usize },
    Spawn { task: usize },
    TaskEnd,
    Disk { op: &'static str, number: u64, file: Arc<str>, offset: u64, len: u64 },
    Note(Arc<str>),
    Ending,
}

struct TraceEntry {
    at_ns: u64,
    task: usize,
    event: Event,
}

/// The events of a run.
pub(crate) struct Trace {
    ring: VecDeque<TraceEntry>,
    keep: usize,
    hash: u64,
}

impl Trace {
    pub(crate) fn new(keep: usize) -> Self {
        Trace { ring: VecDeque::with_capacity(keep), keep, hash: 0xcbf2_9ce4_8422_2325 }
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    fn fold(&mut self, n: u64) {
        self.hash = (self.hash ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    pub(crate) fn note(&mut self, at_ns: u64, task: usize, event: Event) {
        let (kind, a, b) = match &event {
            Event::Switch { to } => (1, *to as u64, 0),
            Event::Block { timed } => (2, u64::from(*timed), 0),
            Event::Wake { tasks } => (3, *tasks as u64, 0),
            Event::Spawn { task } => (4, *task as u64, 0),
            Event::TaskEnd => (5, 0, 0),
            Event::Disk { op, offset, len, .. } => (16 + op.len() as u64, *offset, *len),
            Event::Note(text) => (8, text.len() as u64, text.bytes().map(u64::from).sum()),
            Event::Ending => (7, 0, 0),
        };
        for n in [at_ns, task as u64, kind, a, b] {
            self.fold(n);
        }
        if self.ring.len() == self.keep {
            self.ring.pop_front();
        }
        if self.keep > 0 {
            self.ring.push_back(TraceEntry { at_ns, task, event });
        }
    }

    /// The ring as text, oldest first.
    pub(crate) fn dump(&self, names: &[&str]) -> String {
        let name = |t: usize| names.get(t).copied().unwrap_or("-");
        let mut out = String::new();
        for n in &self.ring {
            let _ = write!(out, "{:>12} {:<16} ", n.at_ns, name(n.task));
            let _ = match &n.event {
                Event::Switch { to } => writeln!(out, "-> {}", name(*to)),
                Event::Block { timed: false } => writeln!(out, "blocks"),
                Event::Block { timed: true } => writeln!(out, "blocks until a time"),
                Event::Wake { tasks } => writeln!(out, "wakes {tasks}"),
                Event::Spawn { task } => writeln!(out, "starts {}", name(*task)),
                Event::TaskEnd => writeln!(out, "ends"),
                Event::Disk { op, number, file, offset, len } => {
                    writeln!(out, "#{number} {op} {file} at {offset} len {len}")
                }
                Event::Note(text) => writeln!(out, "{text}"),
                Event::Ending => writeln!(out, "the machine halts"),
            };
        }
        out
    }
}
