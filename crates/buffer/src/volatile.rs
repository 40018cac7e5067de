//! Pages that are changed without a log, because no restart needs them.
//!
//! The version store of tempdb lives on them. They are in the pool like others, are written to
//! their file when their memory is needed, and are checked when they are read again. But redo does
//! not repeat their changes, so they hold back no log, and no checkpoint writes them.
//!
//! Invariant: a page that differs from its file only by such changes has the recovery LSN
//! [`Lsn::MAX`]; logged changes below it keep the older one.

use crate::guard::WriteGuard;
use crate::pages::Pages;
use base::Lsn;
use page::PageMut;

impl WriteGuard<'_> {
    /// The page, to be changed without a log.
    ///
    /// # Panics
    /// For a database that survives.
    pub fn volatile_mut(&mut self, pages: &Pages) -> PageMut<'_> {
        assert!(!pages.is_durable(), "pages that survive change through Change");
        self.mark_dirty(Lsn::MAX);
        debug_assert_ne!(self.dirty_since(), Lsn::ZERO, "its memory is worth more than its file");
        PageMut(self.bytes_mut())
    }
}
