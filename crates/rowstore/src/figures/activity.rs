//! Counters of the use of a heap or index since it was opened, for sys.dm_db_index_usage_stats and
//! sys.dm_db_index_operational_stats.
//!
//! ```text
//! HobtState ─ Activity ─ tally: cells of each thread (`os::tally`)
//!     │           └───── counters of the trees' pages: this one's, and those of before rebuilds
//!     └─ splits: of this tree alone
//! ```
//!
//! Invariants
//!  1. Counters count operations, not their result: an operation that is rolled back stays counted.
//!  2. A hobt that replaces another in a rebuild continues the other's activity. So the activity
//!     covers the whole time since the start, whatever the hobt's number. Pages that a load adds
//!     are counted apart from those that changes of rows have added.
//!
//! An inserted row counts once as a row, and once for each lock that is requested for it: a
//! nanosecond or two each. Waits are counted when they end.

use access::Deed;
use btree::{SplitCounters, TreeSplits};
use os::clock::WallTime;
use os::sync::Mutex;
use os::tally::{Cells, Tally};
use std::sync::Arc;

/// See the file's essay.
#[derive(Default)]
pub(crate) struct Activity {
    tally: Tally<{ Deed::COUNT }>,
    trees: Mutex<Trees>,
}

#[derive(Default)]
struct Trees {
    /// The sum for former trees.
    before: TreeSplits,
    /// The counters of the trees that exist.
    now: Vec<Arc<SplitCounters>>,
}

impl Activity {
    /// Adds the counters of a tree.
    pub(crate) fn adopt(&self, tree: &Arc<SplitCounters>) {
        let mut trees = self.trees.lock();
        let Trees { before, now } = &mut *trees;
        now.retain(|tree| {
            let alive = Arc::strong_count(tree) > 1;
            if !alive {
                before.add(&tree.read());
            }
            alive
        });
        debug_assert!(now.iter().all(|t| !Arc::ptr_eq(t, tree)), "a tree is adopted once");
        now.push(Arc::clone(tree));
    }

    /// The rows or entries that were inserted one by one.
    pub(crate) fn inserts(&self) -> u64 {
        self.tally.sum(Deed::LeafInsert as usize)
    }

    /// The counters of this thread.
    pub(crate) fn counts(&self) -> Counts<'_> {
        Counts(self.tally.cells())
    }

    /// How often an operation happened, or how long it took.
    pub(crate) fn sum(&self, deed: Deed) -> u64 {
        self.tally.sum(deed as usize)
    }

    /// When an operation happened last, in nanoseconds of wall time; 0: never.
    pub(crate) fn last(&self, deed: Deed) -> i64 {
        self.tally.greatest(deed as usize) as i64
    }

    /// The splits of all its trees.
    pub(crate) fn splits(&self) -> TreeSplits {
        let trees = self.trees.lock();
        let mut all = trees.before;
        trees.now.iter().for_each(|tree| all.add(&tree.read()));
        all
    }
}

/// The counters of one thread for one hobt.
#[derive(Clone, Copy)]
pub(crate) struct Counts<'h>(Cells<'h, { Deed::COUNT }>);

impl Counts<'_> {
    #[inline]
    pub(crate) fn add(&self, deed: Deed, times: u64) {
        self.0.add(deed as usize, times);
    }

    /// Notes the time of an operation. The latest time counts.
    pub(crate) fn note(&self, deed: Deed, at: WallTime) {
        self.0.note(deed as usize, u64::try_from(at.0).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rebuilds without end cost no memory: counters of trees that are gone become one sum.
    #[test]
    fn only_trees_that_are_there_keep_counters() {
        let activity = Activity::default();
        let kept = Arc::<SplitCounters>::default();
        activity.adopt(&kept);
        for _ in 0..5 {
            activity.adopt(&Arc::default());
        }
        assert_eq!(activity.trees.lock().now.len(), 2, "the first, and the last that was adopted");
        assert_eq!(activity.splits(), TreeSplits::default());
    }
}
