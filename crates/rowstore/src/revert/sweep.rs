//! A sweep: reverts all records by aborted transactions in a hobt, a few pages at a time.
//!
//! ```text
//!   tree   in the order of keys: the position is the last key that was looked at
//!   heap   page by page, as listed at the begin: the position is what is left of the list
//! ```
//!
//! A page is looked at under its shared latch first. One that has no such record costs nothing
//! more.
//!
//! Invariants
//!  1. Whatever is before the position has no record by a transaction that was in the map when the
//!     sweep began. A record of a tree keeps its key: a split and a REORGANIZE move it to another
//!     page, and not past the position. A record of a heap leaves its page in
//!     two cases. A change moves the row, and has reverted it before. Or an undo puts a row back on
//!     its former page, and then the record's writer is the transaction that is undone, or one that
//!     had committed before it. So no record is ever moved past a sweep.
//!  2. A page that a heap gets behind the listing has no record by such a transaction, because the
//!     transaction has ended. A page that it has lost is recognized by its unit.
//!  3. The table is locked Sch-S for a step, without waiting: nobody drops the hobt meanwhile, or
//!     changes its columns. Where that is refused, a step looks at no page and ends where it began.

use super::{LogRight, RevertLog, key_of};
use crate::error::RowResult;
use crate::hobt::RowHobt;
use access::{SweepPosition, SweepStep};
use base::{PageId, Xsn};
use btree::{Bias, KeyBuf, Position, SearchKey, Successor};
use buffer::ReadAhead;
use lock::{Duration, Mode};
use page::{PageView, RecordKind, home_of};
use work::Work;

/// The writers that a step looks for, ascending.
struct Writers(Vec<Xsn>);

/// A run of pages in a position of a heap: file 2, first page 4, pages 4.
const RUN_BYTES: usize = 10;

/// Pages that are left, the next ones last.
pub(crate) struct PageList(pub(crate) Vec<u8>);

impl RowHobt {
    /// As [`access::Upkeep::revert_aborted`].
    pub(crate) fn revert_aborted(
        &self,
        work: &Work,
        from: Option<&SweepPosition>,
        budget: usize,
    ) -> base::SqlResult<SweepStep> {
        assert!(budget > 0, "who looks at no page never comes to the end");
        let writers = Writers::of(self);
        // A private hobt has records of the transaction alone that is at work on it.
        let none = writers.0.is_empty() || !self.spec.versions;
        if none || self.is_dropped() || self.is_private() {
            return Ok(SweepStep::default());
        }
        let (locks, owner, table) = (work.locks(), work.owner(), self.object_resource());
        let asked = locks.try_lock_now(owner, table, Mode::SchS, Duration::Short, None);
        if !matches!(asked, Ok(Some(_))) {
            let next = Some(from.cloned().unwrap_or_default());
            return Ok(SweepStep { next, ..SweepStep::default() });
        }
        let from = from.filter(|from| !from.0.is_empty());
        let swept = match self.tree.is_some() {
            _ if self.is_dropped() => Ok(SweepStep::default()),
            true => self.sweep_tree(work, &writers, from, budget),
            false => self.sweep_heap(work, &writers, from, budget),
        };
        locks.release(owner, table);
        swept.map_err(|e| self.sql(e))
    }

    /// Reverts what a page has by aborted transactions.
    pub(crate) fn revert_page(&self, work: &Work, page: PageId) -> RowResult<()> {
        let writers = Writers::of(self);
        if writers.0.is_empty() {
            return Ok(());
        }
        if self.tree.is_none() {
            return self.revert_heap_page(work, &writers, page).map(drop);
        }
        let key = {
            let guard = self.home.pages.read(page)?;
            let view = guard.view();
            if view.alloc_unit() != self.spec.unit || view.level() != 0 {
                return Ok(());
            }
            let slot = writers.first_on(self, view, 0);
            let record = slot.and_then(|slot| view.record(slot));
            record.map(|record| key_of(self, record, page)).transpose()?
        };
        let Some(key) = key else { return Ok(()) };
        let mut log = RevertLog::new(self, work.owner().waiter(), LogRight::Asks);
        self.revert_entries(&mut log, key.fields().as_slice()).map(drop)
    }

    fn sweep_tree(
        &self,
        work: &Work,
        writers: &Writers,
        from: Option<&SweepPosition>,
        budget: usize,
    ) -> RowResult<SweepStep> {
        let (tree, mut step) = (self.tree(), SweepStep::default());
        let fields = from.and_then(|from| btree::key_fields(&from.0));
        let mut position = fields.map(|f| Position::at(KeyBuf::of(f.as_slice())));
        let (mut ahead, mut onward) = (ReadAhead::new(), None);
        while step.pages < budget {
            work.owner().waiter().check()?;
            if let Some((leaf, right)) = onward.take() {
                ahead.step(&self.home.pages, leaf, right);
            }
            let next = match &position {
                Some(position) => tree.resume_next(position, Bias::FirstAbove)?,
                None => tree.seek_next(SearchKey { fields: &[], bias: Bias::FirstAtLeast })?,
            };
            let Successor::Record(leaf) = next else { return Ok(step) };
            step.pages += 1;
            let (page, view) = (leaf.page_id(), leaf.view());
            let Some(slot) = writers.first_on(self, view, leaf.slot()) else {
                onward = Some((page, view.next_page()));
                let last = view.slot_count().saturating_sub(1);
                leaf.onward_to(last).save(position.get_or_insert_default())?;
                continue;
            };
            // The position stays: the leaf is looked at again, until it has no such record.
            let key = {
                let record = view.record(slot).expect("it was just read");
                key_of(self, record, page)?
            };
            drop(leaf);
            let mut log = RevertLog::new(self, work.owner().waiter(), LogRight::Asks);
            step.reverted += self.revert_entries(&mut log, key.fields().as_slice())?;
        }
        let key = position.map(|position| position.key().bytes().to_vec());
        step.next = Some(SweepPosition(key.unwrap_or_default()));
        Ok(step)
    }

    fn sweep_heap(
        &self,
        work: &Work,
        writers: &Writers,
        from: Option<&SweepPosition>,
        budget: usize,
    ) -> RowResult<SweepStep> {
        let waiter = work.owner().waiter();
        let mut left = match from {
            Some(from) => PageList(from.0.clone()),
            None => PageList::of(&self.home.space.unit_pages(&self.unit, waiter)?.pages),
        };
        let (mut step, mut ahead, mut before) =
            (SweepStep::default(), ReadAhead::whole(), PageId::NONE);
        while step.pages < budget {
            waiter.check()?;
            let Some((page, run)) = left.take() else { return Ok(step) };
            ahead.step_within(&self.home.pages, before, page, |most| most.min(run));
            before = page;
            step.pages += 1;
            step.reverted += self.revert_heap_page(work, writers, page)?;
        }
        step.next = Some(SweepPosition(left.0)).filter(|left| !left.0.is_empty());
        Ok(step)
    }

    /// Reverts what a page of a heap has by aborted transactions. How many records.
    fn revert_heap_page(&self, work: &Work, writers: &Writers, page: PageId) -> RowResult<u64> {
        if self.rows_to_revert(writers, page)?.is_empty() {
            return Ok(0);
        }
        let mut log = RevertLog::new(self, work.owner().waiter(), LogRight::Asks);
        let mut reverted = 0;
        loop {
            match self.revert_in_place(&mut log, page)? {
                0 => break,
                more => reverted += more,
            }
        }
        // What is left has no room there, or may go home.
        for home in self.rows_to_revert(writers, page)? {
            reverted += u64::from(self.revert_row(&mut log, home)?);
        }
        Ok(reverted)
    }

    /// The RIDs of the rows on a page that are by the writers.
    fn rows_to_revert(&self, writers: &Writers, page: PageId) -> RowResult<Vec<(PageId, u16)>> {
        let guard = self.home.pages.read(page)?;
        let view = guard.view();
        let (mut rows, mut slot) = (Vec::new(), 0);
        if view.alloc_unit() != self.spec.unit {
            return Ok(rows);
        }
        while let Some(at) = writers.first_on(self, view, slot) {
            let home = view.record(at).and_then(home_of);
            rows.push(home.unwrap_or((page, at)));
            slot = at + 1;
        }
        Ok(rows)
    }
}

impl Writers {
    /// Those in the aborted map.
    fn of(hobt: &RowHobt) -> Writers {
        let aborted = hobt.home.aborted();
        if aborted.is_empty() {
            return Writers(Vec::new());
        }
        Writers(aborted.list().iter().map(|aborted| aborted.xsn).collect())
    }

    /// The first record of a page by one of them, from a slot on.
    fn first_on(&self, hobt: &RowHobt, view: PageView<'_>, from: u16) -> Option<u16> {
        let page = view.page_id();
        (from..view.slot_count()).find(|&slot| {
            let record = view.record(slot);
            record.is_some_and(|record| {
                // A stub has no tag.
                RecordKind::of(record[0]) != RecordKind::ForwardingStub
                    && hobt
                        .tag_of(record, (page, slot))
                        .is_some_and(|tag| self.0.binary_search(&tag.writer).is_ok())
            })
        })
    }
}

impl PageList {
    pub(crate) fn of(pages: &[PageId]) -> PageList {
        let mut runs: Vec<(PageId, u32)> = Vec::new();
        for &page in pages {
            match runs.last_mut() {
                Some((first, count))
                    if first.file == page.file && first.page + *count == page.page =>
                {
                    *count += 1;
                }
                _ => runs.push((page, 1)),
            }
        }
        let mut list = PageList(Vec::with_capacity(runs.len() * RUN_BYTES));
        runs.iter().rev().for_each(|run| list.push(*run));
        list
    }

    fn push(&mut self, (first, count): (PageId, u32)) {
        self.0.extend_from_slice(&first.file.0.to_le_bytes());
        self.0.extend_from_slice(&first.page.to_le_bytes());
        self.0.extend_from_slice(&count.to_le_bytes());
    }

    /// Takes out the next page; how many stand in a row from it on.
    pub(crate) fn take(&mut self) -> Option<(PageId, u32)> {
        let at = self.0.len().checked_sub(RUN_BYTES)?;
        let [f0, f1, p0, p1, p2, p3, c0, c1, c2, c3] = *self.0[at..].first_chunk::<RUN_BYTES>()?;
        let first = PageId::new(u16::from_le_bytes([f0, f1]), u32::from_le_bytes([p0, p1, p2, p3]));
        let count = u32::from_le_bytes([c0, c1, c2, c3]);
        self.0.truncate(at);
        if count > 1 {
            self.push((PageId { page: first.page + 1, ..first }, count - 1));
        }
        Some((first, count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_its_pages_in_their_order() {
        let pages = [(1, 8), (1, 9), (1, 10), (1, 24), (3, 25), (1, 7)];
        let pages = pages.map(|(file, page)| PageId::new(file, page));
        let mut list = PageList::of(&pages);
        assert_eq!(list.0.len(), 4 * RUN_BYTES, "runs");
        let (mut found, mut runs) = (Vec::new(), Vec::new());
        while let Some((page, run)) = list.take() {
            found.push(page);
            runs.push(run);
        }
        assert_eq!((found, runs), (pages.to_vec(), vec![3, 2, 1, 1, 1, 1]));
    }
}
