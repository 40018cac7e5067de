//! Settling: a transaction removes its own ghosts right after its commit, under its own locks. With
//! optimized locking it holds none any more, and requests them. A ghost that a snapshot needs goes
//! to the graveyard.
//!
//! The ghost is found again by its key. If it is live again (revived by a later insert of the same
//! transaction) or gone, there is nothing to do. The cleaner (`ghosts/clean.rs`) removes ghosts in
//! the same way; under the latch it says whether it may.

use crate::error::RowResult;
use crate::heap::forward::LatchedPages;
use crate::heap::redo::kinds;
use crate::hobt::RowHobt;
use crate::place::{NOWHERE, Place, ROOM};
use crate::versions::ChainChange;
use access::{CleanOutcome, HobtKind};
use base::PageId;
use btree::{KeyBuf, KeyFields};
use buffer::{Change, Undo};
use lock::{Duration, Mode, Owner, Resource};
use std::sync::Arc;
use txn::Mutation;
use wal::{Group, LogReservation, TransactionChain};
use work::{Engine, SettleOutcome, Settler, Work};

impl Settler for RowHobt {
    fn settle(
        &self,
        (engine, deleter): (&Engine, &Arc<Owner>),
        group: &mut Group,
        key: &[u8],
        hint: (PageId, u16),
    ) -> SettleOutcome {
        let is_heap = self.spec.kind == HobtKind::Heap;
        assert_eq!(key.is_empty(), is_heap, "rule 3: a tree's ghost is found by its key");
        assert!(!hint.0.is_none(), "a ghost is on a page");
        if is_heap && hint.1 == ROOM {
            self.room_is_left(hint.0);
            return SettleOutcome::Done;
        }
        if self.is_left_by_rule(engine) {
            return SettleOutcome::Later;
        }
        // With optimized locking the ghost is not locked since its commit, so another transaction
        // may have locked it.
        let may = |row: Resource| {
            let asks = || engine.locks.try_lock_now(deleter, row, Mode::X, Duration::Instant, None);
            !self.is_optimized() || matches!(asks(), Ok(Some(_)))
        };
        let done = match self.spec.kind {
            HobtKind::Heap => self.settle_heap(engine, group, hint, may),
            HobtKind::Clustered | HobtKind::Nonclustered => {
                let taken = self.taken_for_own(engine, hint);
                let key = taken.as_ref().map_or(key, KeyBuf::bytes);
                self.settle_entry(engine, group, key, may)
            }
        };
        // Whatever hinders it now, the ghost is committed and only takes space.
        match done {
            Ok(false) => SettleOutcome::Done,
            Ok(true) | Err(_) => SettleOutcome::Later,
        }
    }

    fn gives_keys_once(&self) -> bool {
        // Values are numbered, and no number is given twice while anything of it is left.
        self.spec.pieces
    }

    fn clean(&self, deleter: &Work, page: PageId) {
        if self.spec.kind == HobtKind::Heap {
            self.room_is_left(page);
        }
        let notes = self.home.ghosts();
        if self.is_left_by_rule(deleter.engine()) || !notes.take(page) {
            return;
        }
        // A page stays noted if other transactions hold its ghosts, or it cannot be read or logged.
        if !matches!(self.clean_page(deleter, page), Ok(CleanOutcome::Done)) {
            notes.note(page);
        }
        notes.dealt_with(page);
    }

    fn leave(&self, page: PageId) {
        self.home.ghosts().note(page);
    }
}

impl RowHobt {
    /// Removes a ghost by its key, if `may` allows it. A ghost whose row a snapshot needs is moved
    /// to the graveyard. Returns true if the ghost had to stay.
    pub(crate) fn settle_entry(
        &self,
        engine: &Engine,
        group: &mut Group,
        key: &[u8],
        may: impl FnOnce(Resource) -> bool,
    ) -> RowResult<bool> {
        let tree = self.tree();
        let mut log = LogReservation::none(self.home.log());
        log.grow(512)?;
        let Some(fields) = btree::key_fields(key) else { return Ok(false) };
        let leaf = tree.seek_write(fields.as_slice())?;
        let Some(record) = leaf.record() else { return Ok(false) };
        if !page::is_ghost_record(record) {
            return Ok(false);
        }
        assert!(self.spec.kind != HobtKind::Heap, "a heap's ghosts have no key");
        if !self.record_resource(record).is_some_and(may) {
            return Ok(true);
        }
        debug_assert!(leaf.is_exact(), "the ghost is the key's");
        let epoch = engine.transactions.snapshots.epoch();
        let late = engine.transactions.mutations.has(Mutation::BuriedLate).then(|| record.to_vec());
        let dropped = match self.ghost_need(engine, record, (leaf.page_id(), leaf.slot()))? {
            Some(dropped) => dropped,
            None if late.is_some() => ChainChange::default(),
            None if self.bury(engine, (record, NOWHERE), NOWHERE, epoch) => ChainChange::default(),
            None => return Ok(true),
        };
        let last = leaf.view().slot_count() == 1 && leaf.page_id() != tree.root();
        // As SQL Server has it: the first leaf keeps its last ghost.
        if last && leaf.view().prev_page().is_none() && self.is_left_by_rule(engine) {
            return Ok(false);
        }
        let mut change = Change::new(&self.home.pages, group);
        let (page, slot) = leaf.join(&mut change);
        tree.expunge(&mut change, page, slot, Undo::Never)?;
        // If this fails, the store's reclaimer frees the versions later.
        let _ = dropped.finish();
        change.finish(&mut TransactionChain::default());
        if let Some(ghost) = late {
            os::sched::switch_point();
            self.bury(engine, (&ghost, NOWHERE), NOWHERE, epoch);
        }
        if last {
            log.grow(4096)?;
            tree.free_if_empty(group, fields.as_slice())?;
        }
        Ok(false)
    }

    /// A planted fault: takes the ghost at the hinted place for the deleter's own. Splits and other
    /// changes may have moved that one.
    fn taken_for_own(&self, engine: &Engine, (page, slot): (PageId, u16)) -> Option<KeyBuf> {
        if !engine.transactions.mutations.has(Mutation::HintTrusted) {
            return None;
        }
        let guard = self.home.pages.read(page).ok()?;
        let view = guard.view();
        let ours = view.alloc_unit() == self.spec.unit && view.level() == 0;
        let record = view.record(slot).filter(|r| ours && page::is_ghost_record(r))?;
        let mut fields = KeyFields::default();
        self.tree().key_of(record, &mut fields)?;
        Some(KeyBuf::of(fields.as_slice()))
    }

    /// Removes a ghost of a heap and the stub that leads to it, if `may` allows it. A ghost whose
    /// row a snapshot needs is moved to the graveyard. Returns true if the ghost had to stay.
    pub(crate) fn settle_heap(
        &self,
        engine: &Engine,
        group: &mut Group,
        place: Place,
        may: impl FnOnce(Resource) -> bool,
    ) -> RowResult<bool> {
        assert!(self.spec.kind == HobtKind::Heap, "a tree's ghosts are found by key");
        let mut log = LogReservation::none(self.home.log());
        log.grow(512)?;
        let Some((home, latched)) = self.latch_ghost(place)? else { return Ok(false) };
        if !may(self.rid_resource(home.0, home.1)) {
            return Ok(true);
        }
        let epoch = engine.transactions.snapshots.epoch();
        let Some(ghost) = latched.record(place) else { return Ok(true) };
        let dropped = self.ghost_need(engine, ghost, place)?;
        let ends = [place, home];
        let ends = if home == place { &ends[..1] } else { &ends };
        for (page, slot) in ends {
            self.heap_fits(latched.guard(*page), kinds::CLEAR, *slot, &[])?;
        }
        let dropped = match dropped {
            Some(dropped) => dropped,
            None if self.bury(engine, (ghost, place), home, epoch) => ChainChange::default(),
            None => return Ok(true),
        };
        let mut change = Change::new(&self.home.pages, group);
        for guard in latched.guards.into_iter().flatten() {
            change.add(guard);
        }
        for (page, slot) in ends {
            let page = change.find(*page).expect("the page was latched");
            change.apply(page, self.spec.unit, kinds::CLEAR, *slot, &[], Undo::Never);
        }
        let _ = dropped.finish();
        self.state.bare.forget(place);
        change.finish(&mut TransactionChain::default());
        self.remember_room(place.0);
        Ok(false)
    }

    /// A page has room again: the transaction for whose rollback it was reserved has committed.
    fn room_is_left(&self, page: PageId) {
        self.state.promised.forget_ended(page);
        self.remember_room(page);
    }

    /// Latches a ghost and the stub that leads to it. Returns its RID, too; `None` if there is no
    /// ghost any more.
    fn latch_ghost(&self, place: Place) -> RowResult<Option<(Place, LatchedPages<'_>)>> {
        let mut home = place;
        loop {
            let latched = self.latch_places([place.0, home.0, home.0])?;
            let view = latched.view(place.0);
            let ours = view.alloc_unit() == self.spec.unit;
            let ghost = view.record(place.1).filter(|_| ours);
            let Some(ghost) = ghost.filter(|r| page::is_ghost_record(r)) else {
                return Ok(None);
            };
            let now = page::home_of(ghost).unwrap_or(place);
            if now != home {
                home = now;
                continue;
            }
            if home != place && self.led_from(latched.view(home.0), home.1) != Some(place) {
                let what = "no forwarding stub leads to a forwarded row";
                return Err(self.home.pages.corrupt(place.0, what).into());
            }
            return Ok(Some((home, latched)));
        }
    }
}
