//! Two leaves exchange their pages, so that the order of pages becomes the order of keys: one log
//! group.
//!
//! ```text
//! before   parent … | 7 | …  … | 3 | …     leaves  x → 7:A → y  …  u → 3:B → v
//! after    parent … | 3 | …  … | 7 | …     leaves  x → 3:A → y  …  u → 7:B → v
//! ```
//!
//! The pages above both leaves and the neighbours of the leaves are latched too. They may lie
//! anywhere in the order of latches. So after the first page above, the thread only tries latches
//! (rule 4). When a page is latched or absent, the thread releases everything and tries again.

use crate::error::BtreeResult;
use crate::kinds::{Operation, kind};
use crate::split::{STRUCTURE_LOG_BYTES_MAX, batch_of, link};
use crate::tree::Tree;
use base::PageId;
use buffer::{Change, PageRef, Undo, WriteGuard};
use page::{Field, PageView};
use wal::{Group, TransactionChain};

/// Attempts to latch all pages without waiting. An attempt that finds a page absent reads it, and
/// up to seven may be absent.
const ATTEMPTS: u32 = 8;

/// What an attempt found.
enum ExchangeAttempt<'t> {
    Ready(Box<LatchedPair<'t>>),
    /// Nothing to exchange: one leaf has both keys, or is the root.
    One,
    /// A page could not be latched; it is read after everything is released.
    Busy(PageId),
}

/// Two leaves with their places, and what is around them.
struct LatchedPair<'t> {
    first: PlacedLeaf<'t>,
    second: PlacedLeaf<'t>,
    /// The page above the first.
    parent: WriteGuard<'t>,
    /// The page above the second, where it is another.
    other: Option<WriteGuard<'t>>,
    /// Their neighbours, each once.
    beside: Vec<WriteGuard<'t>>,
}

/// A leaf, and the slot of its entry above.
struct PlacedLeaf<'t> {
    page: WriteGuard<'t>,
    slot: u16,
}

/// A leaf's contents, to be written to another page.
struct Contents {
    records: Vec<u8>,
    prev: PageId,
    next: PageId,
}

impl Contents {
    fn of(v: PageView<'_>) -> Contents {
        let records = batch_of(v, 0..v.slot_count(), |_| true);
        Contents { records, prev: v.prev_page(), next: v.next_page() }
    }
}

impl Tree {
    /// The leaves of two keys, the first being the lesser, exchange their pages. False when that
    /// was not possible without waiting, or both keys are on one leaf. The caller holds no latch.
    ///
    /// Logs one group of at most [`STRUCTURE_LOG_BYTES_MAX`].
    ///
    /// # Errors
    /// 823, 824 or 701, before anything is changed.
    pub fn exchange_leaves(
        &self,
        group: &mut Group,
        first: &[Field<'_>],
        second: &[Field<'_>],
    ) -> BtreeResult<bool> {
        let order = self.shape.order.compare_keys(first, second);
        assert_eq!(order, Some(std::cmp::Ordering::Less), "two keys in order");
        for _ in 0..ATTEMPTS {
            match self.latch_both(first, second)? {
                ExchangeAttempt::Ready(latched) => {
                    self.exchange(group, *latched);
                    return Ok(true);
                }
                ExchangeAttempt::One => return Ok(false),
                // Waits until its holder releases it, and reads it into memory. A reader of the
                // page will report damage.
                ExchangeAttempt::Busy(page) => drop(self.pages.read(page)),
            }
        }
        Ok(false)
    }

    fn latch_both(
        &self,
        first: &[Field<'_>],
        second: &[Field<'_>],
    ) -> BtreeResult<ExchangeAttempt<'_>> {
        // A page that still has the LSN that it had on the way down still belongs to the tree.
        let Some((id, lsn)) = self.interior_at(1, second, true)?.map(|p| (p.id(), p.view().lsn()))
        else {
            return Ok(ExchangeAttempt::One);
        };
        let Some(parent) = self.write_at(&self.sought(first), 1)? else {
            return Ok(ExchangeAttempt::One);
        };
        let other = match id == parent.id() {
            true => None,
            false => match self.pages.try_write(id) {
                Some(other) if other.view().lsn() == lsn => Some(other),
                Some(_) | None => return Ok(ExchangeAttempt::Busy(id)),
            },
        };
        let above = other.as_ref().unwrap_or(&parent);
        let place = |above: &WriteGuard<'_>, key| -> BtreeResult<(u16, PageId)> {
            let slot = self.child_slot((above.id(), above.view()), &self.sought(key), true)?;
            Ok((slot, self.child(above.id(), above.view(), slot)?))
        };
        let (a, b) = (place(&parent, first)?, place(above, second)?);
        if a.1 == b.1 {
            return Ok(ExchangeAttempt::One);
        }
        let held = [parent.id(), above.id()];
        let mut pages = Vec::with_capacity(2);
        for id in [a.1, b.1] {
            self.is_not_held(id, &held)?;
            let Some(page) = self.pages.try_write(id) else { return Ok(ExchangeAttempt::Busy(id)) };
            self.check_page(id, page.view(), 0)?;
            pages.push(page);
        }
        let beside = match self.latch_beside((&pages[0], &pages[1]), &held)? {
            Ok(beside) => beside,
            Err(busy) => return Ok(ExchangeAttempt::Busy(busy)),
        };
        for page in pages.iter().chain([&parent]).chain(&other) {
            self.inspect(page)?;
        }
        let mut placed =
            pages.into_iter().zip([a.0, b.0]).map(|(page, slot)| PlacedLeaf { page, slot });
        let (Some(first), Some(second)) = (placed.next(), placed.next()) else {
            unreachable!("two leaves were latched")
        };
        Ok(ExchangeAttempt::Ready(Box::new(LatchedPair { first, second, parent, other, beside })))
    }

    /// Latches the neighbours of two leaves, each once. Returns the page that could not be latched.
    fn latch_beside<'t>(
        &'t self,
        (a, b): (&WriteGuard<'t>, &WriteGuard<'t>),
        held: &[PageId],
    ) -> BtreeResult<Result<Vec<WriteGuard<'t>>, PageId>> {
        let mut beside: Vec<WriteGuard<'t>> = Vec::with_capacity(4);
        if a.view().prev_page() == b.id() || b.view().next_page() == a.id() {
            return Err(self.corrupt(a.id(), "the page's links are not in the order of its keys"));
        }
        for (page, other) in [(a, b), (b, a)] {
            for (id, back) in [
                (page.view().prev_page(), (|v| v.next_page()) as fn(PageView<'_>) -> PageId),
                (page.view().next_page(), |v| v.prev_page()),
            ] {
                if id.is_none() {
                    continue;
                }
                if id == page.id() {
                    return Err(self.corrupt(id, "the page is its own neighbour"));
                }
                self.is_not_held(id, held)?;
                let latched = beside.iter().find(|g| g.id() == id);
                let found = match latched.or((id == other.id()).then_some(other)) {
                    Some(guard) => back(guard.view()),
                    None => {
                        let Some(guard) = self.pages.try_write(id) else { return Ok(Err(id)) };
                        self.check_page(id, guard.view(), 0)?;
                        beside.push(guard);
                        back(beside[beside.len() - 1].view())
                    }
                };
                if found != page.id() {
                    return Err(self.corrupt(id, "the page and its neighbour do not agree"));
                }
            }
        }
        Ok(Ok(beside))
    }

    fn exchange<'t>(&'t self, group: &mut Group, latched: LatchedPair<'t>) {
        let LatchedPair { first, second, parent, other, beside } = latched;
        let (a, b) = (first.page.id(), second.page.id());
        let contents = [&first, &second].map(|p| Contents::of(p.page.view()));
        let entry = |above: &WriteGuard<'_>, slot: u16| {
            above.view().record(slot).expect("the page was inspected").to_vec()
        };
        let entries =
            [entry(&parent, first.slot), entry(other.as_ref().unwrap_or(&parent), second.slot)];
        let mut change = Change::new(&self.pages, group);
        let pages = [change.add(first.page), change.add(second.page)];
        let parent = change.add(parent);
        let above = [parent, other.map_or(parent, |g| change.add(g))];
        for guard in beside {
            change.add(guard);
        }
        // Where a page is afterwards.
        let now = |id: PageId| match id {
            id if id == a => b,
            id if id == b => a,
            id => id,
        };
        let (ids, slots) = ([a, b], [first.slot, second.slot]);
        for n in 0..2 {
            // What was on this page goes to the other.
            let (c, to) = (&contents[n], now(ids[n]));
            let format = self.format_of(0, now(c.prev), now(c.next));
            self.format_and_fill(&mut change, pages[1 - n], 0, &format, &c.records);
            for (neighbour, side) in [(c.prev, 1), (c.next, 0)] {
                if let Some(page) = change.find(neighbour).filter(|p| !pages.contains(p)) {
                    self.link_leaf(&mut change, page, &link(side, to));
                }
            }
            let mut entry = entries[n].clone();
            self.shape.put_child(&mut entry, to);
            self.replace_entry(&mut change, (above[n], slots[n]), &entries[n], &entry);
        }
        assert!(change.logged_bytes() as u64 <= STRUCTURE_LOG_BYTES_MAX);
        self.splits.reshaped();
        change.finish(&mut TransactionChain::default());
    }

    fn link_leaf(&self, change: &mut Change<'_>, page: PageRef, payload: &[u8]) {
        let kind = kind(Operation::Link, self.context(0));
        change.apply(page, self.unit.id, kind, 0, &[payload], Undo::Never);
    }
}
