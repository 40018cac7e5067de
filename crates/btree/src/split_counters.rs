//! Counters of how a tree gained and lost pages: pages added at the right edge, splits and where
//! they happened, pages freed.
//!
//! A page comes or goes once in a hundred rows, under latches and with half a page of log. Beside
//! that, plain counters cost nothing.
//!
//! ```text
//! a full page ─┬─ at the right edge, the new record behind all ──▶ append: nothing moves
//!              └─ elsewhere ──▶ split: half of it moves
//!                    ├─ the new record is behind the page's last
//!                    ├─ a record there became longer
//!                    └─ the new record is between others
//! ```
//!
//! Invariants
//!  1. If the counters began with the empty tree and no thread changes it now: the number of its
//!     leaves is one, plus the leaves that were loaded, appended and split off, less the freed
//!     ones. The same holds for its interior pages, with the roots that grew in place of the one.
//!  2. Counts stay when their writer rolls back, as the pages do.
//!  3. All users of an open tree share the same counters: these tell whether a leaf still has the
//!     same range of keys (`spot.rs`).

use crate::key::KeyBuf;
use base::PageId;
use os::sync::Mutex;
use page::Field;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Why and where a page was divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SplitReason {
    /// A load added a page.
    Loaded,
    /// At the tree's right edge; of a leaf nothing moved.
    Append,
    /// The record that asked for room was to be the page's last, and others move.
    AtEnd,
    /// The record was there already and became longer.
    Longer,
    /// The record was to be between others, or before them.
    Between,
}

/// Counters of one tree, since it was opened.
#[derive(Default)]
pub struct SplitCounters {
    leaf: LevelCounters,
    interior: LevelCounters,
    roots: AtomicU64,
    loaded_roots: AtomicU64,
    /// How often a page's range of keys changed, or may have changed.
    reshaped: AtomicU64,
    /// The pages that the last split of a leaf has left, as numbers.
    last: [AtomicU64; 2],
    /// Where leaves were split.
    places: Mutex<Vec<KeyBuf>>,
}

/// How many keys of splits are kept: a random sample of all of them.
const PLACES_MAX: usize = 256;

#[derive(Default)]
struct LevelCounters {
    loaded: AtomicU64,
    appends: AtomicU64,
    at_end: AtomicU64,
    longer: AtomicU64,
    between: AtomicU64,
    beside_last: AtomicU64,
    freed: AtomicU64,
}

/// What was counted of leaves, or of the pages above them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LevelSplits {
    /// Pages that a load has added.
    pub loaded: u64,
    /// Pages that were added at the right edge. Of a leaf no record moved.
    pub appends: u64,
    /// Pages that were divided elsewhere: half of their records moved.
    pub splits: u64,
    /// Those of them where the new record was to be the page's last.
    pub at_end: u64,
    /// Those of them where a record that was there became longer.
    pub longer: u64,
    /// Those of them that divided a page which the split before had left. Of leaves alone.
    pub beside_last: u64,
    /// Pages that were given back, empty.
    pub freed: u64,
}

/// What was counted of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TreeSplits {
    /// Of leaves.
    pub leaf: LevelSplits,
    /// Of the pages above them.
    pub interior: LevelSplits,
    /// How often the tree became higher, when a root was full.
    pub roots: u64,
    /// The same by a load.
    pub loaded_roots: u64,
}

impl LevelSplits {
    /// Adds what was counted of other pages.
    fn add(&mut self, more: &LevelSplits) {
        self.loaded += more.loaded;
        self.appends += more.appends;
        self.splits += more.splits;
        self.at_end += more.at_end;
        self.longer += more.longer;
        self.beside_last += more.beside_last;
        self.freed += more.freed;
    }

    /// Pages that changes of rows have added.
    pub fn allocated(&self) -> u64 {
        self.appends + self.splits
    }
}

impl TreeSplits {
    /// Adds what was counted of another tree.
    pub fn add(&mut self, more: &TreeSplits) {
        self.leaf.add(&more.leaf);
        self.interior.add(&more.interior);
        self.roots += more.roots;
        self.loaded_roots += more.loaded_roots;
    }
}

impl LevelCounters {
    fn of(&self, fall: SplitReason) -> &AtomicU64 {
        match fall {
            SplitReason::Loaded => &self.loaded,
            SplitReason::Append => &self.appends,
            SplitReason::AtEnd => &self.at_end,
            SplitReason::Longer => &self.longer,
            SplitReason::Between => &self.between,
        }
    }

    fn read(&self) -> LevelSplits {
        let get = |counter: &AtomicU64| counter.load(Relaxed);
        let (at_end, longer) = (get(&self.at_end), get(&self.longer));
        LevelSplits {
            loaded: get(&self.loaded),
            appends: get(&self.appends),
            splits: at_end + longer + get(&self.between),
            at_end,
            longer,
            beside_last: get(&self.beside_last),
            freed: get(&self.freed),
        }
    }
}

impl SplitCounters {
    /// What was counted so far: each counter by itself, not all as of one moment.
    pub fn read(&self) -> TreeSplits {
        TreeSplits {
            leaf: self.leaf.read(),
            interior: self.interior.read(),
            roots: self.roots.load(Relaxed),
            loaded_roots: self.loaded_roots.load(Relaxed),
        }
    }

    fn at(&self, level: u8) -> &LevelCounters {
        if level == 0 { &self.leaf } else { &self.interior }
    }

    /// The keys that asked for room when a leaf was split, some of all those: where splits fall.
    pub fn places(&self) -> Vec<KeyBuf> {
        self.places.lock().clone()
    }

    fn note_place(&self, nth: u64, key: &[Field<'_>]) {
        let mut places = self.places.lock();
        if places.len() < PLACES_MAX {
            places.push(KeyBuf::of(key));
            return;
        }
        // The nth replaces a kept one with probability `PLACES_MAX` / n.
        let drawn = mixed(nth) % nth.max(1);
        if let Some(place) = places.get_mut(drawn as usize) {
            *place = KeyBuf::of(key);
        }
    }

    /// A page of a level was divided for a key, `from`, into `left`, which it is itself unless it
    /// was the root, and `right`.
    pub(crate) fn divided(
        &self,
        (level, fall): (u8, SplitReason),
        key: &[Field<'_>],
        from: PageId,
        (left, right): (PageId, PageId),
    ) {
        debug_assert_ne!(left, right, "a page becomes two");
        let counters = self.at(level);
        counters.of(fall).fetch_add(1, Relaxed);
        if level > 0 || matches!(fall, SplitReason::Append | SplitReason::Loaded) {
            return;
        }
        let last = [left, right].map(number);
        let before = [0, 1].map(|side: usize| self.last[side].swap(last[side], Relaxed));
        counters.beside_last.fetch_add(u64::from(before.contains(&number(from))), Relaxed);
        let LevelSplits { splits, .. } = counters.read();
        self.note_place(splits, key);
    }

    /// The root was divided, and stands above its records' pages now.
    pub(crate) fn root_grew(&self, by_load: bool) {
        let roots = if by_load { &self.loaded_roots } else { &self.roots };
        roots.fetch_add(1, Relaxed);
    }

    /// The ranges of some pages are about to change. It is called while all of them and the pages
    /// above are latched exclusively.
    pub(crate) fn reshaped(&self) {
        self.reshaped.fetch_add(1, Relaxed);
    }

    /// The count of such changes. A thread that reads it before it latches the root, and reads the
    /// same value under a leaf's latch, has come to the key's leaf: the latches order the two.
    #[inline]
    pub(crate) fn reshapings(&self) -> u64 {
        self.reshaped.load(Relaxed)
    }

    /// An empty page of a level was freed.
    pub(crate) fn freed(&self, level: u8) {
        self.at(level).freed.fetch_add(1, Relaxed);
    }
}

/// A hash in which each bit of the input counts. It draws the sample, so that a simulation draws
/// the same one.
fn mixed(n: u64) -> u64 {
    let n = n.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    n ^ (n >> 31)
}

/// Not 0, which is no page of a tree.
fn number(page: PageId) -> u64 {
    let number = (u64::from(page.file.0) << 32) | u64::from(page.page);
    debug_assert_ne!(number, 0, "a tree's page is in a file, and not its first");
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_of_what_the_last_one_left_is_told_apart() {
        let counters = SplitCounters::default();
        let id = |n| PageId::new(1, n);
        let key = [Field::Inline(&[7])];
        let split = |from, to| {
            counters.divided((0, SplitReason::Between), &key, id(from), (id(from), id(to)));
        };
        split(10, 11);
        split(20, 21);
        split(21, 22);
        split(21, 23);
        split(10, 12);
        // Neither is a split of a leaf: the last of those stays.
        counters.divided((0, SplitReason::Append), &key, id(50), (id(50), id(51)));
        counters.divided((1, SplitReason::AtEnd), &key, id(7), (id(7), id(8)));
        split(12, 13);
        let seen = counters.read();
        assert_eq!((seen.leaf.splits, seen.leaf.beside_last, seen.leaf.appends), (6, 3, 1));
        assert_eq!((seen.interior.splits, seen.interior.at_end), (1, 1));
        assert_eq!(seen.interior.beside_last, 0);
    }

    #[test]
    fn places_are_kept_from_all_the_time() {
        let counters = SplitCounters::default();
        for n in 0..4000_u32 {
            let (key, id) = (n.to_be_bytes(), |n| PageId::new(1, n));
            let key = [Field::Inline(&key)];
            counters.divided((0, SplitReason::Between), &key, id(n + 1), (id(n + 1), id(n + 2)));
        }
        let number = |key: &KeyBuf| match key.fields().as_slice()[0] {
            Field::Inline(b) => u32::from_be_bytes([b[0], b[1], b[2], b[3]]),
            _ => unreachable!("keys are numbers"),
        };
        let places: Vec<u32> = counters.places().iter().map(number).collect();
        assert_eq!(places.len(), PLACES_MAX);
        let late = places.iter().filter(|n| **n >= 2000).count();
        assert!((90..166).contains(&late), "half of them, more or less: {late}");
    }
}
