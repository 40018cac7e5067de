//! The ghost cleaner of a database: which pages it cleans, and how many in one step.
//!
//! A deleting transaction cleans up after itself. The cleaner removes ghosts that a crash, a
//! rollback to a savepoint, a full log, locks of other transactions or a very large transaction
//! left. Recovery notes the pages of ghost records in the log; readers note pages with ghosts that
//! they meet. A checkpoint record contains the noted pages, because the log that would name them
//! again may be truncated. `instance` decides when a step is due.
//!
//! Invariant: a ghost that a transaction leaves is noted before the transaction leaves its
//! database's list of active ones, or stops keeping log there. A checkpoint reads that list first.
//! So either the log from the transaction's first record on is kept, or the checkpoint record
//! contains the page.

use crate::database::Database;
use access::{CleanOutcome, StoredHobt};
use base::{FileId, PageId, SqlError, SqlResult};
use os::wait::Waiter;
use space::AllocUnit;
use std::collections::BTreeSet;
use std::sync::Arc;
use wal::RecordView;
use work::Home;

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GhostProgress {
    /// The pages that were cleaned or skipped.
    pub pages: usize,
    /// Of these, pages with locks of other transactions; they stay noted.
    pub busy: usize,
    /// The last page of the step; `None` at the end of the noted pages.
    pub last: Option<PageId>,
}

/// The pages that recovery may have to clean.
#[derive(Default)]
pub(crate) struct GhostPages(BTreeSet<PageId>);

impl GhostPages {
    /// Processes a record of the log.
    pub(crate) fn see(&mut self, record: &RecordView<'_>) {
        if let Some(carried) = recovery::hints_of(record) {
            let pages = carried.as_chunks().0.iter().map(page_of);
            self.0.extend(pages.filter(|page| !page.is_none()));
        }
        if let Some(page) = record.page()
            && rowstore::may_leave_ghost(record)
            && !page.is_none()
        {
            self.0.insert(page);
        }
    }

    pub(crate) fn hand_to(self, home: &Home) {
        for page in self.0 {
            home.ghosts().note(page);
        }
    }
}

/// A page in a checkpoint record: page 4, file 2.
const PAGE_ID_BYTES: usize = 6;

/// The noted pages for a checkpoint record, as many as fit into so many bytes.
pub(crate) fn carried(home: &Home, bytes: usize) -> Vec<u8> {
    let pages = home.ghosts().known(bytes / PAGE_ID_BYTES);
    pages.into_iter().flat_map(bytes_of).collect()
}

fn bytes_of(page: PageId) -> [u8; PAGE_ID_BYTES] {
    let (p, f) = (page.page.to_le_bytes(), page.file.0.to_le_bytes());
    [p[0], p[1], p[2], p[3], f[0], f[1]]
}

fn page_of(b: &[u8; PAGE_ID_BYTES]) -> PageId {
    PageId::new(u16::from_le_bytes([b[4], b[5]]), u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
}

impl Database {
    /// Cleans the next noted pages behind `last`, at most `budget`, and removes ghosts that no
    /// transaction holds. It waits only for pages, and may be repeated at any time.
    ///
    /// # Errors
    /// Damaged pages and a full log. The page is no longer noted; a reader notes it again.
    pub fn clean_ghosts(&self, last: Option<PageId>, budget: usize) -> SqlResult<GhostProgress> {
        let pages = self.home.ghosts().take_after(last, budget);
        let mut progress = GhostProgress { last: pages.last().copied(), ..Default::default() };
        if pages.len() < budget {
            progress.last = None;
        }
        let work = self.system_work();
        let mut result = Ok(());
        for page in pages {
            progress.pages += 1;
            match self.clean_page(&work, page) {
                Ok(CleanOutcome::Done) => {}
                Ok(CleanOutcome::Busy) => {
                    progress.busy += 1;
                    self.home.ghosts().note(page);
                }
                Err(e) => result = Err(e),
            }
            self.home.ghosts().dealt_with(page);
        }
        assert!(progress.busy <= progress.pages, "what is busy was looked at");
        result.map(|()| progress)
    }

    /// The pages that have ghosts now, noted or not, of one file or of all. This reads every page
    /// of every hobt.
    ///
    /// # Errors
    /// Damaged pages and maps; the waiter's cancellation.
    pub fn pages_with_ghosts(
        &self,
        file: Option<FileId>,
        waiter: &Waiter,
    ) -> SqlResult<Vec<PageId>> {
        let mut found = Vec::new();
        for hobt in self.hobts.all() {
            // The unit of large values may be dropped alone, if its creation was undone.
            for tree in [Some(Arc::clone(&hobt)), hobt.large()].into_iter().flatten() {
                match self.add_pages_with_ghosts(&*tree, (file, waiter), &mut found) {
                    // Its pages may belong to another hobt by now.
                    Err(_) if tree.is_dropped() && waiter.check().is_ok() => {}
                    told => told?,
                }
            }
        }
        Ok(found)
    }

    fn add_pages_with_ghosts(
        &self,
        tree: &dyn StoredHobt,
        (file, waiter): (Option<FileId>, &Waiter),
        found: &mut Vec<PageId>,
    ) -> SqlResult<()> {
        let unit = tree.spec().unit;
        let owned = AllocUnit::open(unit, tree.places().first_iam);
        let pages = self.space.unit_pages(&owned, waiter);
        let pages = pages.map_err(|e| e.into_sql("", &self.home.name()))?.pages;
        for page in pages.into_iter().filter(|p| file.is_none_or(|f| f == p.file)) {
            waiter.check().map_err(SqlError::from)?;
            let guard = self.pages.read(page)?;
            let view = guard.view();
            let is_own = view.alloc_unit() == unit && view.level() == 0;
            if is_own && view.ghost_count() > 0 {
                found.push(page);
            }
        }
        Ok(())
    }

    /// Removes from a page the ghosts that no transaction needs. If a transaction holds one of
    /// them, the page is noted.
    ///
    /// # Errors
    /// A damaged page, a full log.
    pub fn clean_ghosts_of(&self, page: PageId) -> SqlResult<()> {
        if self.clean_page(&self.system_work(), page)? == CleanOutcome::Busy {
            self.home.ghosts().note(page);
        }
        Ok(())
    }

    fn clean_page(&self, work: &work::Work, page: PageId) -> SqlResult<CleanOutcome> {
        let unit = self.pages.read(page)?.view().alloc_unit();
        match self.hobts.open_unit(unit) {
            Some(hobt) => hobt.clean_page(work, page),
            // It was dropped, or never committed: its pages are freed with it.
            None => Ok(CleanOutcome::Done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_carried_as_it_is() {
        for page in [PageId::new(1, 9), PageId::new(7, 0x0102_0304), PageId::new(2, u32::MAX - 1)] {
            assert_eq!(page_of(&bytes_of(page)), page);
        }
        assert_eq!(bytes_of(PageId::new(0x0605, 0x0403_0201)), [1, 2, 3, 4, 5, 6]);
    }
}
