//! What can be read: a source is scanned within a range of its key, by rows or by batches.

use crate::{BatchColumn, BatchCursor, LockPlan, RowBatches, RowCursor, ScanRange};
use base::SqlResult;
use os::clock::WallTime;
use work::Work;

/// How large a source is, as far as it knows without reading it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SourceSize {
    /// Rows.
    pub rows: u64,
    /// Pages.
    pub pages: u64,
}

/// Some pages of a source.
pub struct PageSample<'s> {
    /// Their rows.
    pub cursor: Box<dyn RowCursor + 's>,
    /// How many pages it reads, and of how many.
    pub pages: u64,
    /// All pages with rows; more than there are by those that are above them.
    pub of: u64,
    /// Rows of the source, where that is known.
    pub rows: Option<u64>,
}

/// What a plan does with a heap or index: sys.dm_db_index_usage_stats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// It reads ranges of its key.
    Seek,
    /// It reads all of it.
    Scan,
    /// It looks up the rows of another index's entries.
    Lookup,
    /// It changes it.
    Update,
    /// No plan does it: it is read for statistics.
    SystemScan,
}

/// Rows that can be read: a heap, an index, a system view.
pub trait TableSource: Send + Sync {
    /// A statement begins to run whose plan uses it so: however often, or not at all, it comes to
    /// that. Counted where anybody asks.
    fn used(&self, _how: Use, _at: WallTime) {}

    /// Begins a scan. The cursor stands before its first row.
    ///
    /// # Errors
    /// Lock errors of the table lock, damaged pages, arguments out of range.
    fn scan(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>>;

    /// Begins a plain read by batches of some columns. A source that has rows gives copies of them:
    /// `locks` must be such that nobody gives up or rechecks a row that was read.
    ///
    /// # Errors
    /// As [`TableSource::scan`].
    fn batches(
        &self,
        work: &mut Work,
        range: &ScanRange<'_>,
        locks: &LockPlan,
        columns: &[BatchColumn],
    ) -> SqlResult<Box<dyn BatchCursor + '_>> {
        Ok(Box::new(RowBatches::new(self.scan(work, range, locks)?, columns)))
    }

    /// Begins a scan of all rows with a cursor that outlives the source: where rows have no bound,
    /// as those of a log, so that nobody keeps them. Of other sources `None`.
    ///
    /// # Errors
    /// As [`TableSource::scan`].
    fn stream(&self) -> SqlResult<Option<Box<dyn RowCursor>>> {
        Ok(None)
    }

    /// How large it is.
    fn size(&self) -> SourceSize;

    /// Begins to read some of its pages, spread over all of them, without locks of rows. `wanted`
    /// says how many of so many; `None` where it wants all, or the source has no pages: then a scan
    /// is as good.
    ///
    /// # Errors
    /// As [`TableSource::scan`].
    fn sample(
        &self,
        _work: &mut Work,
        _wanted: &dyn Fn(SourceSize) -> u64,
    ) -> SqlResult<Option<PageSample<'_>>> {
        Ok(None)
    }

    /// Divides a range into parts for so many readers of one transaction. `None` where there is
    /// nothing to divide by. The locks must be such that rows are only asked about, not kept.
    ///
    /// # Errors
    /// Damaged pages.
    fn divide(
        &self,
        _work: &mut Work,
        _range: &ScanRange<'_>,
        _locks: &LockPlan,
        _readers: usize,
    ) -> SqlResult<Option<Box<dyn Division + '_>>> {
        Ok(None)
    }
}

/// A range in parts that several threads read side by side, each with cursors of its own. Parts are
/// given out in the order of the range.
pub trait Division: Send + Sync {
    /// Begins to read the next part that nobody has; `None` when all are given out.
    ///
    /// # Errors
    /// As [`TableSource::scan`].
    fn next(&self, work: &mut Work) -> SqlResult<Option<Box<dyn RowCursor + '_>>>;
}
