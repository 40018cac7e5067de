//! The rows of a hash join's build side, chained by hash.
//!
//! A row is bytes (`codec.rs`), its keys first: a fraction of what its values would take, so that
//! more rows fit the grant and the processor's caches.

use super::join_filter::Hashes;
use crate::memory::{Blocks, ByteBlocks, Decoder, codec};
use crate::run::Run;
use base::SqlResult;
use plan::Slot;
use types::Collation;

/// No row.
const NONE: u32 = u32::MAX;
/// Heads that are made between two looks for an attention, and the rows that they cost as much as.
const HEADS: usize = 64 * 1024;
const HEADS_ROWS: u32 = 256;

/// Saved rows, found by the hash of their keys.
pub(crate) struct JoinTable {
    /// What a row keeps, keys first.
    slots: Vec<Slot>,
    /// Of each key: the slot it is compared with, how.
    keys: Vec<(Slot, Collation)>,
    rows: ByteBlocks,
    /// One for each row, in the order in which they came.
    entries: Blocks<Entry>,
    /// The first row of each bucket.
    heads: Vec<u32>,
    matched: Vec<bool>,
    memory_bytes: usize,
}

/// What is compared before the row itself is read.
struct Entry {
    /// `None` where a key is NULL: such a row matches nothing.
    hash: Option<u64>,
    /// Where its bytes lie.
    from: u64,
    /// The next row of the bucket.
    next: u32,
}

impl JoinTable {
    /// What a row costs beside its bytes: its entry, up to four heads of buckets, its mark.
    pub(crate) const ROW_BYTES: usize = size_of::<Entry>() + 4 * size_of::<u32>() + 1;

    /// A table of rows with these slots, of which the first are the keys.
    pub(crate) fn new(slots: Vec<Slot>, keys: Vec<(Slot, Collation)>) -> JoinTable {
        assert!(keys.len() <= slots.len(), "a row keeps its keys");
        JoinTable {
            slots,
            keys,
            rows: ByteBlocks::default(),
            entries: Blocks::new(1),
            heads: Vec::new(),
            matched: Vec::new(),
            memory_bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.len() == 0
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// The row in the frame as it would be saved.
    pub(crate) fn encode(&self, run: &Run<'_>, row: &mut Vec<u8>) {
        row.clear();
        self.slots.iter().for_each(|&s| codec::encode(run.slot(s), row));
    }

    /// Saves an encoded row.
    pub(crate) fn push(&mut self, row: &[u8], hash: Option<u64>, bytes: usize) {
        self.memory_bytes += bytes;
        self.entries.push(Entry { hash, from: self.rows.push(row), next: NONE });
    }

    /// All rows are there: makes them findable, the first saved first.
    pub(crate) fn link(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let buckets = (self.len() * 2).next_power_of_two().max(16);
        self.heads.clear();
        self.heads.reserve_exact(buckets);
        while self.heads.len() < buckets {
            run.tick_by(HEADS_ROWS)?;
            self.heads.resize(buckets.min(self.heads.len() + HEADS), NONE);
        }
        self.matched.clear();
        self.matched.resize(self.len(), false);
        for row in (0..self.len()).rev() {
            run.tick()?;
            let entry = &mut self.entries[row];
            if let Some(hash) = entry.hash {
                let bucket = hash as usize & (buckets - 1);
                entry.next = self.heads[bucket];
                self.heads[bucket] = row as u32;
            }
        }
        Ok(())
    }

    /// The first row that may have this hash.
    #[inline]
    pub(crate) fn first(&self, hash: u64) -> Option<u32> {
        let head = self.heads[hash as usize & (self.heads.len() - 1)];
        (head != NONE).then_some(head)
    }

    /// The row after one in its chain.
    #[inline]
    pub(crate) fn after(&self, row: u32) -> Option<u32> {
        let next = self.entries[row as usize].next;
        (next != NONE).then_some(next)
    }

    /// Whether a row's keys equal those of the probe row in the frame.
    #[inline]
    pub(crate) fn matches(&self, run: &Run<'_>, row: u32, hash: u64) -> bool {
        let entry = &self.entries[row as usize];
        if entry.hash != Some(hash) {
            return false;
        }
        let mut row = Decoder(self.rows.from(entry.from));
        self.keys.iter().all(|&(slot, collation)| row.next_equals(run.slot(slot), collation))
    }

    /// Puts a row into the frame.
    #[inline]
    pub(crate) fn load(&self, run: &mut Run<'_>, row: usize) -> SqlResult<()> {
        let mut row = Decoder(self.rows.from(self.entries[row].from));
        for &slot in &self.slots {
            run.set(slot, row.value()?);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn hash(&self, row: usize) -> Option<u64> {
        self.entries[row].hash
    }

    /// The set of all hashes.
    pub(crate) fn hashes(&self, run: &mut Run<'_>) -> SqlResult<Hashes> {
        let mut hashes = Hashes::new(self.len());
        for entry in self.entries.iter() {
            run.tick()?;
            entry.hash.into_iter().for_each(|hash| hashes.add(hash));
        }
        Ok(hashes)
    }

    /// A row has found a partner.
    pub(crate) fn mark(&mut self, row: u32) {
        self.matched[row as usize] = true;
    }

    /// The first row from `at` that has none.
    pub(crate) fn unmatched(&self, at: usize) -> Option<usize> {
        self.matched.get(at..)?.iter().position(|&m| !m).map(|i| at + i)
    }

    pub(crate) fn forget_matches(&mut self) {
        self.matched.fill(false);
    }

    /// Forgets all rows and gives their memory back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        self.rows.clear();
        self.entries.clear();
        self.memory_bytes = 0;
    }

    /// Forgets all rows; the grant is over.
    pub(crate) fn drop_rows(&mut self) {
        let (slots, keys) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.keys));
        *self = JoinTable::new(slots, keys);
    }
}
