//! Counters of an instance: how often each event has happened since its start, for
//! sys.dm_os_performance_counters.
//!
//! The events happen once a page or a record, so threads must not contend here. Each thread has
//! cells of its own, on cache lines of its own, and adds with a load and a store. A reader sums all
//! cells.
//!
//! ```text
//! Counters ─ chunk ─ cells of thread number n: one for each Event
//!            (64 numbers, made when the first of them counts something)
//! ```
//!
//! Invariants
//!  1. At most one thread at a time has a given number below [`SHARED`]. A thread returns its
//!     number when it ends, under the mutex under which another takes it: so no addition is lost
//!     between them.
//!  2. Threads for which no number was left share [`SHARED`], and add with a locked instruction.
//!
//! Cost of an addition: a read of a thread-local variable, two dependent loads, a store. Each
//! addition appears in the sum once, and the sum is never ahead of the events. Sums of two events
//! are not read at one instant.

use crate::sync::PaddedCell;
use parking_lot::Mutex;
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

macro_rules! events {
    ($($event:ident = $what:literal,)*) => {
        /// What is counted.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(usize)]
        pub enum Event {
            $(#[doc = $what] $event,)*
        }

        const EVENTS: usize = [$(Event::$event),*].len();
    };
}

events! {
    PageLookup = "A page was asked for by its number.",
    PageLookupMiss = "It was not in memory, and was asked of the disk.",
    PageRead = "A page was read from a file.",
    ReadAhead = "It was read before anybody asked for it.",
    PageWrite = "A page was written to its place in a file.",
    LazyWrite = "It was written to make room for another.",
    CheckpointWrite = "It was written by a checkpoint, or by whoever else wants all pages at home.",
    PageSplit = "A full page of an index was divided.",
    IndexSearch = "An index was searched from its root down.",
    FullScan = "A scan of a whole heap or index began.",
    RangeScan = "A scan of a range of an index began.",
    ProbeScan = "A search for one row by its whole key or its place began.",
    GhostSkipped = "A scan has passed a ghost.",
    Forwarded = "A row was read by way of its forwarding stub.",
}

const CHUNKS: usize = 16;
const CHUNK: usize = 64;
/// The number of all threads that came when no other was left.
const SHARED: usize = CHUNKS * CHUNK - 1;
/// A thread that has not counted anything yet.
const UNSET: usize = usize::MAX;

type Cells = PaddedCell<[AtomicU64; EVENTS]>;

/// Of one instance.
#[derive(Default)]
pub struct Counters {
    chunks: [OnceLock<Box<[Cells]>>; CHUNKS],
}

impl Counters {
    /// An event has happened so many times.
    #[inline]
    pub fn add(&self, event: Event, times: u64) {
        let number = number();
        let chunk = self.chunks[number / CHUNK].get_or_init(chunk);
        let cell = &chunk[number % CHUNK].0[event as usize];
        match number {
            SHARED => {
                cell.fetch_add(times, Relaxed);
            }
            // Invariant 1: nobody else writes it.
            _ => cell.store(cell.load(Relaxed).wrapping_add(times), Relaxed),
        }
    }

    /// How often an event has happened.
    pub fn sum(&self, event: Event) -> u64 {
        let chunks = self.chunks.iter().filter_map(OnceLock::get);
        let cells = chunks.flat_map(|chunk| chunk.iter());
        cells.fold(0, |sum, cells| sum.wrapping_add(cells.0[event as usize].load(Relaxed)))
    }
}

#[cold]
fn chunk() -> Box<[Cells]> {
    (0..CHUNK).map(|_| PaddedCell([const { AtomicU64::new(0) }; EVENTS])).collect()
}

/// Numbers that no thread has.
struct FreeNumbers {
    back: Vec<usize>,
    next: usize,
}

static FREE: Mutex<FreeNumbers> = Mutex::new(FreeNumbers { back: Vec::new(), next: 0 });

/// A thread's number while the thread is there.
struct ThreadNumber(usize);

thread_local! {
    static NUMBER: Cell<usize> = const { Cell::new(UNSET) };
    static HELD: ThreadNumber = ThreadNumber::take();
}

impl ThreadNumber {
    fn take() -> ThreadNumber {
        let mut free = FREE.lock();
        if let Some(number) = free.back.pop() {
            return ThreadNumber(number);
        }
        let number = free.next.min(SHARED);
        free.next = number + usize::from(number < SHARED);
        ThreadNumber(number)
    }
}

impl Drop for ThreadNumber {
    fn drop(&mut self) {
        // What else ends with the thread may count still.
        NUMBER.set(SHARED);
        if self.0 < SHARED {
            FREE.lock().back.push(self.0);
        }
    }
}

/// This thread's, which no other has meanwhile if it is below [`SHARED`].
#[inline]
pub(crate) fn number() -> usize {
    match NUMBER.get() {
        UNSET => first_number(),
        number => number,
    }
}

#[cold]
fn first_number() -> usize {
    // A thread that ends has given its number back.
    let number = HELD.try_with(|held| held.0).unwrap_or(SHARED);
    NUMBER.set(number);
    assert!(number <= SHARED, "a number has cells");
    number
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn nothing_is_lost_between_threads_and_instances_are_apart() {
        let (counters, other) = (Arc::new(Counters::default()), Counters::default());
        let count = |n: u64| {
            let counters = Arc::clone(&counters);
            crate::task::spawn("counts", move || {
                (0..n).for_each(|_| counters.add(Event::PageLookup, 2));
                counters.add(Event::PageSplit, 1);
            })
        };
        // More threads than at once: numbers are used again.
        for _ in 0..20 {
            let tasks: Vec<_> = (0..8).map(|_| count(1_000)).collect();
            tasks.into_iter().for_each(|t| t.join().unwrap());
        }
        other.add(Event::PageLookup, 7);
        assert_eq!(counters.sum(Event::PageLookup), 20 * 8 * 2_000);
        assert_eq!(counters.sum(Event::PageSplit), 160);
        assert_eq!((other.sum(Event::PageLookup), other.sum(Event::PageSplit)), (7, 0));
    }
}
