//! Guards: while a guard lives, its holder may read or change a page.

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
        debug_assert!(state::is_shared(self.slot.state()), "a read guard holds the shared latch");
        debug_assert!(state::is_resident(self.slot.state()), "bytes are in memory");
        PageView(self.slot.address().bytes())
    }

    /// Takes the exclusive latch instead, if this guard has the only shared one.
    ///
    /// # Errors
    /// The guard itself, when there are other readers, or when the page may not be changed:
    /// `Pages::write` says why.
    pub fn try_upgrade(self) -> Result<WriteGuard<'a>, ReadGuard<'a>> {
        debug_assert!(state::is_shared(self.slot.state()), "a read guard holds the shared latch");
        if self.slot.is_beyond_log() || !state::try_upgrade(self.slot.state()) {
            return Err(self);
        }
        let slot = self.slot;
        debug_assert!(state::is_exclusive(slot.state()), "it became a write guard");
        std::mem::forget(self);
        Ok(WriteGuard { slot })
    }
}

impl Drop for ReadGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        debug_assert!(state::is_shared(self.slot.state()), "a read guard holds the shared latch");
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
        debug_assert!(state::is_exclusive(self.slot.state()), "a write guard holds it alone");
        debug_assert!(state::is_resident(self.slot.state()), "bytes are in memory");
        PageView(self.slot.address().bytes())
    }

    /// The page with its latch, which the caller releases.
    pub(crate) fn keep_latch(self) -> PageSlot<'a> {
        let slot = self.slot;
        std::mem::forget(self);
        slot
    }

    /// Lets other readers in.
    pub fn downgrade(self) -> ReadGuard<'a> {
        let slot = self.slot;
        debug_assert!(state::is_resident(slot.state()), "who reads on finds it in memory");
        state::downgrade(slot.state(), 0);
        debug_assert!(state::is_shared(slot.state()), "it became a read guard");
        std::mem::forget(self);
        ReadGuard { slot }
    }

    /// Whether somebody has found the page's slots sound since it came into memory. They stay so:
    /// its bytes change through [`crate::Change`] only.
    #[inline]
    pub fn is_inspected(&self) -> bool {
        let word = self.slot.state().load(std::sync::atomic::Ordering::Relaxed);
        word & state::INSPECTED != 0
    }

    /// Notes that the slots were found sound.
    pub fn note_inspected(&self) {
        debug_assert!(state::is_exclusive(self.slot.state()), "it is this thread's page");
        debug_assert!(state::is_resident(self.slot.state()), "bytes are in memory");
        self.slot.state().fetch_or(state::INSPECTED, std::sync::atomic::Ordering::Relaxed);
    }

    /// The bytes to change: `Change`, redo and the writer of volatile pages only.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut PageBytes {
        debug_assert!(state::is_exclusive(self.slot.state()), "bytes change under the latch");
        debug_assert!(state::is_resident(self.slot.state()), "bytes are in memory");
        self.slot.address().bytes_mut()
    }

    /// Forgets that the page differs from the disk: its memory must not be written.
    pub(crate) fn recovery_clear(&mut self) {
        debug_assert!(state::is_exclusive(self.slot.state()), "it is this thread's page");
        assert!(self.dirty_since().0 != 0, "it was marked dirty before it was altered");
        self.slot.recovery_lsn().store(0, std::sync::atomic::Ordering::Relaxed);
    }

    /// Notes that the page differs from the disk since a point of the log.
    pub(crate) fn mark_dirty(&mut self, since: base::Lsn) {
        use std::sync::atomic::Ordering::Relaxed;
        assert!(since.0 != 0, "zero means clean");
        let recovery = self.slot.recovery_lsn();
        debug_assert!(state::is_exclusive(self.slot.state()), "it is this thread's page");
        let before = recovery.load(Relaxed);
        if before == 0 || before > since.0 {
            recovery.store(since.0, std::sync::atomic::Ordering::Release);
        }
        if before == 0 {
            crate::reads::count_dirtied();
        }
        debug_assert!(self.dirty_since() <= since, "an older mark stays (rule 3)");
    }

    /// The page's recovery LSN; zero when it does not differ from the disk.
    pub(crate) fn dirty_since(&self) -> base::Lsn {
        base::Lsn(self.slot.recovery_lsn().load(std::sync::atomic::Ordering::Relaxed))
    }
}

impl Drop for WriteGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        state::unlatch_exclusive(self.slot.state(), 0, 0);
    }
}
