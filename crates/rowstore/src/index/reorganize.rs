//! ALTER INDEX … REORGANIZE: fills the leaves of a tree to the wanted degree and brings their pages
//! into the order of their keys, while other sessions read and write.
//!
//! ```text
//! 1  compaction   left to right, leaf by leaf: records of the next leaf move into it; an emptied
//!                 leaf is freed. Begun only where a few leaves become one fewer.
//! 2  order        the page that should be the nth by key and the one that is exchange leaves, if
//!                 more than one page in twenty lies out of order.
//! ```
//!
//! Each step is one log group that no transaction undoes, even if the statement fails: it changes
//! no row. It waits for no lock. The statement holds IX on the table, so that the table's
//! definition cannot change. Pages whose latches are not free stay where they are.
//!
//! Invariants
//!  1. Ghosts that are not needed are removed first. The others move along, and the cleaner learns
//!     of their new page (ghosts/clean.rs, rule 4).
//!  2. Between two steps no latch is held, and a cancellation is checked.

use crate::error::RowResult;
use crate::figures::page_order::PageOrder;
use crate::hobt::RowHobt;
use base::PageId;
use base::limits::PAGE_BODY_BYTES;
use btree::{Bias, CompactOutcome, KeyBuf, LeafUse, STRUCTURE_LOG_BYTES_MAX, SearchKey};
use std::collections::BTreeMap;
use wal::{Group, LogReservation};
use work::Work;

/// The most leaves that are compacted to free one leaf.
const WINDOW: usize = 32;
/// One page in this many may lie out of order.
const IN_ORDER_OF: u64 = 20;

impl RowHobt {
    /// Reorganizes a tree and fills its leaves to `percent`. With `large` it also reorganizes the
    /// tree of pieces of large values; of a heap it reorganizes only that.
    ///
    /// # Errors
    /// Damaged pages, log, cancellation; steps that are done stay.
    pub(crate) fn reorganize(
        &self,
        work: &mut Work,
        percent: u8,
        large: bool,
    ) -> base::SqlResult<()> {
        assert!((1..=100).contains(&percent), "a leaf is filled in percent");
        if let Some(pieces) = self.large.as_ref().filter(|_| large) {
            pieces.reorganize(work, 100, false)?;
        }
        if self.tree.is_none() {
            return Ok(());
        }
        let fill = PAGE_BODY_BYTES * usize::from(percent) / 100;
        let done = self.compact_leaves(work, fill).and_then(|()| self.order_leaves(work));
        done.map_err(|e| self.sql(e))
    }

    /// A key of the leftmost leaf that has records.
    fn leftmost_key(&self) -> RowResult<Option<KeyBuf>> {
        let first = self.tree().seek(SearchKey { fields: &[], bias: Bias::FirstAtLeast })?;
        let Some(leaf) = first else { return Ok(None) };
        let mut key = KeyBuf::default();
        leaf.copy_key(&mut key)?;
        Ok(Some(key))
    }

    fn compact_leaves(&self, work: &mut Work, fill: usize) -> RowResult<()> {
        let mut next = self.leftmost_key()?;
        while let Some(key) = next.take() {
            let fields = key.fields();
            let Some(mut found) = self.tree().leaves_beside(fields.as_slice())? else { break };
            for leaf in found.leaves.iter().filter(|l| l.ghosts > 0) {
                self.clear_leaf(work, leaf.key.fields().as_slice())?;
            }
            if found.leaves.iter().any(|l| l.ghosts > 0) {
                let Some(again) = self.tree().leaves_beside(fields.as_slice())? else { break };
                found = again;
            }
            self.compact_under_one(work, &found.leaves, fill)?;
            next = found.next;
        }
        Ok(())
    }

    /// Compacts the leaves under one page.
    fn compact_under_one(&self, work: &mut Work, leaves: &[LeafUse], fill: usize) -> RowResult<()> {
        let Some(first) = leaves.first() else { return Ok(()) };
        // A key of the leaf that is being filled, and its bytes.
        let (mut into, mut used) = (first.key.clone(), first.used);
        let mut end = 0;
        for (at, from) in leaves.iter().enumerate().skip(1) {
            if at >= end {
                end = at + window(used, &leaves[at..], fill);
            }
            let step = match at < end {
                true => self.compact_step(work, &into, fill)?,
                false => CompactOutcome::Kept,
            };
            (into, used) = match step {
                CompactOutcome::Merged => (into, used + from.used),
                CompactOutcome::Moved(bytes, key) => (key, from.used.saturating_sub(bytes)),
                CompactOutcome::Kept => (from.key.clone(), from.used),
            };
        }
        Ok(())
    }

    fn compact_step(
        &self,
        work: &mut Work,
        key: &KeyBuf,
        fill: usize,
    ) -> RowResult<CompactOutcome> {
        let _log = self.log_for_step(work)?;
        let fields = key.fields();
        let step = self.tree().compact(&mut Group::new(), fields.as_slice(), fill)?;
        if step != CompactOutcome::Kept {
            let around = {
                let leaf = self.tree().seek_write(fields.as_slice())?;
                [leaf.page_id(), leaf.next_page()]
            };
            self.note_ghosts(work, &around);
        }
        Ok(step)
    }

    /// Reserves log for one step. No latch is held.
    fn log_for_step(&self, work: &Work) -> RowResult<LogReservation> {
        let waiter = work.owner().waiter();
        waiter.check()?;
        let mut log = LogReservation::none(self.home.log());
        log.patiently(Some(waiter), |log| log.grow(STRUCTURE_LOG_BYTES_MAX))?;
        Ok(log)
    }

    /// Notes the pages with ghosts after a step (invariant 1): a ghost that was noted before may be
    /// on another page now.
    fn note_ghosts(&self, work: &mut Work, pages: &[PageId]) {
        for &page in pages.iter().filter(|p| !p.is_none()) {
            // A page that cannot be read may belong to another hobt by now.
            let there = self.home.pages.read_again(page);
            if there.is_ok_and(|p| p.view().ghost_count() > 0) {
                self.home.ghosts().note(page);
                work.ghosts_moved(&self.settler(), page);
            }
        }
    }

    /// The leaves in the order of their keys.
    fn leaves_in_order(&self, work: &Work) -> RowResult<Vec<PageId>> {
        let mut leaves = Vec::new();
        let mut next = self.leftmost_key()?;
        while let Some(key) = next.take() {
            work.owner().waiter().check()?;
            let fields = key.fields();
            let Some(found) = self.tree().children_beside(fields.as_slice())? else { break };
            leaves.extend(found.leaves.iter().map(|l| l.id));
            next = found.next;
        }
        Ok(leaves)
    }

    fn order_leaves(&self, work: &mut Work) -> RowResult<()> {
        let mut leaves = self.leaves_in_order(work)?;
        let mut order = PageOrder::default();
        for &id in &leaves {
            order.add(id);
        }
        if order.out_of_order() * IN_ORDER_OF <= leaves.len() as u64 {
            return Ok(());
        }
        let mut wanted = leaves.clone();
        wanted.sort();
        let mut places: BTreeMap<PageId, usize> =
            leaves.iter().enumerate().map(|(n, id)| (*id, n)).collect();
        for (n, &wanted) in wanted.iter().enumerate() {
            let here = leaves[n];
            let there = places.get(&wanted).copied();
            let Some(there) = there.filter(|_| here != wanted) else { continue };
            if self.exchange_step(work, here, wanted)? {
                (leaves[n], leaves[there]) = (wanted, here);
                places.insert(here, there);
                places.insert(wanted, n);
            }
        }
        Ok(())
    }

    /// Exchanges the pages of two leaves.
    fn exchange_step(&self, work: &mut Work, here: PageId, there: PageId) -> RowResult<bool> {
        let _log = self.log_for_step(work)?;
        let tree = self.tree();
        let (Some(first), Some(second)) = (tree.first_key(here), tree.first_key(there)) else {
            return Ok(false);
        };
        let (first, second) = (first.fields(), second.fields());
        let order = tree.order().compare_keys(first.as_slice(), second.as_slice());
        if order != Some(std::cmp::Ordering::Less) {
            return Ok(false);
        }
        let mut group = Group::new();
        if !tree.exchange_leaves(&mut group, first.as_slice(), second.as_slice())? {
            return Ok(false);
        }
        self.note_ghosts(work, &[here, there]);
        Ok(true)
    }
}

/// The number of leaves to the right that must be compacted into a leaf with `used` bytes, so that
/// one leaf becomes free; 0 if that takes too many.
fn window(used: usize, right: &[LeafUse], fill: usize) -> usize {
    let mut sum = used;
    for (n, leaf) in right.iter().take(WINDOW).enumerate() {
        sum += leaf.used;
        // A leaf is full when the next record does not fit.
        let left_over = leaf.used / usize::from(leaf.records.max(1));
        if sum + n * left_over <= fill * (n + 1) {
            return n + 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(used: usize) -> LeafUse {
        let id = PageId::new(1, 9);
        LeafUse { id, key: KeyBuf::default(), used, records: 100, ghosts: 0 }
    }

    #[test]
    fn as_few_leaves_as_possible_move_for_one_to_become_free() {
        let of = |used: &[usize]| {
            let leaves: Vec<LeafUse> = used[1..].iter().map(|&n| leaf(n)).collect();
            window(used[0], &leaves, 8000)
        };
        assert_eq!(of(&[4000, 4000]), 1, "two halves are one");
        assert_eq!(of(&[5500, 5500, 5500, 5500]), 3, "three of four");
        assert_eq!(of(&[8000, 8000, 8000]), 0);
        assert_eq!(of(&[9000, 100]), 0, "what is fuller than it is to be stays");
        assert_eq!(of(&[7900; 40]), 0, "not worth it");
        assert_eq!(of(&[8000]), 0, "nothing is at the right");
    }
}
