//! Keys that were seen: of rows that a join may bring more than once.
//!
//! Keys stand behind each other in one buffer, found by a table of their places: what a key takes
//! beside its bytes is some twelve bytes. All of it is counted in the statement's grant.

use crate::run::Run;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use std::hash::BuildHasher as _;

/// Bits of a place that say how long its key is.
const LENGTH_BITS: u32 = 16;

/// See the module.
#[derive(Default)]
pub(crate) struct KeySet {
    bytes: Vec<u8>,
    /// Where a key begins, and its length in the low bits.
    places: HashTable<u64>,
    hasher: FixedState,
    memory_bytes: usize,
}

impl KeySet {
    /// Adds a key; false when it was there.
    ///
    /// # Panics
    /// On a key of 64 KB: a record's key has 900 bytes at most.
    pub(crate) fn insert(&mut self, run: &mut Run<'_>, key: &[u8]) -> bool {
        assert!(key.len() < 1 << LENGTH_BITS, "keys are short");
        let KeySet { bytes, places, hasher, .. } = self;
        let hash = hasher.hash_one(key);
        let same = |&place: &u64| key_at(bytes, place) == key;
        let again = |&place: &u64| hasher.hash_one(key_at(bytes, place));
        let Entry::Vacant(vacant) = places.entry(hash, same, again) else { return false };
        vacant.insert((bytes.len() as u64) << LENGTH_BITS | key.len() as u64);
        bytes.extend_from_slice(key);
        let now = bytes.capacity() + places.allocation_size();
        if now > self.memory_bytes {
            run.overdraw_memory(now - self.memory_bytes);
            self.memory_bytes = now;
        }
        true
    }

    /// Forgets all keys and gives their memory back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        *self = KeySet::default();
    }
}

fn key_at(bytes: &[u8], place: u64) -> &[u8] {
    let (from, length) = ((place >> LENGTH_BITS) as usize, place as usize & 0xffff);
    bytes.get(from..from + length).unwrap_or_default()
}
