//! Page splits: one page becomes two, as one log group.
//!
//! `make_room` splits one page at a time (rule 5). When the parent has no room for the separator,
//! the parent is split first, in a group of its own that leaves a sound tree. So no group touches
//! more than four pages of the tree, whatever its height, and none is longer than a log block.
//!
//! Order of latches (rule 1): parent, page, right neighbour, then the allocation maps, then the new
//! page. No thread can wait for the new page, as it is reached only through the others.

use crate::error::BtreeResult;
use crate::kinds::{Operation, kind, page_id_bytes};
use crate::order::{KeyFields, Part};
use crate::split_counters::SplitReason;
use crate::tree::{RECORD_MAX, Tree};
use base::PageId;
use buffer::{Change, PageRef, Undo, WriteGuard};
use os::counters::Event;
use page::fits;
use page::{Field, PageView, slot_cost};
use std::cmp::Ordering;
use wal::{Group, TransactionChain};

/// How a full page is divided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SplitPolicy {
    /// At the tree's right edge nothing is moved: the new page begins with the new key. Elsewhere
    /// as `Half`.
    Append,
    /// The upper half of the records moves, the new one counted in.
    Half,
    /// As `Half`, which is a fault: ghosts of the upper half are not moved along.
    #[cfg(feature = "mutations")]
    WithoutGhosts,
}

/// Bytes of log that one group of a structure change takes at most: the records of a page (of two
/// when a load's second page lets the root grow), twice a separator, and the maps.
pub const STRUCTURE_LOG_BYTES_MAX: u64 = 24 * 1024;

/// Attempts to make room. An attempt fails because another thread has succeeded, or because of
/// damage.
const ATTEMPTS_MAX: u32 = 10_000;

/// What an attempt to split a page came to.
enum Attempt {
    /// The page has room now.
    Done,
    /// The parent needs room for an entry of so many bytes first.
    ParentFull(usize),
    /// The page is the root, which needs two pages.
    Root,
    /// The root grew meanwhile: it is no longer this page.
    NotRoot,
}

/// Where a page is divided.
struct Division {
    /// The first slot that moves.
    at: u16,
    /// The entry of the new right page, its child still to be filled in.
    separator: Vec<u8>,
    /// What it is counted as.
    fall: SplitReason,
}

/// A request for room on a page.
#[derive(Clone, Copy)]
struct Wish<'k> {
    key: &'k [Field<'k>],
    level: u8,
    bytes: usize,
    policy: SplitPolicy,
    /// Records for the new page at the right edge (bulk load); empty otherwise.
    batch: &'k [u8],
    /// A bulk load builds the tree: its pages are added, none overflows.
    builds: bool,
    /// Bytes that stay free on pages above the leaves, once they have two entries.
    spare: usize,
}

/// A page's records, in order, as an INSERT_MANY payload.
pub(crate) fn push_record(batch: &mut Vec<u8>, record: &[u8]) {
    assert!(record.len() <= RECORD_MAX, "its length has two bytes");
    let before = batch.len();
    batch.extend_from_slice(&(record.len() as u16).to_le_bytes());
    batch.extend_from_slice(record);
    debug_assert_eq!(batch.len() - before, 2 + record.len(), "a length and a record");
}

pub(crate) fn batch_of(
    v: PageView<'_>,
    slots: std::ops::Range<u16>,
    goes: impl Fn(&[u8]) -> bool,
) -> Vec<u8> {
    debug_assert!(slots.start <= slots.end && slots.end <= v.slot_count(), "slots of the page");
    let mut batch = Vec::with_capacity(8192);
    for slot in slots {
        let record = v.record(slot).expect("the page was inspected");
        if goes(record) {
            push_record(&mut batch, record);
        }
    }
    batch
}

impl SplitPolicy {
    /// Whether a record of the upper half goes to the new page: all do, but for a fault.
    fn moves(self, _record: &[u8]) -> bool {
        #[cfg(feature = "mutations")]
        if self == SplitPolicy::WithoutGhosts {
            return !page::is_ghost_record(_record);
        }
        true
    }
}

impl Tree {
    /// Makes sure that the leaf of a key has room for a record of so many bytes; it splits pages if
    /// need be. If a record with the key exists, the new one is taken to replace it. The caller
    /// holds no latch, and searches again afterwards, as other threads may have used the room.
    ///
    /// Logs groups of at most [`STRUCTURE_LOG_BYTES_MAX`]: mostly one, at most one for each level.
    ///
    /// # Errors
    /// 823, 824, 701, 1105 or 9002. What was split stays split, and the tree is sound.
    pub fn make_room(
        &self,
        group: &mut Group,
        key: &[Field<'_>],
        bytes: usize,
        policy: SplitPolicy,
    ) -> BtreeResult<()> {
        assert!(bytes <= RECORD_MAX, "a record fits an empty page");
        assert_eq!(key.len(), self.shape.order.len(), "room is made for a whole key");
        self.make(group, Wish { key, level: 0, bytes, policy, batch: &[], builds: false, spare: 0 })
    }

    /// Adds a page of records at the right edge; all are behind every record of the tree.
    pub(crate) fn append_page(
        &self,
        group: &mut Group,
        key: &[Field<'_>],
        batch: &[u8],
        spare: usize,
    ) -> BtreeResult<()> {
        assert!(!batch.is_empty(), "a page is appended for its records");
        assert_eq!(key.len(), self.shape.order.len(), "a page begins with a whole key");
        let policy = SplitPolicy::Append;
        self.make(group, Wish { key, level: 0, bytes: 0, policy, batch, builds: true, spare })
    }

    fn make(&self, group: &mut Group, wish: Wish<'_>) -> BtreeResult<()> {
        let (mut now, mut pages) = (wish, 1);
        for _ in 0..ATTEMPTS_MAX {
            debug_assert!(now.level == wish.level || now.batch.is_empty(), "records go to leaves");
            debug_assert!(pages == 1 || pages == 2, "a split takes a page, the root two");
            match self.try_split(group, now, pages)? {
                Attempt::Done if now.level == 0 => return Ok(()),
                // A page above has room now: begin again at the leaf.
                Attempt::Done => (now, pages) = (wish, 1),
                Attempt::Root => pages = 2,
                Attempt::NotRoot => pages = 1,
                Attempt::ParentFull(bytes) => {
                    now = Wish { level: now.level + 1, bytes, batch: &[], ..wish };
                    pages = 1;
                }
            }
        }
        Err(self.corrupt(self.root, "no split makes room"))
    }

    fn try_split(&self, group: &mut Group, wish: Wish<'_>, pages: usize) -> BtreeResult<Attempt> {
        let claim = self.space.claim(&self.unit, pages)?;
        debug_assert_eq!(claim.len(), pages, "all that was asked for");
        let Some(parent) = self.write_at(&self.sought(wish.key), wish.level + 1)? else {
            return self.grow_root(group, wish, claim);
        };
        if pages != 1 {
            return Ok(Attempt::NotRoot);
        }
        let place = (parent.id(), parent.view());
        let slot = self.child_slot(place, &self.sought(wish.key), true)?;
        debug_assert_eq!(parent.view().level(), wish.level + 1, "the level above");
        let id = self.child(parent.id(), parent.view(), slot)?;
        let page = self.pages.write(id)?;
        self.check_page(id, page.view(), wish.level)?;
        if self.has_room_for(&page, wish)? {
            return Ok(Attempt::Done);
        }
        self.inspect(&parent)?;
        self.inspect(&page)?;
        let division = self.divide(&page, wish)?;
        debug_assert!(division.at <= page.view().slot_count(), "a division is within its page");
        if !entry_fits(parent.view(), division.separator.len(), wish.spare) {
            return Ok(Attempt::ParentFull(division.separator.len()));
        }
        self.check_separator((parent.id(), parent.view()), slot, &division.separator)?;
        let next = self.right_neighbour(&page, wish.level, &[parent.id()])?;
        self.split(group, wish, claim, (parent, slot + 1), page, next, division)?;
        Ok(Attempt::Done)
    }

    /// A new separator lies between those around its child: the page's keys are those that the way
    /// to it promises. The leftmost entry's key is never compared.
    fn check_separator(
        &self,
        (id, parent): (PageId, PageView<'_>),
        slot: u16,
        separator: &[u8],
    ) -> BtreeResult<()> {
        let mut key = KeyFields::default();
        let read = self.shape.key_of(Part::Interior, separator, &mut key);
        read.ok_or_else(|| self.corrupt(id, fits::NO_KEY))?;
        let order = |slot: u16| {
            let entry = parent.record(slot);
            let order = entry.and_then(|e| self.shape.compare(Part::Interior, e, key.as_slice()));
            order.ok_or_else(|| self.corrupt(id, fits::NO_KEY))
        };
        let low = slot == 0 || order(slot)?.is_le();
        let high = slot + 1 >= parent.slot_count() || order(slot + 1)?.is_gt();
        if !(low && high) {
            return Err(self.corrupt(id, "a child's keys are beyond its separators"));
        }
        Ok(())
    }

    /// The right neighbour of a page under its exclusive latch; it cannot change while the page
    /// is latched (rule 2).
    pub(crate) fn right_neighbour<'t>(
        &'t self,
        page: &WriteGuard<'t>,
        level: u8,
        held: &[PageId],
    ) -> BtreeResult<Option<WriteGuard<'t>>> {
        debug_assert_eq!(page.view().level(), level, "a page of the level");
        debug_assert!(!held.contains(&page.id()), "rule 12: a page is latched once");
        let next = page.view().next_page();
        if next.is_none() {
            return Ok(None);
        }
        if next == page.id() {
            return Err(self.corrupt(next, "the page is its own neighbour"));
        }
        self.is_not_held(next, held)?;
        let guard = self.pages.write(next)?;
        self.check_page(next, guard.view(), level)?;
        if guard.view().prev_page() != page.id() {
            return Err(self.corrupt(next, "the page does not know its left neighbour"));
        }
        debug_assert_ne!(guard.id(), page.id(), "neighbours are two pages");
        Ok(Some(guard))
    }

    fn has_room_for(&self, page: &WriteGuard<'_>, wish: Wish<'_>) -> BtreeResult<bool> {
        debug_assert_eq!(page.view().level(), wish.level, "the page that the wish is for");
        if !wish.batch.is_empty() {
            return Ok(false);
        }
        if wish.level > 0 {
            return Ok(entry_fits(page.view(), wish.bytes, wish.spare));
        }
        let free = usize::from(page.view().free_count());
        if slot_cost(wish.bytes) <= free {
            return Ok(true);
        }
        let (_, old) = self.place_on(page, wish)?;
        Ok(old.is_some_and(|old| wish.bytes <= free + old))
    }

    /// The slot of the wish's key on its page, and the length of the record that it replaces. In
    /// an interior page the wish is for a new entry, behind that of the key's child.
    fn place_on(&self, page: &WriteGuard<'_>, wish: Wish<'_>) -> BtreeResult<(u16, Option<usize>)> {
        let (v, part) = (page.view(), Self::part(wish.level));
        let interior = wish.level > 0;
        let slot = self.lower_bound((page.id(), v), part, &self.sought(wish.key), interior, 0)?;
        debug_assert!(slot <= v.slot_count(), "a slot, or the one behind the last");
        debug_assert_eq!(wish.key.len(), self.shape.order.len(), "a wish has a whole key");
        let Some(record) = v.record(slot).filter(|_| !interior) else { return Ok((slot, None)) };
        let order = self.shape.compare(part, record, wish.key);
        let order = order.ok_or_else(|| self.corrupt(page.id(), fits::NO_KEY))?;
        Ok((slot, (order == Ordering::Equal).then_some(record.len())))
    }

    /// Where to divide a page so that both halves, the new record included, have the same size.
    fn divide(&self, page: &WriteGuard<'_>, wish: Wish<'_>) -> BtreeResult<Division> {
        let v = page.view();
        let count = v.slot_count();
        let (place, old) = self.place_on(page, wish)?;
        debug_assert!(place <= count, "a slot, or the one behind the last");
        let append = wish.policy == SplitPolicy::Append
            && v.next_page().is_none()
            && place == count
            && old.is_none();
        let fall = match old {
            _ if append && wish.builds => SplitReason::Loaded,
            _ if append => SplitReason::Append,
            Some(_) => SplitReason::Longer,
            None if place == count => SplitReason::AtEnd,
            None => SplitReason::Between,
        };
        if wish.level > 0 {
            // Each half keeps an entry, and the separator is one that stands there.
            if count < 2 {
                return Err(self.corrupt(page.id(), "a full interior page has one entry"));
            }
            let at = if append { count - 1 } else { middle(v, place, None, wish.bytes).0 };
            return self.division_at_record(page, wish.level, at.clamp(1, count - 1), fall);
        }
        if append || count == 0 {
            assert!(append, "an empty leaf has room");
            return Ok(self.division_at_key(count, wish.key, fall));
        }
        let (at, new_is_first) = middle(v, place, old, wish.bytes);
        debug_assert!(at <= count, "a division is within its page");
        debug_assert!(
            !new_is_first || (at == place && old.is_none()),
            "rule 6: it comes before at"
        );
        if new_is_first {
            return Ok(self.division_at_key(at, wish.key, fall));
        }
        self.division_at_record(page, 0, at, fall)
    }

    fn division_at_key(&self, at: u16, key: &[Field<'_>], fall: SplitReason) -> Division {
        let mut separator = Vec::with_capacity(self.shape.entry_len(key));
        self.shape.encode_entry(key, PageId::NONE, &mut separator);
        debug_assert!(separator.len() <= RECORD_MAX, "a separator fits a page");
        Division { at, separator, fall }
    }

    fn division_at_record(
        &self,
        page: &WriteGuard<'_>,
        level: u8,
        at: u16,
        fall: SplitReason,
    ) -> BtreeResult<Division> {
        debug_assert!(at < page.view().slot_count(), "the record that becomes the separator");
        debug_assert_eq!(page.view().level(), level, "a page of the level");
        let mut key = KeyFields::default();
        let record = page.view().record(at);
        let found = record.and_then(|r| self.shape.key_of(Self::part(level), r, &mut key));
        found.ok_or_else(|| self.corrupt(page.id(), fits::NO_KEY))?;
        Ok(self.division_at_key(at, key.as_slice(), fall))
    }

    /// The entry that leads to a leaf which begins with the record of a slot.
    pub(crate) fn separator_at(&self, page: &WriteGuard<'_>, slot: u16) -> BtreeResult<Vec<u8>> {
        let mut separator = self.division_at_record(page, 0, slot, SplitReason::Between)?.separator;
        self.shape.put_child(&mut separator, page.id());
        Ok(separator)
    }

    /// Divides a page, one group: format and fill the new page, cut the old, link, tell the
    /// parent.
    #[allow(clippy::too_many_arguments)]
    fn split<'t>(
        &'t self,
        group: &mut Group,
        wish: Wish<'_>,
        claim: space::Claim<'_>,
        (parent, parent_slot): (WriteGuard<'t>, u16),
        page: WriteGuard<'t>,
        next: Option<WriteGuard<'t>>,
        mut division: Division,
    ) -> BtreeResult<()> {
        assert!(division.at <= page.view().slot_count(), "a division is within its page");
        assert!(wish.level == 0 || division.at > 0, "an interior page keeps an entry");
        let upper = division.at..page.view().slot_count();
        let moved = batch_of(page.view(), upper, |record| wish.policy.moves(record));
        assert!(wish.batch.is_empty() || moved.is_empty(), "a batch goes to an empty page");
        let moved = if wish.batch.is_empty() { &moved[..] } else { wish.batch };
        let (page_id, next_id) = (page.id(), page.view().next_page());
        let cut = division.at < page.view().slot_count();
        let mut change = Change::new(&self.pages, group);
        let parent = change.add(parent);
        let page = change.add(page);
        let next = next.map(|n| change.add(n));
        let new = self.space.allocate(&mut change, &self.unit, claim)?[0];
        let new_id = change.id(new);
        assert_ne!(new_id, page_id, "a new page");
        debug_assert_eq!(
            next.is_none(),
            next_id.is_none(),
            "rule 2: the right neighbour is latched"
        );
        let level = wish.level;
        let op = |change: &mut Change<'_>, page, level, operation, slot, payload: &[u8]| {
            let kind = kind(operation, self.context(level));
            change.apply(page, self.unit.id, kind, slot, &[payload], Undo::Never);
        };
        // Its records are those of a page that was inspected, or a load's own.
        change.note_inspected(new);
        let format = self.format_of(level, page_id, next_id);
        op(&mut change, new, level, Operation::Format, 0, &format);
        if !moved.is_empty() {
            op(&mut change, new, level, Operation::InsertMany, 0, moved);
        }
        if cut {
            op(&mut change, page, level, Operation::Truncate, division.at, &[]);
        }
        op(&mut change, page, level, Operation::Link, 0, &link(1, new_id));
        if let Some(next) = next {
            op(&mut change, next, level, Operation::Link, 0, &link(0, new_id));
        }
        self.shape.put_child(&mut division.separator, new_id);
        op(&mut change, parent, level + 1, Operation::Insert, parent_slot, &division.separator);
        debug_assert_eq!(change.view(page).next_page(), new_id, "linked both ways");
        debug_assert_eq!(change.view(new).prev_page(), page_id, "linked both ways");
        assert!(change.logged_bytes() as u64 <= STRUCTURE_LOG_BYTES_MAX);
        self.splits.reshaped();
        change.finish(&mut TransactionChain::default());
        self.count_split(wish, division.fall, page_id, (page_id, new_id));
        Ok(())
    }

    /// The root is full: its records go to two new pages, and it becomes their parent.
    fn grow_root(
        &self,
        group: &mut Group,
        wish: Wish<'_>,
        claim: space::Claim<'_>,
    ) -> BtreeResult<Attempt> {
        if claim.len() != 2 {
            return Ok(Attempt::Root);
        }
        let root = self.pages.write(self.root)?;
        if root.view().level() > wish.level {
            return Ok(Attempt::NotRoot);
        }
        self.check_page(self.root, root.view(), wish.level)?;
        if self.has_room_for(&root, wish)? {
            return Ok(Attempt::Done);
        }
        self.inspect(&root)?;
        let mut division = self.divide(&root, wish)?;
        let lower = batch_of(root.view(), 0..division.at, |_| true);
        let upper = division.at..root.view().slot_count();
        let upper = batch_of(root.view(), upper, |record| wish.policy.moves(record));
        assert!(wish.batch.is_empty() || upper.is_empty(), "a batch goes to an empty page");
        let upper = if wish.batch.is_empty() { &upper[..] } else { wish.batch };
        // The leftmost key is never compared; it is there so that all entries have their form.
        let mut first = match division.at {
            0 => division.separator.clone(),
            _ => self.division_at_record(&root, wish.level, 0, division.fall)?.separator,
        };
        let mut change = Change::new(&self.pages, group);
        let root = change.add(root);
        let new = self.space.allocate(&mut change, &self.unit, claim)?;
        assert_eq!(new.len(), 2, "a root has two children at first");
        let ids = (change.id(new[0]), change.id(new[1]));
        assert!(ids.0 != ids.1 && ids.0 != self.root && ids.1 != self.root, "three pages");
        self.shape.put_child(&mut first, ids.0);
        self.shape.put_child(&mut division.separator, ids.1);
        let mut entries = Vec::with_capacity(first.len() + division.separator.len() + 4);
        push_record(&mut entries, &first);
        push_record(&mut entries, &division.separator);
        let left = self.format_of(wish.level, PageId::NONE, ids.1);
        let right = self.format_of(wish.level, ids.0, PageId::NONE);
        self.format_and_fill(&mut change, new[0], wish.level, &left, &lower);
        self.format_and_fill(&mut change, new[1], wish.level, &right, upper);
        let format = self.format_of(wish.level + 1, PageId::NONE, PageId::NONE);
        self.format_and_fill(&mut change, root, wish.level + 1, &format, &entries);
        debug_assert_eq!(change.view(root).slot_count(), 2, "the root has two children at first");
        assert!(change.logged_bytes() as u64 <= STRUCTURE_LOG_BYTES_MAX);
        self.splits.reshaped();
        change.finish(&mut TransactionChain::default());
        self.count_split(wish, division.fall, self.root, ids);
        self.splits.root_grew(wish.builds);
        Ok(Attempt::Done)
    }

    /// Counts a page that had overflowed and is two pages now.
    fn count_split(&self, wish: Wish<'_>, fall: SplitReason, from: PageId, to: (PageId, PageId)) {
        self.pages.counters().add(Event::PageSplit, u64::from(!wish.builds));
        self.splits.divided((wish.level, fall), wish.key, from, to);
    }

    pub(crate) fn format_and_fill(
        &self,
        change: &mut Change<'_>,
        page: PageRef,
        level: u8,
        format: &[u8; 16],
        batch: &[u8],
    ) {
        let context = self.context(level);
        let format_kind = kind(Operation::Format, context);
        change.apply(page, self.unit.id, format_kind, 0, &[format], Undo::Never);
        debug_assert_eq!(change.view(page).level(), level, "formatted for its level");
        if !batch.is_empty() {
            let fill = kind(Operation::InsertMany, context);
            change.apply(page, self.unit.id, fill, 0, &[batch], Undo::Never);
            debug_assert!(change.view(page).slot_count() > 0, "the records are there");
        }
    }
}

/// Whether a page above the leaves takes one more entry, leaving what a load spares.
fn entry_fits(v: PageView<'_>, bytes: usize, spare: usize) -> bool {
    debug_assert!(v.level() > 0, "leaves are filled by what is put on them");
    let spare = if v.slot_count() > 2 { spare } else { 0 };
    slot_cost(bytes) + spare <= usize::from(v.free_count())
}

/// A LINK payload: the page at the left (0) or at the right (1).
pub(crate) fn link(side: u8, id: PageId) -> [u8; 7] {
    let mut p = [side; 7];
    p[1..].copy_from_slice(&page_id_bytes(id));
    debug_assert!(side < 2, "a page has two neighbours");
    p
}

/// The first slot that moves when both sides shall weigh the same with a new record of `bytes` at
/// `place`, or with the one there replaced; and whether the new one is the first at the right.
fn middle(v: PageView<'_>, place: u16, old: Option<usize>, bytes: usize) -> (u16, bool) {
    let count = v.slot_count();
    let lengths: Vec<usize> =
        (0..count).map(|slot| v.record(slot).map_or(0, <[u8]>::len)).collect();
    let length = |slot: u16| lengths[usize::from(slot)];
    let inserted = old.is_none();
    let total = count + u16::from(inserted);
    debug_assert!(total > 0 && place < total, "the new one has a place");
    debug_assert!(inserted || old == Some(length(place)), "the one that is replaced");
    let weight = |i: u16| {
        slot_cost(match i.cmp(&place) {
            Ordering::Equal => bytes,
            Ordering::Greater if inserted => length(i - 1),
            Ordering::Less | Ordering::Greater => length(i),
        })
    };
    let all: usize = (0..total).map(weight).sum();
    let (mut left, mut i) = (weight(0), 1);
    // The record in the middle goes where the halves differ less.
    while i + 1 < total && 2 * left + weight(i) <= all {
        left += weight(i);
        i += 1;
    }
    if inserted && i > place { (i - 1, false) } else { (i, inserted && i == place) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::AllocUnitId;
    use page::{PageKind, PageMut};
    use proptest::prelude::*;

    fn page_of(lengths: &[usize]) -> Box<page::PageBytes> {
        let mut b = Box::new([0; base::limits::PAGE_BYTES]);
        let mut p = PageMut(&mut b);
        p.format(PageKind::Data, PageId::new(1, 50), AllocUnitId(7), 0, 8);
        for (i, &n) in lengths.iter().enumerate() {
            let mut record = vec![0x10, 0, 0, 0];
            record.resize(n - 3, 7);
            let end = record.len() as u16;
            record[2..4].copy_from_slice(&end.to_le_bytes());
            record.extend([1, 0, 0]);
            p.insert(i as u16, &record);
        }
        b
    }

    #[test]
    fn the_300th_row_of_25_bytes_leaves_150_on_each_side() {
        let b = page_of(&[25; 299]);
        let v = PageView(&b);
        assert_eq!(v.free_count(), 8096 - 299 * 27);
        assert_eq!(middle(v, 299, None, 25), (150, false), "149 and the new one move");
        assert_eq!(middle(v, 0, None, 25), (149, false), "the new one and 149 stay");
        assert_eq!(middle(v, 150, None, 25), (150, true), "the new one is the first at the right");
        assert_eq!(middle(v, 149, None, 25), (149, false));
    }

    proptest! {
        #[test]
        fn a_division_makes_progress(
            lengths in prop::collection::vec(11..900_usize, 1..9),
            place in any::<u16>(), bytes in 11..8060_usize, exact in any::<bool>(),
        ) {
            let b = page_of(&lengths);
            let n = lengths.len() as u16;
            let place = place % if exact { n } else { n + 1 };
            let old = exact.then(|| lengths[usize::from(place)]);
            let (at, first) = middle(PageView(&b), place, old, bytes);
            prop_assert!(at <= n && (!first || at == place));
            // Some record leaves the side that the new one goes to, unless the page had one.
            let goes_right = first || if exact { place >= at } else { place > at };
            let stays = if goes_right { n - at } else { at };
            prop_assert!(stays < n || n == 1 && exact, "at {at} of {n}, place {place}");
        }
    }
}
