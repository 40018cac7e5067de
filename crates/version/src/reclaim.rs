//! Reclaiming: the background goes over the store's pages and takes out what everybody has left
//! behind, and gives pages back that nobody wants.
//!
//! A version may go when whoever superseded it is seen by every snapshot, present and to come:
//! then nobody follows the pointer that leads here (rule 3).

use crate::error::VersionError;
use crate::format::StoredVersion;
use crate::store::{Owned, Store, is_empty, owned};
use base::limits::PAGE_BODY_BYTES;
use base::{PageId, SlotNo, Xsn};
use buffer::{Change, WriteGuard};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, LogReservation, TransactionChain};

/// Empty pages that are kept for whoever comes next.
const EMPTY_KEPT: usize = 64;

/// What a step did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Reclaimed {
    /// Pages that were looked at.
    pub pages: usize,
    /// Versions taken out.
    pub versions: usize,
    /// Pages given back to tempdb.
    pub freed: usize,
    /// Where the next step begins; `None` at the end of the store.
    pub next: Option<usize>,
}

impl Store {
    /// Goes over so many pages from a position on, and takes out versions whose superseder
    /// `is_past`. It holds one page at a time, and may be repeated at any time.
    ///
    /// # Errors
    /// A full log of tempdb, or a page that cannot be read.
    pub fn reclaim(
        &self,
        from: usize,
        budget: usize,
        is_past: &dyn Fn(Xsn) -> bool,
    ) -> Result<Reclaimed, VersionError> {
        let pages: Vec<PageId> = {
            let lists = self.lists.lock();
            lists.all.iter().skip(from).take(budget).copied().collect()
        };
        let mut done = Reclaimed { pages: pages.len(), ..Reclaimed::default() };
        done.next = (pages.len() == budget).then_some(from + budget);
        for page in pages {
            let mut guard = self.space.pages().write(page)?;
            if owned(guard.view()).is_some() {
                done.versions += self.reclaim_page(&mut guard, is_past);
                self.list_again(guard);
            }
        }
        done.freed = self.give_back()?;
        Ok(done)
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
        if owned(view) == Some(Owned::Nobody) && roomy && !is_empty(view) {
            guard.volatile_mut(self.space.pages()).set_level(Owned::Listed as u8);
            self.lists.lock().roomy.push(guard.id());
            return;
        }
        if owned(view) == Some(Owned::Listed) && is_empty(view) {
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

    /// Gives pages back that are empty and more than are kept.
    fn give_back(&self) -> Result<usize, VersionError> {
        let (mut surplus, unit) = {
            let mut lists = self.lists.lock();
            let kept = EMPTY_KEPT.min(lists.empty.len());
            let Some(unit) = lists.unit.clone() else { return Ok(0) };
            // The last are taken first: those at the front are the coldest.
            let cold = lists.empty.len() - kept;
            (lists.empty.drain(..cold).collect::<Vec<_>>(), unit)
        };
        let mut gone = BTreeSet::new();
        let mut result = Ok(());
        while let Some(page) = surplus.pop() {
            result = self.free_page(&unit, page);
            if result.is_err() {
                surplus.push(page);
                break;
            }
            gone.insert(page);
        }
        let mut lists = self.lists.lock();
        lists.all.retain(|page| !gone.contains(page));
        lists.empty.extend(surplus);
        result.map(|()| gone.len())
    }

    fn free_page(&self, unit: &space::AllocUnit, page: PageId) -> Result<(), VersionError> {
        let pages = self.space.pages();
        let mut log = LogReservation::none(pages.log());
        log.grow(512).map_err(space::SpaceError::from)?;
        let guard = pages.write(page)?;
        assert_eq!(owned(guard.view()), Some(Owned::Listed), "an empty page is in its list");
        assert!(is_empty(guard.view()), "what goes has nothing");
        let mut group = Group::new();
        let mut change = Change::new(pages, &mut group);
        let held = change.add(guard);
        self.space.free(&mut change, unit, held)?;
        change.finish(&mut TransactionChain::default());
        Ok(())
    }
}
