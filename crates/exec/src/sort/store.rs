//! The rows of a sort in memory: their bytes in blocks, and for each row an entry by which it is
//! sorted.
//!
//! ```text
//! row in a block   length (4) · row
//! row              length of the key (2), top bit: cut · key · carried values · if the key was
//!                  cut, the values of the keys that are not among them
//! ```
//!
//! Invariants
//!  1. Entries before `chunk` are in order within each chunk; the rest are in the order in which
//!     they came.
//!  2. Places grow as rows come. So among equal rows the place tells which came first.

use super::row::{Row, Shape};
use crate::memory::Blocks;
use std::cmp::Ordering;

/// The first block of a store, bytes; each further one is twice the one before.
const FIRST_BLOCK_BYTES: usize = 1024;
/// Until they have this size.
const BLOCK_BYTES: usize = 256 * 1024;
/// Rows of a chunk, as a power of two: sorted in about ten milliseconds, so that an attention is
/// seen in time.
const CHUNK_BITS: u32 = 17;
/// What sorting a chunk of cut keys may cost: bytes of its rows times comparisons of each, about
/// 40 ms where strings are compared most slowly.
const CUT_WORK_BYTES: usize = 4 << 20;
/// What a store that is closed may keep for the next run.
const KEPT_BYTES: usize = 4 * 1024;

/// A row by the first bytes of its key and where it lies.
#[derive(Clone, Copy)]
struct Entry {
    prefix: u64,
    /// Block << 32 | offset.
    place: u64,
}

/// Rows in memory.
pub(super) struct Store {
    /// Used in order; those after `current` are empty.
    blocks: Vec<Vec<u8>>,
    current: usize,
    /// A chunk lies in one block of them.
    entries: Blocks<Entry, CHUNK_BITS>,
    /// Where the chunk begins that is not sorted yet.
    chunk: usize,
    /// Where each sorted chunk ends.
    ends: Vec<usize>,
    /// Some key does not fit the prefix.
    long_keys: bool,
    /// Bytes of the rows with cut keys in the chunk that is not sorted yet.
    cut_bytes: usize,
}

impl Default for Store {
    fn default() -> Store {
        Store {
            blocks: Vec::new(),
            current: 0,
            entries: Blocks::new(1),
            chunk: 0,
            ends: Vec::new(),
            long_keys: false,
            cut_bytes: 0,
        }
    }
}

impl Store {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Ends of the sorted chunks.
    pub(super) fn chunk_ends(&self) -> &[usize] {
        &self.ends
    }

    pub(super) fn prefix(&self, at: usize) -> u64 {
        self.entries[at].prefix
    }

    /// The row that stands at a place of the order.
    pub(super) fn row(&self, at: usize) -> Row<'_> {
        self.row_at(self.entries[at].place)
    }

    /// Where the row lies that stands at a place of the order.
    pub(super) fn place(&self, at: usize) -> u64 {
        self.entries[at].place
    }

    /// Looks at rows that lie anywhere, so that the waits for memory are one.
    pub(super) fn fetch(&self, places: &[u64]) {
        let first = |&p: &u64| self.blocks[(p >> 32) as usize][(p & 0xFFFF_FFFF) as usize];
        std::hint::black_box(places.iter().map(first).fold(0, u8::wrapping_add));
    }

    /// The row that lies at a place.
    pub(super) fn row_at(&self, place: u64) -> Row<'_> {
        let bytes = &self.blocks[(place >> 32) as usize][(place & 0xFFFF_FFFF) as usize..];
        let (len, rest) = bytes.split_first_chunk::<4>().expect("a row has its length before it");
        Row(&rest[..u32::from_le_bytes(*len) as usize])
    }

    /// Whether a block that is there takes that many bytes.
    fn block_for(&self, bytes: usize) -> Option<usize> {
        let room = |b: &Vec<u8>| b.capacity() - b.len() >= bytes;
        (self.current..self.blocks.len()).find(|&i| room(&self.blocks[i]))
    }

    /// How large the next block is.
    fn next_block_bytes(&self, row_bytes: usize) -> usize {
        let doubled = self.blocks.last().map_or(FIRST_BLOCK_BYTES, |b| b.capacity() * 2);
        doubled.min(BLOCK_BYTES).max(row_bytes)
    }

    /// Memory that has to be had before a row of that many bytes can be added.
    pub(super) fn missing_bytes(&self, row_bytes: usize) -> usize {
        let bytes = row_bytes + 4;
        let block = match self.block_for(bytes) {
            Some(_) => 0,
            None => self.next_block_bytes(bytes),
        };
        block + self.entries.growth_bytes()
    }

    /// Adds a row.
    pub(super) fn push(&mut self, prefix: u64, row: &[u8]) {
        let bytes = row.len() + 4;
        self.current = self.block_for(bytes).unwrap_or_else(|| {
            self.blocks.push(Vec::with_capacity(self.next_block_bytes(bytes)));
            self.blocks.len() - 1
        });
        let block = &mut self.blocks[self.current];
        let place = ((self.current as u64) << 32) | block.len() as u64;
        block.extend_from_slice(&(row.len() as u32).to_le_bytes());
        block.extend_from_slice(row);
        self.long_keys |= !Row(row).fits_prefix();
        self.cut_bytes += if Row(row).is_cut() { row.len() } else { 0 };
        self.entries.push(Entry { prefix, place });
    }

    /// Sorts the last chunk when it is full.
    pub(super) fn end_chunk(&mut self, shape: &Shape) {
        let rows = self.entries.len() - self.chunk;
        let work = self.cut_bytes * (rows.max(1).ilog2() as usize + 1);
        if self.entries.is_full() || work >= CUT_WORK_BYTES {
            self.close_chunk(shape);
        }
    }

    /// Sorts what is not sorted.
    pub(super) fn close_chunk(&mut self, shape: &Shape) {
        let mut entries = std::mem::replace(&mut self.entries, Blocks::new(1));
        let rows = entries.tail_mut(self.chunk);
        if self.long_keys {
            rows.sort_unstable_by(|a, b| {
                let order = a.prefix.cmp(&b.prefix);
                order.then_with(|| self.compare_places(a.place, b.place, shape))
            });
        } else {
            rows.sort_unstable_by_key(|e| (e.prefix, e.place));
        }
        self.entries = entries;
        self.cut_bytes = 0;
        if self.entries.len() > self.chunk {
            self.chunk = self.entries.len();
            self.ends.push(self.chunk);
        }
    }

    fn compare_places(&self, a: u64, b: u64, shape: &Shape) -> Ordering {
        shape.compare(self.row_at(a), self.row_at(b)).then_with(|| a.cmp(&b))
    }

    /// Keeps the first rows of a store that is one chunk, copied to `spare`'s memory.
    pub(super) fn keep_first(&mut self, rows: usize, shape: &Shape, spare: &mut Store) {
        self.chunk = 0;
        self.ends.clear();
        self.close_chunk(shape);
        spare.clear();
        for at in 0..rows.min(self.len()) {
            spare.push(self.prefix(at), self.row(at).0);
        }
        spare.chunk = spare.len();
        spare.ends.push(spare.chunk);
        std::mem::swap(self, spare);
    }

    /// Forgets the rows, not the memory.
    pub(super) fn clear(&mut self) {
        self.blocks.iter_mut().for_each(Vec::clear);
        self.entries.empty();
        self.ends.clear();
        (self.current, self.chunk) = (0, 0);
        (self.long_keys, self.cut_bytes) = (false, 0);
    }

    /// Memory of the blocks and entries.
    pub(super) fn memory_bytes(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::capacity).sum();
        blocks + self.entries.bytes()
    }

    /// What a copy of the first rows would need.
    pub(super) fn bytes_of_first(&self, rows: usize) -> usize {
        let blocks: usize = self.blocks.iter().map(Vec::len).sum();
        let share = blocks / self.len().max(1) * rows.min(self.len());
        2 * share + rows * size_of::<Entry>() + FIRST_BLOCK_BYTES
    }

    /// Forgets the rows and all memory but a little.
    pub(super) fn close(&mut self) {
        self.clear();
        if self.memory_bytes() > KEPT_BYTES {
            *self = Store::default();
        }
    }
}
