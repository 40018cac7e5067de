//! The growth of a tree since it was built: the number of inserts, and the places of splits.
//!
//! The counters cover the time since the hobt was opened. A tree that was built before has no count
//! of the rows that it was built with. At most some hundred pages of the tree are read for this.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use access::{Growth, GrowthPart};
use base::limits::PAGE_BODY_BYTES;
use btree::{Bias, KeyBuf, SearchKey};
use os::wait::Waiter;
use page::Field;
use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;

/// The number of parts into which the leaves are divided.
const PARTS: usize = 16;
/// The leaves that are read of each part.
const LEAVES_OF_PART: usize = 4;

/// The figures of some leaves that were read.
#[derive(Clone, Copy, Default)]
struct LeafSample {
    leaves: u64,
    records: u64,
    used: u64,
}

impl RowHobt {
    /// The rows that a bulk load has put into it, if known, and the inserts since then.
    pub(crate) fn inserts_since_built(&self) -> (Option<u64>, u64) {
        let built = self.state.built.load(Relaxed).checked_sub(1);
        (built, self.state.activity.inserts() - self.state.inserts_before)
    }

    /// The growth of the tree; `None` for a heap.
    ///
    /// # Errors
    /// Pages that cannot be read; the waiter's cancellation.
    pub(crate) fn growth(&self, waiter: &Waiter) -> base::SqlResult<Option<Growth>> {
        if self.tree.is_none() {
            return Ok(None);
        }
        let rows = self.row_count(waiter)?;
        self.growth_of(rows, waiter).map(Some).map_err(|e| self.sql(e))
    }

    fn growth_of(&self, rows: u64, waiter: &Waiter) -> RowResult<Growth> {
        let (built, inserts) = self.inserts_since_built();
        let leaf = self.splits().leaf;
        let finer = self.tree().separators(&[], &[], PARTS * LEAVES_OF_PART, waiter)?;
        let (parts, seen) = self.parts(&finer, waiter)?;
        let rows_a_page = seen.records * PAGE_BODY_BYTES as u64 / seen.used.max(1);
        Ok(Growth {
            rows,
            built,
            inserts,
            appends: leaf.appends,
            splits: leaf.splits,
            at_end: leaf.at_end,
            beside_last: leaf.beside_last,
            rows_a_page: rows_a_page.max(1),
            parts,
        })
    }

    /// Divides the leaves into at most [`PARTS`] parts, at keys that divide them evenly.
    fn parts(&self, keys: &[KeyBuf], waiter: &Waiter) -> RowResult<(Vec<GrowthPart>, LeafSample)> {
        let count = PARTS.min(keys.len() + 1);
        let cut = |n: usize| n * (keys.len() + 1) / count;
        let mut parts = vec![GrowthPart::default(); count];
        let mut all = LeafSample::default();
        for (n, part) in parts.iter_mut().enumerate() {
            let mut seen = LeafSample::default();
            let leaves = cut(n)..cut(n + 1);
            for at in leaves.clone().step_by((leaves.len() / LEAVES_OF_PART).max(1)) {
                waiter.check()?;
                let fields = at.checked_sub(1).map(|before| keys[before].fields());
                self.look(fields.as_ref().map_or(&[], |f| f.as_slice()), &mut seen)?;
            }
            // Each key stands for as many leaves as another.
            part.rows = seen.records * leaves.len() as u64 / seen.leaves.max(1);
            all.records += seen.records;
            all.used += seen.used;
        }
        for place in self.state.splits.places() {
            let place = place.fields();
            let before = |key: &KeyBuf| self.is_at_or_below(key, place.as_slice());
            let at = keys.partition_point(before);
            let part = (0..count).rev().find(|&n| cut(n) <= at).unwrap_or(0);
            parts[part].splits += 1;
        }
        Ok((parts, all))
    }

    fn is_at_or_below(&self, key: &KeyBuf, place: &[Field<'_>]) -> bool {
        let order = self.tree().order().compare_keys(key.fields().as_slice(), place);
        order != Some(Ordering::Greater)
    }

    /// Reads the leaf of a key.
    fn look(&self, key: &[Field<'_>], seen: &mut LeafSample) -> RowResult<()> {
        let search = SearchKey { fields: key, bias: Bias::FirstAtLeast };
        if let Some(leaf) = self.tree().seek(search)? {
            let view = leaf.view();
            seen.leaves += 1;
            seen.records += u64::from(view.slot_count());
            seen.used += PAGE_BODY_BYTES as u64 - u64::from(view.free_count());
        }
        Ok(())
    }
}
