//! A place for a new record that outlives the latches of its search.
//!
//! Who puts a row into several trees looks for all places first, then latches all leaves, without
//! waiting for any (rule 4), and puts everything in one group.
//!
//! Invariants
//!  1. A leaf with the LSN that it had is what it was: the slot found then is the key's.
//!  2. A leaf with another one is the key's where it is a leaf of the tree, has a lesser record,
//!     and a greater one or no right neighbour: what lies between is in its range. A leaf that was
//!     freed has no records.

use crate::error::BtreeResult;
use crate::key::KeyBuf;
use crate::leaf::LeafWrite;
use crate::order::Part;
use crate::tree::Tree;
use base::{Lsn, PageId};
use page::{Field, PageView, RecordKind, slot_cost};

/// Where a record that is not there yet would stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spot {
    /// The leaf.
    pub page: PageId,
    /// The slot, while the leaf has the LSN.
    pub slot: u16,
    /// The leaf's LSN then.
    pub lsn: Lsn,
}

impl Tree {
    /// The place of a whole key for a record of that length; no latch is kept. `None` where a
    /// record, perhaps a ghost, has the key, the leaf has no room, or a ghost stands beside.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn find_spot(&self, key: &[Field<'_>], record_bytes: usize) -> BtreeResult<Option<Spot>> {
        assert_eq!(key.len(), self.shape.order.len(), "a record is put by its whole key");
        let sought = self.sought(key);
        let leaf = self.read_leaf(&sought)?;
        let v = leaf.view();
        let (slot, exact) = self.search((leaf.id(), v), Part::Leaf, &sought, false, 0)?;
        let takes = !exact && takes(v, slot, record_bytes);
        Ok(takes.then(|| Spot { page: leaf.id(), slot, lsn: v.lsn() }))
    }

    /// The leaf of a place again, under its exclusive latch, for the record that it was found for.
    /// `None` where the latch is not to be had at once, or the leaf is no longer the record's, or
    /// does not take it any more.
    ///
    /// # Errors
    /// 824.
    pub fn latch_spot(&self, spot: &Spot, record: &[u8]) -> BtreeResult<Option<LeafWrite<'_>>> {
        let Some(guard) = self.pages.try_write(spot.page) else { return Ok(None) };
        let v = guard.view();
        let slot = match v.lsn() == spot.lsn {
            true => Some(spot.slot),
            false => self.slot_within((guard.id(), v), record)?,
        };
        let slot = slot.filter(|slot| takes(v, *slot, record.len()));
        Ok(slot.map(|slot| LeafWrite::new_at(self, guard, slot)))
    }

    /// The slot of a new record on a leaf that others have changed, where that is still its leaf.
    #[cold]
    fn slot_within(
        &self,
        (id, v): (PageId, PageView<'_>),
        record: &[u8],
    ) -> BtreeResult<Option<u16>> {
        if self.page_fault(v, 0).is_some() {
            return Ok(None);
        }
        let mut key = KeyBuf::default();
        let copied = self.shape.copy_key(Part::Leaf, record, &mut key);
        copied.expect("a record that was just built has its key");
        let fields = key.fields();
        let sought = self.sought(fields.as_slice());
        let (slot, exact) = self.search((id, v), Part::Leaf, &sought, false, 0)?;
        let between = slot > 0 && (slot < v.slot_count() || v.next_page().is_none());
        Ok(Some(slot).filter(|_| between && !exact))
    }
}

/// Whether a leaf has room for a record at a slot, and no ghost beside that might go with it.
fn takes(v: PageView<'_>, slot: u16, record_bytes: usize) -> bool {
    let ghost = |slot: u16| v.record(slot).is_some_and(|r| RecordKind::of(r[0]).is_ghost());
    slot_cost(record_bytes) <= usize::from(v.free_count())
        && (v.ghost_count() == 0 || !(ghost(slot) || slot.checked_sub(1).is_some_and(ghost)))
}
