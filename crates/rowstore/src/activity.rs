//! What was done to a heap or index since it was opened: for sys.dm_db_index_usage_stats and
//! sys.dm_db_index_operational_stats.
//!
//! ```text
//! HobtState ─ Activity ─ tally: cells of each thread (`os::tally`)
//!     │           └───── counters of the trees' pages: this one's, and those of before rebuilds
//!     └─ splits: of this tree alone
//! ```
//!
//! Invariants
//!  1. A count is of what was done, not of what stayed: work that is rolled back stays counted.
//!  2. A hobt that replaces another in a rebuild continues the other's activity. So the activity
//!     covers the whole time since the start, whatever the hobt's number. Pages that a load adds
//!     are counted apart from those that changes of rows have added.
//!
//! An inserted row counts once as a row, and once for each lock that is requested for it: a
//! nanosecond or two each. Waits are counted when they end.

use crate::hobt::{HobtState, RowHobt};
use access::{Deed, Use};
use btree::{SplitCounters, TreeSplits};
use buffer::{PageWaits, take_page_waits};
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
    /// Of trees that are gone.
    before: TreeSplits,
    /// Of those that are there.
    now: Vec<Arc<SplitCounters>>,
}

impl Activity {
    /// A tree's pages count among these.
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

    /// Rows or entries that were put one by one.
    pub(crate) fn inserts(&self) -> u64 {
        self.tally.sum(Deed::LeafInsert as usize)
    }

    fn splits(&self) -> TreeSplits {
        let trees = self.trees.lock();
        let mut all = trees.before;
        trees.now.iter().for_each(|tree| all.add(&tree.read()));
        all
    }
}

/// Where a thread counts what it does to one hobt.
#[derive(Clone, Copy)]
pub(crate) struct Counts<'h>(Cells<'h, { Deed::COUNT }>);

impl Counts<'_> {
    #[inline]
    pub(crate) fn add(&self, deed: Deed, times: u64) {
        self.0.add(deed as usize, times);
    }
}

impl HobtState {
    pub(crate) fn counts(&self) -> Counts<'_> {
        Counts(self.activity.tally.cells())
    }
}

impl RowHobt {
    /// Counts something once.
    #[inline]
    pub(crate) fn did(&self, deed: Deed) {
        self.did_times(deed, 1);
    }

    /// Counts something so often.
    #[inline]
    pub(crate) fn did_times(&self, deed: Deed, times: u64) {
        self.state.counts().add(deed, times);
    }

    /// Works on its pages, and counts what the thread waits for pages meanwhile.
    #[inline]
    pub(crate) fn counting_waits<R>(&self, work: impl FnOnce() -> R) -> R {
        // Waits from elsewhere are charged to no hobt.
        let _ = take_page_waits();
        let done = work();
        if let Some(waits) = take_page_waits() {
            self.count_waits(&waits);
        }
        done
    }

    #[cold]
    fn count_waits(&self, waits: &PageWaits) {
        let counts = self.state.counts();
        for (of, count, time) in [
            (waits.latch, Deed::PageLatchWait, Deed::PageLatchWaitNs),
            (waits.io, Deed::PageIoWait, Deed::PageIoWaitNs),
            (waits.tree_latch, Deed::TreeLatchWait, Deed::TreeLatchWaitNs),
            (waits.tree_io, Deed::TreeIoWait, Deed::TreeIoWaitNs),
        ] {
            counts.add(count, of.count);
            counts.add(time, of.time_ns);
        }
    }

    /// A statement that runs has a plan that uses it so.
    pub(crate) fn note_use(&self, how: Use, at: WallTime) {
        let (count, last) = match how {
            Use::Seek => (Deed::UserSeek, Deed::LastUserSeek),
            Use::Scan => (Deed::UserScan, Deed::LastUserScan),
            Use::Lookup => (Deed::UserLookup, Deed::LastUserLookup),
            Use::Update => (Deed::UserUpdate, Deed::LastUserUpdate),
            Use::SystemScan => (Deed::SystemScan, Deed::LastSystemScan),
        };
        let counts = self.state.counts();
        counts.add(count, 1);
        counts.0.note(last as usize, u64::try_from(at.0).unwrap_or(0));
    }

    /// How often something was done, or for how long.
    pub(crate) fn counted(&self, deed: Deed) -> u64 {
        self.state.activity.tally.sum(deed as usize)
    }

    /// When it was used last, in wall nanoseconds; 0: never.
    pub(crate) fn last_used(&self, how: Use) -> i64 {
        let last = match how {
            Use::Seek => Deed::LastUserSeek,
            Use::Scan => Deed::LastUserScan,
            Use::Lookup => Deed::LastUserLookup,
            Use::Update => Deed::LastUserUpdate,
            Use::SystemScan => Deed::LastSystemScan,
        };
        self.state.activity.tally.greatest(last as usize) as i64
    }

    /// How its tree came by its pages since it was opened, and those that it took the place of.
    pub(crate) fn all_splits(&self) -> TreeSplits {
        self.state.activity.splits()
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
