//! Reads a sample of the pages of a heap or clustered index, for statistics.
//!
//! Pages are taken from the allocation maps at even distances, so a sample reads exactly that many.
//! Rows are read as they are, committed or not. The rows of one page are not independent of each
//! other: where values follow the order of pages, the sample has fewer distinct values.

use crate::error::RowResult;
use crate::heap::scan::HeapCursor;
use crate::hobt::RowHobt;
use access::{HobtKind, PageSample, SourceSize};
use base::PageId;
use std::sync::atomic::Ordering::Relaxed;
use work::Work;

impl RowHobt {
    /// See [`access::TableSource::sample`].
    pub(crate) fn sample_pages(
        &self,
        work: &mut Work,
        wanted: &dyn Fn(SourceSize) -> u64,
    ) -> RowResult<Option<PageSample<'_>>> {
        if self.spec.kind == HobtKind::Nonclustered {
            return Ok(None);
        }
        let all = self.home.space.unit_pages(&self.unit, work.owner().waiter())?.pages;
        let known = self.state.rows_known.load(Relaxed) != 0;
        let rows = known.then(|| self.state.rows.load(Relaxed).max(0) as u64);
        let of = all.len() as u64;
        let pages = wanted(SourceSize { rows: rows.unwrap_or(0), pages: of }).max(1);
        if pages >= of {
            return Ok(None);
        }
        let taken = spread(&all, pages);
        debug_assert_eq!(taken.len() as u64, pages, "as many as were wanted");
        let cursor = Box::new(HeapCursor::sampled(self, taken));
        Ok(Some(PageSample { cursor, pages, of, rows }))
    }
}

/// `wanted` of the pages, at even distances.
fn spread(all: &[PageId], wanted: u64) -> Vec<PageId> {
    let of = all.len() as u64;
    (0..wanted).filter_map(|n| all.get((n * of / wanted) as usize).copied()).collect()
}
