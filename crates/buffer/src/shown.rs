//! Pages for DBCC PAGE and sys.dm_db_page_info, which also show pages that were never written.
//!
//! A page of a free extent may never have been written: the file has zeros there, which no checksum
//! covers. The caller is told so, and the page does not stay in memory; otherwise a reader that
//! ought to find a page there would be told that it is blank. Any other page is read, checked and
//! kept as for all readers. A page that was not in memory is the first to be evicted again, since
//! no other reader has used it.

use crate::BufferError;
use crate::guard::ReadGuard;
use crate::pages::Pages;
use crate::reads;
use crate::state::{self, LatchOutcome, RESIDENT};
use base::{Lsn, PageId};
use os::counters::Event;
use page::PageView;
use std::sync::atomic::Ordering::Relaxed;

/// What the pool knows of a page in memory, at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameFacts {
    /// Where its state word is.
    pub word_address: u64,
    /// Where its bytes are.
    pub page_address: u64,
    /// How many other readers it has.
    pub readers: u64,
    /// The bits of its state word but its latch and version (`state.rs`).
    pub flags: u64,
    /// From which LSN redo must look at it; zero when it is the same as on disk.
    pub dirty_since: Lsn,
}

impl Pages {
    /// A page to show; none when it was never written.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn read_to_show(&self, id: PageId) -> Result<Option<ReadGuard<'_>>, BufferError> {
        let slot = self.slot(id)?;
        reads::count_logical();
        self.counters().add(Event::PageLookup, 1);
        if let LatchOutcome::Absent = state::latch_shared(slot.state()) {
            let frame = self.bring_in(slot, true)?;
            if PageView(slot.address().bytes()).is_blank() {
                slot.file.release(id.page, 1);
                self.pool.return_frame(frame, slot.file.number, id.page);
                state::unlatch_exclusive(slot.state(), 0, 0);
                return Ok(None);
            }
            state::downgrade(slot.state(), RESIDENT);
        }
        reads::forget_untold();
        Ok(Some(ReadGuard { slot }))
    }
}

impl ReadGuard<'_> {
    /// What the pool knows of the page now.
    pub fn frame_facts(&self) -> FrameFacts {
        let word = self.slot.state().load(Relaxed);
        FrameFacts {
            word_address: std::ptr::from_ref(self.slot.state()) as u64,
            page_address: std::ptr::from_ref(self.view().0) as u64,
            readers: (word & state::HOLDERS).saturating_sub(1),
            flags: word & state::FLAGS,
            dirty_since: Lsn(self.slot.recovery_lsn().load(Relaxed)),
        }
    }
}
