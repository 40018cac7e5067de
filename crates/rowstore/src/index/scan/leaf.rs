//! A forward pass over a leaf without lock tests: nothing can block it.
//!
//! Most scans read most rows of each leaf. Once batches are long, the leaf's bytes are copied as
//! they are, and a row is its record among these bytes:
//!
//! ```text
//! leaf   | header | a | b | ghost | d |  free  | slots |
//! bytes  | header | a | b | ghost | d |  free  | slots |  e: a former version, a value off a row
//! rows             a   b            d                     e
//! ```
//!
//! A record that begins like the row before it is a row, too, with the same kind of tag, an in-row
//! version as long or none, and the same length (`page::RecordPattern`). It is not examined
//! further. So a row without versions costs a reader as of a moment no more than other readers.
//!
//! A reader of the current state, under locks, takes no more rows at once than a batch has: others
//! may change them while it returns them. For a reader as of a moment the rows stay what they were,
//! and a reader of uncommitted rows was promised nothing; both take the rest of the leaf.

use super::{BATCH_BYTES_MAX, BATCH_ROWS_MAX, CopiedRow, IndexCursor, MANY_ROWS, Pass, State};
use crate::current::CurrentRow;
use crate::error::{RowError, RowResult};
use crate::locking::row::RowLock;
use base::PageId;
use btree::LeafRead;
use page::{RecordPattern, VersionTag};
use work::Work;

impl<'h> IndexCursor<'h> {
    /// Copies rows from a leaf, until the batch is full, or the leaf or the range ends.
    pub(super) fn pass_unasked(&mut self, work: &mut Work, leaf: LeafRead<'h>) -> RowResult<Pass> {
        let (page, count) = (leaf.page_id(), leaf.view().slot_count());
        debug_assert!(!self.backward && !self.point, "a range, forwards");
        let rest = usize::from(count.saturating_sub(leaf.slot()));
        let last = if self.passes_whole(&leaf) {
            self.ghosts += rest as u64;
            Some(count - 1)
        } else {
            let ends_here = self.may_end_on(&leaf);
            match !ends_here && self.batch >= BATCH_ROWS_MAX && rest >= MANY_ROWS {
                true => Some(self.take_leaf(work, &leaf)?),
                false => self.take_records(work, &leaf, ends_here)?,
            }
        };
        let Some(last) = last else {
            self.stands(State::Done);
            return Ok(Pass::Enough);
        };
        let leaf = leaf.onward_to(last);
        self.save(&leaf)?;
        self.stands(State::After);
        if last + 1 >= count {
            self.onward = Some((page, leaf.view().next_page()));
        }
        Ok(Pass::Enough)
    }

    /// Whether the range may end on the leaf: a batch of many rows asks its last record once
    /// instead of each.
    fn may_end_on(&self, leaf: &LeafRead<'_>) -> bool {
        if self.upper.is_none() {
            return false;
        }
        let last = leaf.view().slot_count().saturating_sub(1);
        let many = self.batch >= MANY_ROWS && last > leaf.slot();
        !many || leaf.view().record(last).and_then(|r| self.passes(r)) != Some(false)
    }

    /// Whether a leaf has only ghosts, all of them in the range, and the reader needs to look at
    /// none of them.
    fn passes_whole(&self, leaf: &LeafRead<'_>) -> bool {
        let view = leaf.view();
        let last = || view.record(view.slot_count().saturating_sub(1));
        self.ask == RowLock::None
            && self.plan.as_of.is_none()
            && view.ghost_count() == view.slot_count()
            && self.hobt.home.aborted().is_empty()
            && (self.upper.is_none() || last().and_then(|r| self.passes(r)) == Some(false))
    }

    /// Copies record by record. Returns the last slot that is done, or `None` if the range has
    /// ended.
    fn take_records(
        &mut self,
        work: &mut Work,
        leaf: &LeafRead<'_>,
        ends_here: bool,
    ) -> RowResult<Option<u16>> {
        let (page, count) = (leaf.page_id(), leaf.view().slot_count());
        let mut slot = leaf.slot();
        loop {
            let record = leaf.view().record(slot);
            let record = record.ok_or_else(|| self.gone(page))?;
            if ends_here && self.is_past(record) {
                return Ok(None);
            }
            self.take_record(work, record, (page, slot), None)?;
            if self.is_full(self.batch) || slot + 1 >= count {
                return Ok(Some(slot));
            }
            slot += 1;
        }
    }

    /// Copies the bytes of the whole leaf, and notes where its rows are. Returns the last slot that
    /// is done.
    fn take_leaf(&mut self, work: &mut Work, leaf: &LeafRead<'_>) -> RowResult<u16> {
        let (view, page, count) = (leaf.view(), leaf.page_id(), leaf.view().slot_count());
        let most = if self.ask == RowLock::None { usize::from(count) } else { self.batch };
        let base = self.bytes.len();
        self.bytes.extend_from_slice(view.0);
        // If the aborted map has writers, each record is judged by its own tag.
        let alike = self.hobt.home.aborted().is_empty();
        let mut like: Option<RecordPattern> = None;
        let mut slot = leaf.slot();
        loop {
            let (at, rest) = view.bytes_from(slot).ok_or_else(|| self.gone(page))?;
            let at = base + usize::from(at);
            match &like {
                Some(like) if like.begins(rest) => {
                    self.rows.push(CopiedRow { bytes: at..at + like.len(), page, slot });
                }
                _ => {
                    let record = view.record(slot).ok_or_else(|| self.gone(page))?;
                    let row = self.take_record(work, record, (page, slot), Some(at))?;
                    like = row.filter(|_| alike).and_then(RecordPattern::of).or(like);
                }
            }
            if self.is_full(most) || slot + 1 >= count {
                return Ok(slot);
            }
            slot += 1;
        }
    }

    #[inline]
    fn is_full(&self, rows_max: usize) -> bool {
        self.rows.len() >= rows_max || self.bytes.len() >= BATCH_BYTES_MAX
    }

    /// Adds a record to the batch, if it is a row. With `copied_to` its bytes are already there.
    /// Returns the row, unless the reader had to look at a tag or a former version.
    fn take_record<'r>(
        &mut self,
        work: &mut Work,
        record: &'r [u8],
        (page, slot): (PageId, u16),
        copied_to: Option<usize>,
    ) -> RowResult<Option<&'r [u8]>> {
        if VersionTag::is_on(record) && self.plan.as_of.is_some() {
            self.copy_seen(work, record, page, slot)?;
            return Ok(None);
        }
        let row = match self.hobt.current(record, (page, slot)) {
            CurrentRow::Row(row) => row,
            CurrentRow::Ghost => {
                self.ghosts += 1;
                if self.ask != RowLock::None {
                    let at = (record, (page, slot));
                    self.hobt.met_ghost(work, at, self.hobt.record_resource(record));
                }
                return Ok(None);
            }
            CurrentRow::Former(before) => {
                self.copy_former(record, before, (page, slot))?;
                return Ok(None);
            }
        };
        match copied_to {
            Some(at) => self.give(row, at, page, slot)?,
            None => self.copy(row, page, slot)?,
        }
        Ok(Some(row))
    }

    #[cold]
    fn gone(&self, page: PageId) -> RowError {
        self.hobt.home.pages.corrupt(page, "a slot between two others is gone").into()
    }
}
