//! `Tally` (a sharded counter): counters of one thing among many, such as a heap or an index, that
//! many threads count at once.
//!
//! It works as `counters.rs`, but is small while nothing is counted: a thread's cells are made when
//! it first counts something.
//!
//! ```text
//! Tally ─ cells of thread number n, for n below 16: only that thread writes them
//!       └ cells of all other threads, by n modulo 16: they add with a locked instruction
//! ```
//!
//! Invariants
//!  1. Only its own thread writes the cells of a thread below [`OWN`] (`counters.rs`, 1).
//!
//! Cost of an addition: three dependent loads and a store. A tally without counts takes 512 bytes,
//! the cells of a thread 128 bytes for each 16 counters.

use crate::counters::number;
use crate::sync::PaddedCell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Threads with cells of their own.
const OWN: usize = 16;
/// Cells that other threads share.
const SHARED: usize = 16;

type Counts<const N: usize> = Box<PaddedCell<[AtomicU64; N]>>;

/// So many counters.
pub struct Tally<const N: usize> {
    cells: [OnceLock<Counts<N>>; OWN + SHARED],
}

impl<const N: usize> Default for Tally<N> {
    fn default() -> Self {
        Tally { cells: [const { OnceLock::new() }; OWN + SHARED] }
    }
}

/// Where a thread counts.
#[derive(Clone, Copy)]
pub struct Cells<'t, const N: usize> {
    counts: &'t [AtomicU64; N],
    shared: bool,
}

impl<const N: usize> Tally<N> {
    /// Where this thread counts.
    #[inline]
    pub fn cells(&self) -> Cells<'_, N> {
        let number = number();
        let shared = number >= OWN;
        let at = if shared { OWN + number % SHARED } else { number };
        Cells { counts: self.cells[at].get_or_init(empty), shared }
    }

    /// Adds to one counter.
    #[inline]
    pub fn add(&self, counter: usize, times: u64) {
        self.cells().add(counter, times);
    }

    /// What was counted by all threads.
    pub fn sum(&self, counter: usize) -> u64 {
        self.each(counter).fold(0, u64::wrapping_add)
    }

    /// The greatest that any thread has noted.
    pub fn greatest(&self, counter: usize) -> u64 {
        self.each(counter).max().unwrap_or(0)
    }

    fn each(&self, counter: usize) -> impl Iterator<Item = u64> {
        let cells = self.cells.iter().filter_map(OnceLock::get);
        cells.map(move |cells| cells[counter].load(Relaxed))
    }
}

impl<const N: usize> Cells<'_, N> {
    /// Adds to one counter.
    #[inline]
    pub fn add(&self, counter: usize, times: u64) {
        let cell = &self.counts[counter];
        if self.shared {
            cell.fetch_add(times, Relaxed);
        } else {
            // Invariant 1.
            cell.store(cell.load(Relaxed).wrapping_add(times), Relaxed);
        }
    }

    /// Notes a number that never becomes less.
    #[inline]
    pub fn note(&self, counter: usize, number: u64) {
        let cell = &self.counts[counter];
        if self.shared {
            cell.fetch_max(number, Relaxed);
        } else {
            cell.store(number.max(cell.load(Relaxed)), Relaxed);
        }
    }
}

#[cold]
fn empty<const N: usize>() -> Counts<N> {
    Box::new(PaddedCell([const { AtomicU64::new(0) }; N]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Barrier};

    /// More threads than there are cells of one's own.
    #[test]
    fn nothing_is_lost_however_many_count() {
        let (tally, all) = (Arc::new(Tally::<3>::default()), Arc::new(Barrier::new(40)));
        let tasks: Vec<_> = (0..40)
            .map(|n| {
                let (tally, all) = (Arc::clone(&tally), Arc::clone(&all));
                crate::task::spawn("counts", move || {
                    all.wait();
                    (0..5_000).for_each(|_| tally.add(1, 2));
                    tally.cells().add(0, 1);
                    tally.cells().note(2, n);
                })
            })
            .collect();
        tasks.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!((tally.sum(0), tally.sum(1), tally.greatest(2)), (40, 400_000, 39));
    }
}
