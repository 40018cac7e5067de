//! How many pages a thread has requested and made dirty, and how long it waited for them.
//! STATISTICS IO, sessions, plans and index statistics show these figures.
//!
//! They are counted by thread: one thread runs a statement from begin to end, and no other thread
//! needs the numbers meanwhile. So counting is an addition to a thread-local cell, without a shared
//! counter.
//!
//! When a wait ends, only the page's state is known. The wait is noted, and assigned when the page
//! is latched: to leaves and the pages above them; a wait for an allocation map is dropped. The
//! code that works on an index then takes the waits assigned meanwhile as that index's.

use page::{PageKind, PageView};
use std::cell::Cell;

/// Pages that a thread has asked for since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageReads {
    /// Pages read or changed, whether in memory or not: one for each latch of a page, except when a
    /// scan continues on the page that it released.
    pub logical: u64,
    /// Those of them that were read from disk.
    pub physical: u64,
    /// Pages read from disk before anybody asked for them.
    pub read_ahead: u64,
}

impl PageReads {
    /// What has come since.
    #[must_use]
    pub fn since(self, before: PageReads) -> PageReads {
        PageReads {
            logical: self.logical - before.logical,
            physical: self.physical - before.physical,
            read_ahead: self.read_ahead - before.read_ahead,
        }
    }
}

/// Waits of one kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Waits {
    /// How many.
    pub count: u64,
    /// For how long, in all.
    pub time_ns: u64,
}

impl Waits {
    fn add(&mut self, time_ns: u64) {
        self.count += 1;
        self.time_ns += time_ns;
    }
}

/// Waits of a thread for pages of heaps and indexes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageWaits {
    /// For their latches.
    pub latch: Waits,
    /// For them to come from disk.
    pub io: Waits,
    /// Those for latches of pages above leaves.
    pub tree_latch: Waits,
    /// Those for such pages to come from disk.
    pub tree_io: Waits,
}

/// Nanoseconds waited for a page's latch and for its bytes, if it was waited for, not yet assigned
/// to a page.
type UnassignedWaits = (Option<u64>, Option<u64>);

thread_local! {
    /// Whether something is in `UNTOLD`.
    static WAITED: Cell<bool> = const { Cell::new(false) };
    static UNTOLD: Cell<UnassignedWaits> = const { Cell::new((None, None)) };
    /// Whether something is in `TOLD`.
    static HAS_TOLD: Cell<bool> = const { Cell::new(false) };
    static TOLD: Cell<PageWaits> = const {
        const NONE: Waits = Waits { count: 0, time_ns: 0 };
        Cell::new(PageWaits { latch: NONE, io: NONE, tree_latch: NONE, tree_io: NONE })
    };
    static LOGICAL: Cell<u64> = const { Cell::new(0) };
    static PHYSICAL: Cell<u64> = const { Cell::new(0) };
    static READ_AHEAD: Cell<u64> = const { Cell::new(0) };
    static DIRTIED: Cell<u64> = const { Cell::new(0) };
}

/// Those of this thread.
pub fn page_reads() -> PageReads {
    PageReads { logical: LOGICAL.get(), physical: PHYSICAL.get(), read_ahead: READ_AHEAD.get() }
}

/// Pages that this thread has made dirty. A page that was dirty already counts only for the thread
/// that dirtied it first.
pub fn pages_dirtied() -> u64 {
    DIRTIED.get()
}

#[inline]
pub(crate) fn count_dirtied() {
    DIRTIED.set(DIRTIED.get() + 1);
}

#[inline]
pub(crate) fn count_logical() {
    LOGICAL.set(LOGICAL.get() + 1);
}

#[inline]
pub(crate) fn count_physical() {
    PHYSICAL.set(PHYSICAL.get() + 1);
}

#[inline]
pub(crate) fn count_read_ahead() {
    READ_AHEAD.set(READ_AHEAD.get() + 1);
}

/// A wait has ended: for a latch, or for bytes.
#[cold]
pub(crate) fn note_wait(for_bytes: bool, time_ns: u64) {
    let (latch, io) = UNTOLD.get();
    let more = |of: Option<u64>| Some(of.unwrap_or(0) + time_ns);
    UNTOLD.set(if for_bytes { (latch, more(io)) } else { (more(latch), io) });
    WAITED.set(true);
}

/// Whether a wait has ended that is not yet assigned to a page.
#[inline]
pub(crate) fn has_waited() -> bool {
    WAITED.get()
}

/// Drops the wait: it was for a page of no heap or index.
#[inline]
pub(crate) fn forget_untold() {
    if WAITED.replace(false) {
        UNTOLD.set((None, None));
    }
}

/// Assigns the wait to this page.
#[cold]
pub(crate) fn tell_page(page: PageView<'_>) {
    let (latch, io) = UNTOLD.get();
    debug_assert!(latch.is_some() || io.is_some(), "asked where something was waited for");
    forget_untold();
    if !matches!(page.kind(), Some(PageKind::Data | PageKind::Index)) {
        return;
    }
    let (mut told, above) = (TOLD.get(), page.level() > 0);
    if let Some(ns) = latch {
        told.latch.add(ns);
        if above {
            told.tree_latch.add(ns);
        }
    }
    if let Some(ns) = io {
        told.io.add(ns);
        if above {
            told.tree_io.add(ns);
        }
    }
    TOLD.set(told);
    HAS_TOLD.set(true);
}

/// The waits assigned since the last call on this thread, if there are any.
#[inline]
pub fn take_page_waits() -> Option<PageWaits> {
    HAS_TOLD.replace(false).then(|| TOLD.take())
}
