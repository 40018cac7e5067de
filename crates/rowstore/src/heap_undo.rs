//! Undo of a heap's rows: each is restored where it is now, or where there is room for it.
//!
//! Bytes that a row gave free when it shrank or went may be others' by now. So a row that is put
//! back is put, in this order: at home; where it is; on another page, with a stub at home. The
//! last may need a page, where the first two need nothing; a row that was forwarded has left a
//! shorter one, so the second does for it.
//!
//! Invariants
//!  1. A row is named by its RID: where it is when an operation is undone may differ from where the
//!     operation found it, since undo may have moved it.
//!  2. Moving is undone by one operation of its group (`heap_forward.rs`), which the row's former
//!     record goes with.

use crate::error::RowResult;
use crate::heap_forward::{Latched, Place};
use crate::heap_redo::{kinds, old_and_new};
use crate::heap_write::slots_for;
use crate::hobt::RowHobt;
use crate::undo::free_taken;
use base::PageId;
use buffer::{Change, PageRef, Undo};
use page::{RID_BYTES, RecordKind, home_of, homed};
use txn::UndoContext;
use wal::{Group, RecordView};
use work::Engine;

impl RowHobt {
    /// Takes back what an operation on a row did; false when the row is not there.
    pub(crate) fn undo_heap(
        &self,
        engine: &Engine,
        record: &RecordView<'_>,
        cx: &mut UndoContext<'_>,
    ) -> RowResult<bool> {
        let (Some(id), slot) = (record.page(), record.slot()) else { return Ok(false) };
        let payload = record.payload();
        match record.kind() {
            kinds::INSERT => self.undo_put((id, slot), cx),
            kinds::GHOST => self.undo_ghost((id, slot), cx),
            kinds::REPLACE => {
                let Some((old, new)) = old_and_new(payload) else { return Ok(false) };
                let home = home_of(new).unwrap_or((id, slot));
                self.restore(engine, home, homed(old).into_owned(), cx)
            }
            kinds::CLEAR => match home_of(payload) {
                Some(home) => self.restore(engine, home, homed(payload).into_owned(), cx),
                None => Ok(false),
            },
            _ => Ok(false),
        }
    }

    /// Where a RID's row is, with both pages latched.
    fn latch_ends(&self, home: Place, third: PageId) -> RowResult<(Place, Latched<'_>)> {
        let mut place = home;
        loop {
            let latched = self.latch_places([home.0, place.0, third])?;
            let now = self.led_from(latched.view(home.0), home.1).unwrap_or(home);
            if now.0 == place.0 || now.0 == home.0 || now.0 == third {
                return Ok((now, latched));
            }
            place = now;
        }
    }

    /// Takes an inserted row out.
    fn undo_put(&self, home: Place, cx: &mut UndoContext<'_>) -> RowResult<bool> {
        let (place, latched) = self.latch_ends(home, home.0)?;
        if latched.view(place.0).record(place.1).is_none() {
            return Ok(false);
        }
        let mut ends = Ends::new(self, latched, cx.group);
        ends.clear(home, cx.undo)?;
        if place != home {
            ends.clear(place, Undo::Never)?;
        }
        ends.change.finish(cx.chain);
        self.count_rows(-1);
        Ok(true)
    }

    /// Makes a ghost the row that it was, where it is.
    fn undo_ghost(&self, place: Place, cx: &mut UndoContext<'_>) -> RowResult<bool> {
        let latched = self.latch_places([place.0; 3])?;
        let ghost = latched.view(place.0).record(place.1);
        if !ghost.is_some_and(|r| RecordKind::of(r[0]).is_ghost()) {
            return Ok(false);
        }
        let mut ends = Ends::new(self, latched, cx.group);
        ends.apply(place, kinds::UNGHOST, &[], cx.undo)?;
        self.state.bare.forget(place);
        ends.change.finish(cx.chain);
        self.count_rows(1);
        Ok(true)
    }

    /// Puts a row's former record in the place of what it is now.
    fn restore(
        &self,
        engine: &Engine,
        home: Place,
        old: Vec<u8>,
        cx: &mut UndoContext<'_>,
    ) -> RowResult<bool> {
        let mut room = home.0;
        loop {
            let (place, latched) = self.latch_ends(home, room)?;
            let Some(now) = latched.view(place.0).record(place.1) else { return Ok(false) };
            let was_ghost = RecordKind::of(now[0]).is_ghost();
            let mut former = old.clone();
            let taken = self.retake(engine, now, &mut former)?;
            let Some(to) = self.place_for(&latched, &former, (home, place, room)) else {
                drop(latched);
                room = self.room_beside(cx.group, former.len() + RID_BYTES, room)?;
                continue;
            };
            let mut ends = Ends::new(self, latched, cx.group);
            ends.put(&former, (home, place, to), cx.undo)?;
            free_taken(engine, taken);
            ends.change.finish(cx.chain);
            self.count_rows(i64::from(was_ghost));
            return Ok(true);
        }
    }

    /// Where there is room for a row: at home, at its place, or on the page at hand.
    fn place_for(
        &self,
        latched: &Latched<'_>,
        row: &[u8],
        (home, place, room): (Place, Place, PageId),
    ) -> Option<Place> {
        let fits = |at: Place, record: &[u8]| {
            page::fits::replace(latched.view(at.0), at.1, record).is_ok()
        };
        if fits(home, row) {
            return Some(home);
        }
        let away = page::forwarded(row, home);
        if place != home && fits(place, &away) {
            return Some(place);
        }
        let view = latched.view(room);
        let ours = room != home.0 && view.alloc_unit() == self.spec.unit;
        let slot = slots_for(view, away.len()).next().filter(|_| ours)?;
        Some((room, slot))
    }

    /// A page that may have room, another than the one that had none.
    fn room_beside(&self, group: &mut Group, bytes: usize, but: PageId) -> RowResult<PageId> {
        debug_assert!(bytes <= crate::heap_write::HEAP_RECORD_MAX, "it fits a page");
        self.forget_room(but);
        let known = self.state.hints.lock().pages.last().copied();
        match known {
            Some(page) => Ok(page),
            None => self.new_page(group),
        }
    }
}

/// A change of a row's home, its place and where it goes. Its first operation compensates.
struct Ends<'a> {
    hobt: &'a RowHobt,
    change: Change<'a>,
}

impl<'a> Ends<'a> {
    fn new(hobt: &'a RowHobt, latched: Latched<'a>, group: &'a mut Group) -> Ends<'a> {
        let mut change = Change::new(&hobt.home.pages, group);
        for guard in latched.guards.into_iter().flatten() {
            change.add(guard);
        }
        Ends { hobt, change }
    }

    fn page(&self, id: PageId) -> PageRef {
        self.change.find(id).expect("the page was latched")
    }

    fn apply(
        &mut self,
        (id, slot): Place,
        kind: wal::Kind,
        payload: &[u8],
        undo: Undo,
    ) -> RowResult<()> {
        let page = self.page(id);
        let fits = crate::heap_redo::fits(self.change.view(page), kind, slot, payload);
        fits.map_err(|what| self.hobt.home.pages.corrupt(id, what))?;
        self.change.apply(page, self.hobt.spec.unit, kind, slot, &[payload], undo);
        Ok(())
    }

    fn clear(&mut self, place: Place, undo: Undo) -> RowResult<()> {
        self.apply(place, kinds::CLEAR, &[], undo)
    }

    fn replace(&mut self, (id, slot): Place, new: &[u8], undo: Undo) -> RowResult<()> {
        let now = self.change.view(self.page(id)).record(slot).map(<[u8]>::to_vec);
        let now = now.ok_or_else(|| self.hobt.home.pages.corrupt(id, page::fits::NO_RECORD))?;
        let mut payload = (now.len() as u16).to_le_bytes().to_vec();
        payload.extend_from_slice(&now);
        payload.extend_from_slice(new);
        self.apply((id, slot), kinds::REPLACE, &payload, undo)
    }

    /// Puts a row to a place that has room for it, instead of the one that it has.
    fn put(&mut self, row: &[u8], ends: (Place, Place, Place), undo: Undo) -> RowResult<()> {
        let (home, place, to) = ends;
        if to == place {
            let away = to != home;
            let record = if away { page::forwarded(row, home) } else { row.to_vec() };
            return self.replace(to, &record, undo);
        }
        if to == home {
            self.replace(home, row, undo)?;
        } else {
            self.apply(to, kinds::INSERT, &page::forwarded(row, home), undo)?;
            self.replace(home, &page::stub(to), Undo::Never)?;
        }
        match place == home {
            true => Ok(()),
            false => self.clear(place, Undo::Never),
        }
    }
}
