//! Inserts a new row's entries into several indexes of its table in one log group.
//!
//! ```text
//!   each index: spell the entry, find its leaf      shared latches, released at once
//!   each index: latch the leaf, find the slot       without waiting
//!   each index: lock the page and the key           without waiting, all leaves latched
//!   one group:  begin, an insert for each index     all leaves latched
//! ```
//!
//! Everything that is not that simple is left to inserts one by one, which wait, split, revive
//! ghosts and report errors: a key that exists already, a leaf without room, a lock in use, a latch
//! that is not free, damage. Of a non-unique key the first row can be inserted so, since it has no
//! uniquifier. If this way is given up, the locks that were granted on the way stay. They are on
//! keys that no row has, and are requested again.
//!
//! Why: the code that an insert runs is as large as a processor's instruction cache, so six inserts
//! one by one load all of it nearly six times. Here each part runs for all entries. Each leaf is
//! prefetched while others are searched. A row appends to the log once.
//!
//! Invariants
//!  1. No thread waits for anything while a leaf is latched: there is no order of latches among
//!     trees.
//!  2. No transaction guards ranges of these indexes (`locking/gap.rs`, invariant 3), which is
//!     checked under the latches.
//!  3. Everything is checked before anything is changed: a group is whole or absent.
//!  4. A key is locked after it was found to be absent, and before its leaf is released.

use crate::error::RowResult;
use crate::hobt::RowHobt;
use crate::locking::row::key_hash;
use access::{Deed, Entry, EntryGroup, LockPlan, TOGETHER_MAX, TableSink};
use base::PageId;
use base::limits::RECORD_BYTES_MAX;
use btree::{KeyFields, LatchedSpot, LeafWrite, Spot};
use buffer::{Change, PageRef};
use lock::{Duration, Mode, Resource};
use page::{Field, Previous, VersionTag};
use std::sync::atomic::Ordering::Relaxed;
use txn::CommitTime;
use work::Work;

/// The log of an insert and of its undo, without the record.
const LOGGED_BESIDE: usize = 256;

/// One element for each entry.
type PerEntry<T> = [Option<T>; TOGETHER_MAX];

impl RowHobt {
    /// Whether entries of this hobt can be inserted in a group, as far as is known without the
    /// tree.
    pub(crate) fn puts_together(&self, plan: &LockPlan) -> bool {
        let plain = self.tree.is_some() && !self.spec.pieces && !self.is_guarded();
        // A changer with a moment must be refused rows that have changed since: that is checked one
        // by one.
        plain && plan.unchanged_since.is_none()
    }

    /// Whether a transaction may guard ranges here (invariant 2). In an index with uniquifiers,
    /// also whether a reader may see a row in the graveyard: a new row must not get its uniquifier.
    fn is_guarded(&self) -> bool {
        let graves = &self.state.graves;
        self.state.ranges.load(Relaxed) || self.spec.uniquifier && graves.may_be_seen(CommitTime(0))
    }

    /// Encodes an entry and finds its leaf. Returns false if it must be inserted by itself.
    pub(crate) fn prepare_entry(
        &self,
        work: &mut Work,
        row: &[Field<'_>],
        plan: &LockPlan,
        entry: &mut Entry,
    ) -> RowResult<bool> {
        let tree = self.tree();
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
        // Damage is reported by the inserts one by one, in the order of the indexes.
        let spot = self.counting_waits(|| tree.find_spot(key.as_slice()));
        let Ok(spot) = spot else { return Ok(false) };
        (entry.page, entry.reshaped) = (spot.page, spot.reshaped);
        Ok(true)
    }

    fn latch_entry(&self, entry: &Entry) -> Option<LatchedSpot<'_>> {
        self.tree().latch_spot(&Spot { page: entry.page, reshaped: entry.reshaped })
    }

    fn search_entry<'h>(&'h self, leaf: LatchedSpot<'h>, entry: &Entry) -> Option<LeafWrite<'h>> {
        let mut key = KeyFields::default();
        self.key_of_record(&entry.record, &mut key);
        let room = (entry.record.len(), self.room_of_row());
        let leaf = self.tree().search_spot(leaf, key.as_slice(), room);
        // Invariant 2.
        leaf.ok().flatten().filter(|_| !self.is_guarded())
    }

    /// Locks an entry's page and key; false when another transaction holds one of them.
    fn lock_entry(&self, work: &mut Work, page: PageId, entry: &Entry) -> RowResult<bool> {
        let key = Resource::key(self.home.database, self.spec.hobt, entry.key_hash);
        let page = self.page_resource(page);
        let passes = self.is_optimized();
        let duration = if passes { Duration::Short } else { Duration::Long };
        self.did(Deed::PageLock);
        if !work.try_lock_row_now(&self.locked(), page, Mode::IX, duration)? {
            return Ok(false);
        }
        if !self.asks_now(work, key, (Mode::X, duration))? {
            if passes {
                work.locks().release(work.owner(), page);
            }
            return Ok(false);
        }
        if passes {
            work.row_passes(key, Some(page));
        }
        debug_assert!(self.holds(work, key, Mode::X), "what was granted is held");
        Ok(true)
    }
}

/// Inserts entries into their hobts. Returns false, with nothing inserted, if one of them cannot be
/// inserted this way.
pub(crate) fn put<'h>(
    work: &mut Work,
    hobt: &dyn Fn(usize) -> &'h dyn TableSink,
    entries: &EntryGroup,
    plan: &LockPlan,
) -> RowResult<bool> {
    let mut hobts: PerEntry<&'h RowHobt> = [None; TOGETHER_MAX];
    for (place, entry) in hobts.iter_mut().zip(entries.entries()) {
        *place = hobt(entry.hobt).as_any().and_then(|hobt| hobt.downcast_ref());
    }
    let hobts = &hobts[..entries.entries().len()];
    let Some(first) = hobts.first().copied().flatten() else { return Ok(false) };
    let covered = first.lock_for_change(work, plan)?;
    let bytes = entries.bytes();
    // This comes before the latches, because it may wait.
    work.part(&first.home).reserve(2 * bytes + LOGGED_BESIDE * hobts.len())?;
    let Some(mut leaves) = latched(hobts, entries.entries()) else { return Ok(false) };
    if !covered {
        for (n, (hobt, entry)) in each(hobts, entries).enumerate() {
            let page = leaves[n].as_ref().map(LeafWrite::page_id);
            if !hobt.lock_entry(work, page.expect("each entry has its leaf"), entry)? {
                return Ok(false);
            }
        }
    }
    let session = work.session();
    let xsn = first.drawn(work);
    let part = work.part(&first.home);
    let undo = part.undo_of_row(xsn, first.spec.unit);
    for (hobt, _) in each(hobts, entries).skip(1) {
        let of_another = part.undo_of_row(xsn, hobt.spec.unit);
        debug_assert_eq!(of_another, undo, "the indexes of a table have versions, or none has");
    }
    let begin = part.begin();
    let mut change = Change::new(&first.home.pages, &mut part.group);
    let mut places: PerEntry<(PageRef, u16)> = [None; TOGETHER_MAX];
    for (place, leaf) in places.iter_mut().zip(&mut leaves) {
        *place = leaf.take().map(|leaf| leaf.join(&mut change));
    }
    let placed = || each(hobts, entries).zip(places.iter().flatten());
    for ((hobt, entry), &(page, slot)) in placed() {
        hobt.tree().check_insert(&change, page, slot, &entry.record)?;
    }
    begin.log(&mut change, session);
    for ((hobt, entry), &(page, slot)) in placed() {
        hobt.tree().insert_checked(&mut change, page, slot, &entry.record, undo);
    }
    change.finish(&mut part.chain);
    part.logged(2 * bytes + 64 * (hobts.len() - 1));
    for (hobt, _) in each(hobts, entries) {
        hobt.count_rows(1);
        hobt.did(Deed::LeafInsert);
    }
    Ok(true)
}

fn each<'a, 'h>(
    hobts: &'a [Option<&'h RowHobt>],
    entries: &'a EntryGroup,
) -> impl Iterator<Item = (&'h RowHobt, &'a Entry)> {
    hobts.iter().map_while(|hobt| *hobt).zip(entries.entries())
}

/// The latched leaves of all entries at their slots, if all latches are free and all leaves have
/// room. The first leaf is that of the base, where sessions meet most: it is latched last.
fn latched<'h>(
    hobts: &[Option<&'h RowHobt>],
    entries: &[Entry],
) -> Option<PerEntry<LeafWrite<'h>>> {
    let mut spots: PerEntry<LatchedSpot<'h>> = [const { None }; TOGETHER_MAX];
    let mut leaves: PerEntry<LeafWrite<'h>> = [const { None }; TOGETHER_MAX];
    for n in 1..entries.len() {
        spots[n] = Some(hobts[n]?.latch_entry(&entries[n])?);
    }
    for n in 1..entries.len() {
        leaves[n] = Some(hobts[n]?.search_entry(spots[n].take()?, &entries[n])?);
    }
    let base = hobts[0]?.latch_entry(&entries[0])?;
    leaves[0] = Some(hobts[0]?.search_entry(base, &entries[0])?);
    Some(leaves)
}
