//! Reclaiming: the background goes over the store's pages and takes out what everybody has left
//! behind, and gives extents back to the database that nobody wants.
//!
//! A version may go when whoever superseded it is seen by every snapshot, present and to come, and
//! is not in the aborted map; who calls knows (`is_past`). After a start that is so of every
//! superseder of before it, but for those in the map.
//!
//! An extent goes when all its pages are empty; the roster forgets it first, so nobody fills it.
//! Pointers that lead there stay in rows for long. They find an empty page, or what its next owner
//! made of it: another unit's page. One reclaims at a time, and nobody claims for the unit while
//! extents go.
//!
//! A crash between two pages leaves fewer versions, between two extents fewer extents. The maps of
//! an extent change in one group.

use super::budget::logged_bytes;
use super::redo::{self, kinds};
use super::{DatabaseStore, PAGES_GIVEN, is_store_page};
use crate::error::VersionError;
use crate::format::UNIT;
use crate::store::Reclamation;
use base::limits::EXTENT_PAGES;
use base::{PageId, Xsn};
use buffer::{Change, Undo};
use page::PageView;
use space::SpaceError;
use std::collections::BTreeSet;
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, LogReservation, TransactionChain};

/// Empty pages that are kept for the next writers.
const EMPTY_KEPT: usize = 64;
/// Extents that go back before a writer that wants a page may have its turn.
const GIVEN_AT_ONCE: usize = 256;

impl DatabaseStore {
    /// Goes over so many pages from a position on, and takes out versions whose superseder
    /// `is_past`. It holds one page at a time, and may be repeated at any time.
    pub(super) fn go_over(
        &self,
        from: usize,
        budget: usize,
        is_past: &dyn Fn(Xsn) -> bool,
    ) -> Result<Reclamation, VersionError> {
        let _one = self.reclaiming.lock();
        if self.unit()?.is_none() {
            return Ok(Reclamation::default());
        }
        let pages: Vec<PageId> = self.roster.lock().pages(from, budget).collect();
        let mut done = Reclamation { pages: pages.len(), ..Reclamation::default() };
        done.next = (pages.len() == budget).then_some(from + budget);
        for page in pages {
            let (versions, kept_for) = self.reclaim_page(page, is_past)?;
            done.versions += versions;
            done.kept_for.extend(kept_for);
        }
        if done.next.is_none() {
            done.freed = self.give_back()? * EXTENT_PAGES as usize;
        }
        Ok(done)
    }

    /// Takes the versions out of a page that are past; how many, and the lowest superseder of those
    /// that stay. A page that cannot be read is passed over: who wants its versions is told, and
    /// CHECKDB tells.
    fn reclaim_page(
        &self,
        page: PageId,
        is_past: &dyn Fn(Xsn) -> bool,
    ) -> Result<(usize, Option<Xsn>), VersionError> {
        let pages = self.space.pages();
        let Ok(guard) = pages.read(page) else { return Ok((0, None)) };
        if !is_store_page(guard.view()) {
            return Ok((0, None));
        }
        let (past, kept_for) = past_slots(guard.view(), is_past);
        let most = past.len();
        if most == 0 {
            self.note_use(page, guard.view(), false);
            return Ok((0, kept_for));
        }
        drop(guard);
        let bytes = logged_bytes(2 * most);
        let mut log = LogReservation::none(pages.log());
        log.patiently(None, |own| own.grow(bytes)).map_err(SpaceError::from)?;
        let guard = pages.write(page)?;
        let (mut past, kept_for) = past_slots(guard.view(), is_past);
        past.truncate(most);
        let Some((first, more)) = past.split_first() else { return Ok((0, kept_for)) };
        let more: Vec<u8> = more.iter().flat_map(|slot| slot.to_le_bytes()).collect();
        if redo::fits(guard.view(), kinds::CLEAR, *first, &more).is_err() {
            return Ok((0, kept_for));
        }
        let length = |slot: &u16| guard.view().record(*slot).map_or(0, <[u8]>::len);
        let cleaned: usize = past.iter().map(length).sum();
        let mut group = Group::new();
        let mut change = Change::new(pages, &mut group);
        let on = change.add(guard);
        change.apply(on, UNIT, kinds::CLEAR, *first, &[&more], Undo::Never);
        self.cleaned.fetch_add(cleaned as u64, Relaxed);
        self.note_use(page, change.view(on), false);
        change.finish(&mut TransactionChain::default());
        Ok((past.len(), kept_for))
    }

    /// Gives extents back that are empty and more than are kept; how many.
    fn give_back(&self) -> Result<usize, VersionError> {
        let mut all = 0;
        loop {
            let some = self.give_some_back()?;
            all += some;
            if some < GIVEN_AT_ONCE {
                self.roster.lock().drop_stale();
                return Ok(all);
            }
        }
    }

    fn give_some_back(&self) -> Result<usize, VersionError> {
        let _one = self.growing.lock();
        let Some(unit) = self.unit_alone()? else { return Ok(0) };
        let taken = {
            let _leaves = self.leaving.write();
            self.roster.lock().take_surplus(EMPTY_KEPT + self.kept_ahead(), GIVEN_AT_ONCE)
        };
        let mut gone = BTreeSet::new();
        let mut result = Ok(());
        for extent in &taken {
            result = self.space.return_extent(&unit, *extent);
            if result.is_err() {
                break;
            }
            gone.insert(*extent);
        }
        self.roster.lock().end_surplus(&taken, &gone);
        self.counts.add(PAGES_GIVEN, (gone.len() * EXTENT_PAGES as usize) as u64);
        if !gone.is_empty() {
            *self.refused.lock() = None;
        }
        result.map(|()| gone.len()).map_err(VersionError::from)
    }
}

/// The slots of versions that are past, rising, and the lowest superseder of the others.
fn past_slots(view: PageView<'_>, is_past: &dyn Fn(Xsn) -> bool) -> (Vec<u16>, Option<Xsn>) {
    let mut asked = (Xsn::NONE, false);
    let (mut past, mut kept_for) = (Vec::new(), None);
    if page::fits::header(view).is_err() {
        return (past, kept_for);
    }
    for slot in 0..view.slot_count() {
        let Some(version) = redo::version_of(view, slot) else { continue };
        if asked.0 != version.superseder {
            asked = (version.superseder, is_past(version.superseder));
        }
        match asked.1 {
            true => past.push(slot),
            false => {
                let by = version.superseder;
                kept_for = Some(kept_for.map_or(by, |lowest: Xsn| lowest.min(by)));
            }
        }
    }
    (past, kept_for)
}
