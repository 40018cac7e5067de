//! A build that several workers sort for, where the table is large enough.
//!
//! ```text
//! worker 0   scan of its parts ─▶ runs in memory and in tempdb, merged ─▶ packets ─┐
//! worker 1   scan of its parts ─▶ runs in memory and in tempdb, merged ─▶ packets ─┤
//!                                          statement's thread: merge ─▶ bulk load ◄┘
//! ```
//! Parts of the table are given out as to the workers of a plan (`access::Division`), so that all
//! end at about the same time; each worker has its share of the grant. While the statement's
//! thread loads, which alone writes for the transaction, workers merge ahead of it.
//!
//! How many workers: MAXDOP of the statement, else of the database, else of the server, else a
//! worker for each processor; and none where the build is reckoned to cost no more than `cost
//! threshold for parallelism` says, or what it asks of a row depends on the rows before it.
//!
//! Measured on 3 million rows of 100 bytes in memory, two processors, medians of three in turns: an
//! index of an int 4.1 s by one, 2.9 s by two; of a varchar with 60 bytes included 5.9 s and 3.4 s.
//! A fifth of what one takes is what no worker does: a scan of what was built, for its statistics.
//!
//! Invariants
//!  1. What is built does not depend on who read which row: `build/sort.rs`, invariant 1.
//!  2. A row's errors that the message names it by (1505, 1946) are met by the loading thread, in
//!     key order, so they are always of the same row.

use crate::build::sort::{
    BUFFER_BYTES_MAX, BUFFER_BYTES_MIN, ROWS_PER_CHECK, RowOrder, SortedRows, Sorter,
};
use crate::build::{Build, BuildError, Origin, READ, load, row_of};
use crate::context::DdlContext;
use access::{Division, ScanRange, SourceSize, Spill};
use base::SqlResult;
use exec::{BuildGrant, Maker, MakersWork, ThreadReservation, Workers};
use optimize::Parallelism;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// What a row costs by one thread, read, sorted and loaded, in microseconds.
const ROW_US: f64 = 0.8;
/// Rows of a page where nobody has counted them.
const ROWS_A_PAGE: u64 = 64;

/// The threads that a statement's builds may use, and what they did.
pub struct Threads<'a> {
    /// Where they come from; none: builds run alone.
    pub workers: Option<&'a Workers>,
    /// How many, and from which cost on.
    pub parallelism: Parallelism,
    /// What they did beside the statement's own thread.
    pub did: MakersWork,
}

impl Threads<'_> {
    /// None but the statement's own.
    pub const NONE: Threads<'static> = Threads {
        workers: None,
        parallelism: Parallelism::NONE,
        did: MakersWork { cpu_ns: 0, lock_requests: 0 },
    };

    /// MAXDOP of an index: it counts more than what the database and the server say; 0 is what
    /// these say.
    pub(crate) fn limit(&mut self, max_workers: Option<u16>) {
        if let Some(workers) = max_workers.filter(|&n| n != 0) {
            self.parallelism.workers = usize::from(workers);
        }
    }
}

/// A table in parts, and threads to read them.
pub(crate) struct TableParts<'w, 't> {
    reserved: ThreadReservation<'w>,
    parts: Box<dyn Division + 't>,
}

/// The parts and the threads of a build that is worth them.
pub(crate) fn divided<'w, 't>(
    cx: &mut DdlContext<'w>,
    build: &Build<'t>,
) -> SqlResult<Option<TableParts<'w, 't>>> {
    let (Some(workers), wanted) = (cx.threads.workers, cx.threads.parallelism.workers) else {
        return Ok(None);
    };
    let by_itself = |o: &Origin| matches!(o, Origin::Column(_) | Origin::Rid | Origin::Constant(_));
    if wanted < 2 || !build.origins.iter().all(by_itself) {
        return Ok(None);
    }
    let size = size(cx, build)?;
    let rows = if size.rows > 0 { size.rows } else { size.pages * ROWS_A_PAGE };
    if !cx.threads.parallelism.pays(rows as f64 * ROW_US) {
        return Ok(None);
    }
    let Some(reserved) = workers.reserve_makers(cx.work.session(), wanted) else {
        return Ok(None);
    };
    let parts = build.source.divide(cx.work, &ScanRange::default(), &READ, reserved.degree())?;
    Ok(parts.map(|parts| TableParts { reserved, parts }))
}

/// How large the table is: its rows, where they have been counted since the start, and its pages.
fn size(cx: &mut DdlContext<'_>, build: &Build<'_>) -> SqlResult<SourceSize> {
    let seen = Cell::new(build.source.size());
    let all = |size: SourceSize| {
        seen.set(size);
        size.pages
    };
    let sample = build.source.sample(cx.work, &all)?;
    assert!(sample.is_none(), "all pages are no sample");
    Ok(seen.get())
}

/// Rows that workers sort.
pub(crate) fn sorted(
    cx: &mut DdlContext<'_>,
    build: &Build<'_>,
    divided: &TableParts<'_, '_>,
) -> Result<u64, BuildError> {
    let degree = divided.reserved.degree();
    let grant = cx.semaphores.ask_for_build(cx.work, BUFFER_BYTES_MAX, degree)?;
    let share = Share {
        build,
        parts: &*divided.parts,
        spill: cx.spill,
        grant: &grant,
        buffer_max: (grant.bytes() / degree).max(BUFFER_BYTES_MIN),
        held: (0..degree).map(|_| AtomicUsize::new(0)).collect(),
    };
    let making = |maker: &mut Maker<'_>| share.sort(maker);
    let (rows, did) = divided.reserved.make(cx.work, &making, |work, made| {
        load(work, build, SortedRows::of_workers(RowOrder::of(build.spec), made)?)
    });
    cx.threads.did.add(did);
    rows
}

/// What workers of one build share.
struct Share<'s> {
    build: &'s Build<'s>,
    parts: &'s dyn Division,
    spill: &'s dyn Spill,
    grant: &'s BuildGrant<'s>,
    /// Of each worker.
    buffer_max: usize,
    /// Memory of the rows at hand, by worker.
    held: Vec<AtomicUsize>,
}

impl Share<'_> {
    /// The life of a worker: its parts sorted, its rows given away in order.
    fn sort(&self, maker: &mut Maker<'_>) -> SqlResult<()> {
        let waiter = Arc::clone(maker.waiter());
        let order = RowOrder::of(self.build.spec);
        let mut sorter = Sorter::new(order, self.spill, &waiter);
        sorter.buffer_max = self.buffer_max;
        let mut seen = 0_u64;
        while let Some(mut cursor) = self.parts.next(maker.work())? {
            while cursor.next(maker.work())? {
                if seen.is_multiple_of(ROWS_PER_CHECK) {
                    maker.check()?;
                    self.note(maker.number(), sorter.held_bytes());
                }
                seen += 1;
                if self.build.admits(&*cursor)? {
                    // Nobody asks for the row's number.
                    sorter.push(&row_of(&*cursor, self.build.origins, 0)?.fields())?;
                }
            }
        }
        let mut sorted = sorter.finish()?;
        let mut rows = 0_u64;
        while let Some((_, row)) = sorted.next()? {
            maker.send(row)?;
            rows += 1;
            if rows.is_multiple_of(ROWS_PER_CHECK) {
                maker.check()?;
            }
        }
        Ok(())
    }

    fn note(&self, worker: usize, held: usize) {
        self.held[worker].store(held, Relaxed);
        self.grant.note_used(self.held.iter().map(|h| h.load(Relaxed)).sum());
    }
}
