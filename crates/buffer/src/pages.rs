//! `Pages`: one database's pages through the pool.

use crate::BufferError;
use crate::doublewrite::DOUBLEWRITE_PAGES;
use crate::guard::{ReadGuard, WriteGuard};
use crate::pool::Pool;
use crate::raw::{PageAddress, SEGMENT_PAGES, Segment};
use crate::reads;
use crate::state::{self, LatchOutcome, RESIDENT};
use crate::writer::Writer;
use base::limits::PAGE_BYTES;
use base::{DatabaseId, FileId, Lsn, PageId};
use os::counters::{Counters, Event};
use os::disk::File;
use os::wait::{WaitKind, timed};
use page::{PageMut, PageView};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use wal::{GroupView, Log, PageOp, RedoTable};

/// Segments a file may have: 2 TB.
const SEGMENTS_MAX: usize = 2048;
/// File ids a database may use for data (2 is the log's).
const FILES_MAX: usize = 16;

/// What is wrong with a page whose last change is in no log.
const NEWER: &str = "the page is newer than the log";

/// How a database's pages are written.
#[derive(Clone, Copy, Debug)]
pub struct PagesOptions {
    /// The database.
    pub database: DatabaseId,
    /// Whether pages must survive: doublewrite and syncs. False for tempdb.
    pub durable: bool,
    /// Whether the log may end before its pages do, as one that is read up to its damage: a page
    /// that is newer than the log is read and never changed.
    pub salvaged: bool,
}

/// An open data file: addresses and states of its pages.
pub(crate) struct PageFile {
    pub(crate) number: u16,
    pub(crate) database: DatabaseId,
    pub(crate) id: FileId,
    pub(crate) name: String,
    pub(crate) file: Arc<dyn File>,
    pub(crate) writer: Arc<Writer>,
    /// No page of it comes into memory any more (`pool.rs`, invariant 4).
    pub(crate) closed: AtomicBool,
    salvaged: bool,
    segments: Box<[OnceLock<Segment>]>,
}

impl PageFile {
    #[inline]
    fn segment(&self, page: u32) -> &Segment {
        let segment = &self.segments[(page / SEGMENT_PAGES) as usize];
        match segment.get() {
            Some(s) => s,
            None => segment.get_or_init(|| match Segment::reserve() {
                Ok(s) => s,
                Err(e) => os::stop::process(&format!("reserve 1 GB of addresses: {e}")),
            }),
        }
    }

    #[inline]
    pub(crate) fn state(&self, page: u32) -> &AtomicU64 {
        self.segment(page).state(page % SEGMENT_PAGES)
    }

    #[inline]
    pub(crate) fn recovery_lsn(&self, page: u32) -> &AtomicU64 {
        self.segment(page).recovery_lsn(page % SEGMENT_PAGES)
    }

    #[inline]
    pub(crate) fn address(&self, page: u32) -> PageAddress {
        self.segment(page).address(page % SEGMENT_PAGES)
    }

    pub(crate) fn release(&self, page: u32, pages: u32) {
        let alone = (page..page + pages).all(|p| state::is_exclusive(self.state(p)));
        debug_assert!(alone, "memory is given back under the exclusive latch (rule 5)");
        self.segment(page).release(page % SEGMENT_PAGES, pages);
    }

    /// Reads a run of pages, all within one segment and exclusively latched.
    pub(crate) fn read(&self, page: u32, pages: u32) -> Result<(), BufferError> {
        let alone = (page..page + pages).all(|p| state::is_exclusive(self.state(p)));
        debug_assert!(alone, "pages are read under the exclusive latch");
        let bytes = self.segment(page).run_mut(page % SEGMENT_PAGES, pages);
        let offset = u64::from(page) * PAGE_BYTES as u64;
        self.writer.counters.add(Event::PageRead, u64::from(pages));
        timed(WaitKind::PageIoLatchSh, || self.file.read_at(bytes, offset))
            .map_err(|e| self.io_error("read", page, &e))
    }

    /// The error for a transfer that the operating system refused.
    pub(crate) fn io_error(
        &self,
        doing: &'static str,
        page: u32,
        error: &std::io::Error,
    ) -> BufferError {
        BufferError::Io {
            doing,
            page: PageId { file: self.id, page },
            database: self.database,
            file: self.name.clone(),
            error: error.to_string(),
        }
    }
}

/// A page's file and number: what a guard needs.
#[derive(Clone, Copy)]
pub(crate) struct PageSlot<'a> {
    pub(crate) file: &'a PageFile,
    pub(crate) id: PageId,
}

impl<'a> PageSlot<'a> {
    #[inline]
    pub(crate) fn state(&self) -> &'a AtomicU64 {
        self.file.state(self.id.page)
    }

    #[inline]
    pub(crate) fn recovery_lsn(&self) -> &'a AtomicU64 {
        self.file.recovery_lsn(self.id.page)
    }

    #[inline]
    pub(crate) fn address(&self) -> PageAddress {
        self.file.address(self.id.page)
    }

    /// Whether a salvaged log ends before the page's last change: it may not be changed then. The
    /// caller holds a latch of the page, which is in memory.
    #[inline]
    pub(crate) fn is_beyond_log(&self) -> bool {
        self.file.salvaged && self.is_newer_than_log()
    }

    #[cold]
    fn is_newer_than_log(&self) -> bool {
        PageView(self.address().bytes()).lsn() >= self.file.writer.log().next_lsn()
    }
}

/// One database's pages.
pub struct Pages {
    pub(crate) pool: Arc<Pool>,
    pub(crate) writer: Arc<Writer>,
    pub(crate) redo: Arc<RedoTable>,
    counters: Arc<Counters>,
    pub(crate) files: [OnceLock<Arc<PageFile>>; FILES_MAX],
    options: PagesOptions,
}

impl Pages {
    /// A database's view of the pool, without files yet.
    pub fn new(
        pool: &Arc<Pool>,
        log: &Arc<Log>,
        redo: &Arc<RedoTable>,
        options: PagesOptions,
    ) -> Arc<Pages> {
        Arc::new(Pages {
            pool: Arc::clone(pool),
            writer: Arc::new(Writer::new(log, options.durable, pool.counters())),
            redo: Arc::clone(redo),
            counters: Arc::clone(pool.counters()),
            files: [const { OnceLock::new() }; FILES_MAX],
            options,
        })
    }

    /// Opens a data file. File 1 holds the doublewrite area.
    pub fn attach(&self, id: FileId, name: &str, file: Arc<dyn File>) {
        assert!(id.0 != 0 && usize::from(id.0) < FILES_MAX, "a file id of a database");
        assert!(self.file(id).is_none(), "a file is attached once");
        let page_file = self.pool.register(|number| {
            Arc::new(PageFile {
                number,
                database: self.options.database,
                id,
                name: name.to_owned(),
                file: Arc::clone(&file),
                writer: Arc::clone(&self.writer),
                salvaged: self.options.salvaged,
                closed: AtomicBool::new(false),
                segments: (0..SEGMENTS_MAX).map(|_| OnceLock::new()).collect(),
            })
        });
        if id.0 == 1 && self.options.durable {
            self.writer.doublewrite_to(&file, DOUBLEWRITE_PAGES);
        }
        let fresh = self.files[usize::from(id.0)].set(page_file).is_ok();
        assert!(fresh, "a file is attached once");
    }

    /// The database.
    pub fn database(&self) -> DatabaseId {
        self.options.database
    }

    /// The memory that they have together with those of all other databases.
    pub fn pool(&self) -> &Arc<Pool> {
        &self.pool
    }

    /// What is counted of pages of all databases.
    #[inline]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether its pages survive.
    pub(crate) fn is_durable(&self) -> bool {
        self.options.durable
    }

    /// The log that protects these pages.
    pub fn log(&self) -> &Arc<Log> {
        self.writer.log()
    }

    /// A data file, for growth and statistics.
    pub fn file(&self, id: FileId) -> Option<&Arc<dyn File>> {
        self.files.get(usize::from(id.0))?.get().map(|f| &f.file)
    }

    /// Ids of the data files.
    pub fn file_ids(&self) -> impl Iterator<Item = FileId> + '_ {
        (0..FILES_MAX as u16).map(FileId).filter(|id| self.file(*id).is_some())
    }

    #[inline]
    pub(crate) fn slot(&self, id: PageId) -> Result<PageSlot<'_>, BufferError> {
        match self.files.get(usize::from(id.file.0)).and_then(OnceLock::get) {
            Some(file) if (id.page / SEGMENT_PAGES) < SEGMENTS_MAX as u32 => {
                debug_assert_eq!(file.id, id.file, "a file has the place of its id");
                Ok(PageSlot { file, id })
            }
            _ => Err(self.corrupt(id, "the page id names no file of the database")),
        }
    }

    /// The error for bytes of a page that make no sense to its caller.
    pub fn corrupt(&self, page: PageId, what: &'static str) -> BufferError {
        let file = self.files.get(usize::from(page.file.0)).and_then(OnceLock::get);
        BufferError::Corrupt {
            page,
            database: self.options.database,
            file: file.map(|f| f.name.clone()).unwrap_or_default(),
            what,
        }
    }

    /// A page to read. Waits for writers and for the disk.
    ///
    /// # Errors
    /// 823, 824 or 701.
    #[inline]
    pub fn read(&self, id: PageId) -> Result<ReadGuard<'_>, BufferError> {
        reads::count_logical();
        self.read_again(id)
    }

    /// The same for a scan that goes on where it let the page go: it counts as read once.
    ///
    /// # Errors
    /// 823, 824 or 701.
    #[inline]
    pub fn read_again(&self, id: PageId) -> Result<ReadGuard<'_>, BufferError> {
        let slot = self.slot(id)?;
        self.counters.add(Event::PageLookup, 1);
        if let LatchOutcome::Absent = state::latch_shared(slot.state()) {
            self.bring_in(slot, false)?;
            state::downgrade(slot.state(), RESIDENT);
        }
        if reads::has_waited() {
            reads::tell_page(PageView(slot.address().bytes()));
        }
        debug_assert!(state::is_shared(slot.state()), "nobody writes it");
        debug_assert!(state::is_resident(slot.state()), "and it is in memory");
        Ok(ReadGuard { slot })
    }

    /// A page to change. Waits for readers, writers and the disk.
    ///
    /// # Errors
    /// 823, 824 or 701; 824 too where the log was salvaged and the page is newer.
    #[inline]
    pub fn write(&self, id: PageId) -> Result<WriteGuard<'_>, BufferError> {
        let slot = self.slot(id)?;
        reads::count_logical();
        self.counters.add(Event::PageLookup, 1);
        if let LatchOutcome::Absent = state::latch_exclusive(slot.state()) {
            self.bring_in(slot, false)?;
            slot.state().fetch_or(RESIDENT, Relaxed);
        }
        if reads::has_waited() {
            reads::tell_page(PageView(slot.address().bytes()));
        }
        debug_assert!(state::is_exclusive(slot.state()), "the page is this thread's");
        debug_assert!(state::is_resident(slot.state()), "and in memory");
        let guard = WriteGuard { slot };
        if slot.is_beyond_log() {
            drop(guard);
            return Err(self.corrupt(id, NEWER));
        }
        Ok(guard)
    }

    /// A page is searched soon: its header and the end of its slots come near. What is not in
    /// memory stays where it is.
    #[inline]
    pub fn prefetch(&self, id: PageId) {
        if let Ok(slot) = self.slot(id) {
            slot.address().prefetch();
        }
    }

    /// A page is latched soon: it is read if it is not in memory, and comes near.
    ///
    /// # Errors
    /// 823, 824 or 701.
    #[inline]
    pub fn expect(&self, id: PageId) -> Result<(), BufferError> {
        let slot = self.slot(id)?;
        if !state::is_resident(slot.state()) {
            drop(self.read_again(id)?);
        }
        slot.address().prefetch();
        Ok(())
    }

    /// The exclusive latch, if no thread has a latch of the page and it is in memory.
    pub fn try_write(&self, id: PageId) -> Option<WriteGuard<'_>> {
        let slot = self.slot(id).ok()?;
        match state::try_exclusive(slot.state())? {
            LatchOutcome::Resident => {
                reads::count_logical();
                self.counters.add(Event::PageLookup, 1);
                slot.state().fetch_or(state::REFERENCED, Relaxed);
                debug_assert!(state::is_resident(slot.state()), "only its holder evicts it");
                Some(WriteGuard { slot }).filter(|guard| !guard.slot.is_beyond_log())
            }
            LatchOutcome::Absent => {
                state::unlatch_exclusive(slot.state(), 0, 0);
                None
            }
        }
    }

    /// The shared latch of a page that is in memory, if that needs no waiting.
    pub fn try_read(&self, id: PageId) -> Option<ReadGuard<'_>> {
        let slot = self.slot(id).ok()?;
        if !state::try_shared(slot.state()) {
            return None;
        }
        reads::count_logical();
        self.counters.add(Event::PageLookup, 1);
        debug_assert!(state::is_resident(slot.state()), "nobody evicts what is read");
        Some(ReadGuard { slot })
    }

    /// A page that is about to be formatted: whatever it holds does not matter, nothing is read.
    ///
    /// # Errors
    /// 701.
    pub fn write_new(&self, id: PageId) -> Result<WriteGuard<'_>, BufferError> {
        let slot = self.slot(id)?;
        reads::count_logical();
        self.counters.add(Event::PageLookup, 1);
        if let LatchOutcome::Absent = state::latch_exclusive(slot.state()) {
            let _ = self.frame_for(slot)?;
            slot.address().bytes_mut().fill(0);
            slot.state().fetch_or(RESIDENT, Relaxed);
        }
        reads::forget_untold();
        debug_assert!(state::is_exclusive(slot.state()), "the page is this thread's");
        debug_assert!(state::is_resident(slot.state()), "and in memory");
        Ok(WriteGuard { slot })
    }

    /// A page for redo: one that was never written, or is past the end of the file, is blank.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn write_for_redo(&self, id: PageId) -> Result<WriteGuard<'_>, BufferError> {
        let slot = self.slot(id)?;
        self.counters.add(Event::PageLookup, 1);
        if let LatchOutcome::Absent = state::latch_exclusive(slot.state()) {
            self.bring_in(slot, true)?;
            slot.state().fetch_or(RESIDENT, Relaxed);
        }
        reads::forget_untold();
        debug_assert!(state::is_exclusive(slot.state()), "the page is this thread's");
        debug_assert!(state::is_resident(slot.state()), "and in memory");
        Ok(WriteGuard { slot })
    }

    /// Redo of one group on one page: applies the group's operations on it unless the page has
    /// them already, and stamps the group's end. True when it did.
    ///
    /// # Errors
    /// 823, 824 or 701; also when the page is from a future that the log does not have, or does
    /// not fit the records.
    pub fn redo_group(&self, id: PageId, group: &GroupView<'_>) -> Result<bool, BufferError> {
        let names = |r: &wal::RecordView<'_>| r.page() == Some(id);
        debug_assert!(group.records.iter().any(names), "the group changes the page");
        let mut guard = self.write_for_redo(id)?;
        let (end, on_page) = (group.end(), guard.view().lsn());
        if on_page >= self.log().next_lsn() {
            return Err(self.corrupt(id, NEWER));
        }
        if on_page >= end {
            return Ok(false);
        }
        let first = group.records.first().map_or(end, |r| r.lsn);
        assert!(first <= end && end < self.log().next_lsn(), "the group is in the log");
        guard.mark_dirty(first);
        for r in group.records.iter().filter(|r| r.page() == Some(id)) {
            let (kind, slot, unit) = (r.kind(), r.slot(), r.alloc_unit());
            let op = PageOp { kind, page: id, slot, unit, payload: r.payload() };
            if self.writer.mutations.skip_redo_of(kind) {
                continue;
            }
            if let Err(e) = self.redo.apply(&op, guard.bytes_mut()) {
                // Half a group must never go home: the page's memory is wrong, its disk is not.
                guard.recovery_clear();
                self.forget_page(guard);
                return Err(self.corrupt(id, e.0));
            }
        }
        PageMut(guard.bytes_mut()).set_lsn(end);
        assert_eq!(guard.view().lsn(), end, "the page has the group now");
        assert!(guard.dirty_since() <= first, "rule 3: redo would find it again");
        Ok(true)
    }

    fn frame_for(&self, slot: PageSlot<'_>) -> Result<u32, BufferError> {
        debug_assert!(state::is_exclusive(slot.state()), "who brings a page in holds it alone");
        debug_assert!(!state::is_resident(slot.state()), "a page has one frame");
        let clean = slot.recovery_lsn().load(Relaxed) == 0;
        assert!(clean, "a page that differs from the disk is in memory");
        self.pool.take_frame(slot.file, slot.id.page).inspect_err(|_| {
            state::unlatch_exclusive(slot.state(), 0, 0);
        })
    }

    /// Reads a page that this thread holds exclusively, into the frame that is returned; releases
    /// it when that fails.
    #[cold]
    pub(crate) fn bring_in(&self, slot: PageSlot<'_>, blank_too: bool) -> Result<u32, BufferError> {
        reads::count_physical();
        self.counters.add(Event::PageLookupMiss, 1);
        let frame = self.frame_for(slot)?;
        let began = os::clock::monotonic_ns();
        let done = self.read_and_check(slot, blank_too);
        reads::note_wait(true, os::clock::monotonic_ns() - began);
        if done.is_err() {
            slot.file.release(slot.id.page, 1);
            self.pool.return_frame(frame, slot.file.number, slot.id.page);
            state::unlatch_exclusive(slot.state(), 0, 0);
        }
        done.map(|()| frame)
    }

    fn read_and_check(&self, slot: PageSlot<'_>, blank_too: bool) -> Result<(), BufferError> {
        debug_assert!(!state::is_resident(slot.state()), "nobody sees it before it is checked");
        let end = (u64::from(slot.id.page) + 1) * PAGE_BYTES as u64;
        let len = slot.file.file.len().unwrap_or(0);
        if end > len {
            if blank_too {
                slot.address().bytes_mut().fill(0);
                return Ok(());
            }
            return Err(self.corrupt(slot.id, "the page lies beyond the end of the file"));
        }
        slot.file.read(slot.id.page, 1)?;
        let bytes = slot.address().bytes();
        let blank = blank_too && PageView(bytes).is_blank();
        if !blank && !page::verify(bytes, slot.id) {
            return Err(self.corrupt(slot.id, "incorrect checksum"));
        }
        Ok(())
    }

    /// Takes all pages out of memory, dirty or not, and closes the files.
    pub fn close(&self) {
        for file in self.files.iter().filter_map(OnceLock::get) {
            self.pool.forget(file);
            debug_assert!(self.pool.dirty_pages(file).is_empty(), "nothing of it is left");
        }
    }

    /// The oldest change that is not home yet, or `none_before` when there is none older.
    pub fn oldest_dirty(&self, none_before: Lsn) -> Lsn {
        let mut oldest = none_before.min(self.writer.oldest_in_flight());
        for file in self.files.iter().filter_map(OnceLock::get) {
            for page in self.pool.dirty_pages(file) {
                let lsn = file.recovery_lsn(page).load(Relaxed);
                if lsn != 0 {
                    oldest = oldest.min(Lsn(lsn));
                }
            }
        }
        oldest.min(self.writer.oldest_in_flight())
    }
}
