//! Eager removal of neighbouring ghosts: a change of a leaf also removes the ghosts right before
//! and behind it that are no longer needed.
//!
//! The leaf is latched, and its page is logged and written anyway. So a ghost right before or
//! behind the place of a change is removed in the same log group, if its deleter has committed, no
//! snapshot needs its row and no other transaction holds its lock. Nothing undoes that: the ghost
//! stays gone when the change is rolled back.
//!
//! ```text
//!   2  [3]  [5]  7        4 is inserted   2  4  7
//! ```
//!
//! Cost: a comparison on a leaf without ghosts. For a neighbour that is a ghost, a look at its tag;
//! if the tag says that the deleter has committed, a lock request and a look at the snapshots.
//!
//! Invariants
//!  1. It happens only where ghosts are removed at once (`GhostRule::Interval`), and never to
//!     pieces of large values, whose own keys are not locked.
//!  2. As in the cleaner, X on the ghost's key must be free, and the changing transaction must hold
//!     no lock on it. So neither another transaction's gap is anchored there (locking/gap.rs,
//!     invariant 2), nor its own.
//!  3. The record that is changed stays on the leaf, so no leaf becomes empty.

use crate::hobt::RowHobt;
use crate::versions::ChainChange;
use base::PageId;
use btree::LeafWrite;
use buffer::{Change, PageRef, Undo};
use lock::{Duration, Mode};
use work::Work;

/// Ghosts that are removed with a change: their slots before it, and the changes of their chains.
#[derive(Default)]
pub(crate) struct Neighbours(Vec<(u16, ChainChange)>);

impl RowHobt {
    /// The ghosts to remove with a change or an insert of the record with the key.
    #[inline]
    pub(crate) fn beside(&self, work: &Work, leaf: &LeafWrite<'_>) -> Neighbours {
        let mut beside = Neighbours::default();
        self.beside_slot(work, leaf, (leaf.slot(), leaf.is_exact()), &mut beside);
        beside
    }

    /// The same for a slot of the leaf. `place` also says whether the record there is changed; if
    /// not, another one is inserted before it.
    #[inline]
    pub(crate) fn beside_slot(
        &self,
        work: &Work,
        leaf: &LeafWrite<'_>,
        place: (u16, bool),
        beside: &mut Neighbours,
    ) {
        if leaf.view().ghost_count() > 0 {
            self.look_beside(work, leaf, place, beside);
        }
    }

    #[inline(never)]
    fn look_beside(
        &self,
        work: &Work,
        leaf: &LeafWrite<'_>,
        (slot, exact): (u16, bool),
        beside: &mut Neighbours,
    ) {
        // Invariant 1.
        if self.spec.pieces || self.is_left_by_rule(work.engine()) {
            return;
        }
        let behind = if exact { slot.saturating_add(1) } else { slot };
        for at in slot.checked_sub(1).into_iter().chain([behind]) {
            let record = leaf.view().record(at).filter(|r| page::is_ghost_record(r));
            if let Some(ghost) = record
                && beside.0.iter().all(|(slot, _)| *slot != at)
                && let Some(dropped) = self.may_go(work, ghost, (leaf.page_id(), at))
            {
                beside.0.push((at, dropped));
            }
        }
    }

    /// The changes of a ghost's chain, if the ghost may be removed now.
    fn may_go(&self, work: &Work, ghost: &[u8], place: (PageId, u16)) -> Option<ChainChange> {
        let (locks, owner) = (work.locks(), work.owner());
        match self.tells_gone(work.engine(), ghost, place) {
            Some(false) => return None,
            // A transaction with X on the table has no locks on the rows that it deletes.
            None if self.is_private() => return None,
            None if locks.held_mode(owner, self.object_resource()).covers(Mode::X) => return None,
            Some(true) | None => {}
        }
        let key = self.record_resource(ghost)?;
        // This is checked first, so that the transaction's own ghosts cost no lock request.
        let own = locks.held_mode(owner, key) != Mode::NL;
        let asks = || locks.try_lock_now(owner, key, Mode::X, Duration::Instant, None);
        if own || !matches!(asks(), Ok(Some(_))) {
            return None;
        }
        // A version that cannot be read now: the ghost stays for the cleaner.
        self.ghost_need(work.engine(), ghost, place).ok().flatten()
    }
}

impl Neighbours {
    /// Keeps a ghost that a new record will replace.
    pub(crate) fn keep(&mut self, slot: u16) {
        self.0.retain(|(at, _)| *at != slot);
    }

    /// Removes them after the change of their leaf. `put` is the slot at which the change has
    /// inserted a record.
    pub(crate) fn expunge(
        &mut self,
        hobt: &RowHobt,
        change: &mut Change<'_>,
        page: PageRef,
        put: Option<u16>,
    ) {
        // The last slot first, because a removal moves the slots behind it.
        self.0.sort_unstable_by_key(|(slot, _)| std::cmp::Reverse(*slot));
        for (slot, dropped) in self.0.drain(..) {
            let at = slot + u16::from(put.is_some_and(|put| put <= slot));
            let ghost = change.view(page).record(at).is_some_and(page::is_ghost_record);
            assert!(ghost, "a ghost is where it was, or behind what was put");
            // A refused removal has changed nothing: the thread that meets the damage reports it.
            if hobt.tree().expunge(change, page, at, Undo::Never).is_ok() {
                // If this fails, the store's reclaimer frees the versions later.
                let _ = dropped.finish();
            }
        }
        debug_assert!(change.view(page).slot_count() > 0, "invariant 3");
    }
}
