//! The graveyard of an index or a heap: ghosts that a snapshot needs, moved off their pages into
//! memory.
//!
//! When a ghost is settled while a snapshot still needs its row, it would stay on its page and be
//! in the way of all. So it is moved here under its page's latch, unchanged: with its tag, and with
//! its former versions in the store. Readers as of an earlier moment look here, too
//! (`index/scan/graves.rs`, `heap/scan/graves.rs`); no others do.
//!
//! It is memory, and ends with the process, as snapshots do. The log only says that the ghost left
//! its page. Where memory is short, a ghost stays on its page, and the cleaner comes back.
//! `ghosts/burial.rs` moves ghosts here.
//!
//! Invariants
//!  1. Ghosts come here only from their page, and leave when no snapshot needs them. So a reader
//!     that looks at the page first, and here afterwards, misses none.
//!  2. Ghosts of an index are in order of keys, and those of one key in order of the ends of their
//!     lifetimes. Of all rows that have had a key, here and on the leaf, a snapshot sees at most
//!     one. A transaction that has written the key itself sees only what is on the leaf.
//!  3. Ghosts of a heap are in order of the RIDs that their rows had, one a RID. While a ghost is
//!     here, no other row gets its RID. So index entries lead every reader that sees them to the
//!     right row. A ghost comes here under the latch of its RID's page.
//!  4. `newest` is the latest end among the ghosts here: a reader as of then or later sees none.
//!  5. The versions stored behind a ghost belong to it alone from the move on, and are changed
//!     under the lock.

use crate::error::RowResult;
use crate::ghosts::chunks::Chunks;
use crate::place::Place;
use base::PageId;
use btree::{KeyBuf, KeyFields, Tree};
use os::sync::RwLock;
use std::cmp::Ordering;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use txn::CommitTime;
use work::{Engine, GraveMemory};

/// The bytes of a grave without its record.
pub(crate) const GRAVE_BYTES: usize = size_of::<Grave>() + 16;

/// A ghost that left its page.
pub(crate) struct Grave {
    /// The record as it was on its page, with its tag.
    pub(crate) record: Box<[u8]>,
    /// The RID of a heap's row.
    pub(crate) home: Place,
    pub(crate) ended: CommitTime,
}

/// The graves of an index or a heap.
#[derive(Default)]
pub(crate) struct Graveyard {
    newest: AtomicU64,
    buried: RwLock<Graves>,
}

#[derive(Default)]
struct Graves {
    graves: Chunks<Grave>,
    bytes: usize,
    memory: Option<Arc<GraveMemory>>,
    /// The database has it on its list of graveyards.
    listed: bool,
    /// The epoch of the last sweep over all graves; 0 when the sweep may have missed some.
    epoch: u32,
}

/// An end of a range: a key, or the beginning of one.
#[derive(Clone, Copy)]
pub(crate) struct Bound<'k> {
    pub(crate) key: &'k KeyBuf,
    pub(crate) inclusive: bool,
}

impl Graveyard {
    /// Whether a reader as of that moment may see a ghost here. The reader asks after it has looked
    /// at the leaf.
    #[inline]
    pub(crate) fn may_be_seen(&self, at: CommitTime) -> bool {
        self.newest.load(Acquire) > at.0
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.buried.read().graves.is_empty()
    }

    /// Calls `f` with the ghosts between two keys, in order, until it breaks.
    pub(crate) fn each(
        &self,
        tree: &Tree,
        (lower, upper): (Option<Bound<'_>>, Option<Bound<'_>>),
        backward: bool,
        f: &mut dyn FnMut(&[u8]) -> RowResult<ControlFlow<()>>,
    ) -> RowResult<()> {
        let buried = self.buried.read();
        let graves = &buried.graves;
        let place = |bound: Bound<'_>, with_equal| {
            let fields = bound.key.fields();
            let order = |grave: &Grave| tree.compare(&grave.record, fields.as_slice());
            graves.place(|grave| match order(grave) {
                Some(Ordering::Equal) => with_equal,
                order => order == Some(Ordering::Less),
            })
        };
        let from = lower.map_or((0, 0), |bound| place(bound, !bound.inclusive));
        let to = upper.map_or((graves.pieces(), 0), |bound| place(bound, bound.inclusive));
        let mut between = graves.between(from, to);
        while let Some(grave) = if backward { between.next_back() } else { between.next() } {
            if f(&grave.record)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Calls `f` with the last ghost whose key begins with a key.
    pub(crate) fn last_of(
        &self,
        tree: &Tree,
        key: &KeyBuf,
        f: &mut dyn FnMut(&[u8]),
    ) -> RowResult<()> {
        let whole = Some(Bound { key, inclusive: true });
        self.each(tree, (whole, whole), true, &mut |ghost| {
            f(ghost);
            Ok(ControlFlow::Break(()))
        })
    }

    /// Replaces `slots` by the slots of a heap's page whose rows' ghosts are here, in order. The
    /// page is latched, so no further ghost of it can come here.
    pub(crate) fn slots_on(&self, page: PageId, slots: &mut Vec<u16>) {
        slots.clear();
        if self.newest.load(Acquire) == 0 {
            return;
        }
        let buried = self.buried.read();
        let graves = &buried.graves;
        let from = graves.place(|grave| grave.home.0 < page);
        let to = graves.place(|grave| grave.home.0 <= page);
        slots.extend(graves.between(from, to).map(|grave| grave.home.1));
        debug_assert!(slots.is_sorted_by(|a, b| a < b), "invariant 3: one a RID");
    }

    /// Calls `f` with the ghost that had a RID.
    pub(crate) fn at(
        &self,
        home: Place,
        f: &mut dyn FnMut(&[u8]) -> RowResult<()>,
    ) -> RowResult<()> {
        let buried = self.buried.read();
        let place = buried.graves.place(|grave| grave.home < home);
        let grave = buried.graves.get(place).filter(|grave| grave.home == home);
        grave.map_or(Ok(()), |grave| f(&grave.record))
    }

    /// Calls `f` with all ghosts.
    pub(crate) fn all(&self, f: &mut dyn FnMut(&[u8])) {
        self.buried.read().graves.iter().for_each(|grave| f(&grave.record));
    }

    /// Adds a ghost in the order of keys, or of RIDs. `epoch` was read before the ghost was found
    /// needed. Returns false if there is no room. `list` puts the graveyard on the database's list,
    /// if it is not there.
    pub(crate) fn put(
        &self,
        of_tree: Option<&Tree>,
        engine: &Engine,
        grave: Grave,
        epoch: u32,
        list: impl FnOnce(),
    ) -> bool {
        let mut fields = KeyFields::default();
        if of_tree.is_some_and(|tree| tree.key_of(&grave.record, &mut fields).is_none()) {
            return false;
        }
        let (bytes, ended) = (grave.bytes(), grave.ended);
        let mut buried = self.buried.write();
        let order = |other: &Grave| {
            let order = match of_tree {
                Some(tree) => tree.compare(&other.record, fields.as_slice()),
                None => Some(other.home.cmp(&grave.home)),
            };
            order.unwrap_or(Ordering::Less).then(other.ended.cmp(&ended))
        };
        let place = buried.graves.place(|other| order(other) == Ordering::Less);
        if buried.graves.get(place).is_some_and(|there| order(there) == Ordering::Equal) {
            // An earlier attempt has added it here, but could not remove it from its leaf.
            return true;
        }
        let memory = buried.memory.get_or_insert_with(|| Arc::clone(&engine.graves));
        if !memory.take(bytes) {
            return false;
        }
        buried.bytes += bytes;
        buried.graves.insert(place, grave);
        self.newest.fetch_max(ended.0, Release);
        if engine.transactions.snapshots.epoch() != epoch {
            // The snapshot that needed it may have ended, and a sweep may have passed this place.
            buried.epoch = 0;
        }
        let lists = !std::mem::replace(&mut buried.listed, true);
        // A sweep holds the list while it visits each graveyard, so this lock must be free.
        drop(buried);
        if lists {
            list();
        }
        true
    }

    /// Removes the ghosts that are no longer needed, piece by piece.
    pub(crate) fn sweep(&self, engine: &Engine, is_needed: &dyn Fn(&[u8]) -> bool) {
        // Read before anything is tested: a snapshot that ends meanwhile counts next time.
        let epoch = engine.transactions.snapshots.epoch();
        if std::mem::replace(&mut self.buried.write().epoch, epoch) == epoch {
            return;
        }
        let mut piece = 0;
        while let Some(left) = self.buried.write().sweep(piece, is_needed) {
            piece += usize::from(left);
        }
        let mut buried = self.buried.write();
        let newest = buried.graves.iter().map(|g| g.ended.0).max();
        self.newest.store(newest.unwrap_or(0), Release);
        buried.listed = newest.is_some();
    }
}

impl Graves {
    /// Removes the ghosts of a piece that are no longer needed. Returns whether any are left;
    /// `None` when there is no such piece.
    fn sweep(&mut self, piece: usize, is_needed: &dyn Fn(&[u8]) -> bool) -> Option<bool> {
        if piece >= self.graves.pieces() {
            return None;
        }
        let mut freed = 0;
        let left = self.graves.retain(piece, |grave| {
            let stays = is_needed(&grave.record);
            freed += if stays { 0 } else { grave.bytes() };
            stays
        });
        self.bytes -= freed;
        self.memory.iter().for_each(|m| m.give_back(freed));
        Some(left)
    }
}

impl Drop for Graves {
    fn drop(&mut self) {
        self.memory.iter().for_each(|m| m.give_back(self.bytes));
    }
}

impl Grave {
    fn bytes(&self) -> usize {
        GRAVE_BYTES + self.record.len()
    }
}
