//! Segments: the addresses of pages, and the only unsafe code of the crate.
//!
//! A segment covers 2^17 pages of a file: 1 GB of reserved addresses for the pages, and for each
//! page a state word and its recovery LSN (16 bytes; touched 4 KB at a time, so a cold segment
//! costs nothing).
//!
//! Invariants
//!  1. A `&PageBytes` exists only while its page's state word counts a shared latch or is
//!     exclusive for this thread; a `&mut PageBytes` only while it is exclusive.
//!  2. Memory is released only under the exclusive latch.

use base::limits::PAGE_BYTES;
use os::vm::Region;
use page::PageBytes;
use std::io;
use std::sync::atomic::AtomicU64;

/// Pages a segment covers.
pub(crate) const SEGMENT_PAGES: u32 = 1 << 17;

pub(crate) struct Segment {
    pages: Region,
    words: Region,
}

impl Segment {
    pub(crate) fn reserve() -> io::Result<Segment> {
        Ok(Segment {
            pages: Region::reserve(SEGMENT_PAGES as usize * PAGE_BYTES)?,
            words: Region::reserve(SEGMENT_PAGES as usize * 16)?,
        })
    }

    fn word(&self, index: u32, which: usize) -> &AtomicU64 {
        assert!(index < SEGMENT_PAGES, "a page of the segment");
        assert!(which < 2, "a page has two words");
        // SAFETY: within the region, 8-byte aligned, zero-initialised, and only ever accessed as
        // an atomic; it lives as long as the segment.
        unsafe { &*self.words.base().add(index as usize * 16 + which * 8).cast::<AtomicU64>() }
    }

    /// The state word of a page.
    #[inline]
    pub(crate) fn state(&self, index: u32) -> &AtomicU64 {
        self.word(index, 0)
    }

    /// The LSN from which redo must look at a page, 0 when it is clean.
    #[inline]
    pub(crate) fn recovery_lsn(&self, index: u32) -> &AtomicU64 {
        self.word(index, 1)
    }

    /// Where a page's bytes are. Dereferenced by guards only.
    #[inline]
    pub(crate) fn address(&self, index: u32) -> PageAddress {
        assert!(index < SEGMENT_PAGES, "a page of the segment");
        PageAddress(self.pages.base().wrapping_add(index as usize * PAGE_BYTES).cast())
    }

    /// Gives the memory of a run of pages back; the caller holds them exclusively.
    pub(crate) fn release(&self, index: u32, pages: u32) {
        assert!(index + pages <= SEGMENT_PAGES, "a run of the segment");
        assert!(pages > 0, "there is something to give back");
        // SAFETY: the caller holds the exclusive latch of each page, so invariant 1 says that no
        // reference into the range exists.
        unsafe {
            self.pages.release(index as usize * PAGE_BYTES, pages as usize * PAGE_BYTES);
        }
    }

    /// The bytes of a run of pages to read into; the caller holds them exclusively.
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn run_mut(&self, index: u32, pages: u32) -> &mut [u8] {
        assert!(index + pages <= SEGMENT_PAGES, "a run of the segment");
        assert!(pages > 0, "there is something to read into");
        // SAFETY: within the region; the caller holds the exclusive latch of each page, so this
        // is the only reference (invariant 1).
        unsafe {
            let base = self.pages.base().add(index as usize * PAGE_BYTES);
            std::slice::from_raw_parts_mut(base, pages as usize * PAGE_BYTES)
        }
    }
}

/// Cache lines of slots that are brought near: 256 slots.
const SLOT_LINES: usize = 8;

/// The address of a page's bytes.
#[derive(Clone, Copy)]
pub(crate) struct PageAddress(*mut PageBytes);

// SAFETY: an address alone gives no access; guards do, by the latch protocol.
unsafe impl Send for PageAddress {}
// SAFETY: as above.
unsafe impl Sync for PageAddress {}

impl PageAddress {
    /// The bytes, for a guard that holds a latch at least as long as `'a`.
    #[inline]
    pub(crate) fn bytes<'a>(self) -> &'a PageBytes {
        // SAFETY: called by guards only, which hold the latch (invariant 1) and borrow the pool.
        unsafe { &*self.0 }
    }

    /// Brings near what a search reads first: the header and the slots, which end the page.
    #[inline]
    pub(crate) fn prefetch(self) {
        use os::vm::{CACHE_LINE_BYTES, prefetch};
        let start = self.0.cast_const().cast::<u8>();
        prefetch(start);
        for line in 1..=SLOT_LINES {
            prefetch(start.wrapping_add(size_of::<PageBytes>() - line * CACHE_LINE_BYTES));
        }
    }

    /// The bytes, for a guard that holds the exclusive latch at least as long as `'a`.
    #[inline]
    pub(crate) fn bytes_mut<'a>(self) -> &'a mut PageBytes {
        // SAFETY: called by write guards through `&mut self` only (invariant 1).
        unsafe { &mut *self.0 }
    }
}
