//! The set of keys seen so far, for rows that a join may return more than once.
//!
//! The keys lie in blocks, and a hash table has their places. A key takes 10 to 20 bytes beside its
//! own. All memory is requested from the statement's grant before it is allocated.

use super::blocks::ByteBlocks;
use super::places::Places;
use super::value_set::Sighting;
use crate::run::Run;
use foldhash::fast::FixedState;
use std::hash::BuildHasher as _;

/// Bits of a place that say how long its key is.
const LENGTH_BITS: u32 = 16;

/// See the module.
#[derive(Default)]
pub(crate) struct KeySet {
    bytes: ByteBlocks,
    /// Where a key begins, and its length in the low bits.
    places: Places<u64>,
    hasher: FixedState,
    memory_bytes: usize,
    /// There was no memory for a key: none is added any more.
    full: bool,
}

impl KeySet {
    /// The hash of a key.
    pub(crate) fn hash(&self, key: &[u8]) -> u64 {
        self.hasher.hash_one(key)
    }

    /// Adds a key with its hash. Where there `must` be memory for it, there is.
    ///
    /// # Panics
    /// On a key of 64 KB: a record's key has 900 bytes at most.
    pub(crate) fn insert(
        &mut self,
        run: &mut Run<'_>,
        key: &[u8],
        hash: u64,
        must: bool,
    ) -> Sighting {
        assert!(key.len() < 1 << LENGTH_BITS, "keys are short");
        let KeySet { bytes, places, .. } = &*self;
        if places.find(hash, |&place| key_at(bytes, place) == key).is_some() {
            return Sighting::Before;
        }
        if self.full || !self.make_room(run, key.len(), hash, must) {
            self.full = true;
            return Sighting::Unknown;
        }
        let KeySet { bytes, places, hasher, .. } = self;
        let place = bytes.push(key) << LENGTH_BITS | key.len() as u64;
        places.insert_unique(hash, place, |&p| hasher.hash_one(key_at(bytes, p)));
        Sighting::First
    }

    /// Room for another key.
    fn make_room(&mut self, run: &mut Run<'_>, key: usize, hash: u64, must: bool) -> bool {
        let growth = self.places.growth_bytes(hash) + self.bytes.growth_bytes(key);
        if growth > 0 && !run.take_memory(growth, self.memory_bytes) {
            if !must {
                return false;
            }
            run.overdraw_memory(growth);
        }
        self.memory_bytes += growth;
        true
    }

    /// Forgets all keys and gives their memory back.
    pub(crate) fn clear(&mut self, run: &mut Run<'_>) {
        run.give_memory(self.memory_bytes);
        *self = KeySet::default();
    }
}

fn key_at(bytes: &ByteBlocks, place: u64) -> &[u8] {
    &bytes.from(place >> LENGTH_BITS)[..place as usize & 0xffff]
}
