//! Going down: from the root to the page to which a key belongs, latch by latch.
//!
//! A child's latch is taken while its parent's is held, a right neighbour's while the left one's is
//! held (rule 1). Nothing else is held meanwhile.

use crate::error::BtreeResult;
use crate::key::KeyBuf;
use crate::leaf::{LeafRead, LeafWrite, Successor};
use crate::order::Part;
use crate::target_key::TargetKey;
use crate::tree::{LEVELS_MAX, Tree};
use base::PageId;
use buffer::{ReadGuard, WriteGuard};
use os::counters::Event;
use page::Field;
use std::cmp::Ordering;

/// Which record a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bias {
    /// The first at or behind the key.
    FirstAtLeast,
    /// The first behind the key and all that begin with it.
    FirstAbove,
    /// The last at or before the key, or the last that begins with it.
    LastAtMost,
    /// The last before the key.
    LastBelow,
}

impl Bias {
    /// Whether a record equal to the key is on the near side of the place sought.
    pub(crate) const fn after_equal(self) -> bool {
        matches!(self, Bias::FirstAbove | Bias::LastAtMost)
    }

    pub(crate) const fn is_first(self) -> bool {
        matches!(self, Bias::FirstAtLeast | Bias::FirstAbove)
    }

    /// Whether a record that compares so with the key may be the one searched for.
    pub(crate) const fn admits(self, order: Ordering) -> bool {
        match self {
            Bias::FirstAtLeast => order.is_ge(),
            Bias::FirstAbove => order.is_gt(),
            Bias::LastAtMost => order.is_le(),
            Bias::LastBelow => order.is_lt(),
        }
    }
}

/// What to search for: a key or the beginning of one, and which record around it.
#[derive(Clone, Copy, Debug)]
pub struct SearchKey<'k> {
    /// The columns, most significant first; none means everything.
    pub fields: &'k [Field<'k>],
    /// Which record.
    pub bias: Bias,
}

/// The leaves of two keys under their exclusive latches.
pub enum LeafPair<'t> {
    /// Both belong to one leaf: it, and the slot and exactness of the second key.
    One(LeafWrite<'t>, (u16, bool)),
    /// The leaves of the first and of the second key.
    Two(LeafWrite<'t>, LeafWrite<'t>),
}

impl Tree {
    /// The root under its shared latch, with its level.
    pub(crate) fn read_root(&self) -> BtreeResult<(ReadGuard<'_>, u8)> {
        let root = self.pages.read(self.root)?;
        let level = root.view().level();
        if level >= LEVELS_MAX {
            return Err(self.corrupt(self.root, "the tree is too high"));
        }
        self.check_page(self.root, root.view(), level)?;
        Ok((root, level))
    }

    /// Levels of the tree.
    ///
    /// # Errors
    /// A damaged root.
    pub fn level_count(&self) -> BtreeResult<u8> {
        let levels = self.read_root()?.1 + 1;
        debug_assert!(levels <= LEVELS_MAX, "the height of a tree is bounded");
        Ok(levels)
    }

    /// The page at a level that a key leads to, under its shared latch. `fence` becomes the
    /// nearest separator at the left of the way, if there is one.
    pub(crate) fn descend(
        &self,
        key: &TargetKey<'_, '_>,
        after: bool,
        mut fence: Option<&mut KeyBuf>,
    ) -> BtreeResult<ReadGuard<'_>> {
        self.pages.counters().add(Event::IndexSearch, 1);
        let (mut at, mut level) = self.read_root()?;
        while level > 0 {
            let slot = self.child_slot((at.id(), at.view()), key, after)?;
            if slot > 0
                && let Some(fence) = fence.as_deref_mut()
            {
                self.copy_fence(&at, slot, fence)?;
            }
            let child = self.child(at.id(), at.view(), slot)?;
            let next = self.pages.read(child)?;
            level -= 1;
            self.check_page(child, next.view(), level)?;
            debug_assert_eq!(next.view().level(), level, "each step goes down by one");
            at = next;
        }
        debug_assert_eq!(at.view().level(), 0, "the way ends at a leaf");
        Ok(at)
    }

    pub(crate) fn copy_fence(
        &self,
        at: &ReadGuard<'_>,
        slot: u16,
        fence: &mut KeyBuf,
    ) -> BtreeResult<()> {
        debug_assert!(slot > 0, "the leftmost entry's key is never compared");
        debug_assert!(at.view().level() > 0, "separators are above the leaves");
        let copied = at.view().record(slot);
        let copied = copied.and_then(|entry| self.shape.copy_key(Part::Interior, entry, fence));
        copied.ok_or_else(|| self.corrupt(at.id(), page::fits::NO_KEY))
    }

    /// The record that a search is for, under the shared latch of its leaf; `None` when there is
    /// none. Ghosts are records.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn seek(&self, key: SearchKey<'_>) -> BtreeResult<Option<LeafRead<'_>>> {
        if key.bias.is_first() { Ok(self.seek_next(key)?.record()) } else { self.seek_last(key) }
    }

    /// The same forwards, where the end of the index matters: it comes latched, too.
    ///
    /// # Errors
    /// 823, 824 or 701.
    #[inline]
    pub fn seek_next(&self, key: SearchKey<'_>) -> BtreeResult<Successor<'_>> {
        assert!(key.bias.is_first(), "the first record of a range");
        // An entry equal to a whole key leads to it; one that begins with a part of a key may
        // have left equals in the child before.
        let whole = key.fields.len() == self.shape.order.len();
        let after = key.bias.after_equal();
        let sought = self.sought(key.fields);
        let leaf = self.descend(&sought, after || whole, None)?;
        let slot = self.lower_bound((leaf.id(), leaf.view()), Part::Leaf, &sought, after, 0)?;
        LeafRead::at_or_right(self, leaf, slot, key)
    }

    fn seek_last(&self, key: SearchKey<'_>) -> BtreeResult<Option<LeafRead<'_>>> {
        let after = key.bias.after_equal();
        assert!(!key.bias.is_first(), "the last record of a range");
        let mut fence = KeyBuf::default();
        let sought = self.sought(key.fields);
        let leaf = self.descend(&sought, after, Some(&mut fence))?;
        let slot = self.lower_bound((leaf.id(), leaf.view()), Part::Leaf, &sought, after, 0)?;
        if slot > 0 {
            debug_assert!(slot <= leaf.view().slot_count(), "a slot, or the one behind the last");
            return LeafRead::at(self, leaf, slot - 1, key).map(Some);
        }
        drop(leaf);
        self.last_below_fence(key, fence)
    }

    /// The last record before a separator, which is at the left of the key searched for. Links are
    /// never followed to the left (rule 3). Each round reaches a leaf further left, so the search
    /// ends.
    fn last_below_fence(
        &self,
        key: SearchKey<'_>,
        mut fence: KeyBuf,
    ) -> BtreeResult<Option<LeafRead<'_>>> {
        while !fence.is_empty() {
            let mut further = KeyBuf::default();
            let found = {
                let fields = fence.fields();
                let sought = self.sought(fields.as_slice());
                let leaf = self.descend(&sought, false, Some(&mut further))?;
                debug_assert_eq!(
                    fields.as_slice().len(),
                    self.shape.order.len(),
                    "a whole separator"
                );
                let place = (leaf.id(), leaf.view());
                let slot = self.lower_bound(place, Part::Leaf, &sought, false, 0)?;
                match slot {
                    0 => None,
                    n => Some(LeafRead::at(self, leaf, n - 1, key)?),
                }
            };
            if let Some(found) = found {
                return Ok(Some(found));
            }
            if !further.is_empty() {
                let left = self
                    .shape
                    .order
                    .compare_keys(further.fields().as_slice(), fence.fields().as_slice());
                if left != Some(Ordering::Less) {
                    return Err(self.corrupt(self.root, "separators are out of order"));
                }
            }
            fence = further;
        }
        Ok(None)
    }

    /// The page at a level to which a key leads, under its exclusive latch; its parent is released
    /// again. `None` when the root is below that level.
    pub(crate) fn write_at(
        &self,
        key: &TargetKey<'_, '_>,
        level: u8,
    ) -> BtreeResult<Option<WriteGuard<'_>>> {
        assert!(level < LEVELS_MAX, "the height of a tree is bounded");
        debug_assert_eq!(key.key.len(), self.shape.order.len(), "a change has a whole key");
        self.pages.counters().add(Event::IndexSearch, 1);
        loop {
            let (mut at, mut here) = self.read_root()?;
            if here < level {
                return Ok(None);
            }
            if here == level {
                drop(at);
                let root = self.pages.write(self.root)?;
                if root.view().level() != level {
                    continue; // It grew between the two latches.
                }
                self.check_page(self.root, root.view(), level)?;
                return Ok(Some(root));
            }
            loop {
                debug_assert!(here > level, "what is sought is further down");
                let slot = self.child_slot((at.id(), at.view()), key, true)?;
                let child = self.child(at.id(), at.view(), slot)?;
                self.pages.prefetch(child);
                here -= 1;
                if here == level {
                    let page = self.pages.write(child)?;
                    self.check_page(child, page.view(), level)?;
                    return Ok(Some(page));
                }
                let next = self.pages.read(child)?;
                self.check_page(child, next.view(), here)?;
                at = next;
            }
        }
    }

    /// The leaf that a whole key belongs to, under its exclusive latch, and the slot where the
    /// key is or would be inserted.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn seek_write(&self, key: &[Field<'_>]) -> BtreeResult<LeafWrite<'_>> {
        assert_eq!(key.len(), self.shape.order.len(), "a record is changed by its whole key");
        let key = self.sought(key);
        let leaf = self.write_at(&key, 0)?.expect("every tree has level 0");
        debug_assert_eq!(leaf.view().level(), 0, "records stand on leaves");
        LeafWrite::at(self, leaf, &key)
    }

    /// The same at the place where the record was last seen, without the way down. `None` if the
    /// slot has no live record with the key, or the page belongs to another owner now or cannot be
    /// read. A freed leaf has no records (rule 7), so a record that is found there is the tree's
    /// only one with that key.
    pub fn seen_write(&self, key: &[Field<'_>], page: PageId, slot: u16) -> Option<LeafWrite<'_>> {
        debug_assert_eq!(key.len(), self.shape.order.len(), "a record is changed by its whole key");
        let guard = self.pages.write(page).ok()?;
        if self.page_fault(guard.view(), 0).is_some() {
            return None;
        }
        let record = guard.view().record(slot)?;
        let exact =
            !page::is_ghost_record(record) && self.compare(record, key) == Some(Ordering::Equal);
        exact.then(|| LeafWrite::seen(self, guard, slot))
    }

    /// The leaves that two whole keys belong to, the first being the lesser, so that both can be
    /// changed in one group. All slots of both are checked.
    ///
    /// # Errors
    /// 823, 824 or 701.
    ///
    /// # Panics
    /// When the keys are not in order.
    pub fn seek_write_pair(
        &self,
        first: &[Field<'_>],
        second: &[Field<'_>],
    ) -> BtreeResult<LeafPair<'_>> {
        let order = self.shape.order.compare_keys(first, second);
        assert_eq!(first.len(), self.shape.order.len(), "records are changed by whole keys");
        assert_eq!(second.len(), self.shape.order.len(), "records are changed by whole keys");
        assert_eq!(order, Some(Ordering::Less), "latches are taken left to right");
        self.pages.counters().add(Event::IndexSearch, 2);
        loop {
            let (root, level) = self.read_root()?;
            if level == 0 {
                drop(root);
                let leaf = self.pages.write(self.root)?;
                if leaf.view().level() != 0 {
                    continue;
                }
                self.check_page(self.root, leaf.view(), 0)?;
                return self.one_leaf(leaf, first, second);
            }
            let (parent, right) = self.descend_pair(root, level, first, second)?;
            debug_assert_eq!(parent.view().level(), 1, "the parents of the leaves");
            let children = self.children_of_pair(&parent, right.as_ref(), first, second)?;
            let held = [parent.id(), right.as_ref().map_or(parent.id(), ReadGuard::id)];
            self.is_not_held(children.0, &held)?;
            self.is_not_held(children.1, &held)?;
            let left = self.pages.write(children.0)?;
            self.check_page(children.0, left.view(), 0)?;
            if children.0 == children.1 {
                drop((parent, right));
                return self.one_leaf(left, first, second);
            }
            let other = self.pages.write(children.1)?;
            self.check_page(children.1, other.view(), 0)?;
            drop((parent, right));
            self.inspect(&left)?;
            self.inspect(&other)?;
            let left = LeafWrite::at(self, left, &self.sought(first))?;
            assert_ne!(left.page_id(), other.id(), "one page is latched once");
            return Ok(LeafPair::Two(left, LeafWrite::at(self, other, &self.sought(second))?));
        }
    }

    fn one_leaf<'t>(
        &'t self,
        leaf: WriteGuard<'t>,
        first: &[Field<'_>],
        second: &[Field<'_>],
    ) -> BtreeResult<LeafPair<'t>> {
        self.inspect(&leaf)?;
        let other = LeafWrite::place(self, &leaf, &self.sought(second))?;
        debug_assert!(other.0 <= leaf.view().slot_count(), "a slot, or the one behind the last");
        Ok(LeafPair::One(LeafWrite::at(self, leaf, &self.sought(first))?, other))
    }

    /// Goes down to level 1 for two keys in step: on each level the left page first (rule 1).
    fn descend_pair<'t>(
        &'t self,
        root: ReadGuard<'t>,
        mut level: u8,
        first: &[Field<'_>],
        second: &[Field<'_>],
    ) -> BtreeResult<(ReadGuard<'t>, Option<ReadGuard<'t>>)> {
        let (mut left, mut right): (_, Option<ReadGuard<'t>>) = (root, None);
        debug_assert!(level >= 1, "the root is above the leaves");
        while level > 1 {
            let (a, b) = self.children_of_pair(&left, right.as_ref(), first, second)?;
            let held = [left.id(), right.as_ref().map_or(left.id(), ReadGuard::id)];
            self.is_not_held(a, &held)?;
            self.is_not_held(b, &held)?;
            level -= 1;
            let next_left = self.pages.read(a)?;
            self.check_page(a, next_left.view(), level)?;
            let next_right = if a == b { None } else { Some(self.pages.read(b)?) };
            if let Some(page) = &next_right {
                self.check_page(b, page.view(), level)?;
            }
            (left, right) = (next_left, next_right);
            debug_assert!(right.as_ref().is_none_or(|r| r.id() != left.id()), "latched once");
        }
        debug_assert!(right.as_ref().is_none_or(|r| r.view().level() == 1), "in step");
        Ok((left, right))
    }

    fn children_of_pair(
        &self,
        left: &ReadGuard<'_>,
        right: Option<&ReadGuard<'_>>,
        first: &[Field<'_>],
        second: &[Field<'_>],
    ) -> BtreeResult<(PageId, PageId)> {
        debug_assert!(left.view().level() > 0, "leaves have no children");
        debug_assert!(
            right.is_none_or(|r| r.view().level() == left.view().level()),
            "two ways down in step"
        );
        let child = |page: &ReadGuard<'_>, key: &[Field<'_>]| {
            let slot = self.child_slot((page.id(), page.view()), &self.sought(key), true)?;
            self.child(page.id(), page.view(), slot)
        };
        Ok((child(left, first)?, child(right.unwrap_or(left), second)?))
    }
}
