//! Next-key locking: what an insert requests for the gap into which its key falls.
//!
//! A key's range lock guards the open gap below the key, down to the next record of the tree.
//! Records are the anchors of gaps, ghosts included; behind the last record, the end of the index
//! is the anchor. An inserting transaction finds the anchor above its key under the leaf's latch,
//! and tests whether another transaction guards the gap (RangeI-N, instant). If it guards the gap
//! itself, the new key divides that gap. So the new key gets RangeX-X and guards the lower half.
//!
//! ```text
//!   T1 has RangeS-S on 30:      10 ............. 30
//!   T1 inserts 20:              10 .... 20 ..... 30
//!                               RangeX-X  RangeS-S
//! ```
//!
//! Invariants
//!  1. While the gap is tested, no scan is between the place of the new key and its anchor
//!     ([`LeafWrite::with_next`]): a scan has locked the anchor, or will see the new key.
//!  2. A record on which another transaction may hold a range lock does not leave the tree. Its
//!     deleter holds X on it; with optimized locking the deleter requests X before it removes the
//!     ghost. So do the cleaner and a change that removes a neighbouring ghost. A rollback to a
//!     savepoint leaves a ghost.
//!  3. A transaction that locks ranges of a hobt announces that (`HobtState::ranges`) before it
//!     latches a leaf of it. Where none has announced it, no transaction guards the gap, or it
//!     comes to the leaf after the latch is released and sees the new key: then nothing is tested.
//!     The announcement stays as long as the hobt is open.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::locking::row::{Attempt, RowLock};
use base::PageId;
use btree::{KeyBuf, LeafWrite};
use lock::{INFINITY, Mode, Resource};
use std::sync::atomic::Ordering::Relaxed;
use txn::Mutation;
use work::Work;

/// The result of the test of a gap.
pub(crate) enum Gap {
    /// No other transaction guards it; the new key must get this lock.
    Open(RowLock),
    /// Another transaction guards it, or holds the new key.
    Wait(lock::Ticket),
}

impl RowHobt {
    /// The gap behind the last key.
    pub(crate) fn end_resource(&self) -> Resource {
        debug_assert!(self.tree.is_some(), "rule 13: heaps have no gaps");
        Resource::key(self.home.database, self.spec.hobt, INFINITY)
    }

    /// The resource of a record's key, as the record spells it.
    pub(crate) fn record_resource(&self, record: &[u8]) -> Option<Resource> {
        let mut key = KeyBuf::default();
        self.tree().copy_key(record, &mut key)?;
        let columns = self.tree().order().len();
        debug_assert_eq!(key.fields().as_slice().len(), columns, "a record has its whole key");
        Some(self.key_resource(key.fields().as_slice()))
    }

    /// Tests the gap that a new key at a slot falls into, while the leaf is latched.
    pub(crate) fn try_gap(
        &self,
        work: &mut Work,
        leaf: &LeafWrite<'_>,
        slot: u16,
    ) -> RowResult<Gap> {
        let page = leaf.page_id();
        debug_assert_eq!(leaf.view().alloc_unit(), self.spec.unit, "the leaf is this tree's");
        if !self.state.ranges.load(Relaxed) {
            return Ok(Gap::Open(RowLock::Long(Mode::X)));
        }
        leaf.with_next(slot, |next| self.test_gap(work, page, next))?
    }

    /// Tests the gap below a record; `None` is the end of the index.
    pub(crate) fn test_gap(
        &self,
        work: &mut Work,
        page: PageId,
        next: Option<&[u8]>,
    ) -> RowResult<Gap> {
        let anchor = match next {
            Some(record) => match self.record_resource(record) {
                Some(anchor) => anchor,
                None => {
                    let what = "a record's key does not fit its layout";
                    return Err(self.home.pages.corrupt(page, what).into());
                }
            },
            None => self.end_resource(),
        };
        assert!(self.tree.is_some(), "heaps have no gaps");
        match self.try_row(work, page, anchor, RowLock::Test(Mode::RangeIN))? {
            Attempt::Wait(ticket) => Ok(Gap::Wait(ticket)),
            Attempt::Granted => {
                debug_assert!(anchor.is_within_hobt(self.spec.hobt), "rule 9: an anchor is a key");
                let lost = work.engine().transactions.mutations.has(Mutation::OwnRangeLost);
                let own = !lost
                    && work.has_locked_ranges()
                    && guards_gap(work.locks().held_mode(work.owner(), anchor));
                let mode = Mode::X;
                Ok(Gap::Open(if own { RowLock::Range(mode) } else { RowLock::Long(mode) }))
            }
        }
    }

    /// Tests the gap and locks the new key in it.
    pub(crate) fn try_new_key(
        &self,
        work: &mut Work,
        leaf: &LeafWrite<'_>,
        key: Resource,
    ) -> RowResult<Attempt> {
        assert!(!leaf.is_exact(), "a key that is there divides nothing");
        debug_assert_ne!(key, self.end_resource(), "rule 9: nothing is put at the end's anchor");
        match self.try_gap(work, leaf, leaf.slot())? {
            Gap::Wait(ticket) => Ok(Attempt::Wait(ticket)),
            Gap::Open(ask) => self.try_changed(work, leaf.page_id(), key, ask),
        }
    }
}

/// Whether a mode has a part for the gap below its key.
fn guards_gap(mode: Mode) -> bool {
    mode.conflicts(Mode::RangeIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_that_guard_the_gap_are_those_that_inserts_wait_for() {
        let guards: Vec<_> =
            Mode::ALL.iter().filter(|m| guards_gap(**m)).map(|m| m.name()).collect();
        let ranges = ["RangeS-S", "RangeS-U", "RangeX-S", "RangeX-U", "RangeX-X"];
        assert_eq!(guards[0], "Sch-M");
        assert_eq!(guards[1..], ranges);
    }
}
