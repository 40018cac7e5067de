//! A leaf under its latch, at a slot; and `Position`, which stays valid after the latch is
//! released.

use crate::error::BtreeResult;
use crate::key::KeyBuf;
use crate::order::Part;
use crate::seek::{Bias, SearchKey};
use crate::target_key::TargetKey;
use crate::tree::Tree;
use base::{Lsn, PageId};
use buffer::{Change, PageRef, ReadGuard, WriteGuard};
use page::fits;
use page::{Field, PageView, slot_cost};
use std::cmp::Ordering;

/// How many empty leaves one step may pass. More in a row mean that damaged links form a circle.
const EMPTY_LEAVES_MAX: u32 = 1 << 20;

/// A record of a leaf under the leaf's shared latch.
pub struct LeafRead<'t> {
    tree: &'t Tree,
    guard: ReadGuard<'t>,
    slot: u16,
    exact: bool,
}

impl<'t> LeafRead<'t> {
    /// The record that a search has found in a slot. It lies on the side of the key that was asked
    /// for, wherever separators and links have led (rule 13): so a scan that searches from where it
    /// stands never comes back.
    pub(crate) fn at(
        tree: &'t Tree,
        guard: ReadGuard<'t>,
        slot: u16,
        key: SearchKey<'_>,
    ) -> BtreeResult<Self> {
        let record = guard.view().record(slot);
        let order = match record {
            Some(record) => tree.shape.compare(Part::Leaf, record, key.fields),
            None => return Err(tree.corrupt(guard.id(), fits::NO_RECORD)),
        };
        let exact = match order {
            Some(order) if key.bias.admits(order) => order == Ordering::Equal,
            Some(_) => return Err(tree.corrupt(guard.id(), "the way to a key leads past it")),
            None => return Err(tree.corrupt(guard.id(), fits::NO_KEY)),
        };
        debug_assert!(slot < guard.view().slot_count(), "a slot that has a record");
        debug_assert_eq!(guard.view().level(), 0, "records stand on leaves");
        Ok(LeafRead { tree, guard, slot, exact })
    }

    /// The slot; if it is behind the last, the first slot of the next leaf at the right that has
    /// records.
    pub(crate) fn at_or_right(
        tree: &'t Tree,
        guard: ReadGuard<'t>,
        slot: u16,
        key: SearchKey<'_>,
    ) -> BtreeResult<Successor<'t>> {
        debug_assert!(slot <= guard.view().slot_count(), "a slot, or the one behind the last");
        debug_assert_eq!(guard.view().level(), 0, "records stand on leaves");
        if slot < guard.view().slot_count() {
            return Self::at(tree, guard, slot, key).map(Successor::Record);
        }
        match right_of(tree, guard)? {
            RightNeighbour::Leaf(right) => Self::at(tree, right, 0, key).map(Successor::Record),
            RightNeighbour::End(last) => Ok(Successor::End(LeafEnd(last))),
        }
    }

    /// The record's bytes.
    #[inline]
    pub fn record(&self) -> &[u8] {
        debug_assert!(self.slot < self.guard.view().slot_count(), "the slot of a record");
        self.guard.view().record(self.slot).expect("checked when the slot was reached")
    }

    /// A later record of the same leaf, which the caller has seen there.
    #[must_use]
    pub fn onward_to(mut self, slot: u16) -> LeafRead<'t> {
        assert!(self.guard.view().record(slot).is_some(), "the record was seen");
        self.exact &= slot == self.slot;
        self.slot = slot;
        self
    }

    /// Its slot.
    pub fn slot(&self) -> u16 {
        self.slot
    }

    /// Whether its key equals the one searched for, as far as that went.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The leaf's id.
    pub fn page_id(&self) -> PageId {
        self.guard.id()
    }

    /// The leaf.
    pub fn view(&self) -> PageView<'_> {
        debug_assert_eq!(self.guard.view().level(), 0, "records stand on leaves");
        self.guard.view()
    }

    /// The next record. At the leaf's end, the right neighbour is latched before this leaf is
    /// released, so no record is missed.
    ///
    /// # Errors
    /// 823, 824 or 701.
    #[inline]
    pub fn forward(self) -> BtreeResult<Option<LeafRead<'t>>> {
        Ok(self.ahead()?.record())
    }

    /// The same, where the end of the index matters: it comes latched, too.
    ///
    /// # Errors
    /// 823, 824 or 701.
    #[inline]
    pub fn ahead(mut self) -> BtreeResult<Successor<'t>> {
        let next = self.slot + 1;
        debug_assert!(next <= self.guard.view().slot_count(), "a slot, or the one behind the last");
        if next < self.guard.view().slot_count() {
            if self.guard.view().record(next).is_none() {
                return Err(self.tree.corrupt(self.guard.id(), fits::NO_RECORD));
            }
            (self.slot, self.exact) = (next, false);
            return Ok(Successor::Record(self));
        }
        self.cross_right()
    }

    fn cross_right(self) -> BtreeResult<Successor<'t>> {
        debug_assert_eq!(self.slot + 1, self.guard.view().slot_count(), "the leaf's last record");
        let tree = self.tree;
        let mut last = KeyBuf::default();
        let copied = tree.shape.copy_key(Part::Leaf, self.record(), &mut last);
        copied.ok_or_else(|| tree.corrupt(self.guard.id(), fits::NO_KEY))?;
        let right = match right_of(tree, self.guard)? {
            RightNeighbour::Leaf(right) => right,
            RightNeighbour::End(last) => return Ok(Successor::End(LeafEnd(last))),
        };
        let id = right.id();
        debug_assert!(right.view().slot_count() > 0, "empty leaves were passed");
        let first = right.view().record(0);
        let first = first.ok_or_else(|| tree.corrupt(id, fits::NO_RECORD))?;
        let fields = last.fields();
        if tree.shape.compare(Part::Leaf, first, fields.as_slice()) != Some(Ordering::Greater) {
            return Err(tree.corrupt(id, "the page's keys are not behind its left neighbour's"));
        }
        Ok(Successor::Record(LeafRead { tree, guard: right, slot: 0, exact: false }))
    }

    /// The record before. At the leaf's beginning the latch is released and the search begins again
    /// at the root. So a record that was inserted in between meanwhile may be missed.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn back(mut self) -> BtreeResult<Option<LeafRead<'t>>> {
        debug_assert!(self.slot < self.guard.view().slot_count(), "the slot of a record");
        if self.slot > 0 {
            if self.guard.view().record(self.slot - 1).is_none() {
                return Err(self.tree.corrupt(self.guard.id(), fits::NO_RECORD));
            }
            (self.slot, self.exact) = (self.slot - 1, false);
            return Ok(Some(self));
        }
        let tree = self.tree;
        let mut first = KeyBuf::default();
        let copied = tree.shape.copy_key(Part::Leaf, self.record(), &mut first);
        copied.ok_or_else(|| tree.corrupt(self.guard.id(), fits::NO_KEY))?;
        debug_assert!(!first.is_empty(), "a key has a column");
        drop(self.guard);
        let fields = first.fields();
        tree.seek(SearchKey { fields: fields.as_slice(), bias: Bias::LastBelow })
    }

    /// Copies the record's key.
    ///
    /// # Errors
    /// 824.
    pub fn copy_key(&self, to: &mut KeyBuf) -> BtreeResult<()> {
        let copied = self.tree.shape.copy_key(Part::Leaf, self.record(), to);
        copied.ok_or_else(|| self.tree.corrupt(self.guard.id(), fits::NO_KEY))?;
        debug_assert!(!to.is_empty(), "a key has a column");
        Ok(())
    }

    /// Saves the position of a walk that goes on from the one that was saved before: a record at
    /// that side of it, or the same. Where keys of a leaf are out of order, a walk would else come
    /// back to what it has passed, for as long as somebody changes the leaf.
    ///
    /// # Errors
    /// 824.
    pub fn save_onward(&self, position: &mut Position, backward: bool) -> BtreeResult<()> {
        debug_assert!(!position.key.is_empty(), "a position was saved");
        let order = {
            let before = position.key.fields();
            self.tree.shape.compare(Part::Leaf, self.record(), before.as_slice())
        };
        let returns = if backward { Ordering::Greater } else { Ordering::Less };
        match order {
            Some(order) if order != returns => self.save(position),
            Some(_) => Err(self.tree.corrupt(self.guard.id(), fits::KEYS_FALL)),
            None => Err(self.tree.corrupt(self.guard.id(), fits::NO_KEY)),
        }
    }

    /// Saves the position, so that the latch can be released.
    ///
    /// # Errors
    /// 824.
    pub fn save(&self, position: &mut Position) -> BtreeResult<()> {
        self.copy_key(&mut position.key)?;
        position.page = self.guard.id();
        position.slot = self.slot;
        position.lsn = self.guard.view().lsn();
        debug_assert!(!position.page.is_none(), "a saved position has a page");
        Ok(())
    }
}

/// What comes behind a place in key order.
pub enum Successor<'t> {
    /// A record, ghosts included.
    Record(LeafRead<'t>),
    /// Nothing: the end of the index.
    End(LeafEnd<'t>),
}

/// The last leaf of an index under its shared latch: no thread appends while this lives.
pub struct LeafEnd<'t>(ReadGuard<'t>);

impl LeafEnd<'_> {
    /// The last leaf's id.
    pub fn page_id(&self) -> PageId {
        self.0.id()
    }
}

impl<'t> Successor<'t> {
    /// The record, if there is one.
    pub fn record(self) -> Option<LeafRead<'t>> {
        match self {
            Successor::Record(leaf) => Some(leaf),
            Successor::End(_) => None,
        }
    }
}

/// What is to the right of a leaf.
enum RightNeighbour<'t> {
    /// The nearest leaf that has records.
    Leaf(ReadGuard<'t>),
    /// The last leaf, which has no records; it may be the leaf itself.
    End(ReadGuard<'t>),
}

/// The nearest leaf at the right that has records. It is latched before the one at its left is
/// released.
fn right_of<'t>(tree: &'t Tree, mut leaf: ReadGuard<'t>) -> BtreeResult<RightNeighbour<'t>> {
    for _ in 0..EMPTY_LEAVES_MAX {
        let next = leaf.view().next_page();
        debug_assert_eq!(leaf.view().level(), 0, "records stand on leaves");
        if next.is_none() {
            return Ok(RightNeighbour::End(leaf));
        }
        check_apart(tree, leaf.id(), next)?;
        let right = tree.pages.read(next)?;
        check_beside(tree, leaf.id(), (next, right.view()))?;
        debug_assert_ne!(right.id(), leaf.id(), "rule 12: a page is latched once");
        if right.view().slot_count() > 0 {
            return Ok(RightNeighbour::Leaf(right));
        }
        leaf = right;
    }
    Err(tree.corrupt(leaf.id(), RING))
}

const RING: &str = "the leaves' links are a ring";

fn check_apart(tree: &Tree, leaf: PageId, next: PageId) -> BtreeResult<()> {
    debug_assert!(!next.is_none(), "asked where the link leads somewhere");
    if next == leaf {
        return Err(tree.corrupt(next, "the page is its own neighbour"));
    }
    Ok(())
}

/// The left link is checked, so a wrong right link is damage and not another table's page.
fn check_beside(tree: &Tree, leaf: PageId, right: (PageId, PageView<'_>)) -> BtreeResult<()> {
    debug_assert_ne!(leaf, right.0, "rule 12: neighbours are two pages");
    tree.check_page(right.0, right.1, 0)?;
    if right.1.prev_page() != leaf {
        return Err(tree.corrupt(right.0, "the page does not know its left neighbour"));
    }
    Ok(())
}

/// Where a record was: its key, and a hint that saves the way down while its page has not changed.
#[derive(Clone, Debug, Default)]
pub struct Position {
    key: KeyBuf,
    page: PageId,
    slot: u16,
    lsn: Lsn,
}

impl Position {
    /// At a key, wherever that is.
    pub fn at(key: KeyBuf) -> Position {
        Position { key, ..Position::default() }
    }

    /// The key, spelled as in the log.
    pub fn key(&self) -> &KeyBuf {
        &self.key
    }
}

impl Tree {
    /// The same as a seek for the position's key, cheaper while its page has not changed.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn resume(&self, position: &Position, bias: Bias) -> BtreeResult<Option<LeafRead<'_>>> {
        if bias.is_first() {
            return Ok(self.resume_next(position, bias)?.record());
        }
        assert!(!position.key.is_empty(), "a position was saved");
        if let Some(leaf) = self.unchanged(position) {
            return match bias {
                Bias::LastAtMost => Ok(Some(leaf)),
                _ => leaf.back(),
            };
        }
        let fields = position.key.fields();
        self.seek(SearchKey { fields: fields.as_slice(), bias })
    }

    /// The same forwards, where the end of the index matters.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn resume_next(&self, position: &Position, bias: Bias) -> BtreeResult<Successor<'_>> {
        assert!(!position.key.is_empty(), "a position was saved");
        assert!(bias.is_first(), "backwards no end is latched");
        if let Some(leaf) = self.unchanged(position) {
            return match bias {
                Bias::FirstAtLeast => Ok(Successor::Record(leaf)),
                _ => leaf.ahead(),
            };
        }
        let fields = position.key.fields();
        self.seek_next(SearchKey { fields: fields.as_slice(), bias })
    }

    /// The record of a position, if its page has not changed. A page with the LSN that it had under
    /// the latch has the same bytes as then. A page that was freed or given to another owner has
    /// another LSN. If the page is damaged now, a seek will report it, if it is still ours.
    fn unchanged(&self, position: &Position) -> Option<LeafRead<'_>> {
        if position.page.is_none() {
            return None;
        }
        let guard = self.pages.read_again(position.page).ok()?;
        debug_assert_eq!(guard.id(), position.page, "the page that was saved");
        debug_assert!(!position.key.is_empty(), "a saved position has a key");
        let same = guard.view().lsn() == position.lsn
            && self.page_fault(guard.view(), 0).is_none()
            && guard.view().record(position.slot).is_some();
        same.then_some(LeafRead { tree: self, guard, slot: position.slot, exact: true })
    }
}

impl Tree {
    /// Called where a record that was met elsewhere is not on the leaf that its key leads to.
    /// Either it has gone, or a separator lies and a neighbour of that leaf has keys that should be
    /// here: then it is not passed over. Latches two leaves at most, compares all keys of one.
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn check_absent(&self, key: &[Field<'_>]) -> BtreeResult<()> {
        debug_assert_eq!(key.len(), self.shape.order.len(), "a record has a whole key");
        let sought = self.sought(key);
        let leaf = self.descend(&sought, true, None)?;
        self.check_order(leaf.id(), leaf.view())?;
        let slot = self.lower_bound((leaf.id(), leaf.view()), Part::Leaf, &sought, false, 0)?;
        let (id, lsn, left) = (leaf.id(), leaf.view().lsn(), leaf.view().prev_page());
        if slot == leaf.view().slot_count() {
            return match right_of(self, leaf)? {
                RightNeighbour::Leaf(right) => self.check_beyond(&right, 0, key, Ordering::Greater),
                RightNeighbour::End(_) => Ok(()),
            };
        }
        // Leaves are latched from left to right (rule 1): first its latch goes.
        drop(leaf);
        if slot > 0 || left.is_none() || left == id {
            return Ok(());
        }
        let left = self.pages.read(left)?;
        let last = left.view().slot_count().checked_sub(1);
        let is_ours = self.page_fault(left.view(), 0).is_none();
        let is_beside = is_ours && left.view().next_page() == id;
        let Some(last) = last.filter(|_| is_beside) else { return Ok(()) };
        // Records may have moved between the two while neither was latched.
        let unchanged = self.pages.read(id)?.view().lsn() == lsn;
        if unchanged { self.check_beyond(&left, last, key, Ordering::Less) } else { Ok(()) }
    }

    /// A leaf's record in a slot lies at a side of a key.
    fn check_beyond(
        &self,
        leaf: &ReadGuard<'_>,
        slot: u16,
        key: &[Field<'_>],
        side: Ordering,
    ) -> BtreeResult<()> {
        let record = leaf.view().record(slot);
        let order = record.and_then(|record| self.shape.compare(Part::Leaf, record, key));
        if order != Some(side) {
            return Err(self.corrupt(leaf.id(), "the way to a key leads past it"));
        }
        Ok(())
    }
}

/// A leaf under its exclusive latch, at the slot where a key is or would be.
pub struct LeafWrite<'t> {
    pub(crate) tree: &'t Tree,
    pub(crate) guard: WriteGuard<'t>,
    slot: u16,
    exact: bool,
}

/// What an append at a slot leaves free. The first row of a leaf takes all the room it needs.
pub(crate) fn left_free(v: PageView<'_>, slot: u16, of_row: usize) -> usize {
    let appends = slot > 0 && slot == v.slot_count() && v.next_page().is_none();
    if appends { of_row * (usize::from(slot) + 1) } else { 0 }
}

impl<'t> LeafWrite<'t> {
    pub(crate) fn at(
        tree: &'t Tree,
        guard: WriteGuard<'t>,
        key: &TargetKey<'_, '_>,
    ) -> BtreeResult<Self> {
        let (slot, exact) = Self::place(tree, &guard, key)?;
        debug_assert_eq!(guard.view().level(), 0, "records stand on leaves");
        debug_assert!(!exact || slot < guard.view().slot_count(), "what is there has a slot");
        Ok(LeafWrite { tree, guard, slot, exact })
    }

    /// A leaf at the slot where a record that is not there would stand.
    pub(crate) fn new_at(tree: &'t Tree, guard: WriteGuard<'t>, slot: u16) -> Self {
        debug_assert_eq!(guard.view().level(), 0, "records stand on leaves");
        debug_assert!(slot <= guard.view().slot_count(), "a slot, or the one behind the last");
        LeafWrite { tree, guard, slot, exact: false }
    }

    /// A leaf at the slot of a record that stands there.
    pub(crate) fn seen(tree: &'t Tree, guard: WriteGuard<'t>, slot: u16) -> Self {
        debug_assert!(guard.view().record(slot).is_some(), "it was looked at under this latch");
        LeafWrite { tree, guard, slot, exact: true }
    }

    /// The slot of a key on a leaf, and whether it is there.
    pub(crate) fn place(
        tree: &Tree,
        guard: &WriteGuard<'_>,
        key: &TargetKey<'_, '_>,
    ) -> BtreeResult<(u16, bool)> {
        let v = guard.view();
        debug_assert_eq!(
            key.key.len(),
            tree.shape.order.len(),
            "a record is changed by its whole key"
        );
        let (slot, exact) = tree.search((guard.id(), v), Part::Leaf, key, false, 0)?;
        if exact && v.record(slot).is_none() {
            return Err(tree.corrupt(guard.id(), fits::NO_RECORD));
        }
        debug_assert!(slot <= v.slot_count(), "a slot, or the one behind the last");
        Ok((slot, exact))
    }

    /// The slot where the key is, or would be inserted.
    pub fn slot(&self) -> u16 {
        self.slot
    }

    /// Whether a record, perhaps a ghost, has the key.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// The record with the key.
    pub fn record(&self) -> Option<&[u8]> {
        let record = if self.exact { self.guard.view().record(self.slot) } else { None };
        debug_assert_eq!(record.is_some(), self.exact, "what was found stays while it is latched");
        record
    }

    /// The leaf's id.
    pub fn page_id(&self) -> PageId {
        self.guard.id()
    }

    /// The leaf.
    pub fn view(&self) -> PageView<'_> {
        self.guard.view()
    }

    /// Whether one more record of that length fits.
    pub fn has_room(&self, record_bytes: usize) -> bool {
        debug_assert!(record_bytes <= crate::RECORD_MAX, "a record fits an empty page");
        slot_cost(record_bytes) <= usize::from(self.guard.view().free_count())
    }

    /// Bytes that stay free beside a new record at the right edge, where each row is to have so
    /// many: an append leaves them to later changes of its rows.
    pub fn left_free(&self, of_row: usize) -> usize {
        left_free(self.guard.view(), self.slot, of_row)
    }

    /// Whether a record of that length can be put at the place of the key: over the one that has
    /// the key, or as one more beside what stays free.
    pub fn takes(&self, record_bytes: usize, of_row: usize) -> bool {
        match self.exact {
            true => self.has_room_to_replace(record_bytes),
            false => self.has_room((record_bytes + self.left_free(of_row)).min(crate::RECORD_MAX)),
        }
    }

    /// Whether the record with the key may become that long.
    pub fn has_room_to_replace(&self, record_bytes: usize) -> bool {
        debug_assert!(self.exact, "a record is replaced where it is");
        let old = self.record().map_or(0, <[u8]>::len);
        record_bytes <= old + usize::from(self.guard.view().free_count())
    }

    /// Checks every slot, before a change of more than one operation.
    ///
    /// # Errors
    /// 824.
    pub fn inspect(&self) -> BtreeResult<()> {
        self.tree.inspect(&self.guard)
    }

    /// Passes to `look` the record at a slot, or the first one behind it; `None` at the end of the
    /// index. Leaves at the right are latched exclusively on the way. So no scan is in between: a
    /// scan that passes here later finds what is inserted here (rule 11).
    ///
    /// # Errors
    /// 823, 824 or 701.
    pub fn with_next<R>(&self, slot: u16, look: impl FnOnce(Option<&[u8]>) -> R) -> BtreeResult<R> {
        let here = self.guard.view();
        assert!(slot <= here.slot_count(), "a slot of this leaf, or the one behind its last");
        debug_assert_eq!(here.level(), 0, "records stand on leaves");
        if slot < here.slot_count() {
            let record = here.record(slot);
            let no_record = || self.tree.corrupt(self.guard.id(), fits::NO_RECORD);
            return Ok(look(Some(record.ok_or_else(no_record)?)));
        }
        let (mut id, mut next) = (self.guard.id(), here.next_page());
        let mut held: Option<WriteGuard<'t>> = None;
        for _ in 0..EMPTY_LEAVES_MAX {
            if next.is_none() {
                return Ok(look(None));
            }
            check_apart(self.tree, id, next)?;
            let right = self.tree.pages.write(next)?;
            debug_assert!(held.as_ref().is_none_or(|h| h.id() != next), "rule 12: latched once");
            check_beside(self.tree, id, (next, right.view()))?;
            if let Some(record) = right.view().record(0) {
                return Ok(look(Some(record)));
            }
            (id, next) = (next, right.view().next_page());
            drop(held.replace(right));
        }
        Err(self.tree.corrupt(id, RING))
    }

    /// The page at the right, as the link says.
    pub fn next_page(&self) -> PageId {
        self.guard.view().next_page()
    }

    /// Lets other readers in; the leaf does not change.
    pub fn downgrade(self) -> Option<LeafRead<'t>> {
        let LeafWrite { tree, guard, slot, exact } = self;
        debug_assert!(!exact || slot < guard.view().slot_count(), "what is there has a slot");
        exact.then(|| LeafRead { tree, guard: guard.downgrade(), slot, exact })
    }

    /// Puts the leaf into a change.
    pub fn join(self, change: &mut Change<'t>) -> (PageRef, u16) {
        debug_assert!(change.find(self.guard.id()).is_none(), "rule 12: a page is latched once");
        debug_assert!(std::ptr::eq(change.pages(), &raw const *self.tree.pages), "one database");
        (change.add(self.guard), self.slot)
    }
}
