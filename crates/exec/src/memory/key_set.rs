//! The set of keys seen so far, for rows that a join may return more than once.
//!
//! The keys follow each other in one buffer, and a hash table has their offsets. A key takes 10 to
//! 20 bytes beside its own, and its own up to twice, as both grow by doubling. All memory is
//! requested from the statement's grant before it is allocated.

use super::hash::growth_bytes;
use super::value_set::Sighting;
use crate::run::Run;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher as _;

/// Bits of a place that say how long its key is.
const LENGTH_BITS: u32 = 16;
/// Bytes of keys that there is first room for.
const FIRST_BYTES: usize = 256;

/// See the module.
#[derive(Default)]
pub(crate) struct KeySet {
    bytes: Vec<u8>,
    /// Where a key begins, and its length in the low bits.
    places: HashTable<u64>,
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
        if self.full || !self.make_room(run, key.len(), must) {
            self.full = true;
            return Sighting::Unknown;
        }
        let KeySet { bytes, places, hasher, .. } = self;
        let place = (bytes.len() as u64) << LENGTH_BITS | key.len() as u64;
        bytes.extend_from_slice(key);
        places.insert_unique(hash, place, |&p| hasher.hash_one(key_at(bytes, p)));
        Sighting::First
    }

    /// Room for another key.
    fn make_room(&mut self, run: &mut Run<'_>, key: usize, must: bool) -> bool {
        let room = self.bytes.capacity() - self.bytes.len();
        let more = if room < key { self.bytes.capacity().max(key).max(FIRST_BYTES) } else { 0 };
        let growth = growth_bytes(&self.places) + more;
        if growth > 0 && !run.take_memory(growth, self.memory_bytes) {
            if !must {
                return false;
            }
            run.overdraw_memory(growth);
        }
        self.memory_bytes += growth;
        if more > 0 {
            self.bytes.reserve_exact(room + more);
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
