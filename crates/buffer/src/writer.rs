//! Writes pages to their places in the data files (their homes): first copies, then the log
//! (write-ahead), then the doublewrite area, then the homes.
//!
//! A batch is collected under shared latches: each page is copied, its recovery LSN is taken over,
//! and WRITING is set. Then the batch is written without any latch. While WRITING is set, the page
//! is neither evicted nor collected again. So two copies of one page are never being written at
//! once.
//!
//! Invariants
//!  1. No page is written to disk before the log up to its LSN (write-ahead).
//!  2. No page is written home before its batch is durable in the doublewrite area. The area is
//!     reused only after the homes are durable.
//!  3. A page's recovery LSN is either in its word or in `in_flight` until its home is durable.
//!  4. No latch is waited for while the doublewrite area is held: a latch holder may be waiting for
//!     a frame, and so for this writer.

use crate::doublewrite::Doublewrite;
use crate::pages::PageFile;
use crate::state::{self, WRITING};
use base::limits::PAGE_BYTES;
use base::{Lsn, PageId};
use os::counters::{Counters, Event};
use os::disk::File;
use os::sync::Mutex;
use os::vm::AlignedBuffer;
use page::{PageBytes, PageView};
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool,
    Ordering::{Acquire, Relaxed},
};
use wal::Log;

/// Pages of a batch.
pub(crate) const BATCH_PAGES: usize = 31;

/// Faults for the mutation proof: in builds with the feature only, and off until chosen.
#[derive(Default)]
pub(crate) struct Mutations {
    pub(crate) doublewrite: AtomicBool,
    pub(crate) write_ahead: AtomicBool,
    pub(crate) group_end: AtomicBool,
    pub(crate) redo_only: AtomicBool,
}

impl Mutations {
    pub(crate) fn skip_group_end(&self) -> bool {
        cfg!(feature = "mutations") && self.group_end.load(Relaxed)
    }
    /// Whether redo leaves a record out.
    pub(crate) fn skip_redo_of(&self, kind: wal::Kind) -> bool {
        // The page itself is made.
        let of_versions = kind.0 > wal::kinds::FIRST_OF_VERSIONS;
        cfg!(feature = "mutations") && of_versions && self.redo_only.load(Relaxed)
    }
    fn skip_doublewrite(&self) -> bool {
        cfg!(feature = "mutations") && self.doublewrite.load(Relaxed)
    }
    fn skip_write_ahead(&self) -> bool {
        cfg!(feature = "mutations") && self.write_ahead.load(Relaxed)
    }
}

/// Writes one database's pages.
pub(crate) struct Writer {
    log: Arc<Log>,
    durable: bool,
    area: Mutex<Option<Doublewrite>>,
    in_flight: Mutex<Vec<Lsn>>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) mutations: Mutations,
}

/// Copies on their way home.
pub(crate) struct Batch<'f> {
    buffer: AlignedBuffer,
    pages: Vec<(&'f PageFile, u32)>,
    recovery: Vec<Lsn>,
    newest: Lsn,
}

impl<'f> Batch<'f> {
    pub(crate) fn new() -> Self {
        Batch {
            buffer: AlignedBuffer::new((BATCH_PAGES + 1) * PAGE_BYTES),
            pages: Vec::with_capacity(BATCH_PAGES),
            recovery: Vec::with_capacity(BATCH_PAGES),
            newest: Lsn::ZERO,
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        assert!(self.pages.len() <= BATCH_PAGES, "a batch and its header fit the area");
        self.pages.len() == BATCH_PAGES
    }

    pub(crate) fn len(&self) -> usize {
        assert_eq!(self.pages.len(), self.recovery.len(), "a recovery LSN for each copy");
        self.pages.len()
    }

    /// Whether two copies are of pages that follow each other in a file.
    fn are_neighbours(&self, a: usize, b: usize) -> bool {
        let ((file, page), (next_file, next)) = (self.pages[a], self.pages[b]);
        file.number == next_file.number && page + 1 == next
    }

    /// Copies that follow each other, on their way home.
    fn sealed(&self, run: &[usize]) -> &[u8] {
        for &i in run {
            let (file, page) = self.pages[i];
            let writing = file.state(page).load(Relaxed) & WRITING != 0;
            assert!(writing, "the page stays in memory until its home is durable");
            let copy = self.buffer[(i + 1) * PAGE_BYTES..].first_chunk();
            let id = PageId { file: file.id, page };
            debug_assert!(copy.is_some_and(|b| page::verify(b, id)), "{id}: sealed");
        }
        &self.buffer[(run[0] + 1) * PAGE_BYTES..][..run.len() * PAGE_BYTES]
    }

    fn copy_mut(&mut self, i: usize) -> &mut PageBytes {
        assert!(i < BATCH_PAGES, "a copy of the batch");
        // The first page of the buffer is the doublewrite area's header.
        let from = (i + 1) * PAGE_BYTES;
        let copy = &mut self.buffer[from..from + PAGE_BYTES];
        copy.try_into().expect("a copy has the size of a page")
    }
}

impl Writer {
    pub(crate) fn new(log: &Arc<Log>, durable: bool, counters: &Arc<Counters>) -> Self {
        Writer {
            log: Arc::clone(log),
            durable,
            area: Mutex::new(None),
            in_flight: Mutex::new(Vec::new()),
            counters: Arc::clone(counters),
            mutations: Mutations::default(),
        }
    }

    pub(crate) fn log(&self) -> &Arc<Log> {
        &self.log
    }

    pub(crate) fn doublewrite_to(&self, file: &Arc<dyn File>, pages: u32) {
        assert!(pages as usize > BATCH_PAGES, "a batch and its header fit the area");
        assert!(self.durable, "what does not survive needs no copies");
        let before = self.area.lock().replace(Doublewrite::new(Arc::clone(file)));
        assert!(before.is_none(), "a database has one area");
    }

    /// The oldest recovery LSN among copies on their way home.
    pub(crate) fn oldest_in_flight(&self) -> Lsn {
        self.in_flight.lock().iter().copied().min().unwrap_or(Lsn::MAX)
    }

    /// Copies a page that this thread holds a shared latch of, and releases the latch.
    pub(crate) fn collect<'f>(&self, batch: &mut Batch<'f>, file: &'f PageFile, page: u32) {
        assert!(!batch.is_full(), "there is a place for the copy");
        let word = file.state(page);
        debug_assert!(state::is_shared(word), "pages are copied under the shared latch");
        // In flight first, then out of the word: invariant 3.
        let recovery = file.recovery_lsn(page).load(Acquire);
        let taken = recovery != 0 && word.fetch_or(WRITING, Acquire) & WRITING == 0;
        if taken {
            self.in_flight.lock().push(Lsn(recovery));
            file.recovery_lsn(page).store(0, Relaxed);
            let bytes = file.address(page).bytes();
            let lsn = PageView(bytes).lsn();
            let stamped = !self.durable || lsn >= Lsn(recovery);
            assert!(stamped, "a change marks from before its group and stamps with its end");
            let twice = batch.pages.iter().any(|(f, p)| f.number == file.number && *p == page);
            debug_assert!(!twice, "rule 4: one copy of a page is on its way");
            let i = batch.pages.len();
            batch.copy_mut(i).copy_from_slice(bytes);
            batch.newest = batch.newest.max(lsn);
            batch.pages.push((file, page));
            batch.recovery.push(Lsn(recovery));
        }
        state::unlatch_shared(word);
    }

    /// Writes those pages of a list that can be latched at once, to make room for others.
    pub(crate) fn write_some(&self, file: &PageFile, pages: &[u32]) {
        let mut batch = Batch::new();
        let mut written = 0;
        for &page in pages {
            if state::try_shared(file.state(page)) {
                self.collect(&mut batch, file, page);
            }
            if batch.is_full() {
                written += batch.len();
                self.write(&mut batch);
            }
        }
        if batch.len() > 0 {
            written += batch.len();
            self.write(&mut batch);
        }
        self.counters.add(Event::LazyWrite, written as u64);
        assert_eq!(batch.len(), 0, "a batch is written whole");
    }

    /// Writes a batch home and empties it.
    pub(crate) fn write(&self, batch: &mut Batch<'_>) {
        assert!(batch.len() > 0, "there is something to write");
        if self.durable && !self.mutations.skip_write_ahead() {
            self.log.flush_to(batch.newest);
            assert!(batch.newest < self.log.durable_lsn(), "no page is ahead of the log");
        }
        for i in 0..batch.pages.len() {
            page::seal(batch.copy_mut(i));
        }
        let n = batch.pages.len();
        {
            let mut area = self.area.lock();
            assert_eq!(area.is_some(), self.durable, "rule 2: homes that survive have copies");
            if let Some(area) = area.as_mut().filter(|_| !self.mutations.skip_doublewrite()) {
                let ids = batch.pages.iter().map(|(f, page)| PageId { file: f.id, page: *page });
                let log_end = self.log.end_to_tell();
                area.write(&mut batch.buffer[..(n + 1) * PAGE_BYTES], ids, log_end);
            }
            self.write_home(batch);
        }
        self.settle(batch);
    }

    fn write_home(&self, batch: &Batch<'_>) {
        let mut order: Vec<usize> = (0..batch.pages.len()).collect();
        order.sort_unstable_by_key(|&i| (batch.pages[i].0.number, batch.pages[i].1));
        self.counters.add(Event::PageWrite, order.len() as u64);
        // Neighbours whose copies are neighbours too are one write.
        for run in order.chunk_by(|&a, &b| a + 1 == b && batch.are_neighbours(a, b)) {
            let (file, page) = batch.pages[run[0]];
            let bytes = batch.sealed(run);
            if let Err(e) = file.file.write_at(bytes, u64::from(page) * PAGE_BYTES as u64) {
                os::stop::process(&format!("write page ({}:{page}): {e}", file.id));
            }
        }
        if self.durable {
            let mut synced: Option<u16> = None;
            for &i in &order {
                let file = batch.pages[i].0;
                if synced != Some(file.number) {
                    synced = Some(file.number);
                    if let Err(e) = file.file.sync() {
                        os::stop::process(&format!("sync of {} failed: {e}", file.name));
                    }
                }
            }
        }
    }

    /// The homes are durable: the pages are clean, unless changed again meanwhile.
    fn settle(&self, batch: &mut Batch<'_>) {
        assert_eq!(batch.pages.len(), batch.recovery.len(), "a recovery LSN for each copy");
        let mut in_flight = self.in_flight.lock();
        assert!(in_flight.len() >= batch.recovery.len(), "what was collected is in flight");
        for lsn in batch.recovery.drain(..) {
            let at = in_flight.iter().position(|&l| l == lsn);
            in_flight.swap_remove(at.expect("what was collected is in flight"));
        }
        drop(in_flight);
        for (file, page) in batch.pages.drain(..) {
            let before = file.state(page).fetch_and(!WRITING, Relaxed);
            assert!(before & WRITING != 0, "it was on its way until now");
            assert!(before & state::RESIDENT != 0, "and in memory (rule 4)");
        }
        batch.newest = Lsn::ZERO;
    }
}

#[cfg(feature = "mutations")]
impl crate::Pages {
    /// Turns a fault on: "doublewrite", "write-ahead", "group-end" or "redo-only".
    pub fn mutate(&self, fault: &str) {
        let m = &self.writer.mutations;
        match fault {
            "doublewrite" => m.doublewrite.store(true, Relaxed),
            "write-ahead" => m.write_ahead.store(true, Relaxed),
            "group-end" => m.group_end.store(true, Relaxed),
            "redo-only" => m.redo_only.store(true, Relaxed),
            other => panic!("there is no fault called {other}"),
        }
    }
}
