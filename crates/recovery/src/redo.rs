//! Redo: repeats history, group by group.
//!
//! Each page's LSN says which groups it has. A group is applied to the pages that lack it, by the
//! same handlers that applied it first. So redo can be interrupted anywhere and begun again.

use crate::RecoveryError;
use crate::analysis::Analysis;
use base::{Lsn, PageId};
use buffer::Pages;
use std::sync::Arc;
use wal::{GroupView, Log, LogReader, RecordView, TransactionChain};

/// What recovery found and did: facts for the error log and for undo.
#[derive(Clone, Debug, Default)]
pub struct RedoReport {
    /// Where the pass began: the checkpoint's `min_lsn`.
    pub start: Lsn,
    /// The end of the log that survived: its last record.
    pub end: Lsn,
    /// Groups read.
    pub groups: u64,
    /// Records read.
    pub records: u64,
    /// Pages looked at, once for each group that changed them.
    pub pages: u64,
    /// Of these, pages that lacked the group.
    pub applied: u64,
    /// Of these, pages that could not be read or do not fit their log, and were left as they are.
    pub skipped: u64,
    /// Transactions that committed.
    pub committed: u64,
    /// Transactions that had rolled back.
    pub aborted: u64,
    /// Transactions without end, oldest first: to be undone by their owners.
    pub losers: Vec<TransactionChain>,
    /// Time of the pass. Analysis and redo are one.
    pub redo_ns: u64,
}

/// Redoes every group from `from`, which is `log.checkpoint().min_lsn` when a database is opened,
/// and shows each record to `observer` after it was applied.
///
/// The caller has repaired torn pages ([`buffer::restore_torn_pages`]) and attached the files;
/// nobody else uses them yet.
///
/// # Errors
/// A page or the log could not be read, or one does not fit the other.
pub fn redo(
    log: &Arc<Log>,
    pages: &Arc<Pages>,
    from: Lsn,
    observer: impl FnMut(&RecordView<'_>),
) -> Result<RedoReport, RecoveryError> {
    let mut done = RedoReport { start: from, ..RedoReport::default() };
    pass(log, pages, &mut done, false, observer)?;
    Ok(done)
}

/// The same for a damaged database: pages that do not fit their log are left as they are, and a
/// place where the log cannot be read counts as its end.
pub fn redo_what_fits(
    log: &Arc<Log>,
    pages: &Arc<Pages>,
    from: Lsn,
    observer: impl FnMut(&RecordView<'_>),
) -> RedoReport {
    let mut done = RedoReport { start: from, ..RedoReport::default() };
    if pass(log, pages, &mut done, true, observer).is_err() {
        // What else would have come is unknown: no loser is undone.
        done.skipped += 1;
    }
    done
}

fn pass(
    log: &Arc<Log>,
    pages: &Arc<Pages>,
    done: &mut RedoReport,
    leaves: bool,
    mut observer: impl FnMut(&RecordView<'_>),
) -> Result<(), RecoveryError> {
    let from = done.start;
    assert!(from < log.next_lsn(), "redo begins within the log");
    let began = os::clock::monotonic_ns();
    let mut analysis = Analysis::default();
    let mut reader = LogReader::new(log, from);
    let (mut touched, mut ahead) = (Vec::new(), ReadAhead::default());
    while reader.next_block(|group: &GroupView<'_>| {
        redo_group(pages, group, (&mut touched, &mut ahead), leaves, done)?;
        for record in group.records {
            analysis.record(record)?;
            observer(record);
        }
        Ok::<(), RecoveryError>(())
    })? {}
    (done.committed, done.aborted) = (analysis.committed, analysis.aborted);
    done.losers = analysis.losers();
    assert!(done.end < log.next_lsn(), "redo ends within the log");
    assert!(done.groups == 0 || done.end >= from, "it read from where it was told");
    let seen = |t: &TransactionChain| t.last <= done.end;
    assert!(done.losers.iter().all(seen), "a loser's records were read");
    done.redo_ns = os::clock::monotonic_ns().saturating_sub(began);
    Ok(())
}

fn redo_group(
    pages: &Pages,
    group: &GroupView<'_>,
    (touched, ahead): (&mut Vec<PageId>, &mut ReadAhead),
    leaves: bool,
    done: &mut RedoReport,
) -> Result<(), RecoveryError> {
    assert!(done.end < group.end(), "the log is read in order");
    touched.clear();
    for page in group.records.iter().filter_map(RecordView::page) {
        if !touched.contains(&page) {
            touched.push(page);
        }
    }
    for &page in touched.iter() {
        ahead.comes_to(pages, page);
        match pages.redo_group(page, group) {
            Ok(applied) => done.applied += u64::from(applied),
            Err(_) if leaves => done.skipped += 1,
            Err(e) => return Err(e.into()),
        }
    }
    assert!(touched.len() <= group.records.len(), "a record changes one page");
    done.end = group.end();
    done.groups += 1;
    done.records += group.records.len() as u64;
    done.pages += touched.len() as u64;
    Ok(())
}

/// Pages of an extent, which are read together where one of them is missed.
const EXTENT_PAGES: u32 = 8;
/// Pages read at a time where misses follow each other.
const WINDOW_PAGES: u32 = 32;

/// Reads ahead of redo. A page that is not in memory is read with its extent. More is read when the
/// last run ended right before it, as it does when all rows of a table were changed.
#[derive(Default)]
struct ReadAhead {
    /// The page behind the last run.
    until: PageId,
    /// The last run that brought in no page, as its pages were never written.
    barren: (PageId, u32),
}

impl ReadAhead {
    fn comes_to(&mut self, pages: &Pages, page: PageId) {
        if pages.is_resident(page) || self.is_barren(page) {
            return;
        }
        let follows = page.file == self.until.file
            && (self.until.page..self.until.page + EXTENT_PAGES).contains(&page.page);
        let of_extent = EXTENT_PAGES - page.page % EXTENT_PAGES;
        let window = if follows { WINDOW_PAGES } else { of_extent };
        pages.read_ahead(page, window);
        self.until = PageId { file: page.file, page: page.page.saturating_add(window) };
        if !pages.is_resident(page) {
            self.barren = (page, window);
        }
    }

    fn is_barren(&self, page: PageId) -> bool {
        let (first, count) = self.barren;
        page.file == first.file && (first.page..first.page + count).contains(&page.page)
    }
}
