//! Reverts records of a heap.
//!
//! A row keeps its RID. The record that comes back goes home, where there is room, or to the place
//! of the one that goes, or to a page with room, and then a stub at the RID leads to it. Bytes that
//! the aborted transaction freed were promised to it only until it ended (`heap/promises.rs`). So a
//! row may find no room where it was, and is forwarded.

use super::{Former, GROUP_BYTES, GROUP_LOG_BYTES, RevertLog, Tally};
use crate::error::RowResult;
use crate::heap::forward::LatchedPages;
use crate::heap::redo::{fits, kinds};
use crate::heap::slots::slots_for;
use crate::heap::undo::Step;
use crate::hobt::RowHobt;
use crate::place::Place;
use base::PageId;
use btree::STRUCTURE_LOG_BYTES_MAX;
use buffer::{Change, Undo};
use page::{RID_BYTES, home_of};
use std::borrow::Cow;
use std::sync::Arc;
use wal::TransactionChain;

impl RowHobt {
    /// Reverts records of a page that stay where they are, as many as one group takes. How many.
    pub(super) fn revert_in_place(&self, log: &mut RevertLog, id: PageId) -> RowResult<u64> {
        log.reserve(GROUP_LOG_BYTES)?;
        let latched = self.latch_places([id; 3])?;
        let (view, mut steps, mut tally) = (latched.view(id), Vec::new(), Tally::default());
        if view.alloc_unit() != self.spec.unit {
            return Ok(0);
        }
        let (mut free, mut bytes) = (self.free_bytes(view, 0), 0);
        for slot in 0..view.slot_count() {
            let Some(now) = view.record(slot) else { continue };
            let Some(former) = self.former_of(now, (id, slot))? else { continue };
            let grows = former.record.len().saturating_sub(now.len());
            if former.is_stored && home_of(now).is_some() || grows > free {
                continue;
            }
            free -= grows;
            bytes += now.len() + former.record.len();
            steps.push(Step::replace((id, slot), now, &former.record));
            self.tally(&mut tally, now, &former);
            if bytes > GROUP_BYTES {
                break;
            }
        }
        if steps.is_empty() {
            return Ok(0);
        }
        self.log_revert(log, latched, &steps, tally)
    }

    /// Reverts the record of a RID; false where it is by no aborted transaction.
    pub(super) fn revert_row(&self, log: &mut RevertLog, home: Place) -> RowResult<bool> {
        // A page that may have room for it, where its own has none.
        let mut third = None;
        loop {
            log.reserve(GROUP_LOG_BYTES)?;
            let (place, latched) = self.latch_ends(home, third.unwrap_or(home.0))?;
            if latched.view(place.0).alloc_unit() != self.spec.unit {
                return Ok(false);
            }
            let Some(now) = latched.record(place) else { return Ok(false) };
            if place == home && home_of(now).is_some() {
                return Ok(false);
            }
            let Some(former) = self.former_of(now, place)? else { return Ok(false) };
            let bytes = former.record.len() + RID_BYTES;
            let mut tally = Tally::default();
            self.tally(&mut tally, now, &former);
            if let Some(steps) = self.way_back(log.own, &latched, (home, place), third, &former) {
                let reverted = self.log_revert(log, latched, &steps, tally)?;
                debug_assert_eq!(reverted, 1, "the record of one row");
                return Ok(true);
            }
            drop(latched);
            if let Some(page) = third {
                self.forget_room(page);
            }
            third = Some(self.other_page(log, bytes)?);
        }
    }

    /// A page that had room for so many bytes when last seen.
    fn other_page(&self, log: &mut RevertLog, bytes: usize) -> RowResult<PageId> {
        let waiter = Arc::clone(&log.waiter);
        loop {
            log.reserve(STRUCTURE_LOG_BYTES_MAX)?;
            if let Some(page) = self.page_with_room_for(&waiter, &mut log.group, bytes)? {
                return Ok(page);
            }
        }
    }

    /// How a record comes back; `None` where the latched pages have no room for it.
    fn way_back(
        &self,
        own: u32,
        latched: &LatchedPages<'_>,
        (home, place): (Place, Place),
        third: Option<PageId>,
        former: &Former,
    ) -> Option<Vec<Step>> {
        let now = latched.record(place)?;
        let at_home = latched.record(home)?;
        let free = |id: PageId| self.free_bytes(latched.view(id), own);
        let row = &former.record;
        if !former.is_stored {
            return Some(vec![Step::replace(place, now, row)]);
        }
        if place != home && row.len() <= at_home.len() + free(home.0) {
            return Some(vec![Step::replace(home, at_home, row), Step::clear(place)]);
        }
        let placed = match place == home {
            true => Cow::Borrowed(&row[..]),
            false => Cow::Owned(page::forwarded(row, home)),
        };
        if placed.len() <= now.len() + free(place.0) {
            return Some(vec![Step::replace(place, now, &placed)]);
        }
        let third = third.filter(|id| latched.view(*id).alloc_unit() == self.spec.unit)?;
        let moved = page::forwarded(row, home);
        let slot = slots_for(latched.view(third), free(third), moved.len()).next()?;
        let to = (third, slot);
        let mut steps = vec![
            Step { at: to, kind: kinds::INSERT, payload: moved },
            Step::replace(home, at_home, &page::stub(to)),
        ];
        steps.extend((place != home).then(|| Step::clear(place)));
        Some(steps)
    }

    /// Logs the steps of a revert as one group, and does what belongs to it under the latches.
    fn log_revert(
        &self,
        log: &mut RevertLog,
        latched: LatchedPages<'_>,
        steps: &[Step],
        tally: Tally,
    ) -> RowResult<u64> {
        for Step { at, kind, payload } in steps {
            let fits = fits(latched.view(at.0), *kind, at.1, payload);
            fits.map_err(|what| self.home.pages.corrupt(at.0, what))?;
        }
        let mut change = Change::new(&self.home.pages, &mut log.group);
        for guard in latched.guards.into_iter().flatten() {
            change.add(guard);
        }
        for Step { at, kind, payload } in steps {
            let page = change.find(at.0).expect("the page was latched");
            change.apply(page, self.spec.unit, *kind, at.1, &[payload], Undo::Never);
            self.state.bare.forget(*at);
            let left = change.view(page).record(at.1);
            if left.is_some_and(page::is_ghost_record) {
                self.home.ghosts().note(at.0);
            }
        }
        let logged = change.logged_bytes() as u64;
        debug_assert!(logged <= GROUP_LOG_BYTES, "{logged} bytes were reserved");
        change.finish_then(&mut TransactionChain::default(), || self.free_reverted(&tally));
        self.count_rows(tally.rows);
        let cleared = steps.iter().filter(|step| step.kind == kinds::CLEAR);
        cleared.for_each(|step| self.remember_room(step.at.0));
        Ok(tally.reverted)
    }
}
