//! Guards: the right to read or to change a page, as long as they live.

use crate::pages::PageSlot;
use crate::state;
use base::PageId;
use page::{PageBytes, PageView};

/// A page under its shared latch.
pub struct ReadGuard<'a> {
    pub(crate) slot: PageSlot<'a>,
}

/// A page under its exclusive latch. Its bytes change through [`crate::Change`] only.
pub struct WriteGuard<'a> {
    pub(crate) slot: PageSlot<'a>,
}

impl<'a> ReadGuard<'a> {
    /// The page's id.
    #[inline]
    pub fn id(&self) -> PageId {
        self.slot.id
    }

    /// The page.
    #[inline]
    pub fn view(&self) -> PageView<'_> {
        PageView(self.slot.address().bytes())
    }

    /// Takes the exclusive latch instead, if this is the only shared one; else gives itself back.
    ///
    /// # Errors
    /// Itself, when others read too.
    pub fn try_upgrade(self) -> Result<WriteGuard<'a>, ReadGuard<'a>> {
        if !state::try_upgrade(self.slot.state()) {
            return Err(self);
        }
        let slot = self.slot;
        std::mem::forget(self);
        Ok(WriteGuard { slot })
    }
}

impl Drop for ReadGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        state::unlatch_shared(self.slot.state());
    }
}

impl<'a> WriteGuard<'a> {
    /// The page's id.
    #[inline]
    pub fn id(&self) -> PageId {
        self.slot.id
    }

    /// The page.
    #[inline]
    pub fn view(&self) -> PageView<'_> {
        PageView(self.slot.address().bytes())
    }

    /// Lets others read, too.
    pub fn downgrade(self) -> ReadGuard<'a> {
        let slot = self.slot;
        state::downgrade(slot.state(), 0);
        std::mem::forget(self);
        ReadGuard { slot }
    }

    /// The bytes to change: `Change`, redo and the writer of volatile pages only.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut PageBytes {
        self.slot.address().bytes_mut()
    }

    /// Forgets that the page differs from the disk: its memory is not to be written.
    pub(crate) fn recovery_clear(&mut self) {
        self.slot.recovery_lsn().store(0, std::sync::atomic::Ordering::Relaxed);
    }

    /// Notes that the page differs from the disk since a point of the log.
    pub(crate) fn mark_dirty(&mut self, since: base::Lsn) {
        use std::sync::atomic::Ordering::Relaxed;
        assert!(since.0 != 0, "zero means clean");
        let recovery = self.slot.recovery_lsn();
        if recovery.load(Relaxed) == 0 {
            recovery.store(since.0, std::sync::atomic::Ordering::Release);
        }
    }
}

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        state::unlatch_exclusive(self.slot.state(), 0, 0);
    }
}
