//! The pool: how many pages are in memory at once, and which one is evicted next (clock algorithm).
//!
//! A frame is the right to have one page in memory. The clock hand goes over the frames. A page
//! that was used since the last visit gets a second chance, a dirty page is collected for writing,
//! a latched page is skipped. A sweep ends when it has found the wanted number of clean pages, or a
//! batch of dirty ones. The pages of that batch are written and then evicted themselves; the hand
//! does not look for others. So the cost of a frame does not depend on the number of frames.
//!
//! Invariants
//!  1. Pages in memory <= frames, always.
//!  2. A frame names a page exactly while that page is RESIDENT or being read.
//!  3. While the list of files is held, nothing is written and no page is waited for.
//!  4. A closed file gets no frame any more. A thread that puts a page into a frame then checks
//!     whether the file is closed, and the thread that closes a file then checks the frames. One of
//!     the two sees the other.

use crate::BufferError;
use crate::pages::PageFile;
use crate::reads;
use crate::state::{self, LatchOutcome, REFERENCED, RESIDENT, WRITING};
use crate::writer::BATCH_PAGES;
use base::limits::PAGE_BYTES;
use base::{DatabaseId, PageId};
use os::counters::Counters;
use os::memory::{Memory, Reservation};
use os::sync::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicU64, AtomicUsize};

/// Frames that one sweep tries to free.
const EVICT_BATCH: usize = 64;
/// Dirty pages that end a sweep: two batches of the writer, so that each sync writes enough.
const DIRTY_BATCH: usize = 2 * BATCH_PAGES;
/// How often it is checked whether a page's last copy has been written.
const HOME_POLL_NS: u64 = 50_000;

/// A page in memory, as sys.dm_os_buffer_descriptors shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// Its database.
    pub database: DatabaseId,
    /// The page.
    pub page: PageId,
    /// Whether it differs from the disk.
    pub dirty: bool,
}

/// What a frame holds: 1 << 63 | file number << 32 | page, or 0.
fn frame_word(number: u16, page: u32) -> u64 {
    debug_assert!(number < 1 << 15, "a file's number leaves the mark alone");
    (1 << 63) | (u64::from(number) << 32) | u64::from(page)
}

type Files = Vec<Option<Arc<PageFile>>>;

/// A dirty page that a sweep has met.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DirtyPage {
    file: u16,
    page: u32,
    frame: u32,
}

/// A page that is being evicted: exclusively latched until its memory is given back.
struct Victim<'f> {
    file: &'f PageFile,
    page: u32,
    frame: u32,
}

/// The page that a frame's word names, if its file is open.
fn named(files: &Files, word: u64) -> Option<(&PageFile, u32)> {
    let number = (word >> 32) as u16 & 0x7FFF;
    let file = files.get(usize::from(number)).and_then(Option::as_deref);
    file.filter(|_| word != 0).map(|file| (file, word as u32))
}

/// All frames of the instance.
pub struct Pool {
    frames: Box<[AtomicU64]>,
    free: Mutex<Vec<u32>>,
    hand: AtomicUsize,
    files: RwLock<Files>,
    counters: Arc<Counters>,
    _memory: Reservation,
}

impl Pool {
    /// A pool of that many frames, charged to the instance's memory.
    ///
    /// # Errors
    /// When the memory limit does not allow so many.
    pub fn new(memory: &Arc<Memory>, frames: usize) -> Result<Arc<Pool>, os::memory::OutOfMemory> {
        assert!(frames >= 32, "a split latches a dozen pages");
        let clerk = memory.clerk("MEMORYCLERK_SQLBUFFERPOOL");
        let _memory = memory.reserve(&clerk, frames * (PAGE_BYTES + 32))?;
        Ok(Arc::new(Pool {
            frames: (0..frames).map(|_| AtomicU64::new(0)).collect(),
            free: Mutex::new((0..frames as u32).rev().collect()),
            hand: AtomicUsize::new(0),
            files: RwLock::new(Vec::new()),
            counters: Arc::default(),
            _memory,
        }))
    }

    /// Frames.
    pub fn frame_count(&self) -> usize {
        self.frames.len()
    }

    /// What has happened to pages of the instance, and what those above count of them.
    pub fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    /// Frames that hold nothing.
    pub fn free_count(&self) -> usize {
        let free = self.free.lock().len();
        debug_assert!(free <= self.frames.len(), "a frame is free once");
        free
    }

    /// A frame that its caller has emptied can be taken again.
    fn put_free(&self, frame: u32) {
        let mut free = self.free.lock();
        let word = self.frames[frame as usize].load(Relaxed);
        assert_eq!(word, 0, "a free frame names no page (rule 5)");
        assert!(free.len() < self.frames.len(), "a frame is free once");
        free.push(frame);
    }

    /// A free frame, if there is one, for a page that its caller holds exclusively.
    fn pop_free(&self, number: u16, page: u32) -> Option<u32> {
        let frame = self.free.lock().pop()?;
        let before = self.frames[frame as usize].swap(frame_word(number, page), SeqCst);
        assert_eq!(before, 0, "a free frame names no page (rule 5)");
        Some(frame)
    }

    pub(crate) fn register(&self, make: impl FnOnce(u16) -> Arc<PageFile>) -> Arc<PageFile> {
        let mut files = self.files.write();
        let number = files.iter().position(Option::is_none).unwrap_or(files.len());
        assert!(number < 1 << 15, "fewer than 32,768 files are open");
        let file = make(number as u16);
        assert_eq!(usize::from(file.number), number, "a file knows its place");
        if number == files.len() {
            files.push(None);
        }
        files[number] = Some(Arc::clone(&file));
        file
    }

    /// Takes a file's pages out of memory and forgets the file. A thread that still uses it,
    /// against its owner's rules, keeps the pages that it has latched until it releases them; then
    /// it is refused.
    pub(crate) fn forget(&self, file: &PageFile) {
        file.closed.store(true, SeqCst);
        let left = |f: &AtomicU64| f.load(SeqCst) >> 32 == frame_word(file.number, 0) >> 32;
        let mut rounds = 0;
        while self.frames.iter().any(left) {
            if rounds > 0 {
                os::task::sleep_ns(HOME_POLL_NS);
            }
            self.empty_frames_of(file);
            rounds += 1;
        }
        let was = self.files.write()[usize::from(file.number)].take();
        assert!(was.is_some_and(|f| f.number == file.number), "a file is closed once");
    }

    fn empty_frames_of(&self, file: &PageFile) {
        for (i, frame) in self.frames.iter().enumerate() {
            let word = frame.load(Relaxed);
            if word == 0 || word >> 32 != frame_word(file.number, 0) >> 32 {
                continue;
            }
            let page = word as u32;
            let latched = state::latch_exclusive(file.state(page));
            reads::forget_untold();
            let is_on_its_way = file.state(page).load(Relaxed) & WRITING != 0;
            if matches!(latched, LatchOutcome::Absent)
                || frame.load(Relaxed) != word
                || (is_on_its_way && !os::sched::crashed())
            {
                // The lazy writer has evicted it meanwhile, and the frame may hold another page
                // now. Or a thread that needs room writes it, and has not marked it written yet.
                state::unlatch_exclusive(file.state(page), 0, 0);
                continue;
            }
            assert!(state::is_resident(file.state(page)), "a frame names a page in memory");
            file.recovery_lsn(page).store(0, Relaxed);
            file.release(page, 1);
            frame.store(0, Relaxed);
            state::unlatch_exclusive(file.state(page), 0, RESIDENT | WRITING);
            self.put_free(i as u32);
        }
    }

    /// A frame for a page that its caller holds exclusively.
    pub(crate) fn take_frame(&self, file: &PageFile, page: u32) -> Result<u32, BufferError> {
        for attempt in 0..200 {
            if let Some(frame) = self.try_take_frame(file, page) {
                return Ok(frame);
            }
            if file.closed.load(SeqCst) {
                return Err(file.io_error("read", page, &std::io::Error::other("it is closed")));
            }
            if self.evict(EVICT_BATCH) == 0 && attempt > 2 {
                os::task::sleep_ns(100_000 << attempt.min(6));
            }
        }
        Err(BufferError::NoFrames)
    }

    /// A frame for a page that its caller holds exclusively, if one is free without waiting and the
    /// file is open.
    pub(crate) fn try_take_frame(&self, file: &PageFile, page: u32) -> Option<u32> {
        let frame = self.pop_free(file.number, page)?;
        if file.closed.load(SeqCst) {
            // Invariant 4.
            self.return_frame(frame, file.number, page);
            return None;
        }
        Some(frame)
    }

    /// Gives a frame back that was taken for a page that could not be brought in.
    pub(crate) fn return_frame(&self, frame: u32, number: u16, page: u32) {
        let was = self.frames[frame as usize].swap(0, Relaxed);
        assert_eq!(was, frame_word(number, page), "the frame was taken for this page");
        self.put_free(frame);
    }

    /// Takes a page out of memory that its caller holds exclusively, whether it differs from the
    /// disk or not. It stays latched, now absent.
    pub(crate) fn discard(&self, file: &PageFile, page: u32) {
        let word = file.state(page);
        assert!(state::is_exclusive(word), "memory is given back under the exclusive latch");
        let s = word.load(Relaxed);
        assert!(s & RESIDENT != 0 && s & WRITING == 0, "no copy is on its way home (rule 4)");
        file.recovery_lsn(page).store(0, Relaxed);
        file.release(page, 1);
        word.fetch_and(!(RESIDENT | REFERENCED | state::INSPECTED), Relaxed);
        // Rare: a page of a temporary table that is gone, now of a spill file.
        let named = frame_word(file.number, page);
        let frame = self.frames.iter().position(|f| f.load(Relaxed) == named);
        let frame = frame.expect("a page in memory has a frame");
        self.return_frame(frame as u32, file.number, page);
    }

    /// Frees about `wanted` frames, and writes dirty pages when clean ones are few. The written
    /// pages are evicted too, though they may be more than wanted.
    pub fn evict(&self, wanted: usize) -> usize {
        let mut dirty: Vec<DirtyPage> = Vec::new();
        let freed = self.sweep(wanted, &mut dirty);
        assert!(freed <= wanted, "no more leave than was asked");
        if freed >= wanted.min(8) || dirty.is_empty() {
            return freed;
        }
        self.write_dirty(&mut dirty);
        let written = self.evict_written(&dirty);
        assert!(written <= DIRTY_BATCH, "what a sweep has met");
        freed + written
    }

    /// Keeps some frames free, so that readers rarely have to free one: the lazy writer's step.
    pub fn lazy_write(&self) -> usize {
        let low = (self.frames.len() / 32).clamp(8, 1024);
        let free = self.free.lock().len();
        debug_assert!(free <= self.frames.len(), "a frame is free once");
        if free >= low { 0 } else { self.evict(low - free) }
    }

    fn file(&self, number: u16) -> Option<Arc<PageFile>> {
        self.files.read().get(usize::from(number)).cloned().flatten()
    }

    /// Evicts clean pages that were not used lately, until there are enough or a batch of dirty
    /// pages was met.
    fn sweep(&self, wanted: usize, dirty: &mut Vec<DirtyPage>) -> usize {
        let files = self.files.read();
        // Victims stay latched until their memory is released together.
        let mut victims: Vec<Victim<'_>> = Vec::with_capacity(wanted);
        dirty.clear();
        for _ in 0..2 * self.frames.len() {
            if victims.len() >= wanted || dirty.len() >= DIRTY_BATCH {
                break;
            }
            let frame = self.hand.fetch_add(1, Relaxed) % self.frames.len();
            let word = self.frames[frame].load(Relaxed);
            let Some((file, page)) = named(&files, word) else { continue };
            let s = file.state(page).load(Relaxed);
            if s & (state::HOLDERS | WRITING) != 0 || s & RESIDENT == 0 {
                continue;
            }
            if s & REFERENCED != 0 {
                file.state(page).fetch_and(!REFERENCED, Relaxed);
            } else if file.recovery_lsn(page).load(Relaxed) != 0 {
                dirty.push(DirtyPage { file: file.number, page, frame: frame as u32 });
            } else {
                victims.extend(self.latch_clean(file, page, frame as u32));
            }
        }
        debug_assert!(dirty.len() <= DIRTY_BATCH, "one sweep's worth");
        self.release(&mut victims)
    }

    /// Evicts the pages of a list that are clean now and were not used meanwhile.
    fn evict_written(&self, written: &[DirtyPage]) -> usize {
        let files = self.files.read();
        let mut victims: Vec<Victim<'_>> = Vec::with_capacity(written.len());
        for d in written {
            let word = self.frames[d.frame as usize].load(Relaxed);
            let Some((file, page)) = named(&files, word) else { continue };
            let s = file.state(page).load(Relaxed);
            let unused = s & (state::HOLDERS | WRITING | REFERENCED) == 0 && s & RESIDENT != 0;
            if unused && (file.number, page) == (d.file, d.page) {
                victims.extend(self.latch_clean(file, page, d.frame));
            }
        }
        self.release(&mut victims)
    }

    /// A page that a frame named a moment ago, latched to leave, if it still can.
    fn latch_clean<'f>(&self, file: &'f PageFile, page: u32, frame: u32) -> Option<Victim<'f>> {
        let word = file.state(page);
        let latched = state::try_exclusive(word)?;
        // Dirtied, or evicted and its frame reused, in between?
        let still = matches!(latched, LatchOutcome::Resident)
            && self.frames[frame as usize].load(Relaxed) == frame_word(file.number, page)
            && file.recovery_lsn(page).load(Relaxed) == 0
            && word.load(Relaxed) & WRITING == 0;
        if !still {
            state::unlatch_exclusive(word, 0, 0);
            return None;
        }
        debug_assert!(state::is_exclusive(word), "a victim is nobody else's");
        Some(Victim { file, page, frame })
    }

    fn release(&self, victims: &mut [Victim<'_>]) -> usize {
        victims.sort_unstable_by_key(|v| (v.file.number, v.page));
        let mut from = 0;
        while from < victims.len() {
            let first = &victims[from];
            let mut n = 1;
            while let Some(next) = victims.get(from + n)
                && next.file.number == first.file.number
                && next.page == first.page + n as u32
                && !next.page.is_multiple_of(crate::raw::SEGMENT_PAGES)
            {
                n += 1;
            }
            debug_assert!(from + n <= victims.len(), "a run of victims");
            first.file.release(first.page, n as u32);
            from += n;
        }
        for v in victims.iter() {
            let dirty = v.file.recovery_lsn(v.page).load(Relaxed) != 0;
            assert!(!dirty, "a page that differs from the disk stays in memory");
            let word = self.frames[v.frame as usize].swap(0, Relaxed);
            assert_eq!(word, frame_word(v.file.number, v.page), "the victim's own frame (rule 5)");
            state::unlatch_exclusive(v.file.state(v.page), 0, RESIDENT | REFERENCED);
        }
        let mut free = self.free.lock();
        free.extend(victims.iter().map(|v| v.frame));
        assert!(free.len() <= self.frames.len(), "a frame is free once");
        victims.len()
    }

    fn write_dirty(&self, dirty: &mut [DirtyPage]) {
        dirty.sort_unstable();
        let mut from = 0;
        while from < dirty.len() {
            let number = dirty[from].file;
            let n = dirty[from..].iter().take_while(|d| d.file == number).count();
            debug_assert!(n <= DIRTY_BATCH, "one sweep's worth");
            if let Some(file) = self.file(number) {
                let pages: Vec<u32> = dirty[from..from + n].iter().map(|d| d.page).collect();
                file.writer.write_some(&file, &pages);
            }
            from += n;
        }
    }

    /// Pages of a file that differ from the disk. Each is true at its moment, the set is not.
    pub(crate) fn dirty_pages(&self, file: &PageFile) -> Vec<u32> {
        let mut found = Vec::new();
        for frame in &self.frames {
            let word = frame.load(Relaxed);
            if word != 0 && (word >> 32) as u16 & 0x7FFF == file.number {
                let page = word as u32;
                if file.recovery_lsn(page).load(std::sync::atomic::Ordering::Acquire) != 0 {
                    found.push(page);
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// What is in memory, from a frame number on. Each row is true at its moment.
    pub fn descriptors(&self, after: usize, limit: usize) -> Vec<Descriptor> {
        let mut rows = Vec::new();
        let files = self.files.read();
        for frame in self.frames.iter().skip(after).take(limit) {
            if let Some((file, page)) = named(&files, frame.load(Relaxed)) {
                rows.push(Descriptor {
                    database: file.database,
                    page: PageId::new(file.id.0, page),
                    dirty: file.recovery_lsn(page).load(Relaxed) != 0,
                });
            }
        }
        rows
    }
}
