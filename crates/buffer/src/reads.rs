//! How many pages a thread has asked for and made dirty: what STATISTICS IO, sessions and plans
//! show.
//!
//! Counted by thread, since a statement is run by one thread from its begin to its end and nobody
//! else needs the numbers meanwhile: an addition to a cell of the thread, no shared counter.

use std::cell::Cell;

/// Pages that a thread has asked for since it began.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageReads {
    /// Pages read or changed, wherever they were: each latch of a page is one, but for scans that
    /// go on where they let a page go.
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

thread_local! {
    static LOGICAL: Cell<u64> = const { Cell::new(0) };
    static PHYSICAL: Cell<u64> = const { Cell::new(0) };
    static READ_AHEAD: Cell<u64> = const { Cell::new(0) };
    static DIRTIED: Cell<u64> = const { Cell::new(0) };
}

/// Those of this thread.
pub fn page_reads() -> PageReads {
    PageReads { logical: LOGICAL.get(), physical: PHYSICAL.get(), read_ahead: READ_AHEAD.get() }
}

/// Pages that this thread has made dirty: one that was dirty before counts for whoever was first.
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
