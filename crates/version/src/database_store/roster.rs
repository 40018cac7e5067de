//! `Roster`: which pages a database's own store has, and who may fill each. It is in memory only:
//! places end with the process, so after a start nobody has a page.
//!
//! ```text
//!            looked at                    room for a quarter of a page
//!   Unseen ────────────▶ Filled ◀───────▶ Roomy ──────▶ Taken (by a place)
//!                           ▲               │ last version goes  │
//!                           └── Empty ◀─────┘◀───────────────────┘
//! ```
//!
//! Invariants
//!  1. A page is Taken by at most one place.
//!  2. The use of a page of the store changes under the page's latch, but for a page that is taken
//!     out of a list: no page is both found empty by one thread and given up by another.
//!  3. A list names every page of its use, and perhaps others: who takes a page asks for its use.

use base::limits::EXTENT_PAGES;
use base::{ExtentId, PageId};
use space::AllocUnit;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Who may fill a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PageUse {
    /// The extent is the store's, the page is not allocated.
    Absent,
    /// Nobody has looked at the page since the start.
    Unseen,
    /// Nobody: it has little room, or cannot be read.
    Filled,
    /// A place fills it.
    Taken,
    /// It waits for a place, and has versions.
    Roomy,
    /// It waits for a place, or goes back with its extent.
    Empty,
}

type Uses = [PageUse; EXTENT_PAGES as usize];

/// The pages of a store.
#[derive(Default)]
pub(crate) struct Roster {
    /// The store's allocation unit; none where it has none yet, and not known before the database's
    /// note was read.
    pub(crate) unit: Option<Option<Arc<AllocUnit>>>,
    /// Its extents in the order in which the background goes over them.
    order: Vec<ExtentId>,
    uses: BTreeMap<ExtentId, Uses>,
    /// How many pages are Empty.
    empty: usize,
    /// Of each use that waits: the last is taken first.
    empty_pages: Vec<PageId>,
    roomy_pages: Vec<PageId>,
    /// Pages before this position were looked at since the start.
    seen: usize,
}

fn place_of(page: PageId) -> (ExtentId, usize) {
    (page.extent(), (page.page % EXTENT_PAGES) as usize)
}

impl Roster {
    /// How many pages there are.
    pub(crate) fn count(&self) -> usize {
        self.order.len() * EXTENT_PAGES as usize
    }

    /// How many of them are known to be without versions.
    pub(crate) fn empty_count(&self) -> usize {
        self.empty
    }

    /// What a page is used for; none of a page that is not the store's.
    pub(crate) fn of(&self, page: PageId) -> Option<PageUse> {
        let (extent, n) = place_of(page);
        self.uses.get(&extent).map(|uses| uses[n]).filter(|of| *of != PageUse::Absent)
    }

    /// Pages from a position on.
    pub(crate) fn pages(&self, from: usize, count: usize) -> impl Iterator<Item = PageId> + '_ {
        let each = EXTENT_PAGES as usize;
        let end = from.saturating_add(count).min(self.count());
        (from..end).map(move |n| {
            let first = self.order[n / each].first_page();
            PageId { file: first.file, page: first.page + (n % each) as u32 }
        })
    }

    /// Enters a page of the store.
    pub(crate) fn enter(&mut self, page: PageId, with: PageUse) {
        let (extent, _) = place_of(page);
        if let Entry::Vacant(fresh) = self.uses.entry(extent) {
            fresh.insert([PageUse::Absent; _]);
            self.order.push(extent);
        }
        self.set(page, with);
    }

    /// Notes what a page of the store is used for from now on.
    pub(crate) fn set(&mut self, page: PageId, now: PageUse) {
        let (extent, n) = place_of(page);
        let Some(uses) = self.uses.get_mut(&extent) else { return };
        let before = std::mem::replace(&mut uses[n], now);
        if before == now {
            return;
        }
        self.empty -= usize::from(before == PageUse::Empty);
        match now {
            PageUse::Empty => {
                self.empty += 1;
                self.empty_pages.push(page);
            }
            PageUse::Roomy => self.roomy_pages.push(page),
            PageUse::Absent | PageUse::Unseen | PageUse::Filled | PageUse::Taken => {}
        }
    }

    /// Takes a page that waits: one with room, or an empty one.
    pub(crate) fn take(&mut self) -> Option<PageId> {
        let page = self.waiting(PageUse::Roomy).or_else(|| self.waiting(PageUse::Empty))?;
        self.set(page, PageUse::Taken);
        Some(page)
    }

    fn waiting(&mut self, of: PageUse) -> Option<PageId> {
        loop {
            let list = match of {
                PageUse::Roomy => &mut self.roomy_pages,
                _ => &mut self.empty_pages,
            };
            let page = list.pop()?;
            // It may have got another use since it was listed.
            if self.of(page) == Some(of) {
                return Some(page);
            }
        }
    }

    /// The next page that nobody has looked at since the start.
    pub(crate) fn next_unseen(&mut self) -> Option<PageId> {
        while self.seen < self.count() {
            let page = self.pages(self.seen, 1).next()?;
            self.seen += 1;
            if self.of(page) == Some(PageUse::Unseen) {
                return Some(page);
            }
        }
        None
    }

    /// Takes whole empty extents off, as many as are more than are kept, and at most so many; those
    /// at the end of the files first.
    pub(crate) fn take_surplus(&mut self, kept: usize, most: usize) -> BTreeSet<ExtentId> {
        let surplus = (self.empty.saturating_sub(kept) / EXTENT_PAGES as usize).min(most);
        let whole = |uses: &Uses| uses.iter().all(|of| *of == PageUse::Empty);
        let whole = self.uses.iter().rev().filter(|(_, uses)| whole(uses)).take(surplus);
        let taken: BTreeSet<ExtentId> = whole.map(|(extent, _)| *extent).collect();
        for extent in &taken {
            self.uses.remove(extent);
            self.empty -= EXTENT_PAGES as usize;
        }
        taken
    }

    /// Ends what [`Roster::take_surplus`] began: these extents went back, and the others of those
    /// that were taken are the store's still.
    pub(crate) fn end_surplus(&mut self, taken: &BTreeSet<ExtentId>, gone: &BTreeSet<ExtentId>) {
        for extent in taken.difference(gone) {
            self.uses.insert(*extent, [PageUse::Filled; _]);
            let first = extent.first_page();
            for n in 0..EXTENT_PAGES {
                self.set(PageId { file: first.file, page: first.page + n }, PageUse::Empty);
            }
        }
        if gone.is_empty() {
            return;
        }
        let seen = self.order.iter().take(self.seen / EXTENT_PAGES as usize);
        let before = seen.filter(|extent| !gone.contains(extent)).count();
        self.order.retain(|extent| !gone.contains(extent));
        self.seen = before * EXTENT_PAGES as usize;
    }

    /// Forgets pages in lists that have another use by now, or are gone.
    pub(crate) fn drop_stale(&mut self) {
        let uses = &self.uses;
        let is = |page: &PageId, of: PageUse| {
            let (extent, n) = place_of(*page);
            uses.get(&extent).is_some_and(|uses| uses[n] == of)
        };
        self.empty_pages.retain(|page| is(page, PageUse::Empty));
        self.roomy_pages.retain(|page| is(page, PageUse::Roomy));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(n: u32) -> PageId {
        PageId::new(1, 80 + n)
    }

    fn of_extents(count: u32, with: PageUse) -> Roster {
        let mut roster = Roster::default();
        (0..count * EXTENT_PAGES).for_each(|n| roster.enter(page(n), with));
        roster
    }

    #[test]
    fn a_page_is_taken_once_however_often_it_was_listed() {
        let mut roster = of_extents(1, PageUse::Filled);
        for _ in 0..3 {
            roster.set(page(3), PageUse::Roomy);
            roster.set(page(3), PageUse::Empty);
        }
        assert_eq!((roster.take(), roster.take()), (Some(page(3)), None));
        assert_eq!((roster.of(page(3)), roster.empty_count()), (Some(PageUse::Taken), 0));
    }

    #[test]
    fn whole_extents_go_from_the_end_and_come_back_where_they_may_not() {
        let mut roster = of_extents(10, PageUse::Empty);
        roster.set(page(79), PageUse::Roomy);
        let taken = roster.take_surplus(50, 3);
        let extents = |of: &[u32]| of.iter().map(|n| page(n * 8).extent()).collect();
        assert_eq!(taken, extents(&[6, 7, 8]), "the last extent has a version");
        assert_eq!((roster.of(page(64)), roster.empty_count()), (None, 55));
        let gone = extents(&[7]);
        roster.end_surplus(&taken, &gone);
        roster.drop_stale();
        assert_eq!((roster.count(), roster.empty_count()), (72, 71));
        assert_eq!((roster.of(page(64)), roster.of(page(56))), (Some(PageUse::Empty), None));
        let mut all: Vec<PageId> = std::iter::from_fn(|| roster.take()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 72, "each page that is left is taken once");
    }

    #[test]
    fn each_page_is_unseen_once() {
        let mut roster = of_extents(3, PageUse::Unseen);
        roster.set(page(5), PageUse::Filled);
        let mut met = 0;
        while let Some(page) = roster.next_unseen() {
            roster.set(page, PageUse::Empty);
            met += 1;
        }
        assert_eq!((met, roster.empty_count()), (23, 23));
    }
}
