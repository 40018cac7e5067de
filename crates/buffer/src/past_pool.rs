//! Past the pool: runs of pages are written straight to a file and read straight from it, for data
//! that is written and read once.
//!
//! Spill files are larger than the memory that they relieve. In the pool they would evict pages
//! that are used again. Their pages are sealed and checked like all others, but nothing is logged,
//! copied or synced: only a database that does not survive a restart has such pages.
//!
//! Invariants
//!  1. A page is written under its exclusive latch while the pool has no copy of it. So bytes of a
//!     former owner cannot overwrite it, and cannot be read any more: afterwards the pool reads
//!     what was written here.
//!  2. A run's first latch is waited for while no other is held. The others are tried only (rule
//!     6).
//!  3. The owner reads from the file only. The pool may have a clean copy, even one from before the
//!     write (read ahead by a guess, or by a thread that knew the page's former use). No thread
//!     uses that copy, and it is never written.

use crate::BufferError;
use crate::pages::{PageFile, PageSlot, Pages};
use crate::reads;
use crate::state::{self, LatchOutcome, REFERENCED, WRITING};
use base::PageId;
use base::limits::PAGE_BYTES;
use os::counters::Event;
use os::wait::{WaitKind, timed};
use page::PageView;
use std::sync::atomic::Ordering::Relaxed;

/// How often it is checked whether a page's last copy has been written.
const HOME_POLL_NS: u64 = 50_000;

impl Pages {
    /// Seals a run of formatted pages and writes it, by one call unless one of them is in use.
    ///
    /// # Errors
    /// 823.
    ///
    /// # Panics
    /// For a durable database.
    pub fn write_past_pool(&self, first: PageId, pages: &mut [u8]) -> Result<(), BufferError> {
        assert!(!self.is_durable(), "pages that survive change through Change");
        let slot = self.past_pool_slot(first, pages.len())?;
        for (n, bytes) in pages.chunks_exact_mut(PAGE_BYTES).enumerate() {
            let bytes = bytes.first_chunk_mut().expect("a chunk has the size of a page");
            let id = PageId { file: first.file, page: first.page + n as u32 };
            assert_eq!(PageView(bytes).page_id(), id, "a page goes to its own place");
            page::seal(bytes);
        }
        let (mut from, count) = (0, (pages.len() / PAGE_BYTES) as u32);
        while from < count {
            let page = first.page + from;
            let n = self.latch_absent(slot.file, page, count - from);
            assert!((1..=count - from).contains(&n), "each turn goes on");
            let bytes = from as usize * PAGE_BYTES..(from + n) as usize * PAGE_BYTES;
            let offset = u64::from(page) * PAGE_BYTES as u64;
            self.counters().add(Event::PageWrite, u64::from(n));
            let write = || slot.file.file.write_at(&pages[bytes], offset);
            let written = timed(WaitKind::IoCompletion, write);
            for page in page..page + n {
                debug_assert!(!state::is_resident(slot.file.state(page)), "invariant 1");
                state::unlatch_exclusive(slot.file.state(page), 0, REFERENCED);
            }
            written.map_err(|e| slot.file.io_error("write", page, &e))?;
            from += n;
        }
        Ok(())
    }

    /// Reads a run of pages with one call, and checks them.
    ///
    /// # Errors
    /// 823, or 824 for the first damaged page.
    pub fn read_past_pool(&self, first: PageId, pages: &mut [u8]) -> Result<(), BufferError> {
        let slot = self.past_pool_slot(first, pages.len())?;
        let offset = u64::from(first.page) * PAGE_BYTES as u64;
        self.counters().add(Event::PageRead, (pages.len() / PAGE_BYTES) as u64);
        let read = timed(WaitKind::IoCompletion, || slot.file.file.read_at(pages, offset));
        read.map_err(|e| slot.file.io_error("read", first.page, &e))?;
        for (n, bytes) in pages.chunks_exact(PAGE_BYTES).enumerate() {
            let id = PageId { file: first.file, page: first.page + n as u32 };
            let sound = bytes.first_chunk().is_some_and(|bytes| page::verify(bytes, id));
            if !sound {
                return Err(self.corrupt(id, "incorrect checksum"));
            }
        }
        Ok(())
    }

    fn past_pool_slot(&self, first: PageId, bytes: usize) -> Result<PageSlot<'_>, BufferError> {
        assert!(bytes > 0 && bytes.is_multiple_of(PAGE_BYTES), "whole pages go past the pool");
        self.slot(first)
    }

    /// Latches pages of a run and drops the pool's copies: the first page in any case, the
    /// following ones as far as that needs no waiting. Returns how many are latched.
    fn latch_absent(&self, file: &PageFile, first: u32, most: u32) -> u32 {
        loop {
            let latched = state::latch_exclusive(file.state(first));
            reads::forget_untold();
            if self.forget_latched(file, first, &latched) {
                break;
            }
            timed(WaitKind::IoCompletion, || os::task::sleep_ns(HOME_POLL_NS));
        }
        let tried = (first + 1..first + most).take_while(|&page| {
            let latched = state::try_exclusive(file.state(page));
            latched.is_some_and(|latched| self.forget_latched(file, page, &latched))
        });
        1 + tried.count() as u32
    }

    /// Takes a page out of memory whose bytes are not needed. A copy that is being written is left
    /// to its writer.
    pub(crate) fn forget_page(&self, guard: crate::guard::WriteGuard<'_>) {
        let slot = guard.keep_latch();
        if self.forget_latched(slot.file, slot.id.page, &LatchOutcome::Resident) {
            state::unlatch_exclusive(slot.state(), 0, REFERENCED);
        }
    }

    /// Drops the pool's copy of a latched page. Releases the latch when a copy is being written.
    fn forget_latched(&self, file: &PageFile, page: u32, latched: &LatchOutcome) -> bool {
        let word = file.state(page);
        debug_assert!(state::is_exclusive(word), "whoever forgets a page holds it alone");
        match latched {
            LatchOutcome::Absent => true,
            LatchOutcome::Resident if word.load(Relaxed) & WRITING != 0 => {
                state::unlatch_exclusive(word, 0, 0);
                false
            }
            LatchOutcome::Resident => {
                self.pool.discard(file, page);
                true
            }
        }
    }
}
