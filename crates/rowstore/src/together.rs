//! A new row's entries, put into several indexes of its table in one log group.
//!
//! ```text
//!   each index: spell the entry, find its leaf      shared latches, let go
//!   each index: lock the key and its page           no latch
//!   each index: latch the leaf                      without waiting
//!   each index: find the slot                       all leaves latched
//!   one group:  begin, an insert for each index     all leaves latched
//! ```
//!
//! Whatever is not as plain as that is left to inserts one by one, which wait, split, revive
//! ghosts and say what is wrong: a key that is there, a leaf without room, a lock in use, a latch
//! that is not to be had. Locks that were got on the way stay then; they are asked for again.
//!
//! What it is for: the code that an insert runs is as large as a processor's cache of code, so
//! six inserts one by one bring all of it near six times; here each part runs for all entries. The
//! leaves come near while others are looked for. A row asks for the log once.
//!
//! Invariants
//!  1. Nothing is waited for while a leaf is latched: trees have no order among each other.
//!  2. Nobody guards ranges of these indexes (`gap.rs`, invariant 3), which is asked under the
//!     latches.
//!  3. All is checked before anything is changed: a group is whole or absent.

use crate::activity::Deed;
use crate::entry_lock::{RowLock, Tried, key_hash};
use crate::error::RowResult;
use crate::hobt::RowHobt;
use access::{Entry, LockPlan, TOGETHER_MAX, TableSink, Together};
use base::limits::RECORD_BYTES_MAX;
use btree::{KeyFields, LatchedSpot, LeafWrite, Spot};
use buffer::{Change, PageRef};
use lock::{Mode, Resource};
use page::{Field, Previous, VersionTag};
use std::sync::atomic::Ordering::Relaxed;
use work::Work;

/// Records of one group together, at most: a group has 60 KB.
const BYTES_MAX: usize = 32 << 10;
/// What an insert logs beside its record, and its undo.
const LOGGED_BESIDE: usize = 256;

impl RowHobt {
    /// Spells an entry and finds its place; `false` where it is to be inserted by itself.
    pub(crate) fn prepare_entry(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        plan: &LockPlan,
        entry: &mut Entry,
    ) -> RowResult<bool> {
        let Some(tree) = self.tree.as_ref().filter(|_| self.goes_together(plan)) else {
            return Ok(false);
        };
        let bytes = self.layout.encoded_len(row, false);
        if bytes > RECORD_BYTES_MAX || self.is_noted(work, plan)? {
            return Ok(false);
        }
        self.encode(row, &mut entry.record);
        if let Some(xsn) = self.draw(work)? {
            VersionTag::new(xsn, Previous::None).put(&mut entry.record);
        }
        let mut key = KeyFields::default();
        tree.key_of_row(row, &mut key);
        entry.key_hash = key_hash(tree.order(), key.as_slice());
        let spot = self.counting_waits(|| tree.find_spot(key.as_slice()))?;
        (entry.page, entry.reshaped) = (spot.page, spot.reshaped);
        Ok(true)
    }

    /// What is known without a look at the tree.
    fn goes_together(&self, plan: &LockPlan) -> bool {
        let plain = !self.spec.uniquifier && !self.spec.pieces;
        // Who reads as of a moment is refused what has changed since: that is judged one by one.
        plain && plan.unchanged_since.is_none() && !self.state.ranges.load(Relaxed)
    }

    /// Locks an entry's key and its page; `false` where that would wait.
    fn lock_entry(&self, work: &mut Work, plan: &LockPlan, entry: &Entry) -> RowResult<bool> {
        if self.lock_for_change(work, plan)? {
            return Ok(true);
        }
        let key = self.entry_resource(entry);
        let tried = self.try_changed(work, entry.page, key, RowLock::Long(Mode::X))?;
        Ok(matches!(tried, Tried::Granted))
    }

    fn entry_resource(&self, entry: &Entry) -> Resource {
        Resource::key(self.home.database, self.spec.hobt, entry.key_hash)
    }

    fn latch_entry(&self, entry: &Entry) -> Option<LatchedSpot<'_>> {
        let spot = Spot { page: entry.page, reshaped: entry.reshaped };
        let leaf = self.tree().latch_spot(&spot);
        // Invariant 2.
        leaf.filter(|_| !self.state.ranges.load(Relaxed))
    }

    fn search_entry<'h>(
        &'h self,
        leaf: LatchedSpot<'h>,
        entry: &Entry,
    ) -> RowResult<Option<LeafWrite<'h>>> {
        let mut key = KeyFields::default();
        self.key_of_record(&entry.record, &mut key);
        Ok(self.tree().search_spot(leaf, key.as_slice(), entry.record.len())?)
    }
}

/// Puts entries into their hobts; `false`, and nothing is put, where one is in the way.
pub(crate) fn put<'h>(
    work: &mut Work,
    hobt: &dyn Fn(usize) -> &'h dyn TableSink,
    entries: &Together,
    plan: &LockPlan,
) -> RowResult<bool> {
    let entries = entries.entries();
    let bytes: usize = entries.iter().map(|entry| entry.record.len()).sum();
    let mut hobts: [Option<&'h RowHobt>; TOGETHER_MAX] = [None; TOGETHER_MAX];
    for (place, entry) in hobts.iter_mut().zip(entries) {
        *place = hobt(entry.hobt).as_any().and_then(|hobt| hobt.downcast_ref());
    }
    let hobts = &hobts[..entries.len()];
    let Some(first) = hobts.first().copied().flatten() else { return Ok(false) };
    if bytes > BYTES_MAX || hobts.iter().any(Option::is_none) {
        return Ok(false);
    }
    let each = || hobts.iter().copied().flatten().zip(entries);
    for (hobt, entry) in each() {
        if !hobt.lock_entry(work, plan, entry)? {
            return Ok(false);
        }
    }
    work.part(&first.home).reserve(2 * bytes + LOGGED_BESIDE * entries.len())?;
    let mut latched = [const { None }; TOGETHER_MAX];
    for ((hobt, entry), latched) in each().zip(&mut latched) {
        *latched = hobt.latch_entry(entry);
        if latched.is_none() {
            return Ok(false);
        }
    }
    let mut leaves = [const { None }; TOGETHER_MAX];
    for ((hobt, entry), (latched, leaf)) in each().zip(latched.iter_mut().zip(&mut leaves)) {
        let Some(latched) = latched.take() else { return Ok(false) };
        *leaf = hobt.search_entry(latched, entry)?;
        if leaf.is_none() {
            return Ok(false);
        }
    }
    let session = work.session();
    let part = work.part(&first.home);
    let (begin, undo) = (part.begin(), part.undo());
    let mut change = Change::new(&first.home.pages, &mut part.group);
    let mut places: [Option<(PageRef, u16)>; TOGETHER_MAX] = [None; TOGETHER_MAX];
    for (place, leaf) in places.iter_mut().zip(&mut leaves) {
        *place = leaf.take().map(|leaf| leaf.join(&mut change));
    }
    let placed = || each().zip(places.iter().flatten());
    for ((hobt, entry), &(page, slot)) in placed() {
        hobt.tree().check_insert(&change, page, slot, &entry.record)?;
    }
    begin.log(&mut change, session);
    for ((hobt, entry), &(page, slot)) in placed() {
        hobt.tree().insert_checked(&mut change, page, slot, &entry.record, undo);
    }
    change.finish(&mut part.chain);
    part.logged(2 * bytes + 64 * (entries.len() - 1));
    for (hobt, _) in each() {
        hobt.count_rows(1);
        hobt.did(Deed::LeafInsert);
    }
    Ok(true)
}
