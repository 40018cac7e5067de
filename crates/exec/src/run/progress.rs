//! What operators have done so far, for views that ask while they run.
//!
//! Each thread of a run counts in cells of its own, which other threads read. A cell has one
//! writer, so counting is a load and a store, as cheap as with a plain number. The counts of
//! cursors are added every 256 rows and at the end.
//!
//! Invariants
//!  1. The thread that runs an operator writes its cell. The cell of [`WITHIN`] is
//!     shared by all threads, and never read.
//!  2. Each number is exact, but a set of them may be of two moments.

use super::context::OperatorCount;
use access::TableReads;
use os::sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use work::PageReads;

/// The number of operators that are a part of another one: their counters are never read.
pub(crate) const WITHIN: usize = 0;

/// A number with one writer.
#[derive(Default)]
struct Cell(AtomicU64);

impl Cell {
    #[inline]
    fn add(&self, n: u64) {
        self.0.store(self.0.load(Relaxed).wrapping_add(n), Relaxed);
    }

    #[inline]
    fn get(&self) -> u64 {
        self.0.load(Relaxed)
    }

    fn set(&self, n: u64) {
        self.0.store(n, Relaxed);
    }
}

/// What an operator does in one thread.
#[derive(Default)]
pub(crate) struct Tally {
    rows: Cell,
    rebinds: Cell,
    rewinds: Cell,
    ends: Cell,
    refused: Cell,
    spilled_bytes: Cell,
    times: Times,
}

/// Times of an operator that is timed: moments of the monotonic clock, 0 for what did not happen
/// yet.
#[derive(Default)]
struct Times {
    elapsed_ns: Cell,
    cpu_ns: Cell,
    opened_at: Cell,
    called_at: Cell,
    first_row_at: Cell,
    last_row_at: Cell,
}

/// The kind of a call of an operator that is timed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Open,
    Row,
    End,
}

impl Tally {
    #[inline]
    pub(crate) fn opened(&self) {
        self.rebinds.add(1);
    }

    #[inline]
    pub(crate) fn rewound(&self) {
        self.rewinds.add(1);
    }

    #[inline]
    pub(crate) fn gave(&self, row: bool) {
        if row { &self.rows } else { &self.ends }.add(1);
    }

    /// The row that was given last does not count: it is given again, or no longer qualifies.
    #[cold]
    pub(crate) fn took_back(&self) {
        self.rows.set(self.rows.get().saturating_sub(1));
    }

    /// A row was read and not given.
    #[inline]
    pub(crate) fn refused(&self) {
        self.refused.add(1);
    }

    /// Rows were read and not given.
    #[inline]
    pub(crate) fn refused_rows(&self, rows: u64) {
        self.refused.add(rows);
    }

    pub(crate) fn spilled(&self, bytes: u64) {
        self.spilled_bytes.add(bytes);
    }

    /// A call has ended.
    pub(crate) fn timed(&self, call: Call, now: u64, elapsed_ns: u64, cpu_ns: u64) {
        let times = &self.times;
        times.elapsed_ns.add(elapsed_ns);
        times.cpu_ns.add(cpu_ns);
        times.called_at.set(now);
        match call {
            Call::Open if times.opened_at.get() == 0 => times.opened_at.set(now - elapsed_ns),
            Call::Row => {
                if times.first_row_at.get() == 0 {
                    times.first_row_at.set(now);
                }
                times.last_row_at.set(now);
            }
            Call::Open | Call::End => {}
        }
    }

    fn count(&self) -> OperatorCount {
        let times = &self.times;
        OperatorCount {
            rows: self.rows.get(),
            rebinds: self.rebinds.get(),
            rewinds: self.rewinds.get(),
            ends: self.ends.get(),
            refused: self.refused.get(),
            spilled_bytes: self.spilled_bytes.get(),
            elapsed_ns: times.elapsed_ns.get(),
            cpu_ns: times.cpu_ns.get(),
            opened_at: times.opened_at.get(),
            called_at: times.called_at.get(),
            first_row_at: times.first_row_at.get(),
            last_row_at: times.last_row_at.get(),
        }
    }

    fn clear(&self) {
        let Tally { rows, rebinds, rewinds, ends, refused, spilled_bytes, times } = self;
        for cell in [rows, rebinds, rewinds, ends, refused, spilled_bytes] {
            cell.set(0);
        }
        if times.called_at.get() != 0 {
            let Times { elapsed_ns, cpu_ns, opened_at, called_at, first_row_at, last_row_at } =
                times;
            for cell in [elapsed_ns, cpu_ns, opened_at, called_at, first_row_at, last_row_at] {
                cell.set(0);
            }
        }
    }
}

/// What a cursor has read.
#[derive(Default)]
struct ReadTally([Cell; 9]);

impl ReadTally {
    fn set(&self, reads: &TableReads) {
        let (p, l) = (&reads.pages, &reads.lob);
        let pages = [p.logical, p.physical, p.read_ahead, l.logical, l.physical, l.read_ahead];
        let all = pages.into_iter().chain([reads.scans, reads.ghosts, reads.versions]);
        self.0.iter().zip(all).for_each(|(c, n)| c.set(n));
    }

    fn get(&self) -> TableReads {
        let [a, b, c, d, e, f, scans, ghosts, versions] = &self.0;
        let pages = |logical: &Cell, physical: &Cell, read_ahead: &Cell| PageReads {
            logical: logical.get(),
            physical: physical.get(),
            read_ahead: read_ahead.get(),
        };
        TableReads {
            scans: scans.get(),
            pages: pages(a, b, c),
            lob: pages(d, e, f),
            ghosts: ghosts.get(),
            versions: versions.get(),
        }
    }
}

/// What one thread does, by operator and by cursor.
pub(crate) struct Tallies {
    operators: Box<[Tally]>,
    cursors: Box<[ReadTally]>,
}

impl Tallies {
    pub(crate) fn new(operators: usize, cursors: usize) -> Arc<Tallies> {
        Arc::new(Tallies {
            operators: std::iter::repeat_with(Tally::default).take(operators).collect(),
            cursors: std::iter::repeat_with(ReadTally::default).take(cursors).collect(),
        })
    }

    #[inline]
    pub(crate) fn of(&self, operator: usize) -> &Tally {
        &self.operators[operator]
    }

    /// How many operators there are.
    pub(crate) fn operators(&self) -> usize {
        self.operators.len()
    }

    /// How many cursors there are.
    pub(crate) fn cursors(&self) -> usize {
        self.cursors.len()
    }

    pub(crate) fn set_reads(&self, cursor: usize, reads: &TableReads) {
        self.cursors[cursor].set(reads);
    }

    pub(crate) fn clear(&self) {
        self.operators.iter().for_each(Tally::clear);
        self.cursors.iter().for_each(|c| c.set(&TableReads::default()));
    }

    /// What each operator has done, that of [`WITHIN`] first.
    pub(crate) fn counts(&self) -> Vec<OperatorCount> {
        self.operators.iter().map(Tally::count).collect()
    }

    pub(crate) fn spilled_bytes(&self) -> u64 {
        self.operators.iter().map(|t| t.spilled_bytes.get()).sum()
    }

    fn reads(&self) -> Vec<TableReads> {
        self.cursors.iter().map(ReadTally::get).collect()
    }
}

/// The current run of an executor, as other threads see it.
pub struct Progress {
    own: Arc<Tallies>,
    cursor_nodes: Vec<usize>,
    /// When the current run began, on the monotonic clock; 0 between runs.
    began_ns: AtomicU64,
    /// The workers of the run with the number of their thread.
    workers: Mutex<Vec<(usize, Arc<Tallies>)>>,
}

/// What one thread of a run did.
#[derive(Clone, Default)]
pub struct ThreadWork {
    pub(crate) counts: Vec<OperatorCount>,
    pub(crate) reads: Vec<TableReads>,
    pub(crate) cursor_nodes: Vec<usize>,
}

impl ThreadWork {
    /// As [`crate::Executor::counts`].
    pub fn counts(&self) -> &[OperatorCount] {
        &self.counts[WITHIN + 1..]
    }

    /// As [`crate::Executor::operator_reads`].
    pub fn operator_reads(&self) -> impl Iterator<Item = (usize, &TableReads)> {
        let first = WITHIN + 1;
        self.cursor_nodes.iter().map(move |node| node - first).zip(&self.reads)
    }

    pub(crate) fn add_counts(&mut self, more: &Tallies) {
        for (count, of) in self.counts.iter_mut().zip(more.counts()) {
            count.add(&of);
        }
    }

    fn add(&mut self, more: &Tallies) {
        self.add_counts(more);
        for (reads, of) in self.reads.iter_mut().zip(more.reads()) {
            reads.add(&of);
        }
    }
}

impl Progress {
    pub(crate) fn new(own: Arc<Tallies>, cursor_nodes: Vec<usize>) -> Arc<Progress> {
        let began_ns = AtomicU64::new(0);
        Arc::new(Progress { own, cursor_nodes, began_ns, workers: Mutex::default() })
    }

    /// When the current run began, on the monotonic clock; 0 between runs.
    pub fn began_ns(&self) -> u64 {
        self.began_ns.load(Relaxed)
    }

    /// A run begins, or (at 0) the last one has ended.
    pub fn set_began(&self, at_ns: u64) {
        self.began_ns.store(at_ns, Relaxed);
    }

    pub(crate) fn set_workers(&self, workers: Vec<(usize, Arc<Tallies>)>) {
        *self.workers.lock() = workers;
    }

    /// What each thread of the run has done so far, the statement's own first; `None` between runs.
    pub fn now(&self) -> Option<Vec<ThreadWork>> {
        if self.began_ns() == 0 {
            return None;
        }
        let workers = self.workers.lock().clone();
        let of = |tallies: &Tallies| ThreadWork {
            counts: tallies.counts(),
            reads: tallies.reads(),
            cursor_nodes: self.cursor_nodes.clone(),
        };
        let mut threads = vec![of(&self.own)];
        for (number, tallies) in &workers {
            match threads.get_mut(*number) {
                Some(thread) => thread.add(tallies),
                None => threads.push(of(tallies)),
            }
        }
        Some(threads)
    }
}
