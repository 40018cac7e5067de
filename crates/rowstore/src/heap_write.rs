//! Writing heaps: rows go where there is room, keep their slot, and move when they outgrow it.
//!
//! A row that outgrows its page moves to another in one group with the ghosting of its old
//! place, and its new RID is reported: indexes follow it. (SQL Server leaves a forwarding stub
//! instead; here no read ever takes two steps.)

use crate::entry_lock::Tried;
use crate::error::RowResult;
use crate::heap_redo::kinds;
use crate::hobt::{HeapHints, HobtKind, RowHobt};
use crate::versions::Written;
use access::{Inserted, LockPlan, RowKey, WriteError};
use base::limits::RECORD_BYTES_MAX;
use base::{PageId, SlotNo, Xsn};
use btree::RECORD_MAX;
use buffer::{Change, PageRef, Undo, WriteGuard};
use lock::{Mode, Resource};
use page::{Field, PageView, RecordKind, VersionTag, slot_cost};
use work::Work;

/// Log that a row takes which becomes a ghost with a tag: both are logged whole.
const GHOST_LOG_BYTES_MAX: usize = 2 * RECORD_MAX + 64;

/// Pages with room that a heap remembers.
const HINTS_MAX: usize = 64;

/// A row's page and slot from the 8 bytes of a RID.
pub(crate) fn rid_of(bytes: &[u8]) -> Option<(PageId, u16)> {
    let b: &[u8; 8] = bytes.try_into().ok()?;
    let page = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    let file = u16::from_le_bytes([b[4], b[5]]);
    Some((PageId::new(file, page), u16::from_le_bytes([b[6], b[7]])))
}

/// The 8 bytes of a RID: page 4, file 2, slot 2.
pub(crate) fn rid_bytes(page: PageId, slot: u16) -> [u8; 8] {
    let (p, f, s) = (page.page.to_le_bytes(), page.file.0.to_le_bytes(), slot.to_le_bytes());
    let bytes = [p[0], p[1], p[2], p[3], f[0], f[1], s[0], s[1]];
    debug_assert_eq!(rid_of(&bytes), Some((page, slot)), "it reads as it was written");
    bytes
}

/// Slots for a new record: the empty ones, then the next.
fn slots_for(view: PageView<'_>, bytes: usize) -> impl Iterator<Item = u16> {
    debug_assert!(bytes > 0, "no record is empty");
    let free = usize::from(view.free_count());
    let count = view.slot_count();
    let fits = move |s: &u16| match *s < count {
        true => bytes <= free && view.slot_offset(*s) == Some(0),
        false => slot_cost(bytes) <= free,
    };
    (0..=count).filter(fits)
}

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

    /// A page that has room again.
    pub(crate) fn remember_room(&self, page: PageId) {
        assert!(!page.is_none(), "room is on a page");
        self.state.hints.lock().remember(page);
    }

    pub(crate) fn heap_insert(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        plan: &LockPlan,
    ) -> Result<Inserted, WriteError> {
        let mut record = Vec::new();
        self.encode(row, &mut record);
        if record.len() > RECORD_BYTES_MAX {
            return Err(WriteError::RowTooLong { bytes: record.len() });
        }
        debug_assert!(self.is_row(row), "one field a column");
        // A row shorter than a RID could not be told from one, were it to move.
        let put = self.written(work, &record);
        let done = put.and_then(|record| self.heap_put(work, &record, plan, None));
        let (page, slot) = done.map_err(|e| self.write_error(e))?;
        self.count_rows(1);
        Ok(Inserted { rid: Some(rid_bytes(page, slot)), uniquifier: None })
    }

    /// Puts a record on some page; with `moved_from`, ghosts the row there in the same group.
    fn heap_put(
        &self,
        work: &mut Work,
        new: &Written<'_>,
        plan: &LockPlan,
        moved_from: Option<(PageId, u16)>,
    ) -> RowResult<(PageId, u16)> {
        let record = &new.record[..];
        assert!(record.len() <= RECORD_MAX, "the row was made to fit");
        let covered = self.lock_for_change(work, plan)?;
        loop {
            let leaves = moved_from.is_some() && new.xsn.is_some();
            let most = if leaves { GHOST_LOG_BYTES_MAX } else { 0 };
            work.part(&self.home).reserve(record.len() + 512 + most)?;
            let Some(id) = self.page_with_room(work, record.len())? else { continue };
            let other = moved_from.map(|(from, _)| from).filter(|from| *from != id);
            let (guard, from) = self.latch_both(id, other)?;
            let slot = match self.free_slot(work, &guard, record.len(), covered)? {
                Some(Ok(slot)) => slot,
                Some(Err(ticket)) => {
                    drop((guard, from));
                    self.wait(work, ticket, plan)?;
                    continue;
                }
                None => {
                    self.state.hints.lock().pages.retain(|p| *p != id);
                    continue;
                }
            };
            debug_assert_ne!(moved_from, Some((id, slot)), "rule 5: its old place is a ghost's");
            let locked = |(page, slot)| self.holds(work, self.rid_resource(page, slot), Mode::X);
            debug_assert!(locked((id, slot)), "a new place is locked");
            debug_assert!(moved_from.is_none_or(locked), "and the old one");
            let left = match moved_from {
                Some(place) => {
                    let page = from.as_ref().unwrap_or(&guard).view();
                    let taken = if from.is_none() { slot_cost(record.len()) } else { 0 };
                    self.left_behind(work, page, place, taken)?
                }
                None => Left::Nothing,
            };
            if let Left::Room(room) = left {
                drop((guard, from));
                work.make_version_room(room)?;
                continue;
            }
            let from = moved_from.map(|(_, slot)| (from, slot, left));
            self.log_put(work, guard, from, slot, record)?;
            return Ok((id, slot));
        }
    }

    /// A slot that a record fits in, locked; one that somebody still holds (whose insert was taken
    /// back to a savepoint) is passed by. `None` when the page has no room.
    fn free_slot(
        &self,
        work: &mut Work,
        guard: &WriteGuard<'_>,
        bytes: usize,
        covered: bool,
    ) -> RowResult<Option<Result<u16, lock::Ticket>>> {
        let (view, id) = (guard.view(), guard.id());
        let ours = view.alloc_unit() == self.spec.unit;
        let mut held = None;
        for slot in slots_for(view, bytes).filter(|_| ours) {
            if covered {
                return Ok(Some(Ok(slot)));
            }
            match self.try_exclusive(work, id, self.rid_resource(id, slot))? {
                Tried::Granted => return Ok(Some(Ok(slot))),
                Tried::Wait(ticket) => {
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

    /// Latches one page or two, the lower first.
    fn latch_both(
        &self,
        id: PageId,
        other: Option<PageId>,
    ) -> RowResult<(WriteGuard<'_>, Option<WriteGuard<'_>>)> {
        assert_ne!(other, Some(id), "a page is latched once");
        let pages = &self.home.pages;
        Ok(match other {
            Some(o) if o < id => {
                let other = pages.write(o)?;
                (pages.write(id)?, Some(other))
            }
            Some(o) => (pages.write(id)?, Some(pages.write(o)?)),
            None => (pages.write(id)?, None),
        })
    }

    fn log_put(
        &self,
        work: &mut Work,
        guard: WriteGuard<'_>,
        from: Option<(Option<WriteGuard<'_>>, u16, Left)>,
        slot: u16,
        record: &[u8],
    ) -> RowResult<()> {
        debug_assert_eq!(guard.view().alloc_unit(), self.spec.unit, "the page is the heap's");
        self.heap_fits(&guard, kinds::INSERT, slot, record)?;
        if let Some((other, slot, _)) = &from {
            let other_id = other.as_ref().map(WriteGuard::id);
            assert_ne!(other_id, Some(guard.id()), "a page is latched once");
            self.heap_fits(other.as_ref().unwrap_or(&guard), kinds::GHOST, *slot, &[])?;
        }
        let session = work.session();
        let part = work.part(&self.home);
        let (begin, undo) = (part.begin(), part.undo());
        let before = part.chain.last;
        let mut change = Change::new(&self.home.pages, &mut part.group);
        begin.log(&mut change, session);
        let page = change.add(guard);
        let mut dropped = Ok(());
        if let Some((guard, slot, left)) = from {
            let from = guard.map_or(page, |guard| change.add(guard));
            dropped = self.leave_ghost(&mut change, (from, slot), &left, undo);
        }
        change.apply(page, self.spec.unit, kinds::INSERT, slot, &[record], undo);
        let bytes = change.logged_bytes();
        change.finish(&mut part.chain);
        debug_assert!(part.chain.last > before, "the change is its transaction's");
        part.logged(bytes);
        dropped
    }

    /// Whether an operation fits a page of the heap, whose bytes come from a disk.
    pub(crate) fn heap_fits(
        &self,
        guard: &WriteGuard<'_>,
        kind: wal::Kind,
        slot: u16,
        payload: &[u8],
    ) -> RowResult<()> {
        debug_assert!(crate::HEAP_KINDS.contains(&kind.0), "a heap's kind: {kind:?}");
        debug_assert_eq!(self.spec.kind, HobtKind::Heap, "trees have their own");
        let fits = crate::heap_redo::fits(guard.view(), kind, slot, payload);
        fits.map_err(|what| self.home.pages.corrupt(guard.id(), what).into())
    }

    /// A page that had room when last seen, or a new one (then `None`: look again).
    fn page_with_room(&self, work: &mut Work, bytes: usize) -> RowResult<Option<PageId>> {
        assert!(bytes <= RECORD_MAX, "a record that fits no page gets no room");
        let (known, sought) = {
            let hints = self.state.hints.lock();
            (hints.pages.last().copied(), hints.sought)
        };
        if known.is_some() {
            return Ok(known);
        }
        if !sought {
            let found = self.find_room(work, bytes)?;
            let mut hints = self.state.hints.lock();
            hints.sought = true;
            if let Some(page) = found {
                hints.remember(page);
                return Ok(Some(page));
            }
        }
        let made = self.new_page(work);
        if made.is_err() {
            // The last page may have room for a shorter row: it is looked at again.
            self.state.hints.lock().sought = false;
        }
        made.map(Some)
    }

    fn new_page(&self, work: &mut Work) -> RowResult<PageId> {
        let claim = self.home.space.claim(&self.unit, 1)?;
        let part = work.part(&self.home);
        let mut change = Change::new(&self.home.pages, &mut part.group);
        let page: PageRef = self.home.space.allocate(&mut change, &self.unit, claim)?[0];
        let id = change.id(page);
        let min_len = self.layout.min_len().to_le_bytes();
        change.apply(page, self.spec.unit, kinds::FORMAT, 0, &[&min_len], Undo::Never);
        change.finish(&mut wal::TransactionChain::default());
        self.remember_room(id);
        Ok(id)
    }

    /// After a start nothing is remembered: the last page of the heap is tried, once, since all
    /// pages of the heap are listed for that.
    fn find_room(&self, work: &Work, bytes: usize) -> RowResult<Option<PageId>> {
        let pages = self.home.space.unit_pages(&self.unit, work.owner().waiter())?;
        let Some(&last) = pages.pages.last() else { return Ok(None) };
        let guard = self.home.pages.read(last)?;
        let fits = guard.view().alloc_unit() == self.spec.unit
            && slots_for(guard.view(), bytes).next().is_some();
        Ok(fits.then_some(last))
    }

    /// The row of a RID under its exclusive latch and lock; `None` when it is gone.
    pub(crate) fn heap_row(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> RowResult<Option<(WriteGuard<'_>, u16)>> {
        debug_assert_eq!(key.fields.len(), 1, "a heap's row is named by its RID");
        let rid = key.fields.first().and_then(|f| f.inline()).and_then(rid_of);
        let Some((id, slot)) = rid else { return Ok(None) };
        let covered = self.lock_for_change(work, plan)?;
        loop {
            let guard = self.home.pages.write(id)?;
            if !covered && let Tried::Wait(ticket) = self.try_rid(work, &guard, slot)? {
                drop(guard);
                self.wait(work, ticket, plan)?;
                continue;
            }
            let view = guard.view();
            let live = view.alloc_unit() == self.spec.unit
                && view.record(slot).is_some_and(|r| !RecordKind::of(r[0]).is_ghost());
            let locked = || self.holds(work, self.rid_resource(id, slot), Mode::X);
            debug_assert!(!live || locked(), "a row that changes is locked");
            let record = view.record(slot).filter(|_| view.alloc_unit() == self.spec.unit);
            if let Some(record) = record {
                self.judge(work, plan, (record, (id, slot)))?;
            }
            return Ok(live.then_some((guard, slot)));
        }
    }

    /// X on a place of a page, behind a look at who has written the row there.
    fn try_rid(&self, work: &mut Work, guard: &WriteGuard<'_>, slot: u16) -> RowResult<Tried> {
        let (view, id) = (guard.view(), guard.id());
        let record = view.record(slot).filter(|_| view.alloc_unit() == self.spec.unit);
        let ticket = match record {
            Some(record) => self.try_writer(work, (record, (id, slot)), true)?,
            None => None,
        };
        match ticket {
            Some(ticket) => Ok(Tried::Wait(ticket)),
            None => self.try_exclusive(work, id, self.rid_resource(id, slot)),
        }
    }

    pub(crate) fn heap_delete(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        plan: &LockPlan,
    ) -> Result<(), WriteError> {
        let done = (|| -> RowResult<bool> {
            let most = if self.draw(work)?.is_some() { GHOST_LOG_BYTES_MAX } else { 0 };
            loop {
                work.part(&self.home).reserve(256 + most)?;
                let Some((guard, slot)) = self.heap_row(work, key, plan)? else { return Ok(false) };
                self.heap_fits(&guard, kinds::GHOST, slot, &[])?;
                debug_assert_eq!(guard.view().alloc_unit(), self.spec.unit, "a row of the heap");
                let id = guard.id();
                let left = self.left_behind(work, guard.view(), (id, slot), 0)?;
                if let Left::Room(room) = left {
                    drop(guard);
                    work.make_version_room(room)?;
                    continue;
                }
                let session = work.session();
                let part = work.part(&self.home);
                let (begin, undo) = (part.begin(), part.undo());
                let before = part.chain.last;
                let mut change = Change::new(&self.home.pages, &mut part.group);
                begin.log(&mut change, session);
                let page = change.add(guard);
                let dropped = self.leave_ghost(&mut change, (page, slot), &left, undo);
                let bytes = change.logged_bytes();
                change.finish(&mut part.chain);
                debug_assert!(part.chain.last > before, "the change is its transaction's");
                part.logged(bytes);
                work.ghosted(&self.settler(), &[], (id, slot));
                return dropped.map(|()| true);
            }
        })();
        match done.map_err(|e| self.write_error(e))? {
            true => {
                self.count_rows(-1);
                Ok(())
            }
            false => Err(WriteError::Vanished),
        }
    }

    pub(crate) fn heap_update(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        row: &[Field<'_>],
        plan: &LockPlan,
    ) -> Result<Inserted, WriteError> {
        let mut record = Vec::new();
        self.encode(row, &mut record);
        if record.len() > RECORD_BYTES_MAX {
            return Err(WriteError::RowTooLong { bytes: record.len() });
        }
        let place = self.heap_replace(work, key, &record, plan).map_err(|e| self.write_error(e))?;
        let (page, slot) = place.ok_or(WriteError::Vanished)?;
        Ok(Inserted { rid: Some(rid_bytes(page, slot)), uniquifier: None })
    }

    fn heap_replace(
        &self,
        work: &mut Work,
        key: &RowKey<'_>,
        record: &[u8],
        plan: &LockPlan,
    ) -> RowResult<Option<(PageId, u16)>> {
        let mut new = self.written(work, record)?;
        work.part(&self.home).reserve(3 * new.record.len().max(512))?;
        let (guard, slot, old) = loop {
            let Some((guard, slot)) = self.heap_row(work, key, plan)? else { return Ok(None) };
            let id = guard.id();
            let old = guard.view().record(slot).expect("the row was just found").to_vec();
            if VersionTag::differs_only(&old, record) {
                self.keep_unchanged(work, id, self.rid_resource(id, slot))?;
                return Ok(Some((id, slot)));
            }
            if VersionTag::is_on(&old) {
                new.keep_tag();
            }
            // A row never shrinks in place: its bytes must be there for a rollback.
            let grows = new.record.len().checked_sub(old.len());
            if grows.is_none_or(|n| n > usize::from(guard.view().free_count())) {
                drop(guard);
                let place = self.heap_put(work, &new, plan, Some((id, slot)))?;
                work.ghosted(&self.settler(), &[], (id, slot));
                return Ok(Some(place));
            }
            let Some(room) = self.link_to(work, &mut new, Some(&old))? else {
                break (guard, slot, old);
            };
            drop(guard);
            work.make_version_room(room)?;
        };
        let (id, view, record) = (guard.id(), guard.view(), &new.record[..]);
        if let Err(what) = page::fits::replace(view, slot, record) {
            return Err(self.home.pages.corrupt(id, what).into());
        }
        debug_assert!(!RecordKind::of(record[0]).is_ghost(), "a row is replaced by a row");
        let session = work.session();
        let part = work.part(&self.home);
        let (begin, undo) = (part.begin(), part.undo());
        let before = part.chain.last;
        let mut change = Change::new(&self.home.pages, &mut part.group);
        begin.log(&mut change, session);
        let page = change.add(guard);
        let old_len = (old.len() as u16).to_le_bytes();
        let payload: [&[u8]; 3] = [&old_len, &old, record];
        change.apply(page, self.spec.unit, kinds::REPLACE, slot, &payload, undo);
        let dropped = new.tested.finish();
        change.finish(&mut part.chain);
        debug_assert!(part.chain.last > before, "the change is its transaction's");
        part.logged(old.len() + record.len() + 64);
        dropped.map(|()| Some((id, slot)))
    }

    /// What a row that goes leaves at its place, where so many bytes of its page are promised.
    fn left_behind(
        &self,
        work: &mut Work,
        view: PageView<'_>,
        (id, slot): (PageId, u16),
        promised: usize,
    ) -> RowResult<Left> {
        let Some(xsn) = self.drawn(work) else { return Ok(Left::Nothing) };
        let old = view.record(slot).expect("the row was just found").to_vec();
        let free = usize::from(view.free_count()).saturating_sub(promised);
        let Some(mut ghost) = self.heap_ghost_of(work, &old, free) else {
            return Ok(Left::Bare((id, xsn)));
        };
        if let Err(what) = page::fits::replace(view, slot, &ghost.record) {
            return Err(self.home.pages.corrupt(id, what).into());
        }
        Ok(match self.link_to(work, &mut ghost, Some(&old))? {
            Some(room) => Left::Room(room),
            None => Left::Tagged(old, ghost),
        })
    }

    /// Makes a row the ghost that it leaves.
    fn leave_ghost(
        &self,
        change: &mut Change<'_>,
        (page, slot): (PageRef, u16),
        left: &Left,
        undo: Undo,
    ) -> RowResult<()> {
        match left {
            Left::Tagged(old, ghost) => {
                let old_len = (old.len() as u16).to_le_bytes();
                let payload: [&[u8]; 3] = [&old_len, old, &ghost.record];
                change.apply(page, self.spec.unit, kinds::REPLACE, slot, &payload, undo);
                ghost.tested.finish()
            }
            Left::Bare((id, deleter)) => {
                change.apply(page, self.spec.unit, kinds::GHOST, slot, &[], undo);
                self.state.bare.note((*id, slot), *deleter);
                Ok(())
            }
            Left::Nothing | Left::Room(_) => {
                change.apply(page, self.spec.unit, kinds::GHOST, slot, &[], undo);
                Ok(())
            }
        }
    }
}

/// What a row of a heap leaves when it goes.
enum Left {
    /// A ghost as it was: nobody reads versions.
    Nothing,
    /// The row, and the ghost that says who made it.
    Tagged(Vec<u8>, Written<'static>),
    /// A ghost as it was, by whom is noted beside it.
    Bare((PageId, Xsn)),
    /// Nothing yet: so long a record is to be kept, and there is no room for it.
    Room(usize),
}
