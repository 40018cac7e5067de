//! Compaction: records of a leaf move into its left neighbour, one log group at a time.
//!
//! ```text
//! parent   … | a | b | c | …        … | a | b' | c | …        … | a | c | …
//! leaves     [a ] [b ] [c ]           [ab] [b ] [c ]            [ab ] [c ]
//!                             some of b moved: b's key grows    all of b moved: b is free
//! ```
//!
//! Both leaves are children of one page, so nothing above that page changes. Latches are taken as
//! in a split: the page above, then from left to right (rule 1). Readers and writers run between
//! the groups; a cursor that remembers a place remembers its key.

use crate::error::BtreeResult;
use crate::key::KeyBuf;
use crate::kinds::{Difference, Operation, kind};
use crate::order::Part;
use crate::split::{STRUCTURE_LOG_BYTES_MAX, batch_of, link};
use crate::tree::Tree;
use base::PageId;
use base::limits::PAGE_BODY_BYTES;
use buffer::{Change, PageRef, ReadGuard, Undo, WriteGuard};
use page::{Field, PageView, fits, slot_cost};
use wal::{Group, TransactionChain};

/// Bytes of log that taking one record out takes at most, where nothing undoes it.
const EXPUNGE_BYTES: usize = 32;

/// What a step made of a leaf and the one at its right.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CompactOutcome {
    /// The right one gave its first records, so many bytes; the key that leads to its rest.
    Moved(usize, KeyBuf),
    /// The right one gave all its records and is free.
    Merged,
    /// There is no room, or there is no right neighbour under the same page.
    Kept,
}

/// A leaf as it was at one moment.
#[derive(Clone, Debug)]
pub struct LeafUse {
    /// Its page.
    pub id: PageId,
    /// A key that leads to it.
    pub key: KeyBuf,
    /// Bytes of its records and slots.
    pub used: usize,
    /// Its records.
    pub records: u16,
    /// Its ghosts.
    pub ghosts: u16,
}

/// The leaves under one page, in key order.
#[derive(Clone, Debug)]
pub struct Leaves {
    /// The leaves.
    pub leaves: Vec<LeafUse>,
    /// A key that leads to the first leaf behind them.
    pub next: Option<KeyBuf>,
}

/// A page above the leaves, two of its children side by side, and where they stand in it.
struct Pair<'t> {
    parent: WriteGuard<'t>,
    left: WriteGuard<'t>,
    right: WriteGuard<'t>,
    /// The slot of the right one's entry.
    slot: u16,
}

impl Tree {
    /// The leaves under the page to which a key leads; `None` when the root is the only leaf. They
    /// are read one by one, without that page, so not at one instant.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn leaves_beside(&self, key: &[Field<'_>]) -> BtreeResult<Option<Leaves>> {
        let Some(mut found) = self.children_beside(key)? else { return Ok(None) };
        for leaf in &mut found.leaves {
            let page = match self.pages.read(leaf.id) {
                Ok(page) => page,
                Err(e) if self.leads_to(key, leaf.id)? => return Err(e.into()),
                Err(_) => continue,
            };
            // A leaf that was freed meanwhile counts as full, so it is left alone.
            if self.page_fault(page.view(), 0).is_none() {
                leaf.used = PAGE_BODY_BYTES - usize::from(page.view().free_count());
                leaf.records = page.view().slot_count();
                leaf.ghosts = page.view().ghost_count();
            }
        }
        Ok(Some(found))
    }

    /// Whether a leaf is still one of those beside a key. Asked when its page could not be read.
    fn leads_to(&self, key: &[Field<'_>], leaf: PageId) -> BtreeResult<bool> {
        let now = self.children_beside(key)?;
        Ok(now.is_some_and(|now| now.leaves.iter().any(|l| l.id == leaf)))
    }

    /// The same without reading the leaves: each counts as full.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn children_beside(&self, key: &[Field<'_>]) -> BtreeResult<Option<Leaves>> {
        assert_eq!(key.len(), self.order().len(), "a page is found by a whole key");
        let Some(above) = self.interior_at(1, key, true)? else { return Ok(None) };
        let mut leaves = Vec::with_capacity(usize::from(above.view().slot_count()));
        for slot in 0..above.view().slot_count() {
            let id = self.child(above.id(), above.view(), slot)?;
            let key = self.entry_key(&above, slot)?;
            leaves.push(LeafUse { id, key, used: PAGE_BODY_BYTES, records: 0, ghosts: 0 });
        }
        let next = above.view().next_page();
        let next = if next.is_none() { None } else { Some(self.first_key_of(above, next)?) };
        Ok(Some(Leaves { leaves, next }))
    }

    /// The key of the first record of a leaf. `None` when it has no record, or when the page cannot
    /// be read or is no leaf of this tree (it may belong to another by now).
    pub fn first_key(&self, leaf: PageId) -> Option<KeyBuf> {
        let page = self.pages.read(leaf).ok()?;
        if self.page_fault(page.view(), 0).is_some() {
            return None;
        }
        let mut key = KeyBuf::default();
        self.shape.copy_key(Part::Leaf, page.view().record(0)?, &mut key)?;
        Some(key)
    }

    /// The key of the first entry of the page at the right of one above the leaves.
    fn first_key_of(&self, above: ReadGuard<'_>, next: PageId) -> BtreeResult<KeyBuf> {
        self.is_not_held(next, &[above.id()])?;
        let right = self.pages.read(next)?;
        self.check_page(next, right.view(), 1)?;
        if right.view().prev_page() != above.id() {
            return Err(self.corrupt(next, "the page does not know its left neighbour"));
        }
        self.entry_key(&right, 0)
    }

    fn entry_key(&self, above: &ReadGuard<'_>, slot: u16) -> BtreeResult<KeyBuf> {
        let mut key = KeyBuf::default();
        let entry = above.view().record(slot);
        let copied = entry.and_then(|e| self.shape.copy_key(Part::Interior, e, &mut key));
        copied.ok_or_else(|| self.corrupt(above.id(), fits::NO_KEY))?;
        Ok(key)
    }

    /// Fills the leaf of a key up to so many bytes with the first records of its right neighbour. A
    /// neighbour without records left is freed. The caller holds no latch.
    ///
    /// Logs one group of at most [`STRUCTURE_LOG_BYTES_MAX`].
    ///
    /// # Errors
    /// 823, 824 or 701, before anything is changed.
    pub fn compact(
        &self,
        group: &mut Group,
        key: &[Field<'_>],
        fill: usize,
    ) -> BtreeResult<CompactOutcome> {
        assert_eq!(key.len(), self.order().len(), "a leaf is named by a whole key");
        assert!(fill <= PAGE_BODY_BYTES, "a page is filled as far as it goes");
        let Some(pair) = self.latch_pair(key)? else { return Ok(CompactOutcome::Kept) };
        let count = pair.right.view().slot_count();
        let moved = leading(pair.left.view(), pair.right.view(), fill);
        debug_assert!(moved <= count, "records of the right leaf");
        if moved == count {
            self.merge(group, pair)?;
            return Ok(CompactOutcome::Merged);
        }
        if moved == 0 {
            return Ok(CompactOutcome::Kept);
        }
        self.shift(group, pair, moved)
    }

    fn latch_pair(&self, key: &[Field<'_>]) -> BtreeResult<Option<Pair<'_>>> {
        let Some(parent) = self.write_at(&self.sought(key), 1)? else { return Ok(None) };
        let slot = self.child_slot((parent.id(), parent.view()), &self.sought(key), true)?;
        if slot + 1 >= parent.view().slot_count() {
            return Ok(None);
        }
        let left = self.child(parent.id(), parent.view(), slot)?;
        let right = self.child(parent.id(), parent.view(), slot + 1)?;
        let left_page = self.pages.write(left)?;
        self.check_page(left, left_page.view(), 0)?;
        let beside = self.right_neighbour(&left_page, 0, &[parent.id()])?;
        let Some(right_page) = beside.filter(|r| r.id() == right) else {
            return Err(self.corrupt(left, "the page's neighbour is not its parent's next child"));
        };
        for page in [&parent, &left_page, &right_page] {
            self.inspect(page)?;
        }
        Ok(Some(Pair { parent, left: left_page, right: right_page, slot: slot + 1 }))
    }

    /// All records of the right leaf go to the left one; the right one is free.
    fn merge<'t>(&'t self, group: &mut Group, pair: Pair<'t>) -> BtreeResult<()> {
        let Pair { parent, left, right, slot } = pair;
        let next = self.right_neighbour(&right, 0, &[parent.id(), left.id()])?;
        let records = batch_of(right.view(), 0..right.view().slot_count(), |_| true);
        let (at, next_id) = (left.view().slot_count(), right.view().next_page());
        let mut change = Change::new(&self.pages, group);
        let [parent, left, right] = [parent, left, right].map(|g| change.add(g));
        let next = next.map(|g| change.add(g));
        let left_id = change.id(left);
        // This comes first, because damaged maps are found before anything is logged.
        self.space.free(&mut change, &self.unit, right)?;
        if !records.is_empty() {
            self.on_leaf(&mut change, left, (Operation::InsertMany, at), &records);
            self.on_leaf(&mut change, right, (Operation::Truncate, 0), &[]);
        }
        self.on_leaf(&mut change, left, (Operation::Link, 0), &link(1, next_id));
        if let Some(next) = next {
            self.on_leaf(&mut change, next, (Operation::Link, 0), &link(0, left_id));
        }
        for side in 0..2 {
            self.on_leaf(&mut change, right, (Operation::Link, 0), &link(side, PageId::NONE));
        }
        let expunge = kind(Operation::Expunge, self.context(1));
        change.apply(parent, self.unit.id, expunge, slot, &[], Undo::Never);
        debug_assert!(change.view(parent).slot_count() > 0, "an interior page keeps an entry");
        debug_assert_eq!(change.view(right).slot_count(), 0, "rule 7: nothing stays on it");
        assert!(change.logged_bytes() as u64 <= STRUCTURE_LOG_BYTES_MAX);
        self.splits.reshaped();
        change.finish(&mut TransactionChain::default());
        self.splits.freed(0);
        Ok(())
    }

    /// The first records of the right leaf go to the left one, if the page above has room for the
    /// key that leads to the rest.
    fn shift<'t>(
        &'t self,
        group: &mut Group,
        pair: Pair<'t>,
        moved: u16,
    ) -> BtreeResult<CompactOutcome> {
        let Pair { parent, left, right, slot } = pair;
        let separator = self.separator_at(&right, moved)?;
        let old = parent.view().record(slot).expect("the page was inspected").to_vec();
        if separator.len() > old.len() + usize::from(parent.view().free_count()) {
            return Ok(CompactOutcome::Kept);
        }
        let mut key = KeyBuf::default();
        let copied = self.shape.copy_key(Part::Interior, &separator, &mut key);
        copied.expect("an entry that was just made has its key");
        let count = right.view().slot_count();
        let records = batch_of(right.view(), 0..moved, |_| true);
        let rest = batch_of(right.view(), moved..count, |_| true);
        let format = self.format_of(0, left.id(), right.view().next_page());
        let at = left.view().slot_count();
        let mut change = Change::new(&self.pages, group);
        let [parent, left, right] = [parent, left, right].map(|g| change.add(g));
        self.on_leaf(&mut change, left, (Operation::InsertMany, at), &records);
        match usize::from(moved) * EXPUNGE_BYTES < rest.len() {
            true => {
                for _ in 0..moved {
                    self.on_leaf(&mut change, right, (Operation::Expunge, 0), &[]);
                }
            }
            false => self.format_and_fill(&mut change, right, 0, &format, &rest),
        }
        self.replace_entry(&mut change, (parent, slot), &old, &separator);
        debug_assert_eq!(change.view(right).slot_count(), count - moved, "the rest stays");
        debug_assert_eq!(change.view(left).slot_count(), at + moved, "what moved is there");
        assert!(change.logged_bytes() as u64 <= STRUCTURE_LOG_BYTES_MAX);
        self.splits.reshaped();
        change.finish(&mut TransactionChain::default());
        Ok(CompactOutcome::Moved(records.len(), key))
    }

    fn on_leaf(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        (operation, slot): (Operation, u16),
        payload: &[u8],
    ) {
        let kind = kind(operation, self.context(0));
        change.apply(page, self.unit.id, kind, slot, &[payload], Undo::Never);
    }

    /// Replaces an entry of a page above the leaves.
    pub(crate) fn replace_entry(
        &self,
        change: &mut Change<'_>,
        (parent, slot): (PageRef, u16),
        old: &[u8],
        new: &[u8],
    ) {
        debug_assert_eq!(change.view(parent).level(), 1, "the page above the leaves");
        if old == new {
            return;
        }
        let d = Difference::between(&[], old, new);
        let modify = kind(Operation::Modify, self.context(1));
        let payload: [&[u8]; 3] = [&d.front(), d.before, d.after];
        change.apply(parent, self.unit.id, modify, slot, &payload, Undo::Never);
        debug_assert_eq!(change.view(parent).record(slot), Some(new), "read as written");
    }
}

/// How many of the right leaf's first records the left one takes until it is full enough.
fn leading(left: PageView<'_>, right: PageView<'_>, fill: usize) -> u16 {
    let free = usize::from(left.free_count());
    let used = PAGE_BODY_BYTES - free;
    let mut room = fill.saturating_sub(used).min(free);
    let mut moved = 0;
    for slot in 0..right.slot_count() {
        let cost = slot_cost(right.record(slot).map_or(0, <[u8]>::len));
        if cost > room {
            break;
        }
        room -= cost;
        moved += 1;
    }
    moved
}
