//! The in-row pass of the cleaner: takes in-row versions that nobody needs out of their records.
//!
//! Such a version harms nobody: the next change of its row drops it. But it takes room on its page,
//! and views count it. So a pass goes over the pages of a hobt, in the order of its maps, and
//! whoever finds a leaf full looks there before he splits it. A page's versions go in one log
//! record of two bytes each, which no transaction undoes.
//!
//! Invariants
//!  1. A version goes when its record's writer has committed and no snapshot needs the row before.
//!     So no undo wants the record as it was, and no reader is on his way to the version: he would
//!     hold the page's latch.
//!  2. It changes no row, so it asks for no lock of one. The table is locked Sch-S for a step,
//!     without waiting, as a sweep does it (`revert/sweep.rs`).
//!  3. What was left since a pass began is looked for by the next one.

use crate::error::{RowError, RowResult};
use crate::heap::redo::kinds;
use crate::hobt::RowHobt;
use crate::revert::PageList;
use access::{SweepPosition, SweepStep};
use base::PageId;
use buffer::{Change, ReadAhead, Undo};
use lock::{Duration, Mode};
use page::{PageView, Previous, VersionTag};
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, LogReservation, TransactionChain};
use work::{Engine, Work};

/// The most log of a page's versions: two bytes for each record that a page can have.
const PAGE_LOG_BYTES: u64 = 4 << 10;

impl RowHobt {
    /// A version was left in a row.
    #[inline]
    pub(super) fn note_in_row(&self) {
        if !self.state.in_row.load(Relaxed) {
            self.state.in_row.store(true, Relaxed);
        }
    }

    /// As [`access::StoredHobt::drop_in_row_versions`].
    pub(crate) fn drop_in_row_versions(
        &self,
        work: &Work,
        from: Option<&SweepPosition>,
        (budget, every): (usize, bool),
    ) -> base::SqlResult<SweepStep> {
        assert!(budget > 0, "who looks at no page never comes to the end");
        let begins = from.is_none();
        let asked = !begins || self.state.in_row.load(Relaxed) || every;
        if !asked || !self.spec.versions || self.is_dropped() || self.is_private() {
            return Ok(SweepStep::default());
        }
        let (locks, owner, table) = (work.locks(), work.owner(), self.object_resource());
        let held = locks.try_lock_now(owner, table, Mode::SchS, Duration::Short, None);
        if !matches!(held, Ok(Some(_))) {
            let next = Some(from.cloned().unwrap_or_default());
            return Ok(SweepStep { next, ..SweepStep::default() });
        }
        let passed = match self.is_dropped() {
            true => Ok(SweepStep::default()),
            false => self.pass_on(work, from.filter(|from| !from.0.is_empty()), budget),
        };
        locks.release(owner, table);
        passed.map_err(|e| self.sql(e))
    }

    fn pass_on(
        &self,
        work: &Work,
        from: Option<&SweepPosition>,
        budget: usize,
    ) -> RowResult<SweepStep> {
        let waiter = work.owner().waiter();
        let mut left = match from {
            Some(from) => PageList(from.0.clone()),
            None => {
                // Invariant 3.
                self.state.in_row.store(false, Relaxed);
                PageList::of(&self.home.space.unit_pages(&self.unit, waiter)?.pages)
            }
        };
        let (mut step, mut ahead, mut before) =
            (SweepStep::default(), ReadAhead::whole(), PageId::NONE);
        while step.pages < budget {
            waiter.check()?;
            let Some((page, run)) = left.take() else { return Ok(step) };
            ahead.step_within(&self.home.pages, before, page, |most| most.min(run));
            before = page;
            step.pages += 1;
            step.reverted += self.drop_in_row_on(work.engine(), page)?;
        }
        step.next = Some(SweepPosition(left.0)).filter(|left| !left.0.is_empty());
        Ok(step)
    }

    /// The same for whoever finds a page full; whether there is more room now.
    pub(crate) fn makes_room_in_row(&self, work: &Work, page: PageId) -> RowResult<bool> {
        match self.drop_in_row_on(work.engine(), page) {
            // What he does instead takes log, too, and may wait for it.
            Err(RowError::Log(_)) => Ok(false),
            dropped => dropped.map(|count| count > 0),
        }
    }

    /// Takes what nobody needs out of the records of a page; no latch is held. How many.
    fn drop_in_row_on(&self, engine: &Engine, page: PageId) -> RowResult<u64> {
        {
            let guard = self.home.pages.read(page)?;
            let (slots, is_needed) = self.unneeded_in_row(engine, guard.view());
            if is_needed {
                self.note_in_row();
            }
            if slots.is_empty() {
                return Ok(0);
            }
        }
        let mut log = LogReservation::none(self.home.log());
        log.grow(PAGE_LOG_BYTES)?;
        log.confirm()?;
        let guard = self.home.pages.write(page)?;
        let (slots, _) = self.unneeded_in_row(engine, guard.view());
        if slots.is_empty() {
            return Ok(0);
        }
        let bytes: Vec<u8> = slots.iter().flat_map(|slot| slot.to_le_bytes()).collect();
        let mut group = Group::new();
        let mut change = Change::new(&self.home.pages, &mut group);
        let at = change.add(guard);
        match &self.tree {
            Some(tree) => tree.drop_in_row(&mut change, at, &bytes)?,
            None => {
                let fits = page::check_drop_in_row(change.view(at), &bytes);
                fits.map_err(|what| self.home.pages.corrupt(page, what))?;
                let kind = kinds::DROP_IN_ROW;
                change.apply(at, self.spec.unit, kind, 0, &[&bytes], Undo::Never);
            }
        }
        debug_assert!(change.logged_bytes() as u64 <= PAGE_LOG_BYTES, "it was reserved");
        change.finish(&mut TransactionChain::default());
        if self.tree.is_none() {
            self.remember_room(page);
        }
        Ok(slots.len() as u64)
    }

    /// The slots of a page whose in-row versions nobody needs; and whether there are others.
    fn unneeded_in_row(&self, engine: &Engine, view: PageView<'_>) -> (Vec<u16>, bool) {
        let (mut slots, mut others) = (Vec::new(), false);
        if view.alloc_unit() != self.spec.unit || view.level() != 0 {
            return (slots, others);
        }
        for slot in 0..view.slot_count() {
            let Some(record) = view.record(slot) else { continue };
            let Some(tag) = VersionTag::of(record) else { continue };
            let Previous::InRow { born, .. } = tag.before() else { continue };
            let ended = self.committed(engine, tag.writer).is_some();
            match ended && !self.is_needed(engine, born, tag.writer) {
                true => slots.push(slot),
                false => others = true,
            }
        }
        (slots, others)
    }
}
