//! Fingerprints of sets that are too large to hold: compares what the rows say must be there with
//! what is there.
//!
//! Each element has a hash of 128 bits. A fingerprint adds the hashes up in buckets, so it does not
//! depend on order. Where two fingerprints differ, a second pass collects the elements of the
//! differing buckets, a bounded number at a time, and compares them one by one.
//!
//! Invariants
//!  1. Equal multisets have equal fingerprints, whatever their order.
//!  2. Memory does not grow with the set: 24 KB a fingerprint, a batch at most [`BATCH_ELEMENTS`]
//!     elements and what a single bucket has.

/// Buckets of a fingerprint: one bad element of a table makes a 1024th of it read again.
const BUCKETS: usize = 1024;
/// Elements that are compared one by one at a time.
const BATCH_ELEMENTS: u64 = 200_000;
/// An odd number of 128 bits without a pattern.
const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// A hash of an element's bytes, fed in parts.
#[derive(Clone, Copy)]
pub struct ElementHash(u128);

impl Default for ElementHash {
    fn default() -> ElementHash {
        ElementHash(MULTIPLIER >> 1)
    }
}

impl ElementHash {
    /// Feeds a number.
    pub fn number(&mut self, n: u64) {
        let mixed = (self.0 ^ u128::from(n)).wrapping_mul(MULTIPLIER);
        self.0 = mixed ^ (mixed >> 64);
    }

    /// Feeds bytes, in parts of a multiple of eight, but for the last.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.number(u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.number(u64::from_le_bytes(last));
        }
    }

    /// The hash of all that was fed.
    pub fn end(mut self) -> u128 {
        self.number(0x5851_F42D_4C95_7F2D);
        self.number(0x1405_7B7E_F767_814F);
        self.0
    }
}

/// A multiset of hashes, added up.
#[derive(Clone, Debug)]
pub struct Fingerprint {
    buckets: Box<[(u128, u64)]>,
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        Fingerprint { buckets: vec![(0, 0); BUCKETS].into_boxed_slice() }
    }
}

fn bucket_of(hash: u128) -> usize {
    const { assert!(BUCKETS.is_power_of_two(), "chosen by a hash's first bits") };
    (hash >> (128 - BUCKETS.trailing_zeros())) as usize
}

impl Fingerprint {
    /// Adds an element.
    pub fn add(&mut self, hash: u128) {
        let (sum, count) = &mut self.buckets[bucket_of(hash)];
        *sum = sum.wrapping_add(hash);
        *count += 1;
    }

    /// Buckets that differ, in batches that can be held; empty when the sets are equal.
    pub fn differing(&self, other: &Fingerprint) -> Vec<Batch> {
        assert_eq!(self.buckets.len(), other.buckets.len(), "fingerprints have equal buckets");
        let mut batches: Vec<Batch> = Vec::new();
        let mut room = 0;
        for (n, (a, b)) in self.buckets.iter().zip(&other.buckets).enumerate() {
            if a == b {
                continue;
            }
            let elements = a.1 + b.1;
            assert!(elements > 0, "buckets that differ are not both empty");
            if elements > room {
                batches.push(Batch { buckets: [false; BUCKETS] });
                room = BATCH_ELEMENTS;
            }
            room = room.saturating_sub(elements);
            if let Some(batch) = batches.last_mut() {
                batch.buckets[n] = true;
            }
        }
        let put: usize = batches.iter().map(Batch::bucket_count).sum();
        let differing = self.buckets.iter().zip(&other.buckets).filter(|(a, b)| a != b);
        assert_eq!(put, differing.count(), "what differs is in one batch");
        batches
    }
}

/// Some buckets.
#[derive(Clone, Debug)]
pub struct Batch {
    buckets: [bool; BUCKETS],
}

impl Batch {
    /// Whether an element is in one of them.
    pub fn has(&self, hash: u128) -> bool {
        self.buckets[bucket_of(hash)]
    }

    fn bucket_count(&self) -> usize {
        let count = self.buckets.iter().filter(|b| **b).count();
        assert!(count > 0, "a batch was begun for a bucket");
        count
    }
}

/// Elements of one side that the other lacks, each by its hash and something that names it.
pub fn differences<T>(mut a: Vec<(u128, T)>, mut b: Vec<(u128, T)>) -> (Vec<T>, Vec<T>) {
    let surplus = a.len() as i64 - b.len() as i64;
    a.sort_by_key(|e| e.0);
    b.sort_by_key(|e| e.0);
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    loop {
        match (a.peek().map(|e| e.0), b.peek().map(|e| e.0)) {
            (Some(x), Some(y)) if x == y => drop((a.next(), b.next())),
            (Some(x), y) if y.is_none_or(|y| x < y) => only_a.extend(a.next().map(|e| e.1)),
            (_, Some(_)) => only_b.extend(b.next().map(|e| e.1)),
            (_, None) => {
                let left = only_a.len() as i64 - only_b.len() as i64;
                assert_eq!(left, surplus, "invariant 1: the rest went two by two");
                return (only_a, only_b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u64) -> u128 {
        let mut h = ElementHash::default();
        h.number(n);
        h.end()
    }

    /// Invariant 1, and that what differs is found by its name.
    #[test]
    fn sets_that_differ_are_told_apart_whatever_their_order() {
        let (mut a, mut b) = (Fingerprint::default(), Fingerprint::default());
        (0..50_000).for_each(|n| a.add(hash(n)));
        (0..50_000).rev().for_each(|n| b.add(hash(n)));
        assert!(a.differing(&b).is_empty());
        b.add(hash(7));
        a.add(hash(60_000));
        let batches = a.differing(&b);
        assert_eq!(batches.len(), 1);
        let of = |all: Vec<u64>| -> Vec<(u128, u64)> {
            all.into_iter().map(|n| (hash(n), n)).filter(|e| batches[0].has(e.0)).collect()
        };
        let left = of((0..50_000).chain([60_000]).collect());
        assert!(left.len() < 300, "two buckets of 1024: {}", left.len());
        assert_eq!(
            differences(left, of((0..50_000).chain([7]).collect())),
            (vec![60_000], vec![7])
        );
    }

    /// Large sets that have nothing in common are compared in batches.
    #[test]
    fn batches_are_bounded() {
        let (mut a, b) = (Fingerprint::default(), Fingerprint::default());
        (0..600_000).for_each(|n| a.add(hash(n)));
        let batches = a.differing(&b);
        assert!((3..=4).contains(&batches.len()), "{}", batches.len());
        let times = |n| batches.iter().filter(|b| b.has(hash(n))).count();
        assert!((0..1000).all(|n| times(n) == 1), "each element is in one batch");
    }

    /// Parts of a value hash as the whole does.
    #[test]
    fn a_value_may_come_in_pieces() {
        let bytes: Vec<u8> = (0..=255).cycle().take(8003).collect();
        let (mut whole, mut parts) = (ElementHash::default(), ElementHash::default());
        whole.bytes(&bytes);
        parts.bytes(&bytes[..8000]);
        parts.bytes(&bytes[8000..]);
        assert_eq!(whole.end(), parts.end());
        assert_ne!(hash(1), hash(2));
    }
}
