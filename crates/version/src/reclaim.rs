//! Reclaiming: the background goes over the store's pages and takes out what everybody has left
//! behind, and gives extents back to tempdb that nobody wants.
//!
//! A version may go when whoever superseded it is seen by every snapshot, present and to come:
//! then nobody follows the pointer that leads here (rule 3).
//!
//! An extent goes when all its pages wait in the list of empty ones; it is taken out of the list
//! first, so nobody fills them, and nothing comes to them that anybody's pointer means. Pointers
//! that lead there stay in rows for long, and writers look along them:
//!
//!  1. Before the maps change each page says of itself, under its latch, that it is not the
//!     store's (`GIVEN_BACK`). Whoever looks later finds that, or what its next owner made of it,
//!     in the pool or in the file: another unit's page.
//!  2. A version is found and changed on a page of the store's unit alone, by number and place. So
//!     nobody reads another's page as a version, and nobody writes to it.
//!  3. What cannot be read is no damage where the page is not among the store's own: nothing is
//!     there ([`TempdbStore::is_own`]). So it may be when its next owner's write has failed; or an
//!     older page of the store comes back then, with versions that all have left behind: who looks
//!     drops them from a page that nobody has, and its next owner puts his own over it.
//!  4. Whoever holds a row's latch may wait for the latch of a page of tempdb that is another's
//!     now. Whoever has that waits for no row: tempdb's rows have no versions.
//!  5. One reclaims at a time, and nobody claims for the unit while extents go.

use crate::error::VersionError;
use crate::format::StoredVersion;
use crate::store::Reclamation;
use crate::tempdb_store::{GIVEN_BACK, Lists, PageOwner, TempdbStore, is_empty, owned};
use base::limits::{EXTENT_PAGES, PAGE_BODY_BYTES};
use base::{ExtentId, PageId, SlotNo, Xsn};
use buffer::WriteGuard;
use space::AllocUnit;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;

/// Empty pages that are kept for whoever comes next.
const EMPTY_KEPT: usize = 64;

impl TempdbStore {
    /// Goes over so many pages from a position on, and takes out versions whose superseder
    /// `is_past`. It holds one page at a time, and may be repeated at any time.
    pub(crate) fn go_over(
        &self,
        from: usize,
        budget: usize,
        is_past: &dyn Fn(Xsn) -> bool,
    ) -> Result<Reclamation, VersionError> {
        let _one = self.reclaiming.lock();
        let pages: Vec<PageId> = {
            let lists = self.lists.lock();
            lists.all.iter().skip(from).take(budget).copied().collect()
        };
        let mut done = Reclamation { pages: pages.len(), ..Reclamation::default() };
        done.next = (pages.len() == budget).then_some(from + budget);
        for page in pages {
            let mut guard = self.space.pages().write(page)?;
            if owned(guard.view()).is_some() {
                done.versions += self.reclaim_page(&mut guard, is_past);
                self.list_again(guard);
            }
        }
        if done.next.is_none() {
            done.freed = self.give_back()? * EXTENT_PAGES as usize;
            if self.has_listed() {
                self.refused.lock().told = false;
            }
        }
        Ok(done)
    }

    /// Whether a page waits to be filled.
    fn has_listed(&self) -> bool {
        let lists = self.lists.lock();
        lists.empty.len() + lists.roomy.len() > 0
    }

    fn reclaim_page(&self, guard: &mut WriteGuard<'_>, is_past: &dyn Fn(Xsn) -> bool) -> usize {
        let mut past = Vec::new();
        let mut asked = (Xsn::NONE, false);
        for slot in 0..guard.view().slot_count() {
            let bytes = guard.view().slot_offset(slot).filter(|at| *at != 0);
            let record = bytes.and_then(|_| guard.view().record(slot));
            let Some(version) = record.and_then(StoredVersion::of) else { continue };
            if asked.0 != version.superseder {
                asked = (version.superseder, is_past(version.superseder));
            }
            if asked.1 {
                past.push(SlotNo(slot));
            }
        }
        for slot in past.iter().rev() {
            let bytes = self.drop_version(guard, *slot);
            self.cleaned.fetch_add(bytes as u64, Relaxed);
        }
        past.len()
    }

    /// A page that nobody fills and that has much room waits for somebody.
    fn list_again(&self, mut guard: WriteGuard<'_>) {
        let view = guard.view();
        let roomy = usize::from(view.free_count()) > PAGE_BODY_BYTES / 2;
        if owned(view) == Some(PageOwner::Nobody) && roomy && !is_empty(view) {
            guard.volatile_mut(self.space.pages()).set_level(PageOwner::Listed as u8);
            self.lists.lock().roomy.push(guard.id());
            return;
        }
        if owned(view) == Some(PageOwner::Listed) && is_empty(view) {
            // One of those with room, which has lost the last that it had.
            let mut lists = self.lists.lock();
            if let Some(at) = lists.roomy.iter().position(|p| *p == guard.id()) {
                lists.roomy.swap_remove(at);
                lists.empty.push(guard.id());
            }
            return;
        }
        self.list_if_empty(guard);
    }

    /// Gives extents back that are empty and more than are kept; how many.
    fn give_back(&self) -> Result<usize, VersionError> {
        let _one = self.growing.lock();
        let (unit, extents) = {
            let mut lists = self.lists.lock();
            let Some(unit) = lists.unit.clone() else { return Ok(0) };
            (unit, lists.take_surplus())
        };
        let mut gone = BTreeSet::new();
        let mut result = Ok(());
        for extent in &extents {
            result = self.return_extent(&unit, *extent);
            if result.is_err() {
                break;
            }
            gone.insert(*extent);
        }
        if extents.is_empty() {
            return Ok(0);
        }
        let mut lists = self.lists.lock();
        lists.all.retain(|page| !gone.contains(&page.extent()));
        let stay = extents.iter().filter(|extent| !gone.contains(extent));
        lists.empty.extend(stay.flat_map(|extent| pages_of(*extent)));
        result.map(|()| gone.len())
    }

    /// Gives an extent back whose pages are in no list any more.
    fn return_extent(&self, unit: &AllocUnit, extent: ExtentId) -> Result<(), VersionError> {
        self.mark(extent, GIVEN_BACK)?;
        let returned = self.space.return_extent(unit, extent);
        if returned.is_err() {
            self.mark(extent, PageOwner::Listed as u8)?;
        }
        returned.map_err(VersionError::from)
    }

    /// Says on the empty pages of an extent whose they are.
    fn mark(&self, extent: ExtentId, level: u8) -> Result<(), VersionError> {
        for page in pages_of(extent) {
            let mut guard = self.space.pages().write(page)?;
            assert!(is_empty(guard.view()), "what goes has nothing");
            guard.volatile_mut(self.space.pages()).set_level(level);
        }
        Ok(())
    }
}

impl Lists {
    /// Takes whole extents out of the list of empty pages, as many as are more than are kept; those
    /// at the end of the files first.
    fn take_surplus(&mut self) -> BTreeSet<ExtentId> {
        let surplus = self.empty.len().saturating_sub(EMPTY_KEPT) / EXTENT_PAGES as usize;
        if surplus == 0 {
            return BTreeSet::new();
        }
        let mut counts: BTreeMap<ExtentId, u32> = BTreeMap::new();
        for page in &self.empty {
            *counts.entry(page.extent()).or_default() += 1;
        }
        let whole = counts.iter().rev().filter(|(_, pages)| **pages == EXTENT_PAGES);
        let taken: BTreeSet<ExtentId> = whole.take(surplus).map(|(extent, _)| *extent).collect();
        self.empty.retain(|page| !taken.contains(&page.extent()));
        taken
    }
}

fn pages_of(extent: ExtentId) -> impl Iterator<Item = PageId> {
    let first = extent.first_page();
    (0..EXTENT_PAGES).map(move |n| PageId { file: first.file, page: first.page + n })
}
