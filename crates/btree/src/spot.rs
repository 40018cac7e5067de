//! `Spot`: the leaf for a new record, found before it is latched.
//!
//! A thread that inserts a row into several trees first finds all leaves. Then it latches them all
//! without waiting for any (rule 4), searches them, and inserts all entries in one group. Meanwhile
//! the processor prefetches what the second search reads: a leaf lies anywhere in memory, and
//! fetching its first bytes takes longer than the search of the pages above.
//!
//! Invariants
//!  1. A thread that changes which keys belong to a leaf counts that before it releases the latches
//!     of the leaf and of the page above (`SplitCounters::reshaped`). So if the count has not
//!     changed since before the way down, the leaf is the key's.
//!  2. If the count has changed, the leaf is the key's if it is a leaf of the tree, has a lesser
//!     record, and has a greater one or no right neighbour: everything in between is in its range.
//!     A freed leaf has no records.

use crate::error::BtreeResult;
use crate::guess::bring_near;
use crate::leaf::{LeafWrite, left_free};
use crate::order::Part;
use crate::tree::{LEVELS_MAX, Tree};
use base::PageId;
use buffer::WriteGuard;
use os::counters::Event;
use page::{Field, PageView, slot_cost};

/// The leaf of a record that is not there yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The leaf.
    pub page: PageId,
    /// The tree's `reshaped` count when the way down began.
    pub reshaped: u64,
}

/// A leaf under its exclusive latch, on its way into the processor's cache.
pub struct LatchedSpot<'t> {
    guard: WriteGuard<'t>,
    /// The tree's `reshaped` count has not changed.
    same: bool,
}

impl Tree {
    /// Finds the leaf of a whole key, which is in memory, and prefetches it; no latch is kept.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn find_spot(&self, key: &[Field<'_>]) -> BtreeResult<Spot> {
        assert_eq!(key.len(), self.shape.order.len(), "a record is put by its whole key");
        self.pages.counters().add(Event::IndexSearch, 1);
        let reshaped = self.splits.reshapings();
        let sought = self.sought(key);
        let (mut at, mut level) = self.read_root()?;
        loop {
            debug_assert!(level < LEVELS_MAX, "each step goes down by one");
            if level == 0 {
                return Ok(Spot { page: self.root, reshaped });
            }
            let slot = self.child_slot((at.id(), at.view()), &sought, true)?;
            let child = self.child(at.id(), at.view(), slot)?;
            if level == 1 {
                self.pages.expect(child)?;
                return Ok(Spot { page: child, reshaped });
            }
            self.pages.prefetch(child);
            level -= 1;
            let next = self.pages.read(child)?;
            self.check_page(child, next.view(), level)?;
            at = next;
        }
    }

    /// Latches a leaf that was found exclusively, and prefetches what its search reads first.
    /// `None` when the latch is not free, or the page is no leaf of the tree any more.
    pub fn latch_spot(&self, spot: &Spot) -> Option<LatchedSpot<'_>> {
        let guard = self.pages.try_write(spot.page)?;
        let v = guard.view();
        if self.page_fault(v, 0).is_some() {
            return None;
        }
        bring_near(v, (0, v.slot_count()));
        let same = self.splits.reshapings() == spot.reshaped;
        Some(LatchedSpot { guard, same })
    }

    /// The slot of a new record of that length on a latched leaf, which leaves so many bytes free
    /// for each row if it is appended. `None` when a record, perhaps a ghost, has the key, or the
    /// leaf is not the key's, has no room, or has a ghost beside the slot.
    ///
    /// # Errors
    /// 824.
    pub fn search_spot<'t>(
        &'t self,
        spot: LatchedSpot<'t>,
        key: &[Field<'_>],
        (record_bytes, of_row): (usize, usize),
    ) -> BtreeResult<Option<LeafWrite<'t>>> {
        assert_eq!(key.len(), self.shape.order.len(), "a record is put by its whole key");
        let v = spot.guard.view();
        let sought = self.sought(key);
        let (slot, exact) = self.search((spot.guard.id(), v), Part::Leaf, &sought, false, 0)?;
        let between = slot > 0 && (slot < v.slot_count() || v.next_page().is_none());
        let left = left_free(v, slot, of_row);
        let takes = !exact && (spot.same || between) && takes(v, slot, record_bytes + left);
        Ok(takes.then(|| LeafWrite::new_at(self, spot.guard, slot)))
    }
}

/// Whether a leaf has room for a record at a slot, and no ghost beside that might go with it.
fn takes(v: PageView<'_>, slot: u16, record_bytes: usize) -> bool {
    let ghost = |slot: u16| v.record(slot).is_some_and(page::is_ghost_record);
    slot_cost(record_bytes) <= usize::from(v.free_count())
        && (v.ghost_count() == 0 || !(ghost(slot) || slot.checked_sub(1).is_some_and(ghost)))
}
