//! A leaf for a new record, found before it is latched.
//!
//! Who puts a row into several trees looks for all leaves first, then latches them all, without
//! waiting for any (rule 4), searches them, and puts everything in one group. What the second
//! search reads comes near meanwhile: a leaf lies anywhere, and its first bytes take longer to come
//! than the search of the pages above.
//!
//! Invariants
//!  1. Whoever changes which keys belong to a leaf counts that before he lets its latch and that
//!     of the page above go (`SplitCounters::reshaped`). So a leaf is the key's where nobody has
//!     counted since before the way down.
//!  2. Where somebody has, it is the key's where it is a leaf of the tree, has a lesser record, and
//!     a greater one or no right neighbour: what lies between is in its range. A leaf that was
//!     freed has no records.

use crate::error::BtreeResult;
use crate::guess::bring_near;
use crate::leaf::LeafWrite;
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
    /// How often the tree's pages had been given other keys when the way down began.
    pub reshaped: u64,
}

/// A leaf under its exclusive latch, on its way into the processor's cache.
pub struct LatchedSpot<'t> {
    guard: WriteGuard<'t>,
    /// Nobody has given it other keys.
    same: bool,
}

impl Tree {
    /// The leaf of a whole key, which is in memory and comes near; no latch is kept.
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

    /// The exclusive latch of a leaf that was found; `None` where it is not to be had at once, or
    /// the page is no leaf of the tree any more. What the search of it looks at first comes near.
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

    /// The slot of a new record of that length on a latched leaf. `None` where a record, perhaps a
    /// ghost, has the key, the leaf is not the key's, has no room, or a ghost stands beside.
    ///
    /// # Errors
    /// 824.
    pub fn search_spot<'t>(
        &'t self,
        spot: LatchedSpot<'t>,
        key: &[Field<'_>],
        record_bytes: usize,
    ) -> BtreeResult<Option<LeafWrite<'t>>> {
        assert_eq!(key.len(), self.shape.order.len(), "a record is put by its whole key");
        let v = spot.guard.view();
        let sought = self.sought(key);
        let (slot, exact) = self.search((spot.guard.id(), v), Part::Leaf, &sought, false, 0)?;
        let between = slot > 0 && (slot < v.slot_count() || v.next_page().is_none());
        let takes = !exact && (spot.same || between) && takes(v, slot, record_bytes);
        Ok(takes.then(|| LeafWrite::new_at(self, spot.guard, slot)))
    }
}

/// Whether a leaf has room for a record at a slot, and no ghost beside that might go with it.
fn takes(v: PageView<'_>, slot: u16, record_bytes: usize) -> bool {
    let ghost = |slot: u16| v.record(slot).is_some_and(page::is_ghost_record);
    slot_cost(record_bytes) <= usize::from(v.free_count())
        && (v.ghost_count() == 0 || !(ghost(slot) || slot.checked_sub(1).is_some_and(ghost)))
}
