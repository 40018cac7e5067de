//! The state of a hobt that changes while it is open. All openings of the hobt share it, also those
//! with other columns.

use crate::capture::notes::Captures;
use crate::figures::activity::{Activity, Counts};
use crate::ghosts::graveyard::Graveyard;
use crate::heap::bare_ghosts::BareGhosts;
use crate::heap::promises::Promises;
use base::{PageId, Xsn};
use btree::SplitCounters;
use os::sync::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};

/// What a heap remembers of its free space.
#[derive(Default)]
pub(crate) struct HeapHints {
    /// Where the next row is tried first.
    pub(crate) pages: Vec<PageId>,
    /// Whether the heap's last page was looked at since it was opened, or a page more was refused.
    pub(crate) sought: bool,
    /// Whether the heap has got a page since it was opened.
    pub(crate) grown: bool,
}

/// What was found when a hobt was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    /// [`access::SourceSize::pages`] then.
    pub(crate) pages: u64,
    /// `RowHobt::rows` then.
    pub(crate) at: i64,
    /// What must be added to `RowHobt::rows` where rows were not counted.
    pub(crate) beyond: i64,
}

/// What changes while a hobt is open, whatever columns it gets.
pub(crate) struct HobtState {
    pub(crate) hints: Mutex<HeapHints>,
    pub(crate) rows: AtomicI64,
    pub(crate) rows_known: AtomicU64,
    /// Rows that a load has put into the tree, one more; 0 where it was made before it was opened.
    pub(crate) built: AtomicU64,
    /// Rows that had been put one by one, as its activity counts them, when it was opened.
    pub(crate) inserts_before: u64,
    pub(crate) measured: Mutex<Option<Measurement>>,
    /// Aborted transactions whose records were not counted when the rows were.
    pub(crate) counted_without: Mutex<BTreeSet<Xsn>>,
    /// In a tree of pieces the number of the next value, 0 while unknown.
    pub(crate) next_value: AtomicU64,
    /// Its pages go, or are gone.
    pub(crate) dropped: AtomicBool,
    /// Whether anybody has asked for ranges of its keys since it was opened (`locking/gap.rs`).
    pub(crate) ranges: AtomicBool,
    /// Only the transaction that made it knows of it (`capture/mod.rs`): its rows need no locks.
    pub(crate) private: AtomicBool,
    /// It numbers rows of one key although it is private.
    pub(crate) numbers_twins: AtomicBool,
    pub(crate) captures: Captures,
    pub(crate) bare: BareGhosts,
    pub(crate) promised: Promises,
    pub(crate) graves: Graveyard,
    pub(crate) splits: Arc<SplitCounters>,
    pub(crate) activity: Arc<Activity>,
}

impl HobtState {
    /// Of a hobt that is opened, whose activity counts on.
    pub(crate) fn counting(activity: Arc<Activity>) -> Arc<HobtState> {
        let splits = Arc::default();
        activity.adopt(&splits);
        Arc::new(HobtState {
            hints: Mutex::default(),
            rows: AtomicI64::default(),
            rows_known: AtomicU64::default(),
            built: AtomicU64::default(),
            inserts_before: activity.inserts(),
            measured: Mutex::default(),
            counted_without: Mutex::default(),
            next_value: AtomicU64::default(),
            dropped: AtomicBool::default(),
            ranges: AtomicBool::default(),
            private: AtomicBool::default(),
            numbers_twins: AtomicBool::default(),
            captures: Captures::default(),
            bare: BareGhosts::default(),
            promised: Promises::default(),
            graves: Graveyard::default(),
            splits,
            activity,
        })
    }

    /// Where this thread counts what it does.
    pub(crate) fn counts(&self) -> Counts<'_> {
        self.activity.counts()
    }
}
