//! Writes heaps: a row goes to a page with room and keeps its RID, even when it outgrows its page
//! (`heap/forward.rs`).
//!
//! The bytes that a shrinking row frees are not used by other transactions until its own has ended
//! (`heap/promises.rs`).

use crate::error::RowResult;
use crate::heap::forward::HeapRow;
use crate::heap::redo::kinds;
use crate::heap::slots::slots_for;
use crate::hobt::RowHobt;
use crate::hobt::state::HeapHints;
use crate::locking::row::Attempt;
use crate::place::{Place, ROOM};
use crate::versions::TaggedRecord;
use crate::versions::in_row::ReplacedRecord;
use access::{Deed, HobtKind, InsertOutcome, LockPlan, RowKey, WriteError};
use base::limits::RECORD_BYTES_MAX;
use base::{PageId, SlotNo, Xsn};
use btree::RECORD_MAX;
use buffer::{Change, PageRef, Undo, WriteGuard};
use lock::{Mode, Resource};
use os::wait::Waiter;
use page::{Field, IN_ROW_BYTES_MAX, PageView, RID_BYTES, VersionTag, rid_bytes};
use std::borrow::Cow;
use std::sync::Arc;
use txn::Mutation;
use wal::Group;
use work::Work;

/// The most log of a row that becomes a ghost with a tag: both are logged whole.
const GHOST_LOG_BYTES_MAX: usize = 2 * RECORD_MAX + 64;

/// The longest record of a heap: a row with its tag, away from its RID.
pub(crate) const HEAP_RECORD_MAX: usize = RECORD_MAX + RID_BYTES;

/// The most pages with room that a heap remembers.
const HINTS_MAX: usize = 64;

impl HeapHints {
    fn remember(&mut self, page: PageId) {
        debug_assert!(self.pages.len() <= HINTS_MAX, "so many are remembered");
        if !self.pages.contains(&page) && self.pages.len() < HINTS_MAX {
            self.pages.push(page);
        }
    }
}

impl RowHobt {
    pub(crate) fn rid_resource(&self, page: PageId, slot: u16) -> Resource {
        debug_assert_eq!(self.spec.kind, HobtKind::Heap, "a tree's rows have keys");
        Resource::rid(self.home.database, self.spec.hobt, page, SlotNo(slot))
    }

    /// Remembers a page that has room again.
    pub(crate) fn remember_room(&self, page: PageId) {
        assert!(!page.is_none(), "room is on a page");
        self.state.hints.lock().remember(page);
    }

    /// Bytes of a latched page that are free and not promised to transactions other than `own` (0:
    /// to any).
    pub(crate) fn free_bytes(&self, view: PageView<'_>, own: u32) -> usize {
        let promised = self.state.promised.bytes(view.page_id(), own);
        usize::from(view.free_count()).saturating_sub(promised)
    }

    /// Forgets a page that had too little room.
    pub(crate) fn forget_room(&self, page: PageId) {
        self.state.hints.lock().pages.retain(|p| *p != page);
    }

    /// Encodes a new record. It is at least as long as a stub.
    fn encode_of_heap(&self, row: &[Field<'_>]) -> Result<Vec<u8>, WriteError> {
        let mut record = Vec::new();
        self.encode(row, &mut record);
        match record.len() > RECORD_BYTES_MAX {
            true => Err(WriteError::RowTooLong { bytes: record.len() }),
            false => Ok(record),
        }
    }

    pub(crate) fn heap_insert(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        plan: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let record = self.encode_of_heap(row)?;
        debug_assert!(self.is_row(row), "one field a column");
        let put = self.written(work, &record);
        let done = put.and_then(|record| self.heap_put(work, &record.record, plan));
        let (page, slot) = done.map_err(|e| self.write_error(e))?;
        self.count_rows(1);
        Ok(InsertOutcome { rid: Some(rid_bytes(page, slot)), uniquifier: None })
    }

    /// Inserts a record on some page with room.
    fn heap_put(
        &self,
        work: &mut Work,
        record: &[u8],
        plan: &LockPlan,
    ) -> RowResult<(PageId, u16)> {
        assert!(record.len() <= RECORD_MAX, "the row was made to fit");
        let covered = self.lock_for_change(work, plan)?;
        loop {
            work.part(&self.home).reserve(record.len() + 512)?;
            let Some(id) = self.page_with_room(work, record.len())? else { continue };
            let guard = self.home.pages.write(id)?;
            let slot = match self.free_slot(work, &guard, record.len(), covered)? {
                Some(Ok(slot)) => slot,
                Some(Err(ticket)) => {
                    drop(guard);
                    self.wait(work, ticket, plan)?;
                    continue;
                }
                None => {
                    self.forget_room(id);
                    continue;
                }
            };
            debug_assert!(
                self.holds(work, self.rid_resource(id, slot), Mode::X),
                "a new place is locked"
            );
            self.heap_fits(&guard, kinds::INSERT, slot, record)?;
            self.log_change(work, [guard], |change, undo| {
                let page = change.find(id).expect("the page was latched");
                change.apply(page, self.spec.unit, kinds::INSERT, slot, &[record], undo);
                Ok(())
            })?;
            return Ok((id, slot));
        }
    }

    /// A slot that a record fits in, locked. A slot is skipped if its lock is still held (by a
    /// transaction that rolled its insert back to a savepoint), or if a reader may still see its
    /// former row. `None` when the page has no room.
    fn free_slot(
        &self,
        work: &mut Work,
        guard: &WriteGuard<'_>,
        bytes: usize,
        covered: bool,
    ) -> RowResult<Option<Result<u16, lock::Ticket>>> {
        let (view, id) = (guard.view(), guard.id());
        let ours = view.alloc_unit() == self.spec.unit;
        let (mut held, mut graved) = (None, Vec::new());
        if !work.engine().transactions.mutations.has(Mutation::RidReused) {
            self.state.graves.slots_on(id, &mut graved);
        }
        let free = self.free_bytes(view, 0);
        let is_open = |slot: &u16| ours && graved.binary_search(slot).is_err();
        for slot in slots_for(view, free, bytes).filter(is_open) {
            if covered {
                return Ok(Some(Ok(slot)));
            }
            match self.try_exclusive(work, id, self.rid_resource(id, slot))? {
                Attempt::Granted => return Ok(Some(Ok(slot))),
                Attempt::Wait(ticket) => {
                    debug_assert_eq!(
                        ticket.resource().page_id(),
                        Some(id),
                        "for a place on this page"
                    );
                    held = Some(Err(ticket));
                }
            }
        }
        Ok(held)
    }

    /// Logs a transaction's change of pages that it has latched.
    pub(crate) fn log_change<'h>(
        &'h self,
        work: &mut Work,
        guards: impl IntoIterator<Item = WriteGuard<'h>>,
        apply: impl FnOnce(&mut Change<'_>, Undo) -> RowResult<()>,
    ) -> RowResult<()> {
        let session = work.session();
        let xsn = self.drawn(work);
        let part = work.part(&self.home);
        let (undo, begin) = (part.undo_of_row(xsn, self.spec.unit), part.begin());
        let before = part.chain.last;
        let mut change = Change::new(&self.home.pages, &mut part.group);
        begin.log(&mut change, session);
        for guard in guards {
            debug_assert_eq!(guard.view().alloc_unit(), self.spec.unit, "a page of the heap");
            change.add(guard);
        }
        let applied = apply(&mut change, undo);
        let bytes = change.logged_bytes();
        change.finish(&mut part.chain);
        debug_assert!(part.chain.last > before, "the change is its transaction's");
        part.logged(bytes);
        applied
    }

    /// Checks that an operation fits a page of the heap, which may be damaged.
    pub(crate) fn heap_fits(
        &self,
        guard: &WriteGuard<'_>,
        kind: wal::Kind,
        slot: u16,
        payload: &[u8],
    ) -> RowResult<()> {
        debug_assert!(crate::HEAP_KINDS.contains(&kind.0), "a heap's kind: {kind:?}");
        debug_assert_eq!(self.spec.kind, HobtKind::Heap, "trees have their own");
        let fits = crate::heap::redo::fits(guard.view(), kind, slot, payload);
        fits.map_err(|what| self.home.pages.corrupt(guard.id(), what).into())
    }

    /// A page that had room when it was last seen, or a new page.
    pub(crate) fn page_with_room(
        &self,
        work: &mut Work,
        bytes: usize,
    ) -> RowResult<Option<PageId>> {
        let owner = Arc::clone(work.owner());
        self.page_with_room_for(owner.waiter(), &mut work.part(&self.home).group, bytes)
    }

    /// The same for whom no transaction logs.
    pub(crate) fn page_with_room_for(
        &self,
        waiter: &Waiter,
        group: &mut Group,
        bytes: usize,
    ) -> RowResult<Option<PageId>> {
        assert!(bytes <= HEAP_RECORD_MAX, "a record that fits no page gets no room");
        let (known, sought) = {
            let hints = self.state.hints.lock();
            (hints.pages.last().copied(), hints.sought)
        };
        if known.is_some() {
            return Ok(known);
        }
        if !sought {
            let found = self.find_room(waiter, bytes)?;
            let mut hints = self.state.hints.lock();
            hints.sought = true;
            if let Some(page) = found {
                hints.remember(page);
                return Ok(Some(page));
            }
        }
        let made = self.new_page(group);
        if made.is_err() {
            // The last page may have room for a shorter row: it is looked at again.
            self.state.hints.lock().sought = false;
        }
        made.map(Some)
    }

    /// Adds a page to the heap, in a group of its own.
    pub(crate) fn new_page(&self, group: &mut Group) -> RowResult<PageId> {
        let claim = self.home.space.claim(&self.unit, 1)?;
        let mut change = Change::new(&self.home.pages, group);
        let page: PageRef = self.home.space.allocate(&mut change, &self.unit, claim)?[0];
        let id = change.id(page);
        let min_len = self.layout.min_len().to_le_bytes();
        change.apply(page, self.spec.unit, kinds::FORMAT, 0, &[&min_len], Undo::Never);
        change.finish(&mut wal::TransactionChain::default());
        self.did(Deed::HeapPage);
        self.state.hints.lock().grown = true;
        self.remember_room(id);
        Ok(id)
    }

    /// After a start nothing is remembered: the last page of the heap is tried, once, since all
    /// pages of the heap are listed for that.
    fn find_room(&self, waiter: &Waiter, bytes: usize) -> RowResult<Option<PageId>> {
        let pages = self.home.space.unit_pages(&self.unit, waiter)?;
        let Some(&last) = pages.pages.last() else { return Ok(None) };
        let guard = self.home.pages.read(last)?;
        let fits = guard.view().alloc_unit() == self.spec.unit
            && slots_for(guard.view(), self.free_bytes(guard.view(), 0), bytes).next().is_some();
        Ok(fits.then_some(last))
    }

    /// The row of a RID, with its place latched and its RID locked; `None` when it does not exist.
    pub(crate) fn heap_row(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> RowResult<Option<HeapRow<'_>>> {
        debug_assert_eq!(key.fields.len(), 1, "a heap's row is named by its RID");
        let rid = key.fields.first().and_then(|f| f.inline()).and_then(page::rid_of);
        let Some(home) = rid else { return Ok(None) };
        let covered = self.lock_for_change(work, plan)?;
        loop {
            let row = self.latch_row(home)?;
            if !covered && let Attempt::Wait(ticket) = self.try_rid(work, &row)? {
                drop(row);
                self.wait(work, ticket, plan)?;
                continue;
            }
            let Some(record) = row.record(self) else {
                self.judge_grave_at(work, plan, home)?;
                return Ok(None);
            };
            if self.is_aborted(record, row.place) {
                drop(row);
                self.revert_rid(work, home)?;
                continue;
            }
            self.judge(work, plan, (record, row.place))?;
            let locked = || self.holds(work, self.rid_resource(home.0, home.1), Mode::X);
            let live = self.is_row_to_change(record, row.place);
            debug_assert!(!live || locked(), "a row that changes is locked");
            return Ok(live.then_some(row));
        }
    }

    /// Requests X on a RID, after a check of the row's writer.
    fn try_rid(&self, work: &mut Work, row: &HeapRow<'_>) -> RowResult<Attempt> {
        let ticket = match row.record(self) {
            Some(record) => self.try_writer(work, (record, row.place), true)?,
            None => None,
        };
        match ticket {
            Some(ticket) => Ok(Attempt::Wait(ticket)),
            None => {
                let (page, slot) = row.home;
                self.try_exclusive(work, page, self.rid_resource(page, slot))
            }
        }
    }

    pub(crate) fn heap_delete(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> Result<(), WriteError> {
        match self.heap_remove(work, key, plan).map_err(|e| self.write_error(e))? {
            true => {
                self.count_rows(-1);
                Ok(())
            }
            false => Err(WriteError::Vanished),
        }
    }

    /// Turns a row into a ghost in its place. Returns false when the row does not exist.
    fn heap_remove(&self, work: &mut Work, key: &RowKey<'_>, plan: &LockPlan) -> RowResult<bool> {
        let most = if self.draw(work)?.is_some() { GHOST_LOG_BYTES_MAX } else { 0 };
        loop {
            work.part(&self.home).reserve(256 + most)?;
            let Some(row) = self.heap_row(work, key, plan)? else { return Ok(false) };
            self.heap_fits(&row.guard, kinds::GHOST, row.place.1, &[])?;
            let left = self.left_behind(work, &row)?;
            if matches!(left, Remains::Bare(_)) && self.home.is_accelerated() {
                self.forward_to_delete(work, row)?;
                continue;
            }
            if let Remains::Room(room) = left {
                drop(row);
                work.make_version_room(&self.home, room)?;
                continue;
            }
            let place = row.place;
            // A ghost has no in-row version: for its rollback those bytes stay free.
            let less = left.frees();
            let mark = (less > 0).then(|| work.part(&self.home).mark());
            if mark.is_some() {
                work.ghosted(&self.settler(), &[], (place.0, ROOM));
            }
            let ghosted = self.log_change(work, [row.guard], |change, undo| {
                mark.into_iter().for_each(|mark| self.state.promised.add(place.0, mark, less));
                self.leave_ghost(change, place, &left, undo)
            });
            work.ghosted(&self.settler(), &[], place);
            self.did(Deed::LeafGhost);
            return ghosted.map(|()| true);
        }
    }

    /// Takes a row elsewhere that is to be deleted, with its tag: its ghost has no room for one on
    /// its page, and must have it there, where transactions are undone by tags.
    #[cold]
    fn forward_to_delete(&self, work: &mut Work, row: HeapRow<'_>) -> RowResult<()> {
        let (home, place) = (row.home, row.place);
        let record = row.record(self).expect("the row was just found");
        let record = page::homed(record).into_owned();
        drop(row);
        let mut new = self.written(work, &record)?;
        self.forward(work, &mut new, (home, place))
    }

    pub(crate) fn heap_update(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        row: &[Field<'_>],
        plan: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let record = self.encode_of_heap(row)?;
        let done = self.heap_replace(work, key, &record, plan).map_err(|e| self.write_error(e))?;
        let (page, slot) = done.ok_or(WriteError::Vanished)?;
        Ok(InsertOutcome { rid: Some(rid_bytes(page, slot)), uniquifier: None })
    }

    /// Replaces a row's record. Returns its RID; `None` when the row does not exist.
    fn heap_replace(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        record: &[u8],
        plan: &LockPlan,
    ) -> RowResult<Option<(PageId, u16)>> {
        let mut new = self.written(work, record)?;
        let mut reserved = 3 * new.record.len().max(512) + IN_ROW_BYTES_MAX;
        work.part(&self.home).reserve(reserved)?;
        loop {
            let Some(row) = self.heap_row(work, key, plan)? else { return Ok(None) };
            let (home, place) = (row.home, row.place);
            let old = row.record(self).expect("the row was just found").to_vec();
            let needed = old.len() + new.record.len() + 512 + IN_ROW_BYTES_MAX;
            if needed > reserved {
                drop(row);
                work.part(&self.home).reserve(needed)?;
                reserved = needed;
                continue;
            }
            let former = page::homed(&old);
            if VersionTag::differs_only(&former, record) {
                self.keep_unchanged(work, home.0, self.rid_resource(home.0, home.1))?;
                return Ok(Some(home));
            }
            let grows = new.record.len().saturating_sub(former.len());
            let own = work.part(&self.home).chain.id;
            let free = self.free_bytes(row.guard.view(), own);
            if grows > free {
                drop(row);
                if self.home.is_accelerated() && self.makes_room_in_row(work, place.0)? {
                    continue;
                }
                self.forward(work, &mut new, (home, place))?;
                self.did(Deed::LeafUpdate);
                return Ok(Some(home));
            }
            let room = free + former.len() - new.record.len();
            let replaced = ReplacedRecord { record: &former, page: place.0, room };
            if let Some(room) = self.link_to(work, &mut new, Some(replaced))? {
                drop(row);
                work.make_version_room(&self.home, room)?;
                continue;
            }
            self.replace_in_place(work, row, &old, &new)?;
            self.did(Deed::LeafUpdate);
            return Ok(Some(home));
        }
    }

    fn replace_in_place(
        &self,
        work: &mut Work,
        row: HeapRow<'_>,
        old: &[u8],
        new: &TaggedRecord<'_>,
    ) -> RowResult<()> {
        let (home, place) = (row.home, row.place);
        let placed = match row.is_away() {
            true => Cow::Owned(page::forwarded(&new.record, home)),
            false => Cow::Borrowed(&new.record[..]),
        };
        if let Err(what) = page::fits::replace(row.guard.view(), place.1, &placed) {
            return Err(self.home.pages.corrupt(place.0, what).into());
        }
        debug_assert!(!page::is_ghost_record(&placed), "a row is replaced by a row");
        let less = old.len().saturating_sub(placed.len());
        let mark = (less > 0).then(|| work.part(&self.home).mark());
        if mark.is_some() {
            work.ghosted(&self.settler(), &[], (place.0, ROOM));
        }
        self.log_change(work, [row.guard], |change, undo| {
            mark.into_iter().for_each(|mark| self.state.promised.add(place.0, mark, less));
            self.apply_replace(change, place, (old, &placed), undo);
            new.tested.finish()
        })
    }

    /// Applies the replacement of one record by another.
    pub(crate) fn apply_replace(
        &self,
        change: &mut Change<'_>,
        (page, slot): Place,
        (old, new): (&[u8], &[u8]),
        undo: Undo,
    ) {
        let page = change.find(page).expect("the page was latched");
        let old_len = (old.len() as u16).to_le_bytes();
        change.apply(page, self.spec.unit, kinds::REPLACE, slot, &[&old_len, old, new], undo);
    }

    /// Determines what a deleted row leaves at its place.
    fn left_behind(&self, work: &mut Work, row: &HeapRow<'_>) -> RowResult<Remains> {
        let Some(xsn) = self.drawn(work) else { return Ok(Remains::Nothing) };
        let view = row.guard.view();
        let old = row.record(self).expect("the row was just found").to_vec();
        let free = self.free_bytes(view, work.part(&self.home).chain.id);
        let Some(mut ghost) = self.heap_ghost_of(work, &old, free) else {
            return Ok(Remains::Bare(xsn));
        };
        if let Err(what) = page::fits::replace(view, row.place.1, &ghost.record) {
            return Err(self.home.pages.corrupt(row.place.0, what).into());
        }
        let former = page::homed(&old);
        let replaced = ReplacedRecord::of(&former, row.place.0);
        if let Some(room) = self.link_to(work, &mut ghost, Some(replaced))? {
            return Ok(Remains::Room(room));
        }
        drop(former);
        Ok(Remains::Tagged(old, ghost))
    }

    /// Turns a row into the ghost that it leaves.
    fn leave_ghost(
        &self,
        change: &mut Change<'_>,
        (id, slot): Place,
        left: &Remains,
        undo: Undo,
    ) -> RowResult<()> {
        let page = change.find(id).expect("the page was latched");
        match left {
            Remains::Tagged(old, ghost) => {
                self.apply_replace(change, (id, slot), (old, &ghost.record), undo);
                ghost.tested.finish()
            }
            Remains::Bare(deleter) => {
                change.apply(page, self.spec.unit, kinds::GHOST, slot, &[], undo);
                self.state.bare.note((id, slot), *deleter);
                Ok(())
            }
            Remains::Nothing | Remains::Room(_) => {
                change.apply(page, self.spec.unit, kinds::GHOST, slot, &[], undo);
                Ok(())
            }
        }
    }
}

/// What a deleted row of a heap leaves.
enum Remains {
    /// A plain ghost: there are no readers of versions.
    Nothing,
    /// The row, and the ghost whose tag names the deleter.
    Tagged(Vec<u8>, TaggedRecord<'static>),
    /// A plain ghost; its deleter is noted in memory.
    Bare(Xsn),
    /// Nothing yet: the store has no room for an image of this length.
    Room(usize),
}

impl Remains {
    /// How many bytes its ghost is shorter than the row.
    fn frees(&self) -> usize {
        match self {
            Remains::Tagged(old, ghost) => old.len().saturating_sub(ghost.record.len()),
            Remains::Nothing | Remains::Bare(_) | Remains::Room(_) => 0,
        }
    }
}
