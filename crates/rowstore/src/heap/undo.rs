//! Undo of a heap's rows: each record goes back to the page where it was.
//!
//! Its bytes there are reserved for the transaction (`heap/promises.rs`). So undo needs no new page
//! and does not fail for lack of room. The slot that a forwarded row has left may belong to another
//! row by then. Then the row gets another slot on the page, and its stub leads there.
//!
//! Invariants
//!  1. A row is named by its RID: the slot of its place may have changed since it was logged.
//!  2. A move is undone by one operation of its group (`heap/forward.rs`), together with the row's
//!     former record: in one group again.
//!  3. A compensation checks everything before it changes anything. So damaged pages end the undo,
//!     not the process.
//!  4. Where versions have undone a later part of the transaction, its changes are not taken back
//!     in their order on each page. A revert may have put the row elsewhere, and rows of the later
//!     part may take its room. Then an undo may need another page.

use crate::error::RowResult;
use crate::heap::forward::LatchedPages;
use crate::heap::redo::{fits, kinds, old_and_new};
use crate::heap::slots::slots_for;
use crate::hobt::RowHobt;
use crate::place::Place;
use crate::undo::free_taken;
use access::Deed;
use base::PageId;
use buffer::{Change, Undo};
use os::wait::Waiter;
use page::{RID_BYTES, home_of};
use std::borrow::Cow;
use std::iter;
use txn::UndoContext;
use wal::RecordView;
use work::Engine;

/// What is done to a place.
pub(crate) struct Step {
    pub(crate) at: Place,
    pub(crate) kind: wal::Kind,
    pub(crate) payload: Vec<u8>,
}

impl RowHobt {
    /// Takes back what an operation on a row did; false when the row is not there.
    pub(crate) fn undo_heap(
        &self,
        engine: &Engine,
        record: &RecordView<'_>,
        cx: &mut UndoContext<'_>,
    ) -> RowResult<bool> {
        let (Some(id), slot) = (record.page(), record.slot()) else { return Ok(false) };
        let (at, payload) = ((id, slot), record.payload());
        match record.kind() {
            kinds::INSERT => self.undo_put(at, cx),
            kinds::GHOST => self.undo_ghost(at, cx),
            kinds::REPLACE => match old_and_new(payload) {
                Some((old, new)) => {
                    let home = home_of(new).unwrap_or(at);
                    self.restore(engine, home, (id, old.to_vec()), cx)
                }
                None => Ok(false),
            },
            kinds::CLEAR => match home_of(payload) {
                Some(home) => self.restore(engine, home, (id, payload.to_vec()), cx),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// Where a RID's row is, with both pages latched, and a third.
    pub(crate) fn latch_ends(
        &self,
        home: Place,
        third: PageId,
    ) -> RowResult<(Place, LatchedPages<'_>)> {
        let mut place = home;
        loop {
            let latched = self.latch_places([home.0, place.0, third])?;
            let now = self.led_from(latched.view(home.0), home.1).unwrap_or(home);
            if now.0 != place.0 && now.0 != home.0 && now.0 != third {
                place = now;
                continue;
            }
            let view = latched.view(now.0);
            if now != home && !self.has_row(view, now.1, home) {
                let what = "a forwarding stub leads to no row";
                return Err(self.home.pages.corrupt(home.0, what).into());
            }
            return Ok((now, latched));
        }
    }

    /// Takes an inserted row out.
    fn undo_put(&self, at: Place, cx: &mut UndoContext<'_>) -> RowResult<bool> {
        self.revert_rid_for_undo(at, cx.chain.id)?;
        // A revert may have forwarded it.
        let (place, latched) = self.latch_ends(at, at.0)?;
        if latched.view(at.0).record(at.1).is_none() {
            return Ok(false);
        }
        let steps = [Step::clear(at), Step::clear(place)];
        let steps = if at == place { &steps[..1] } else { &steps };
        self.compensate(latched, steps, cx, || {})?;
        self.count_rows(-1);
        self.did(Deed::LeafDelete);
        Ok(true)
    }

    /// Makes a ghost the row that it was.
    fn undo_ghost(&self, at: Place, cx: &mut UndoContext<'_>) -> RowResult<bool> {
        let latched = self.latch_places([at.0; 3])?;
        let ghost = latched.view(at.0).record(at.1);
        if !ghost.is_some_and(page::is_ghost_record) {
            return Ok(false);
        }
        let revived = Step { at, kind: kinds::UNGHOST, payload: Vec::new() };
        self.compensate(latched, &[revived], cx, || self.state.bare.forget(at))?;
        self.count_rows(1);
        Ok(true)
    }

    /// Puts a row's former record back: home, where it is now, on the page `on` where it was, or,
    /// where none of these has room, on another page (invariant 4).
    fn restore(
        &self,
        engine: &Engine,
        home: Place,
        (mut on, mut old): (PageId, Vec<u8>),
        cx: &mut UndoContext<'_>,
    ) -> RowResult<bool> {
        self.revert_rid_for_undo(home, cx.chain.id)?;
        loop {
            let (place, latched) = self.latch_ends(home, on)?;
            let Some(now) = latched.record(place) else { return Ok(false) };
            let was_ghost = page::is_ghost_record(now);
            let taken = self.retake(engine, now, &mut old)?;
            let Some(steps) = self.steps_back(cx.chain.id, &latched, (home, place), (on, &old))
            else {
                drop(latched);
                self.forget_room(on);
                let bytes = old.len() + RID_BYTES;
                if let Some(page) = self.page_with_room_for(&Waiter::new(), cx.group, bytes)? {
                    on = page;
                }
                continue;
            };
            self.compensate(latched, &steps, cx, || free_taken(&self.home, taken))?;
            self.count_rows(i64::from(was_ghost));
            return Ok(true);
        }
    }

    /// How a former record comes back; `None` where none of the latched pages has room for it.
    /// Bytes that were promised to the transaction `own` are its own.
    fn steps_back(
        &self,
        own: u32,
        latched: &LatchedPages<'_>,
        (home, place): (Place, Place),
        (on, old): (PageId, &[u8]),
    ) -> Option<Vec<Step>> {
        let (now, at_home) = (latched.record(place)?, latched.record(home)?);
        let free = |id: PageId| self.free_bytes(latched.view(id), own);
        let leaves = (place != home).then(|| Step::clear(place));
        let comes_home = home_of(old).is_none();
        if comes_home && old.len() <= at_home.len() + free(home.0) {
            return Some(iter::once(Step::replace(home, at_home, old)).chain(leaves).collect());
        }
        let moved = match comes_home {
            true => Cow::Owned(page::forwarded(old, home)),
            false => Cow::Borrowed(old),
        };
        if place != home && moved.len() <= now.len() + free(place.0) {
            return Some(vec![Step::replace(place, now, &moved)]);
        }
        let view = latched.view(on);
        let slot = slots_for(view, free(on), moved.len()).next();
        let slot = slot.filter(|_| view.alloc_unit() == self.spec.unit)?;
        let leads = Step::replace(home, at_home, &page::stub((on, slot)));
        let back = Step { at: (on, slot), kind: kinds::INSERT, payload: moved.into_owned() };
        Some([back, leads].into_iter().chain(leaves).collect())
    }

    /// Logs the steps of an undo, the first of which is the compensation; `then` is done behind
    /// them in the log, under the latches. Where a record goes there is room.
    fn compensate(
        &self,
        latched: LatchedPages<'_>,
        steps: &[Step],
        cx: &mut UndoContext<'_>,
        then: impl FnOnce(),
    ) -> RowResult<()> {
        for Step { at, kind, payload } in steps {
            let view = latched.view(at.0);
            let fits = fits(view, *kind, at.1, payload);
            fits.map_err(|what| self.home.pages.corrupt(at.0, what))?;
        }
        let before = cx.chain.last;
        let mut change = Change::new(&self.home.pages, cx.group);
        for guard in latched.guards.into_iter().flatten() {
            change.add(guard);
        }
        for (n, Step { at, kind, payload }) in steps.iter().enumerate() {
            let page = change.find(at.0).expect("the page was latched");
            let undo = if n == 0 { cx.undo } else { Undo::Never };
            change.apply(page, self.spec.unit, *kind, at.1, &[payload], undo);
        }
        change.finish_then(cx.chain, then);
        debug_assert!(cx.chain.last > before, "the chain has its compensation");
        let cleared = steps.iter().filter(|step| step.kind == kinds::CLEAR);
        cleared.for_each(|step| self.remember_room(step.at.0));
        Ok(())
    }
}

impl Step {
    pub(crate) fn clear(at: Place) -> Step {
        Step { at, kind: kinds::CLEAR, payload: Vec::new() }
    }

    pub(crate) fn replace(at: Place, now: &[u8], new: &[u8]) -> Step {
        let mut payload = (now.len() as u16).to_le_bytes().to_vec();
        payload.extend_from_slice(now);
        payload.extend_from_slice(new);
        Step { at, kind: kinds::REPLACE, payload }
    }
}
