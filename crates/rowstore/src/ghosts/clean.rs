//! The background cleaner's step: removes the ghosts of one page that their deleters did not
//! settle.
//!
//! A ghost may be removed when its deleter has committed and no transaction guards a gap by it. The
//! deleter holds X on the ghost or on the table, and a range lock on the ghost conflicts with X,
//! too. So the cleaner takes IX on the table and requests X on each key under its leaf's latch,
//! without waiting. A ghost whose lock is refused is looked at again later. Pieces of large values
//! have no locks of their own; their row's lock covers them. So on their pages S on the table
//! stands for all of them: with it, no transaction has uncommitted changes in the table.
//!
//!  1. Nothing is removed that a transaction holds, or whose row a snapshot needs.
//!  2. A step is idempotent: done twice, or interrupted, it has removed some committed ghosts.
//!  3. A dropped hobt is not touched: its pages may belong to another by now.
//!  4. A thread that may not clean leaves the page noted. A split that moves ghosts notes the pages
//!     that they may be on then.

use crate::error::{RowError, RowResult};
use crate::heap::redo::kinds;
use crate::hobt::RowHobt;
use access::{CleanOutcome, HobtKind};
use base::PageId;
use btree::KeyBuf;
use lock::{Duration, Mode, Resource};
use page::Field;
use wal::{Group, RecordView, WalError};
use work::Work;

/// Whether a log record may have put a ghost on its page: recovery notes such pages. A deleter
/// keeps its log until it has settled, or its pages are noted, so all records of ghosts that a
/// crash left, and no note tells of, are behind the checkpoint.
pub fn may_leave_ghost(record: &RecordView<'_>) -> bool {
    match record.kind() {
        kinds::GHOST => true,
        kinds::REPLACE => crate::heap::redo::leaves_ghost(record.payload()),
        kind => btree::may_leave_ghost(kind, record.payload()),
    }
}

/// A ghost of a page, by its key or its slot.
enum GhostPlace {
    Entry(KeyBuf),
    Slot(u16),
}

impl RowHobt {
    /// Removes the ghosts of a page that are no longer needed.
    ///
    /// # Errors
    /// Damaged pages, log; the ghosts stay.
    pub(crate) fn clean_page(&self, work: &Work, page: PageId) -> base::SqlResult<CleanOutcome> {
        let table = self.object_resource();
        let mode = if self.spec.pieces { Mode::S } else { Mode::IX };
        let (locks, owner) = (work.locks(), work.owner());
        debug_assert_eq!(locks.held_mode(owner, table), Mode::NL, "the cleaner holds nothing");
        let held = locks.try_lock_now(owner, table, mode, Duration::Short, None);
        if !matches!(held, Ok(Some(_))) {
            return Ok(CleanOutcome::Busy);
        }
        debug_assert!(locks.held_mode(owner, table).covers(mode), "the table is locked");
        let cleaned = self.clean_locked(work, page);
        locks.release(owner, table);
        debug_assert_eq!(locks.held_mode(owner, table), Mode::NL, "and is given back");
        cleaned.map_err(|e| self.sql(e))
    }

    fn clean_locked(&self, work: &Work, page: PageId) -> RowResult<CleanOutcome> {
        assert!(!work.is_active(), "the cleaner holds nothing beyond a page");
        assert!(!page.is_none(), "a note is of a page");
        if self.is_dropped() {
            return Ok(CleanOutcome::Done);
        }
        if self.is_private() {
            // The transaction that makes the hobt locks no rows.
            return Ok(CleanOutcome::Busy);
        }
        match self.revert_page(work, page) {
            // To remove ghosts takes less.
            Ok(()) | Err(RowError::Log(WalError::Full { .. })) => {}
            Err(e) => return Err(e),
        }
        let ghosts = self.ghosts_of(page)?;
        let may = |resource: Resource| {
            let (locks, owner) = (work.locks(), work.owner());
            let asked = locks.try_lock_now(owner, resource, Mode::X, Duration::Instant, None);
            matches!(asked, Ok(Some(_)))
        };
        let (mut group, engine) = (Group::new(), work.engine());
        let mut busy = false;
        for ghost in &ghosts {
            busy |= match ghost {
                GhostPlace::Entry(key) => {
                    self.settle_entry(engine, &mut group, key.bytes(), may)?
                }
                GhostPlace::Slot(slot) => {
                    self.settle_heap(engine, &mut group, (page, *slot), may)?
                }
            };
        }
        Ok(if busy { CleanOutcome::Busy } else { CleanOutcome::Done })
    }

    /// Removes the ghosts of a full leaf that are neither needed nor held, before the leaf is
    /// split. Returns whether it removed any.
    pub(crate) fn clear_leaf(&self, work: &Work, key: &[Field<'_>]) -> RowResult<bool> {
        let (page, ghosts) = {
            let leaf = self.tree().seek_write(key)?;
            (leaf.page_id(), leaf.view().ghost_count())
        };
        // Former rows that nobody needs take room, too.
        if self.home.is_accelerated() && self.makes_room_in_row(work, page)? {
            return Ok(true);
        }
        if ghosts == 0 {
            return Ok(false);
        }
        if self.spec.pieces || self.is_left_by_rule(work.engine()) {
            return Ok(false);
        }
        let (locks, owner) = (work.locks(), work.owner());
        // A transaction with X on the table has no locks on the rows that it deletes.
        let covered = || locks.held_mode(owner, self.object_resource()).covers(Mode::X);
        if self.is_private() || covered() {
            return Ok(false);
        }
        let may = |resource: Resource| {
            let asked = locks.try_lock_now(owner, resource, Mode::X, Duration::Instant, None);
            locks.held_mode(owner, resource) == Mode::NL && matches!(asked, Ok(Some(_)))
        };
        let (mut group, mut went) = (Group::new(), false);
        for ghost in &self.ghosts_of(page)? {
            if let GhostPlace::Entry(key) = ghost {
                went |= !self.settle_entry(work.engine(), &mut group, key.bytes(), may)?;
            }
        }
        Ok(went)
    }

    /// The ghosts of a page of this hobt.
    fn ghosts_of(&self, page: PageId) -> RowResult<Vec<GhostPlace>> {
        let guard = self.home.pages.read(page)?;
        let view = guard.view();
        if view.alloc_unit() != self.spec.unit || view.level() != 0 || view.ghost_count() == 0 {
            return Ok(Vec::new());
        }
        let slots = (0..view.slot_count()).filter_map(|s| Some((s, view.record(s)?)));
        let ghosts = slots.filter(|(_, record)| page::is_ghost_record(record));
        Ok(match self.spec.kind {
            HobtKind::Heap => ghosts.map(|(slot, _)| GhostPlace::Slot(slot)).collect(),
            HobtKind::Clustered | HobtKind::Nonclustered => ghosts
                .filter_map(|(_, record)| {
                    let mut fields = btree::KeyFields::default();
                    self.tree().key_of(record, &mut fields)?;
                    Some(GhostPlace::Entry(KeyBuf::of(fields.as_slice())))
                })
                .collect(),
        })
    }

    /// A reader has met a ghost for which it did not have to wait. Unless the ghost is the reader's
    /// own, no transaction settles it.
    pub(crate) fn met_ghost(
        &self,
        work: &Work,
        (record, (page, slot)): (&[u8], (PageId, u16)),
        ghost: Option<Resource>,
    ) {
        let holds = |r| work.locks().held_mode(work.owner(), r).covers(Mode::X);
        let wrote = || self.is_optimized() && self.wrote(work, (record, (page, slot)));
        if ghost.is_some_and(|r| !holds(r)) && !wrote() {
            self.home.ghosts().note(page);
        }
    }
}
