//! Read-ahead: one read brings in many pages that a walk will probably visit.
//!
//! Pages that follow each other in a file also do so in memory, so one read brings in a run. What
//! is read ahead is a guess: it waits for nothing and reports no errors. A page that is latched, or
//! damaged, stays absent; a thread that visits it reads it itself (and gets 823 or 824).
//!
//! A walk says at each step where it goes. The longer it has gone from page to following page, the
//! more is read ahead: nothing at its first step, then the rest of the extent, then 32 pages. A
//! jump starts again from nothing. So the pages read in vain are bounded by those read usefully.
//!
//! Invariants
//!  1. Latches of a run are tried, never waited for: a page in use is not read.
//!  2. Frames are found before the first latch is taken. Under latches only free frames are taken.

use crate::pages::{PageFile, Pages};
use crate::reads;
use crate::state::{self, LatchOutcome, RESIDENT, WRITING};
use base::PageId;
use base::limits::PAGE_BYTES;
use os::counters::Event;
use std::sync::atomic::Ordering::Relaxed;

/// Pages read at a time by a walk that goes on and on.
const WINDOW: u32 = 32;
/// Steps in a row after which a walk counts as sequential.
const STEPS_LONG: u32 = EXTENT_PAGES;
const EXTENT_PAGES: u32 = 8;

/// How far a walk along pages has come, and how far it was read ahead of.
#[derive(Clone, Copy, Default, Debug)]
pub struct ReadAhead {
    /// Steps in a row that each led to the following page.
    steps: u32,
    /// Everything before this page of the file was read ahead; meaningless when `steps` is 0.
    until: u32,
    /// The walk goes to the end, so each extent is read whole.
    whole: bool,
}

impl ReadAhead {
    /// A walk that may end soon.
    pub fn new() -> ReadAhead {
        ReadAhead::default()
    }

    /// A walk over all pages of an owner of extents.
    pub fn whole() -> ReadAhead {
        ReadAhead { whole: true, ..ReadAhead::default() }
    }

    /// The walk goes from one page to another, which it has not read yet. It holds no latch that
    /// others wait for, as this call may read.
    pub fn step(&mut self, pages: &Pages, from: PageId, to: PageId) {
        self.step_within(pages, from, to, |most| most);
    }

    /// The same for a walk that knows which pages follow: `run` returns how many pages from this
    /// one on, at most the given number, follow each other. Pages of other owners are not read.
    pub fn step_within(
        &mut self,
        pages: &Pages,
        from: PageId,
        to: PageId,
        run: impl FnOnce(u32) -> u32,
    ) {
        let follows = from.file == to.file && from.page.checked_add(1) == Some(to.page);
        self.steps = if follows { self.steps + 1 } else { 0 };
        if self.steps > 0 && to.page < self.until {
            return;
        }
        // When the next page is in memory nothing is read. Otherwise pages behind it that never
        // were written would be read again and again.
        if self.steps > 0 && pages.is_resident(to) {
            return;
        }
        let window = self.window(to);
        let window = if window > 1 { run(window) } else { window };
        self.until = to.page.saturating_add(window);
        assert!((1..=WINDOW).contains(&window), "the page itself, and a bounded number behind it");
        // A single page is left to the walk itself.
        if window > 1 {
            pages.read_ahead(to, window);
        }
    }

    fn window(&self, to: PageId) -> u32 {
        let of_extent = EXTENT_PAGES - to.page % EXTENT_PAGES;
        debug_assert!((1..=EXTENT_PAGES).contains(&of_extent), "a page is of its extent");
        match self.steps {
            0 | 1 if !self.whole => 1,
            n if n < STEPS_LONG => of_extent,
            _ => WINDOW,
        }
    }
}

impl Pages {
    /// Whether a page is in memory, at this moment.
    pub fn is_resident(&self, id: PageId) -> bool {
        self.slot(id).is_ok_and(|slot| state::is_resident(slot.state()))
    }

    /// Brings in a run of pages with one read: those that are absent, within the file, and for
    /// which frames are free without waiting. Damage is left for readers to find.
    pub fn read_ahead(&self, first: PageId, pages: u32) {
        let Ok(slot) = self.slot(first) else { return };
        let file = slot.file;
        let pages = pages.min(WINDOW).min(self.pool.frame_count() as u32 / 4);
        let len = file.file.len().unwrap_or(0) / PAGE_BYTES as u64;
        let end = (u64::from(first.page) + u64::from(pages)).min(len) as u32;
        let absent = |page: &u32| !state::is_resident(file.state(*page));
        let wanted = (first.page..end).filter(absent).count();
        if wanted > self.pool.free_count() {
            self.pool.evict(wanted);
        }
        let mut at = first.page;
        while wanted > 0 && at < end {
            // Memory is contiguous within a segment.
            let edge = end.min((at / crate::raw::SEGMENT_PAGES + 1) * crate::raw::SEGMENT_PAGES);
            assert!(at < edge, "each turn goes on");
            let mut frames = [0; WINDOW as usize];
            // The place exists before the claim: so no claim is lost.
            let places = frames.iter_mut().zip(at..edge);
            let n = places.map_while(|(p, page)| self.claim(file, page).map(|f| *p = f)).count();
            if n > 0 {
                self.read_run(file, at, &frames[..n]);
            }
            at += (n as u32).max(1);
        }
    }

    /// Latches an absent page exclusively and gets it a frame, without waiting.
    fn claim(&self, file: &PageFile, page: u32) -> Option<u32> {
        if file.state(page).load(Relaxed) & RESIDENT != 0 {
            return None;
        }
        match state::try_exclusive(file.state(page)) {
            Some(LatchOutcome::Absent) => {
                let writing = file.state(page).load(Relaxed) & WRITING != 0;
                debug_assert!(!writing, "rule 4: a page on its way home stays in memory");
                debug_assert_eq!(file.recovery_lsn(page).load(Relaxed), 0, "nor is it dirty");
                let frame = self.pool.try_take_frame(file, page);
                if frame.is_none() {
                    state::unlatch_exclusive(file.state(page), 0, 0);
                }
                frame
            }
            Some(LatchOutcome::Resident) => {
                state::unlatch_exclusive(file.state(page), 0, 0);
                None
            }
            None => None,
        }
    }

    /// Reads a run of claimed pages and lets them go: sound ones in memory, the others absent.
    fn read_run(&self, file: &PageFile, first: u32, frames: &[u32]) {
        assert!(!frames.is_empty(), "there is something to read");
        let read = file.read(first, frames.len() as u32).is_ok();
        for (page, &frame) in (first..).zip(frames) {
            let id = PageId { file: file.id, page };
            if read && page::verify(file.address(page).bytes(), id) {
                debug_assert!(!state::is_resident(file.state(page)), "it was claimed as absent");
                state::unlatch_exclusive(file.state(page), RESIDENT, 0);
                reads::count_read_ahead();
                self.counters().add(Event::ReadAhead, 1);
            } else {
                file.release(page, 1);
                self.pool.return_frame(frame, file.number, page);
                state::unlatch_exclusive(file.state(page), 0, 0);
            }
        }
    }
}
