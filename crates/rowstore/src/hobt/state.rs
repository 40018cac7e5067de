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

/// The hints of a heap about its free space.
#[derive(Default)]
pub(crate) struct HeapHints {
    /// The pages at which the next insert looks first.
    pub(crate) pages: Vec<PageId>,
    /// Whether an insert has looked at the heap's last page since the heap was opened, or a further
    /// page was refused.
    pub(crate) sought: bool,
    /// Whether the heap has got a page since it was opened.
    pub(crate) grown: bool,
}

/// The result of measuring a hobt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Measurement {
    /// [`access::SourceSize::pages`] then.
    pub(crate) pages: u64,
    /// `RowHobt::rows` then.
    pub(crate) at: i64,
    /// The number to add to `RowHobt::rows`, for rows that were not counted.
    pub(crate) beyond: i64,
}

/// The changing state of an open hobt. It does not depend on the columns.
pub(crate) struct HobtState {
    pub(crate) hints: Mutex<HeapHints>,
    pub(crate) rows: AtomicI64,
    pub(crate) rows_known: AtomicU64,
    /// One more than the rows that a bulk load has put into the tree; 0 if the tree was built
    /// before it was opened.
    pub(crate) built: AtomicU64,
    /// The inserts that its activity had counted when it was opened.
    pub(crate) inserts_before: u64,
    pub(crate) measured: Mutex<Option<Measurement>>,
    /// Aborted transactions whose records were not counted when the rows were.
    pub(crate) counted_without: Mutex<BTreeSet<Xsn>>,
    /// In a tree of pieces the number of the next value, 0 while unknown.
    pub(crate) next_value: AtomicU64,
    /// Its pages are freed, or about to be.
    pub(crate) dropped: AtomicBool,
    /// Whether a transaction has requested range locks here since it was opened (`locking/gap.rs`).
    pub(crate) ranges: AtomicBool,
    /// Only the transaction that made it knows it (`capture/mod.rs`), so its rows need no locks.
    pub(crate) private: AtomicBool,
    /// It gives uniquifiers to rows with equal keys although it is private.
    pub(crate) numbers_twins: AtomicBool,
    /// In-row versions were left here since a pass began that looks for them
    /// (`versions/in_row_pass.rs`).
    pub(crate) in_row: AtomicBool,
    pub(crate) captures: Captures,
    pub(crate) bare: BareGhosts,
    pub(crate) promised: Promises,
    pub(crate) graves: Graveyard,
    pub(crate) splits: Arc<SplitCounters>,
    pub(crate) activity: Arc<Activity>,
}

impl HobtState {
    /// The state of a hobt that is being opened. It continues the activity counters.
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
            in_row: AtomicBool::default(),
            captures: Captures::default(),
            bare: BareGhosts::default(),
            promised: Promises::default(),
            graves: Graveyard::default(),
            splits,
            activity,
        })
    }

    /// The counters of this thread.
    pub(crate) fn counts(&self) -> Counts<'_> {
        self.activity.counts()
    }
}
