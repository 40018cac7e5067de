//! Forwarded rows: when a row outgrows its page, a stub (forwarding pointer) stays at its RID, and
//! the row moves to a page with room.
//!
//! ```text
//!   home: the RID, which indexes and locks name        its place
//!   stub ────────────────────────────────────────────> the row, with its RID behind its columns
//! ```
//!
//! A search for a row begins at its home and takes at most one step: a row that moves again updates
//! its stub. Scans return a row where its stub is, and skip forwarded rows.
//!
//! Invariants
//!  1. A record with a RID behind its columns is the target of the stub at that RID, and of no
//!     other. A stub leads to such a record. One log group changes both ends.
//!  2. A row moves, and is finally removed, under the latch of its place. So a thread that has
//!     followed a stub, and finds the RID at the row's place, is at the right row, though the latch
//!     of the stub's page is free again.
//!  3. A row's version tag, its chain and its ghost are at its place; a stub has none of them.
//!     Images in the version store have the form of a row at home.
//!  4. Locks are never on a place: a row's lock is on its RID. So a ghost may be settled by its
//!     place only while its deleter has not undone the deletion.

use crate::error::RowResult;
use crate::heap::redo::kinds;
use crate::heap::slots::slots_for;
use crate::hobt::RowHobt;
use crate::place::{Place, ROOM};
use crate::versions::TaggedRecord;
use crate::versions::in_row::ReplacedRecord;
use base::PageId;
use buffer::{Change, ReadGuard, Undo, WriteGuard};
use page::{PageView, RID_BYTES, RecordKind, STUB_BYTES, home_of, slot_cost, stub_target};
use work::Work;

/// A row of a heap whose place is latched.
pub(crate) struct HeapRow<'h> {
    /// Its RID.
    pub(crate) home: Place,
    /// The place of its record: at its RID, unless it was forwarded.
    pub(crate) place: Place,
    /// The page of its place.
    pub(crate) guard: WriteGuard<'h>,
}

impl HeapRow<'_> {
    /// Its record, or its ghost's; `None` if there is neither.
    pub(crate) fn record(&self, hobt: &RowHobt) -> Option<&[u8]> {
        let view = self.guard.view();
        let record = view.record(self.place.1).filter(|_| view.alloc_unit() == hobt.spec.unit)?;
        // A record at its home belongs to no other RID.
        let own = home_of(record).is_none() && RecordKind::of(record[0]) != RecordKind::Forwarded;
        (self.is_away() || own).then_some(record)
    }

    pub(crate) fn is_away(&self) -> bool {
        self.home != self.place
    }
}

impl RowHobt {
    /// The place to which the stub at a slot leads; `None` if there is no stub.
    pub(crate) fn led_from(&self, view: PageView<'_>, slot: u16) -> Option<Place> {
        let record = view.record(slot).filter(|_| view.alloc_unit() == self.spec.unit)?;
        stub_target(record)
    }

    /// Whether the row of a RID, or its ghost, is at a slot, away from home.
    pub(crate) fn has_row(&self, view: PageView<'_>, slot: u16, home: Place) -> bool {
        let record = view.record(slot).filter(|_| view.alloc_unit() == self.spec.unit);
        record.and_then(home_of) == Some(home)
    }

    /// Latches the place of a RID's row for a change.
    pub(crate) fn latch_row(&self, home: Place) -> RowResult<HeapRow<'_>> {
        loop {
            let guard = self.home.pages.write(home.0)?;
            let Some(to) = self.led_from(guard.view(), home.1) else {
                return Ok(HeapRow { home, place: home, guard });
            };
            drop(guard);
            let guard = self.home.pages.write(to.0)?;
            if self.has_row(guard.view(), to.1, home) {
                return Ok(HeapRow { home, place: to, guard });
            }
            drop(guard);
            self.check_stub(home, to)?;
        }
    }

    /// Latches the place to which a stub led, for a read; `None` if the row has moved or was
    /// removed since.
    pub(crate) fn follow_stub(&self, home: Place, to: Place) -> RowResult<Option<ReadGuard<'_>>> {
        let guard = self.home.pages.read(to.0)?;
        if self.has_row(guard.view(), to.1, home) {
            return Ok(Some(guard));
        }
        drop(guard);
        self.check_stub(home, to)?;
        Ok(None)
    }

    /// Checks a stub that led to no row. Either it has changed since, or the heap is damaged.
    #[cold]
    fn check_stub(&self, home: Place, to: Place) -> RowResult<()> {
        match self.both_ends(home, to)? {
            (true, false) => {
                Err(self.home.pages.corrupt(home.0, "a forwarding stub leads to no row").into())
            }
            _ => Ok(()),
        }
    }

    /// Whether the stub of a RID leads to a place, and whether the row of that RID is there.
    pub(crate) fn both_ends(&self, home: Place, to: Place) -> RowResult<(bool, bool)> {
        let pages = &self.home.pages;
        // The lower page first.
        let low = pages.read(home.0.min(to.0))?;
        let high = match home.0 == to.0 {
            true => None,
            false => Some(pages.read(home.0.max(to.0))?),
        };
        let of = |id: PageId| high.as_ref().filter(|g| g.id() == id).unwrap_or(&low).view();
        let leads = self.led_from(of(home.0), home.1) == Some(to);
        Ok((leads, self.has_row(of(to.0), to.1, home)))
    }

    /// Latches up to three pages, the lowest first.
    pub(crate) fn latch_places(&self, mut places: [PageId; 3]) -> RowResult<LatchedPages<'_>> {
        places.sort_unstable();
        let mut guards = [None, None, None];
        let mut count = 0;
        for (n, id) in places.iter().enumerate() {
            if n == 0 || places[n - 1] != *id {
                guards[count] = Some(self.home.pages.write(*id)?);
                count += 1;
            }
        }
        Ok(LatchedPages { guards })
    }

    /// Moves a locked row that outgrew its place to a page with room.
    pub(crate) fn forward(
        &self,
        work: &mut Work,
        new: &mut TaggedRecord<'_>,
        (home, from): (Place, Place),
    ) -> RowResult<()> {
        let bytes = new.record.len() + RID_BYTES;
        loop {
            work.part(&self.home).reserve(3 * bytes + 512)?;
            let Some(id) = self.page_with_room(work, bytes)? else { continue };
            let latched = self.latch_places([id, home.0, from.0])?;
            let view = latched.view(id);
            let ours = view.alloc_unit() == self.spec.unit;
            let free = self.free_bytes(view, 0);
            let Some(slot) = slots_for(view, free, bytes).next().filter(|_| ours) else {
                drop(latched);
                self.forget_room(id);
                continue;
            };
            let old = latched.view(from.0).record(from.1).expect("a locked row stays").to_vec();
            let former = page::homed(&old);
            let replaced = ReplacedRecord::of(&former, from.0);
            if let Some(room) = self.link_to(work, new, Some(replaced))? {
                drop(latched);
                work.make_version_room(&self.home, room)?;
                continue;
            }
            let moved = page::forwarded(&new.record, home);
            self.fits_forward(&latched, &moved, (home, from, (id, slot)))?;
            return self.log_forward(
                work,
                (latched, new),
                (&old, &moved),
                (home, from, (id, slot)),
            );
        }
    }

    /// Checks that the pages, which may be damaged, allow the move of a row.
    fn fits_forward(
        &self,
        latched: &LatchedPages<'_>,
        moved: &[u8],
        (home, from, to): (Place, Place, Place),
    ) -> RowResult<()> {
        self.heap_fits(latched.guard(to.0), kinds::INSERT, to.1, moved)?;
        if home != from {
            self.heap_fits(latched.guard(from.0), kinds::CLEAR, from.1, &[])?;
        }
        let stub = page::stub(to);
        let replaced = page::fits::replace(latched.view(home.0), home.1, &stub);
        replaced.map_err(|what| self.home.pages.corrupt(home.0, what).into())
    }

    /// Logs the move of a row. Undo handles one operation of the group, and with it takes back the
    /// others (`heap/undo.rs`).
    fn log_forward(
        &self,
        work: &mut Work,
        (latched, new): (LatchedPages<'_>, &TaggedRecord<'_>),
        (old, moved): (&[u8], &[u8]),
        (home, from, to): (Place, Place, Place),
    ) -> RowResult<()> {
        let former = latched.view(home.0).record(home.1).expect("its home has a row").to_vec();
        debug_assert!(home == from || former.len() == STUB_BYTES, "a row that is away left a stub");
        let unit = self.spec.unit;
        let mark = work.part(&self.home).mark();
        let done = self.log_change(work, latched.guards.into_iter().flatten(), |change, undo| {
            let page =
                |change: &Change<'_>, (id, _): Place| change.find(id).expect("it is latched");
            let (Undo::By(transaction) | Undo::ByVersions(transaction)) = undo else {
                unreachable!("a transaction's change")
            };
            let beside = Undo::RedoOnly(transaction);
            let at_home = if home == from { undo } else { beside };
            let at = page(change, to);
            change.apply(at, unit, kinds::INSERT, to.1, &[moved], beside);
            let stub = page::stub(to);
            self.apply_replace(change, home, (&former, &stub), at_home);
            // With the cost of a slot if another row may take the slot that is left.
            let left = if home == from { former.len() - STUB_BYTES } else { slot_cost(old.len()) };
            self.state.promised.add(from.0, mark, left);
            if home != from {
                let goes = page(change, from);
                change.apply(goes, unit, kinds::CLEAR, from.1, &[old], undo);
            }
            new.tested.finish()
        });
        work.ghosted(&self.settler(), &[], (from.0, ROOM));
        done
    }
}

/// Latched pages, each once.
pub(crate) struct LatchedPages<'h> {
    pub(crate) guards: [Option<WriteGuard<'h>>; 3],
}

impl<'h> LatchedPages<'h> {
    pub(crate) fn guard(&self, id: PageId) -> &WriteGuard<'h> {
        let found = self.guards.iter().flatten().find(|g| g.id() == id);
        found.expect("the page was latched")
    }

    pub(crate) fn view(&self, id: PageId) -> PageView<'_> {
        self.guard(id).view()
    }

    pub(crate) fn record(&self, (page, slot): Place) -> Option<&[u8]> {
        self.view(page).record(slot)
    }
}
