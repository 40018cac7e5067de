//! The page half of a checkpoint: all dirty pages are written to their places in the data files.

use crate::pages::{PageFile, Pages};
use crate::state::{self, LatchOutcome, RESIDENT, WRITING};
use crate::writer::Batch;
use base::Lsn;
use os::counters::Event;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// What a flush achieved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlushOutcome {
    /// Every change before this is durable in the data files.
    pub lsn: Lsn,
    /// Pages written.
    pub pages: u64,
}

impl Pages {
    /// Writes every page that was dirty at the call. Returns the LSN up to which all changes are in
    /// the data files.
    ///
    /// Waits for page latches, one at a time, and holds nothing else meanwhile. A page of which
    /// another thread writes a copy already is left to that thread: `lsn` says what is durable, not
    /// that the call wrote everything.
    pub fn flush_dirty(&self) -> FlushOutcome {
        let began = self.log().next_lsn();
        let mut pages = 0;
        for file in self.files.iter().filter_map(OnceLock::get) {
            let mut batch = Batch::new();
            for page in self.pool.dirty_pages(file) {
                pages += self.flush_one(&mut batch, file, page);
            }
            pages += self.write_batch(&mut batch);
            assert_eq!(batch.len(), 0, "all that was collected is home");
        }
        FlushOutcome { lsn: self.oldest_dirty(began), pages }
    }

    /// Collects a page that is still dirty and of which no copy is being written. Returns how many
    /// pages were written.
    ///
    /// It waits for the latch only with an empty batch: the pages of a batch cannot be evicted, and
    /// the latch's holder may be waiting for a frame (rule 6).
    fn flush_one<'f>(&self, batch: &mut Batch<'f>, file: &'f PageFile, page: u32) -> u64 {
        assert!(!batch.is_full(), "there is a place for the page");
        let word = file.state(page);
        let recovery = file.recovery_lsn(page).load(Relaxed);
        let needed = recovery != 0 && recovery != Lsn::MAX.0;
        if !needed || word.load(Relaxed) & WRITING != 0 {
            return 0;
        }
        let mut written = 0;
        if !state::try_shared(word) {
            written = self.write_batch(batch);
            assert_eq!(batch.len(), 0, "rule 6: no latch is waited for with a batch in hand");
            if let LatchOutcome::Absent = state::latch_shared(word) {
                // It was written and evicted after the list was made.
                assert_eq!(file.recovery_lsn(page).load(Relaxed), 0, "a dirty page is in memory");
                state::unlatch_exclusive(word, 0, RESIDENT);
                return written;
            }
        }
        debug_assert!(state::is_shared(word), "the page is read-latched");
        self.writer.collect(batch, file, page);
        if batch.is_full() {
            written += self.write_batch(batch);
        }
        written
    }

    fn write_batch(&self, batch: &mut Batch<'_>) -> u64 {
        let pages = batch.len();
        if pages > 0 {
            self.writer.write(batch);
            self.counters().add(Event::CheckpointWrite, pages as u64);
        }
        debug_assert_eq!(batch.len(), 0, "a batch is written whole");
        pages as u64
    }
}
