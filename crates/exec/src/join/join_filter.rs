//! `JoinFilter`: the keys that a hash join's build side may have, given to the operators that
//! produce its probe side. A row that certainly finds no partner is dropped where it is read,
//! before the rest of it is read.
//!
//! It is a Bloom filter that reads one word for each key: the hash chooses the word and two bits of
//! it. At sixteen bits a key about one row in forty passes without a partner.
//!
//! Invariant: no key of the build side is refused.

use crate::memory::hash_row;
use plan::Slot;
use std::sync::Arc;
use types::{Collation, Value};

/// Bits of the filter for each key.
const BITS_A_KEY: usize = 16;

/// The set of hashes.
#[derive(Debug)]
pub(crate) struct Hashes {
    words: Vec<u64>,
}

impl Hashes {
    /// Memory that a set of this many keys takes.
    pub(crate) fn bytes(keys: usize) -> usize {
        Hashes::words(keys) * size_of::<u64>()
    }

    fn words(keys: usize) -> usize {
        (keys * BITS_A_KEY / 64).next_power_of_two()
    }

    /// None of so many keys yet.
    pub(crate) fn new(keys: usize) -> Hashes {
        Hashes { words: vec![0; Hashes::words(keys)] }
    }

    pub(crate) fn add(&mut self, hash: u64) {
        let mask = self.words.len() - 1;
        self.words[Hashes::place(hash) & mask] |= Hashes::bits(hash);
    }

    fn place(hash: u64) -> usize {
        (hash >> 28) as usize
    }

    fn bits(hash: u64) -> u64 {
        1 << (hash & 63) | 1 << (hash >> 6 & 63)
    }

    /// Whether a hash may be among them.
    #[inline]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        let bits = Hashes::bits(hash);
        self.words[Hashes::place(hash) & (self.words.len() - 1)] & bits == bits
    }
}

/// The set with the columns whose hash is looked up.
#[derive(Clone)]
pub(crate) struct JoinFilter {
    pub(crate) keys: Vec<(Slot, Collation)>,
    pub(crate) hashes: Arc<Hashes>,
}

impl JoinFilter {
    /// Whether the row in the frame may have a partner.
    #[inline]
    pub(crate) fn passes(&self, frame: &[Value]) -> bool {
        let values = self.keys.iter().map(|&(slot, c)| (&frame[slot.0 as usize], c));
        hash_row(values, false).is_some_and(|hash| self.hashes.may_have(hash))
    }
}
