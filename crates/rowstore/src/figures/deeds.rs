//! Counts the operations on a heap or index, and reports the counts. `figures/activity.rs` has the
//! counters and the invariants.

use crate::hobt::RowHobt;
use access::{Deed, Use};
use btree::TreeSplits;
use buffer::{PageWaits, take_page_waits};
use os::clock::WallTime;

impl RowHobt {
    /// Counts an operation once.
    #[inline]
    pub(crate) fn did(&self, deed: Deed) {
        self.did_times(deed, 1);
    }

    /// Counts an operation `times` times.
    #[inline]
    pub(crate) fn did_times(&self, deed: Deed, times: u64) {
        self.state.counts().add(deed, times);
    }

    /// Calls `work`, and counts the thread's waits for pages meanwhile.
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

    /// Notes a use of the hobt by the plan of a running statement.
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
        counts.note(last, at);
    }

    /// How often an operation happened, or how long it took.
    pub(crate) fn counted(&self, deed: Deed) -> u64 {
        self.state.activity.sum(deed)
    }

    /// When it was last used, in nanoseconds of wall time; 0: never.
    pub(crate) fn last_used(&self, how: Use) -> i64 {
        let last = match how {
            Use::Seek => Deed::LastUserSeek,
            Use::Scan => Deed::LastUserScan,
            Use::Lookup => Deed::LastUserLookup,
            Use::Update => Deed::LastUserUpdate,
            Use::SystemScan => Deed::LastSystemScan,
        };
        self.state.activity.last(last)
    }

    /// The splits of its tree since it was opened, and of the trees that it replaced.
    pub(crate) fn all_splits(&self) -> TreeSplits {
        self.state.activity.splits()
    }
}
