//! The page half of a checkpoint: everything dirty goes home.

use crate::pages::{PageFile, Pages};
use crate::state::{self, Latched, RESIDENT, WRITING};
use crate::writer::Batch;
use base::Lsn;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// What a flush achieved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlushedTo {
    /// Every change before this is home and durable.
    pub lsn: Lsn,
    /// Pages written.
    pub pages: u64,
}

impl Pages {
    /// Writes every page that was dirty at the call, and says up to where all changes are home.
    ///
    /// Waits for page latches, one at a time and holding nothing else.
    pub fn flush_dirty(&self) -> FlushedTo {
        let began = self.log().next_lsn();
        let mut pages = 0;
        for file in self.files.iter().filter_map(OnceLock::get) {
            let mut batch = Batch::new();
            for page in self.pool.dirty_pages(file) {
                if self.latch_dirty(file, page) {
                    self.writer.collect(&mut batch, file, page);
                }
                if batch.is_full() {
                    pages += super::writer::BATCH_PAGES as u64;
                    self.writer.write(&mut batch);
                }
            }
            if !batch.is_empty() {
                pages += 1;
                self.writer.write(&mut batch);
            }
        }
        FlushedTo { lsn: self.oldest_dirty(began), pages }
    }

    /// The shared latch of a page that is still dirty and not on its way home.
    fn latch_dirty(&self, file: &PageFile, page: u32) -> bool {
        let word = file.state(page);
        if file.recovery_lsn(page).load(Relaxed) == 0 || word.load(Relaxed) & WRITING != 0 {
            return false;
        }
        match state::latch_shared(word) {
            Latched::Resident => true,
            Latched::Absent => {
                // Written and evicted since the list was made.
                assert_eq!(file.recovery_lsn(page).load(Relaxed), 0, "a dirty page is in memory");
                state::unlatch_exclusive(word, 0, RESIDENT);
                false
            }
        }
    }
}
