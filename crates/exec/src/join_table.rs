//! The rows of a hash join's build side, chained by hash.

use crate::join_filter::Hashes;
use crate::run::Run;
use plan::Slot;
use types::{Collation, Value, compare};

/// No row.
const NONE: u32 = u32::MAX;

/// Saved rows, found by the hash of their keys.
pub(crate) struct JoinTable {
    slots: Vec<Slot>,
    /// Of each key: its place in a saved row, the slot it is compared with, how.
    keys: Vec<(usize, Slot, Collation)>,
    values: Vec<Value>,
    /// One for each row, in the order in which they came.
    entries: Vec<Entry>,
    /// The first row of each bucket.
    heads: Vec<u32>,
    matched: Vec<bool>,
    memory_bytes: usize,
}

/// What is looked at before a row's values.
struct Entry {
    /// `None` where a key is NULL: such a row matches nothing.
    hash: Option<u64>,
    /// The next row of the bucket.
    next: u32,
}

impl JoinTable {
    /// What a row costs beside its values.
    pub(crate) const ROW_BYTES: usize = size_of::<Entry>() + 8 + 1;

    pub(crate) fn new(slots: Vec<Slot>, keys: Vec<(usize, Slot, Collation)>) -> JoinTable {
        JoinTable {
            slots,
            keys,
            values: Vec::new(),
            entries: Vec::new(),
            heads: Vec::new(),
            matched: Vec::new(),
            memory_bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Saves the row in the frame.
    pub(crate) fn push(&mut self, run: &Run<'_>, hash: Option<u64>, bytes: usize) {
        self.memory_bytes += bytes;
        self.entries.push(Entry { hash, next: NONE });
        self.values.extend(self.slots.iter().map(|&s| run.slot(s).clone()));
    }

    /// All rows are there: makes them findable, the first saved first.
    pub(crate) fn link(&mut self) {
        let buckets = (self.len() * 2).next_power_of_two().max(16);
        self.heads.clear();
        self.heads.resize(buckets, NONE);
        self.matched.clear();
        self.matched.resize(self.len(), false);
        for row in (0..self.len()).rev() {
            let entry = &mut self.entries[row];
            if let Some(hash) = entry.hash {
                let bucket = hash as usize & (buckets - 1);
                entry.next = self.heads[bucket];
                self.heads[bucket] = row as u32;
            }
        }
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
        let from = row as usize * self.slots.len();
        self.entries[row as usize].hash == Some(hash)
            && self.keys.iter().all(|&(column, slot, collation)| {
                compare(&self.values[from + column], run.slot(slot), collation).is_eq()
            })
    }

    /// Puts a row into the frame.
    #[inline]
    pub(crate) fn load(&self, run: &mut Run<'_>, row: usize) {
        let width = self.slots.len();
        for (&slot, value) in self.slots.iter().zip(&self.values[row * width..]) {
            run.set(slot, value.clone());
        }
    }

    #[inline]
    pub(crate) fn hash(&self, row: usize) -> Option<u64> {
        self.entries[row].hash
    }

    /// The set of all hashes.
    pub(crate) fn hashes(&self) -> Hashes {
        Hashes::new(self.len(), self.entries.iter().filter_map(|e| e.hash))
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
        self.values.clear();
        self.entries.clear();
        self.memory_bytes = 0;
    }

    /// Forgets all rows; the grant is over.
    pub(crate) fn drop_rows(&mut self) {
        let (slots, keys) = (std::mem::take(&mut self.slots), std::mem::take(&mut self.keys));
        *self = JoinTable::new(slots, keys);
    }
}
