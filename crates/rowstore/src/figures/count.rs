//! Counts rows, for sys.partitions.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::hobt::state::Measurement;
use access::SourceSize;
use base::PageId;
use buffer::ReadAhead;
use os::wait::Waiter;
use page::{PageView, RecordKind};

impl RowHobt {
    /// Counts the live rows, for sys.partitions after a start.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    pub(crate) fn count_all(&self, waiter: &Waiter) -> RowResult<u64> {
        self.count_without_aborted();
        let mut rows = 0;
        match &self.tree {
            Some(tree) => {
                let mut ahead = ReadAhead::new();
                let mut at =
                    tree.seek(btree::SearchKey { fields: &[], bias: btree::Bias::FirstAtLeast })?;
                while let Some(leaf) = at {
                    // Not `check`, which may give the turn away while the leaf is latched.
                    waiter.cancellation().map_or(Ok(()), Err)?;
                    let place = (leaf.page_id(), leaf.slot());
                    rows += u64::from(self.stands_for_row(leaf.record(), place)?);
                    let edge = leaf.slot() + 1 == leaf.view().slot_count();
                    at = match edge {
                        true => self.beyond_leaf(tree, leaf, &mut ahead)?,
                        false => leaf.forward()?,
                    };
                }
            }
            None => {
                let (mut ahead, mut before) = (ReadAhead::whole(), PageId::NONE);
                for id in self.home.space.unit_pages(&self.unit, waiter)?.pages {
                    waiter.check()?;
                    ahead.step(&self.home.pages, before, id);
                    before = id;
                    let guard = self.home.pages.read(id)?;
                    rows += self.rows_on(guard.view())?;
                }
            }
        }
        Ok(rows)
    }

    /// What transactions in the aborted map wrote is not counted now. So its revert changes no
    /// count.
    fn count_without_aborted(&self) {
        if !self.home.aborted().is_empty() {
            let aborted = self.home.aborted().list();
            let mut without = self.state.counted_without.lock();
            without.retain(|xsn| self.home.aborted().contains(*xsn));
            without.extend(aborted.iter().map(|aborted| aborted.xsn));
        }
    }

    /// The rows on a page of a heap, or on a leaf. One that was forwarded is counted where it is.
    fn rows_on(&self, view: PageView<'_>) -> RowResult<u64> {
        let mut rows = 0;
        for slot in 0..view.slot_count() {
            let Some(record) = view.record(slot) else { continue };
            let is_stub = RecordKind::of(record[0]) == RecordKind::ForwardingStub;
            let is_row = !is_stub && self.stands_for_row(record, (view.page_id(), slot))?;
            rows += u64::from(is_row);
        }
        Ok(rows)
    }

    /// The first record behind a leaf. The leaf's latch is released while pages are read ahead.
    fn beyond_leaf<'t>(
        &self,
        tree: &'t btree::Tree,
        leaf: btree::LeafRead<'t>,
        ahead: &mut ReadAhead,
    ) -> RowResult<Option<btree::LeafRead<'t>>> {
        let mut position = btree::Position::default();
        leaf.save(&mut position)?;
        let (from, to) = (leaf.page_id(), leaf.view().next_page());
        drop(leaf);
        ahead.step(&self.home.pages, from, to);
        Ok(match tree.resume_next(&position, btree::Bias::FirstAbove)? {
            btree::Successor::Record(leaf) => Some(leaf),
            btree::Successor::End(_) => None,
        })
    }

    /// The rows as sys.partitions shows them, uncommitted ones included. The first call after a
    /// start counts them.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation, after which the number is still
    /// unknown.
    pub(crate) fn row_count(&self, waiter: &Waiter) -> base::SqlResult<u64> {
        use std::sync::atomic::Ordering::Relaxed;
        if self.state.rows_known.load(Relaxed) == 0 {
            let counted =
                self.counting_waits(|| self.count_all(waiter)).map_err(|e| self.sql(e))?;
            self.state.rows.store(counted as i64, Relaxed);
            self.state.rows_known.store(1, Relaxed);
        }
        Ok(self.state.rows.load(Relaxed).max(0) as u64)
    }
}

/// The pages from which the rows are estimated, if they were not counted.
const SAMPLE_PAGES: usize = 32;

impl RowHobt {
    /// The number of rows and pages, without reading all rows. The pages come from the maps, which
    /// are read again when the number of rows has changed by a quarter. The rows are counted as
    /// they change. After a start their number is estimated from at most 32 pages, until
    /// [`RowHobt::row_count`] has counted them.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    pub(crate) fn measured_size(&self, waiter: &Waiter) -> base::SqlResult<SourceSize> {
        use std::sync::atomic::Ordering::Relaxed;
        let now = self.state.rows.load(Relaxed);
        let known = self.state.rows_known.load(Relaxed) != 0;
        let before = *self.state.measured.lock();
        let fresh = before.filter(|m| {
            let rows = (m.at + m.beyond).max(m.at).max(64);
            (now - m.at).abs() <= rows / 4
        });
        let measured = match fresh {
            Some(m) => m,
            None => {
                let found = self.counting_waits(|| self.measure(waiter, now, known, before));
                let found = found.map_err(|e| self.sql(e))?;
                *self.state.measured.lock() = Some(found);
                found
            }
        };
        let rows = if known { now } else { now + measured.beyond };
        Ok(SourceSize { rows: rows.max(0) as u64, pages: measured.pages })
    }

    fn measure(
        &self,
        waiter: &Waiter,
        at: i64,
        known: bool,
        before: Option<Measurement>,
    ) -> RowResult<Measurement> {
        let pages = self.home.space.unit_pages(&self.unit, waiter)?.pages;
        let beyond = match before {
            _ if known => 0,
            Some(m) => m.beyond,
            None => {
                self.count_without_aborted();
                self.sampled_rows(&pages)? - at
            }
        };
        Ok(Measurement { pages: pages.len() as u64, at, beyond })
    }

    /// The rows of all pages, estimated from those of some.
    fn sampled_rows(&self, pages: &[PageId]) -> RowResult<i64> {
        let step = pages.len().div_ceil(SAMPLE_PAGES).max(1);
        let (mut looked, mut rows) = (0_usize, 0_usize);
        for &id in pages.iter().step_by(step) {
            let guard = self.home.pages.read(id)?;
            let view = guard.view();
            looked += 1;
            if view.level() == 0 {
                rows += self.rows_on(view)? as usize;
            }
        }
        Ok((rows * pages.len() / looked.max(1)) as i64)
    }
}
