//! What operators cost, in microseconds of one processor.
//!
//! The figures were measured on this engine's own operators (release build, tables of a million
//! rows and of twenty thousand that are in memory); whoever makes an operator faster changes its
//! lines here. Plans show costs in [`UNIT`]s, chosen so that a scanned row costs what
//! SQL Server shows for one.
//!
//! Pages cost by how likely they are to be in memory: a table that fits into half of the buffer
//! pool is expected there, of a larger one the part that the pool cannot hold is read.

use crate::facts::Memory;
use std::ops::{Add, AddAssign, Mul};

/// Microseconds that one unit of a shown cost stands for.
pub(crate) const UNIT: f64 = 40_900.0;

/// A row that a scan gives or tests.
const SCAN_ROW: f64 = 0.045;
/// A condition tested.
const TEST: f64 = 0.035;
/// A seek: opening, and the descent of a tree of one level.
const SEEK: f64 = 0.45;
/// Each level more.
const LEVEL: f64 = 0.12;
/// A seek far from the one before meets cold caches.
const FAR: f64 = 0.45;
/// From an index's row to its base row, beyond the seek.
const LOOKUP: f64 = 0.35;
/// Opening the inner side of a loop.
const LOOP: f64 = 0.05;
/// A row of a spool: written, read.
const SPOOL: (f64, f64) = (0.05, 0.012);
/// A row of a hash table that the processor's caches hold: inserted, looked for; each byte that it
/// keeps; and either again for each doubling of the rows beyond.
const HASH_BUILD: f64 = 0.05;
const HASH_PROBE: f64 = 0.03;
const HASH_BYTE: f64 = 0.003;
const HASH_DOUBLING: f64 = 0.03;
const HASH_CACHED_ROWS: f64 = 16_384.0;
/// A pair that a join gives.
const PAIR: f64 = 0.03;
/// A row merged.
const MERGE: f64 = 0.07;
/// A row sorted: moved, each doubling of the rows, each byte of it.
const SORT: f64 = 0.02;
const SORT_DOUBLING: f64 = 0.005;
const SORT_BYTE: f64 = 0.006;
/// A row grouped by a hash, a new group of it, and a row of neighbours grouped.
const HASH_GROUP: f64 = 0.05;
const NEW_GROUP: f64 = 0.06;
const STREAM_GROUP: f64 = 0.035;
/// An expression computed.
const COMPUTE: f64 = 0.03;
/// A page of 8 KB that is not in memory: the next one, or any.
const PAGE_NEXT: f64 = 12.0;
const PAGE_ANY: f64 = 100.0;
/// A page that is in memory.
const PAGE_THERE: f64 = 0.4;
/// A byte written to a spill file and read again.
const SPILL_BYTE: f64 = 0.003;
/// Bytes that a remembered row takes beside its values.
const ROW_BYTES: f64 = 48.0;

/// What a row of a hash table costs more because so many do not fit into caches.
fn beyond_caches(rows: f64) -> f64 {
    HASH_DOUBLING * (rows / HASH_CACHED_ROWS).max(1.0).log2()
}

/// How many of so many pages are met by rows that lie anywhere.
fn touched(rows: f64, pages: f64) -> f64 {
    let pages = pages.max(1.0);
    pages * (1.0 - (-rows / pages).exp())
}

/// What one operator costs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    pub(crate) io: f64,
    pub(crate) cpu: f64,
}

impl Cost {
    pub(crate) fn cpu(cpu: f64) -> Cost {
        Cost { io: 0.0, cpu }
    }

    pub(crate) fn sum(self) -> f64 {
        self.io + self.cpu
    }
}

impl Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        Cost { io: self.io + other.io, cpu: self.cpu + other.cpu }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Mul<f64> for Cost {
    type Output = Cost;
    fn mul(self, times: f64) -> Cost {
        Cost { io: self.io * times, cpu: self.cpu * times }
    }
}

/// The prices under some amount of memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prices {
    memory: Memory,
}

/// What a seek or a series of seeks reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    /// Ranges that are sought.
    pub(crate) ranges: f64,
    /// Rows in all of them.
    pub(crate) rows: f64,
    /// Rows and pages of the whole index.
    pub(crate) table_rows: f64,
    pub(crate) table_pages: f64,
}

impl Prices {
    pub(crate) fn new(memory: Memory) -> Prices {
        Prices { memory }
    }

    /// The chance that a page of an index of so many has to be read.
    fn miss(&self, pages: f64) -> f64 {
        let pool = self.memory.pool_pages.max(1.0);
        match pages <= pool / 2.0 {
            true => 0.0,
            false => (1.0 - pool / 2.0 / pages).clamp(0.0, 1.0),
        }
    }

    fn next_page(&self, pages: f64) -> f64 {
        let miss = self.miss(pages);
        PAGE_THERE + miss * PAGE_NEXT
    }

    /// Reading all of an index, testing some conditions on each row.
    pub(crate) fn scan(&self, rows: f64, pages: f64, tests: usize) -> Cost {
        let cpu = rows * (SCAN_ROW + TEST * tests as f64);
        Cost { io: pages * self.next_page(pages), cpu }
    }

    /// Seeking ranges.
    pub(crate) fn seek(&self, r: Reach, tests: usize) -> Cost {
        let levels = (r.table_pages.max(2.0)).log2() / 8.0;
        let part = (r.rows / r.table_rows.max(1.0)).min(1.0);
        let next = part * r.table_pages;
        // Each range begins on some page; a tree's upper levels are always there.
        let any = r.ranges.min(r.table_pages.max(1.0)) * self.miss(r.table_pages) * PAGE_ANY;
        let cpu = r.ranges * (SEEK + LEVEL * levels) + r.rows * (SCAN_ROW + TEST * tests as f64);
        Cost { io: any + next * self.next_page(r.table_pages), cpu }
    }

    /// Seeks that go anywhere cost more than those that come in order.
    pub(crate) fn far(&self, seeks: f64) -> Cost {
        Cost::cpu(seeks * FAR)
    }

    /// From index rows to base rows.
    pub(crate) fn lookup(&self, rows: f64, table_pages: f64, tests: usize) -> Cost {
        let levels = table_pages.max(2.0).log2() / 8.0;
        let each = SEEK + LEVEL * levels + LOOKUP + FAR + TEST * tests as f64;
        let miss = self.miss(table_pages);
        // What is read once stays for a while.
        let pages = table_pages.max(1.0);
        let touched = pages * (1.0 - (-rows / pages).exp());
        let again = (rows - touched).max(0.0) * miss;
        Cost { io: (touched * miss + again * 0.5) * PAGE_ANY, cpu: rows * each }
    }

    /// Reading and writing the pages of an index that so many entries lie on, one after the other
    /// wherever they are, while so many pages are changed in all.
    pub(crate) fn entries_anywhere(&self, rows: f64, pages: f64, changed_pages: f64) -> f64 {
        let touched = touched(rows, pages);
        let again = (rows - touched).max(0.0) * (1.0 - 1.0 / pages.max(1.0));
        (touched + again) * self.miss(changed_pages) * PAGE_ANY
    }

    /// The same of entries that are sorted by the index's key before; `width`: their bytes.
    pub(crate) fn entries_in_order(
        &self,
        rows: f64,
        pages: f64,
        changed_pages: f64,
        width: f64,
    ) -> f64 {
        let read = touched(rows, pages) * self.miss(changed_pages) * PAGE_NEXT;
        read + self.sort(rows, width).sum()
    }

    pub(crate) fn tests(&self, rows: f64, tests: usize) -> Cost {
        Cost::cpu(rows * TEST * tests.max(1) as f64)
    }

    pub(crate) fn compute(&self, rows: f64, columns: usize) -> Cost {
        Cost::cpu(rows * COMPUTE * columns as f64)
    }

    /// Passing rows on.
    pub(crate) fn pass(&self, rows: f64) -> Cost {
        Cost::cpu(rows * 0.01)
    }

    /// What a loop join adds to the work of its sides.
    pub(crate) fn looped(&self, outer: f64, pairs: f64) -> Cost {
        Cost::cpu(outer * LOOP + pairs * PAIR)
    }

    /// A spool that is filled once and read several times.
    pub(crate) fn spool(&self, rows: f64, width: f64, reads: f64) -> Cost {
        let bytes = rows * (width + ROW_BYTES);
        let cpu = rows * SPOOL.0 + rows * reads * SPOOL.1;
        let spilled =
            if bytes > self.memory.work_bytes { bytes * (1.0 + reads) / 2.0 } else { 0.0 };
        Cost { io: spilled * SPILL_BYTE, cpu }
    }

    /// Finding rows of an index spool, testing some conditions on each.
    pub(crate) fn spool_seek(&self, rows: f64, tests: usize) -> Cost {
        Cost::cpu(SEEK + rows * (SPOOL.1 + SCAN_ROW + TEST * tests as f64))
    }

    fn spill(&self, held: f64, all: f64) -> f64 {
        match held > self.memory.work_bytes {
            true => all * SPILL_BYTE,
            false => 0.0,
        }
    }

    /// Filling a hash table.
    pub(crate) fn build(&self, rows: f64, width: f64) -> Cost {
        let bytes = rows * (width + ROW_BYTES);
        let cpu = rows * (HASH_BUILD + beyond_caches(rows) + HASH_BYTE * width);
        Cost { io: self.spill(bytes, bytes), cpu }
    }

    /// Probing it, when so many rows of such a width are in it.
    pub(crate) fn probe(&self, rows: f64, width: f64, pairs: f64, built: (f64, f64)) -> Cost {
        let held = built.0 * (built.1 + ROW_BYTES);
        let cpu = rows * (HASH_PROBE + beyond_caches(built.0)) + pairs * PAIR;
        Cost { io: self.spill(held, rows * (width + ROW_BYTES)), cpu }
    }

    pub(crate) fn merge(&self, left: f64, right: f64, pairs: f64) -> Cost {
        Cost::cpu((left + right) * MERGE + pairs * PAIR)
    }

    pub(crate) fn sort(&self, rows: f64, width: f64) -> Cost {
        let rows = rows.max(1.0);
        let bytes = rows * (width + ROW_BYTES);
        let cpu = rows * (SORT + SORT_DOUBLING * rows.max(2.0).log2() + SORT_BYTE * width);
        Cost { io: self.spill(bytes, bytes), cpu }
    }

    /// A sort that keeps the first rows alone.
    pub(crate) fn top_sort(&self, rows: f64, kept: f64, width: f64) -> Cost {
        let kept = kept.min(rows).max(1.0);
        Cost::cpu(rows * SORT) + self.sort(kept, width)
    }

    pub(crate) fn hash_groups(&self, rows: f64, groups: f64, width: f64) -> Cost {
        let bytes = groups * (width + ROW_BYTES);
        let cpu = rows * (HASH_GROUP + beyond_caches(groups) / 2.0)
            + groups * (NEW_GROUP + beyond_caches(groups) + HASH_BYTE * width);
        Cost { io: self.spill(bytes, rows * (width + ROW_BYTES)), cpu }
    }

    pub(crate) fn stream_groups(&self, rows: f64) -> Cost {
        Cost::cpu(rows * STREAM_GROUP)
    }

    /// A value aggregated, for each call.
    pub(crate) fn aggregates(&self, rows: f64, calls: usize) -> Cost {
        Cost::cpu(rows * 0.02 * calls as f64)
    }
}
