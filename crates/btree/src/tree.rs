//! `Tree`: what is fixed for the life of a B-tree, and how its pages are checked and searched.

use crate::error::{BtreeError, BtreeResult};
use crate::guess::{Guess, LOOKS_AHEAD, PREFETCH_SLOTS_MIN, bring_near};
use crate::key::KeyBuf;
use crate::kinds::{Context, Operation, kind, page_id_bytes};
use crate::order::{KeyFields, KeyOrder, Part, Shape};
use crate::split_counters::{SplitCounters, TreeSplits};
use crate::target_key::TargetKey;
use base::PageId;
use buffer::{Change, PageRef, Pages, Undo, WriteGuard};
use page::fits;
use page::{Field, PageKind, PageView, RowLayout};
use space::{AllocUnit, Space};
use std::cmp::Ordering;
use std::sync::Arc;

/// Levels a tree may have. Interior pages have at least four entries, and no tree has 4^32 pages.
pub(crate) const LEVELS_MAX: u8 = 32;
/// The longest record: the format's limit.
pub const RECORD_MAX: usize = base::limits::RECORD_BYTES_MAX + base::limits::VERSION_TAG_BYTES;

/// Records in key order on pages of one allocation unit.
pub struct Tree {
    pub(crate) pages: Arc<Pages>,
    pub(crate) space: Arc<Space>,
    pub(crate) unit: Arc<AllocUnit>,
    pub(crate) root: PageId,
    pub(crate) shape: Shape,
    pub(crate) leaf_kind: PageKind,
    pub(crate) splits: Arc<SplitCounters>,
}

/// What a tree is made of.
pub struct TreeOptions {
    /// The database's pages.
    pub pages: Arc<Pages>,
    /// Its allocator.
    pub space: Arc<Space>,
    /// The unit that owns the tree's pages.
    pub unit: Arc<AllocUnit>,
    /// The root, fixed for life.
    pub root: PageId,
    /// The order of the keys, which are unique.
    pub order: KeyOrder,
    /// Where a leaf record has its columns.
    pub leaf: RowLayout,
    /// Whether a key column may be NULL.
    pub nullable_key: bool,
    /// `Data` for a clustered index, `Index` for any other.
    pub leaf_kind: PageKind,
    /// Its counters, shared by all who have it open.
    pub splits: Arc<SplitCounters>,
}

impl Tree {
    /// A tree that exists on disk. Nothing is read.
    pub fn open(options: TreeOptions) -> Tree {
        let TreeOptions { pages, space, unit, root, order, leaf, nullable_key, .. } = options;
        let (leaf_kind, splits) = (options.leaf_kind, options.splits);
        assert!(matches!(leaf_kind, PageKind::Data | PageKind::Index), "a leaf's kind");
        assert!(Arc::ptr_eq(&pages, space.pages()), "an allocator is of its database");
        let shape = Shape::new(order, leaf, nullable_key);
        Tree { pages, space, unit, root, shape, leaf_kind, splits }
    }

    /// Makes an allocated page, the future root, an empty tree. Logs 44 bytes.
    ///
    /// The page is undone with its unit: dropping that frees it.
    pub fn format_root(
        change: &mut Change<'_>,
        page: PageRef,
        unit: &AllocUnit,
        leaf_kind: PageKind,
        leaf: &RowLayout,
    ) {
        assert!(matches!(leaf_kind, PageKind::Data | PageKind::Index), "a leaf's kind");
        let context = Self::context_of(leaf_kind, 0);
        let payload = format_payload(leaf_kind, 0, leaf.min_len(), PageId::NONE, PageId::NONE);
        let format = kind(Operation::Format, context);
        change.apply(page, unit.id, format, 0, &[&payload], Undo::Never);
        debug_assert_eq!(change.view(page).slot_count(), 0, "a tree begins empty");
        debug_assert_eq!(
            (change.view(page).level(), change.view(page).kind()),
            (0, Some(leaf_kind))
        );
        debug_assert_eq!(change.view(page).alloc_unit(), unit.id, "a page knows its owner");
    }

    /// The root.
    pub fn root(&self) -> PageId {
        self.root
    }

    /// The unit that owns its pages.
    pub fn unit(&self) -> &Arc<AllocUnit> {
        &self.unit
    }

    /// The database's pages.
    pub fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }

    /// How it came by its pages, as far as that was counted.
    pub fn splits(&self) -> TreeSplits {
        self.splits.read()
    }

    /// The order of its keys.
    pub fn order(&self) -> &KeyOrder {
        &self.shape.order
    }

    /// Where a leaf record has its columns.
    pub fn leaf_layout(&self) -> &RowLayout {
        &self.shape.leaf
    }

    /// Where an interior entry has its columns; the child pointer is a tail of six bytes.
    pub fn interior_layout(&self) -> &RowLayout {
        &self.shape.interior
    }

    /// The key of a leaf record; `None` when its bytes make no sense.
    pub fn key_of<'a>(&'a self, record: &'a [u8], fields: &mut KeyFields<'a>) -> Option<()> {
        self.shape.key_of(Part::Leaf, record, fields)
    }

    /// The key of a leaf record that is yet to be built of these fields.
    pub fn key_of_row<'a>(&self, row: &[Field<'a>], key: &mut KeyFields<'a>) {
        self.shape.order.columns().iter().for_each(|column| key.push(row[column.leaf_column]));
    }

    /// Where an interior entry leads; `None` when its bytes make no sense.
    pub fn child_of(&self, entry: &[u8]) -> Option<PageId> {
        self.shape.child_of(entry)
    }

    /// Copies the key of a leaf record; `None` when its bytes make no sense.
    pub fn copy_key(&self, record: &[u8], to: &mut KeyBuf) -> Option<()> {
        self.shape.copy_key(Part::Leaf, record, to)
    }

    /// A leaf record against a key or the beginning of one.
    pub fn compare(&self, record: &[u8], key: &[Field<'_>]) -> Option<Ordering> {
        debug_assert!(key.len() <= self.shape.order.len(), "a key or the beginning of one");
        self.shape.compare(Part::Leaf, record, key)
    }

    pub(crate) const fn context_of(leaf_kind: PageKind, level: u8) -> Context {
        debug_assert!(level < LEVELS_MAX, "the height of a tree is bounded");
        match (level, leaf_kind) {
            (0, PageKind::Data) => Context::Clustered,
            (0, _) => Context::IndexLeaf,
            (_, _) => Context::Interior,
        }
    }

    pub(crate) fn context(&self, level: u8) -> Context {
        Self::context_of(self.leaf_kind, level)
    }

    pub(crate) fn kind_at(&self, level: u8) -> PageKind {
        debug_assert!(level < LEVELS_MAX, "the height of a tree is bounded");
        if level == 0 { self.leaf_kind } else { PageKind::Index }
    }

    pub(crate) fn part(level: u8) -> Part {
        debug_assert!(level < LEVELS_MAX, "the height of a tree is bounded");
        if level == 0 { Part::Leaf } else { Part::Interior }
    }

    /// The FORMAT payload of a page of the tree.
    pub(crate) fn format_of(&self, level: u8, prev: PageId, next: PageId) -> [u8; 16] {
        debug_assert!(prev.is_none() || prev != next, "neighbours are two pages");
        let min_len = self.shape.layout(Self::part(level)).min_len();
        format_payload(self.kind_at(level), level, min_len, prev, next)
    }

    #[cold]
    pub(crate) fn corrupt(&self, page: PageId, what: &'static str) -> BtreeError {
        self.pages.corrupt(page, what).into()
    }

    /// Whether these are the bytes of a page of this tree at a level.
    #[inline]
    pub(crate) fn check_page(&self, id: PageId, v: PageView<'_>, level: u8) -> BtreeResult<()> {
        match self.page_fault(v, level) {
            None => Ok(()),
            Some(what) => Err(self.corrupt(id, what)),
        }
    }

    #[inline]
    pub(crate) fn page_fault(&self, v: PageView<'_>, level: u8) -> Option<&'static str> {
        if v.alloc_unit() != self.unit.id {
            return Some("the page belongs to another allocation unit");
        }
        if v.level() != level {
            return Some("the page is at another level than its parent says");
        }
        if v.kind_byte() != self.kind_at(level) as u8 {
            return Some("the page has another kind than its level");
        }
        if level > 0 && v.slot_count() == 0 {
            return Some("an interior page has no entry");
        }
        fits::header(v).err()
    }

    /// Checks every slot of a page before a change touches more than one of them; once while the
    /// page is in memory.
    pub(crate) fn inspect(&self, page: &WriteGuard<'_>) -> BtreeResult<()> {
        if page.is_inspected() {
            return Ok(());
        }
        if page::check_slots(page.view().0).is_err() {
            return Err(self.corrupt(page.id(), "the page's slots are damaged"));
        }
        self.check_order(page.id(), page.view())?;
        page.note_inspected();
        Ok(())
    }

    /// Keys rise within a page: what divides it may then be taken from the middle.
    pub(crate) fn check_order(&self, id: PageId, v: PageView<'_>) -> BtreeResult<()> {
        let part = Self::part(v.level());
        // The key of the leftmost entry above the leaves is never read.
        let first = u16::from(v.level() > 0);
        let mut before = KeyFields::default();
        for slot in first..v.slot_count() {
            let record = v.record(slot).ok_or_else(|| self.corrupt(id, fits::NO_RECORD))?;
            if slot > first
                && self.shape.compare(part, record, before.as_slice()) != Some(Ordering::Greater)
            {
                return Err(self.corrupt(id, fits::KEYS_FALL));
            }
            let key = self.shape.key_of(part, record, &mut before);
            key.ok_or_else(|| self.corrupt(id, fits::NO_KEY))?;
        }
        Ok(())
    }

    /// A key made ready for searches.
    #[inline]
    pub(crate) fn sought<'k>(&self, key: &'k [Field<'k>]) -> TargetKey<'_, 'k> {
        TargetKey::new(&self.shape, key)
    }

    /// The first slot in `from..` whose record is at or behind the key (`after`: behind it).
    #[inline]
    pub(crate) fn lower_bound(
        &self,
        page: (PageId, PageView<'_>),
        part: Part,
        key: &TargetKey<'_, '_>,
        after: bool,
        from: u16,
    ) -> BtreeResult<u16> {
        Ok(self.search(page, part, key, after, from)?.0)
    }

    /// The same, and whether the record in the slot is equal to the key: never with `after`.
    ///
    /// What the records at both ends of what is left begin with as the key does, all between them
    /// begin with: these columns are compared no more.
    // One copy, for all levels: what runs for a row should stay in the processor's cache of code.
    #[inline(never)]
    pub(crate) fn search(
        &self,
        page: (PageId, PageView<'_>),
        part: Part,
        key: &TargetKey<'_, '_>,
        after: bool,
        from: u16,
    ) -> BtreeResult<(u16, bool)> {
        let high = page.1.slot_count().max(from);
        let mut place = Place { low: from, high, alike_low: 0, alike_high: 0, exact: false };
        // Where a key is a number, around where it should stand, until it is enclosed.
        let mut guess = Guess::of(page.1, part, key, (from, high));
        while let Some(slot) = guess.next((place.low, place.high)) {
            let behind = self.look(page, part, (key, after), &mut place, slot)?;
            guess.learn(slot, behind);
        }
        while place.low < place.high {
            // Pages above the leaves are near already.
            if part == Part::Leaf && place.high - place.low >= PREFETCH_SLOTS_MIN {
                bring_near(page.1, (place.low, place.high));
            }
            for _ in 0..LOOKS_AHEAD {
                if place.low == place.high {
                    break;
                }
                let middle = place.low + (place.high - place.low) / 2;
                self.look(page, part, (key, after), &mut place, middle)?;
            }
        }
        debug_assert!(place.low == from || place.low <= high, "a slot, or the one behind the last");
        Ok((place.low, place.exact))
    }

    /// Compares one record: whether the key is behind it.
    #[inline(always)]
    fn look(
        &self,
        (id, v): (PageId, PageView<'_>),
        part: Part,
        (key, after): (&TargetKey<'_, '_>, bool),
        place: &mut Place,
        slot: u16,
    ) -> BtreeResult<bool> {
        debug_assert!(place.low <= slot && slot < place.high, "a slot in question");
        let Some(bytes) = fits::bytes_of(v, slot) else {
            return Err(self.corrupt(id, fits::NO_RECORD));
        };
        let alike = place.alike_low.min(place.alike_high);
        let Some((order, alike)) = key.compare(part, bytes, alike) else {
            return Err(self.corrupt(id, fits::NO_KEY));
        };
        let behind = order == Ordering::Less || (after && order == Ordering::Equal);
        if behind {
            (place.low, place.alike_low) = (slot + 1, alike);
        } else {
            (place.high, place.alike_high) = (slot, alike);
            place.exact = order == Ordering::Equal;
        }
        Ok(behind)
    }

    /// The slot of the child that leads to a key; with `after`, an entry equal to it leads there.
    /// The leftmost entry leads to everything before the second.
    #[inline]
    pub(crate) fn child_slot(
        &self,
        page: (PageId, PageView<'_>),
        key: &TargetKey<'_, '_>,
        after: bool,
    ) -> BtreeResult<u16> {
        debug_assert!(page.1.slot_count() > 0, "an interior page was checked");
        let behind = self.lower_bound(page, Part::Interior, key, after, 1)?;
        debug_assert!(behind >= 1 && behind <= page.1.slot_count(), "a child leads to every key");
        Ok(behind - 1)
    }

    /// The pages below an interior one, in key order: for walks that go level by level.
    ///
    /// # Errors
    /// An entry that leads nowhere.
    pub fn children(&self, v: PageView<'_>) -> BtreeResult<Vec<PageId>> {
        assert!(v.level() > 0, "leaves have no children");
        (0..v.slot_count()).map(|slot| self.child(v.page_id(), v, slot)).collect()
    }

    /// The child of an interior page's slot.
    #[inline]
    pub(crate) fn child(&self, id: PageId, v: PageView<'_>, slot: u16) -> BtreeResult<PageId> {
        debug_assert!(v.level() > 0, "leaves have no children");
        let child = fits::bytes_from(v, slot).and_then(|entry| self.shape.child_of(entry));
        match child {
            // Its latch is held: waiting for it would never end.
            Some(child) if child == id => Err(self.corrupt(id, "an entry leads to its own page")),
            Some(child) => Ok(child),
            None => Err(self.corrupt(id, fits::NO_RECORD)),
        }
    }

    /// Called before a page is latched while others are held. Damaged links may lead back to one of
    /// them, and waiting for that would never end (rule 12).
    pub(crate) fn is_not_held(&self, id: PageId, held: &[PageId]) -> BtreeResult<()> {
        debug_assert!(!held.is_empty(), "asked while something is held");
        if held.contains(&id) {
            return Err(self.corrupt(id, "links lead in a circle"));
        }
        Ok(())
    }
}

/// Where a search stands: the slots in question, and what is known of the records around them.
struct Place {
    low: u16,
    high: u16,
    /// Columns of the key that the record below the slots in question begins with.
    alike_low: usize,
    /// And the record above them.
    alike_high: usize,
    /// The record above them has the key.
    exact: bool,
}

pub(crate) fn format_payload(
    kind: PageKind,
    level: u8,
    min_len: u16,
    prev: PageId,
    next: PageId,
) -> [u8; 16] {
    debug_assert!(level == 0 || kind == PageKind::Index, "interior pages are of one kind");
    let mut p = [0; 16];
    (p[0], p[1]) = (kind as u8, level);
    p[2..4].copy_from_slice(&min_len.to_le_bytes());
    p[4..10].copy_from_slice(&page_id_bytes(prev));
    p[10..].copy_from_slice(&page_id_bytes(next));
    debug_assert_eq!(crate::kinds::page_id_of(&p[4..]), Some(prev), "read as written");
    debug_assert_eq!(crate::kinds::page_id_of(&p[10..]), Some(next), "read as written");
    p
}
