//! Appending: a unit of work fills a page of its own, so that nobody waits for anybody.
//!
//! Room and log are had before the record's page is latched, so appending under that latch cannot
//! fail but by a page that cannot be read. The store grows by an extent at a time, in a change of
//! its own.

use super::budget::logged_bytes;
use super::redo::{self, kinds};
use super::{DatabaseStore, PAGES_GOT, PAGES_TAKEN, PUT, PageUse, is_store_page};
use crate::append::{ASKED_NS, free_slot};
use crate::error::VersionError;
use crate::format::{StoredVersion, UNIT, VERSION_FRONT_BYTES};
use crate::place::Place;
use crate::tempdb_store::is_empty;
use base::limits::{EXTENT_PAGES, PAGE_BODY_BYTES};
use base::{PageId, SlotNo};
use buffer::{BufferError, Change, ReadGuard, Undo};
use os::clock::monotonic_ns;
use page::{PageView, VersionPtr, fits, slot_cost};
use space::{AllocUnit, SpaceError};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, LogReservation, TransactionChain};

/// Log of a change that makes the store, or an extent of it.
const GROWTH_BYTES: u64 = 4096;
/// Pages of before the start that are looked at for room before the store grows.
const UNSEEN_LOOKED_AT: usize = 8;

impl DatabaseStore {
    /// Sees to it that a record of that length can be appended. The caller holds no latch.
    pub(super) fn give_room(
        &self,
        place: &mut Place,
        record_bytes: usize,
    ) -> Result<(), VersionError> {
        if place.has_room(record_bytes) {
            return Ok(());
        }
        let log = self.space.pages().log();
        let payload = VERSION_FRONT_BYTES + record_bytes;
        place.log.refill(log, payload).map_err(SpaceError::from)?;
        let chains = LogReservation::none(log).patiently(None, |_| self.chains.refill(log));
        chains.map_err(SpaceError::from)?;
        if place.has_room(record_bytes) {
            return Ok(());
        }
        self.take_back(place);
        loop {
            let page = self.next_page()?;
            self.counts.add(PAGES_TAKEN, 1);
            let Some(guard) = self.sound_page(page)? else { continue };
            let room = usize::from(guard.view().free_count());
            if slot_cost(payload) <= room {
                place.take(page, room);
                return Ok(());
            }
            debug_assert!(!is_empty(guard.view()), "an empty page has room for any record");
            self.roster.lock().set(page, PageUse::Filled);
        }
    }

    /// A page that was taken; none where it is damaged: nobody takes it again, and who wants its
    /// versions is told.
    fn sound_page(&self, page: PageId) -> Result<Option<ReadGuard<'_>>, VersionError> {
        let why = match self.space.pages().read(page) {
            Ok(guard) if is_store_page(guard.view()) && fits::header(guard.view()).is_ok() => {
                return Ok(Some(guard));
            }
            Ok(_) | Err(BufferError::Corrupt { .. } | BufferError::Io { .. }) => None,
            Err(e @ BufferError::NoFrames) => Some(e),
        };
        let mut roster = self.roster.lock();
        match why {
            None => {
                roster.set(page, PageUse::Filled);
                Ok(None)
            }
            Some(e) => {
                roster.set(page, PageUse::Unseen);
                Err(e.into())
            }
        }
    }

    /// Takes the page of a place, which has had enough of it.
    pub(super) fn take_back(&self, place: &mut Place) {
        let Some(page) = place.page() else { return };
        place.clear();
        match self.space.pages().read(page) {
            Ok(guard) => self.note_use(page, guard.view(), true),
            // The background looks at it again.
            Err(_) => self.roster.lock().set(page, PageUse::Filled),
        }
    }

    /// Notes what a page is good for that the caller has latched. A page that a place fills stays
    /// the place's, unless the place gives it up.
    pub(super) fn note_use(&self, page: PageId, view: PageView<'_>, gives_up: bool) {
        let good_for = match usize::from(view.free_count()) > PAGE_BODY_BYTES / 4 {
            _ if !is_store_page(view) || fits::header(view).is_err() => PageUse::Filled,
            _ if is_empty(view) => PageUse::Empty,
            true => PageUse::Roomy,
            false => PageUse::Filled,
        };
        let mut roster = self.roster.lock();
        match roster.of(page) {
            Some(PageUse::Taken) if !gives_up => {}
            Some(_) => roster.set(page, good_for),
            // Its extent went back, or goes just now.
            None => {}
        }
    }

    /// Puts a version, for which room was made.
    pub(super) fn put(
        &self,
        place: &mut Place,
        version: &StoredVersion<'_>,
    ) -> Result<VersionPtr, VersionError> {
        assert!(place.has_room(version.record.len()), "room was made");
        let page = place.page().expect("a place with room has a page");
        let pages = self.space.pages();
        let guard = pages.write(page)?;
        version.encode(&mut place.scratch);
        let slot = free_slot(guard.view(), place.slot());
        if let Err(what) = redo::fits(guard.view(), kinds::PUT, slot, &place.scratch) {
            return Err(pages.corrupt(page, what).into());
        }
        let mut change = Change::new(pages, &mut place.log.group);
        let at = change.add(guard);
        change.apply(at, UNIT, kinds::PUT, slot, &[&place.scratch], Undo::Never);
        let (room, logged) = (usize::from(change.view(at).free_count()), change.logged_bytes());
        change.finish(&mut TransactionChain::default());
        debug_assert_eq!(logged as u64, logged_bytes(place.scratch.len()), "as was reserved");
        place.log.spend(logged);
        place.filled(slot, room);
        self.generated.fetch_add(place.scratch.len() as u64, Relaxed);
        self.counts.add(PUT, 1);
        Ok(VersionPtr::own(page, SlotNo(slot)))
    }

    /// A page to fill, taken: one that waits, one of before the start, or a new one.
    fn next_page(&self) -> Result<PageId, VersionError> {
        self.unit()?;
        if let Some(page) = self.roster.lock().take() {
            return Ok(page);
        }
        let _one = self.growing.lock();
        if let Some(page) = self.roster.lock().take() {
            return Ok(page);
        }
        for _ in 0..UNSEEN_LOOKED_AT {
            let Some(page) = self.roster.lock().next_unseen() else { break };
            if let Ok(guard) = self.space.pages().read(page) {
                self.note_use(page, guard.view(), false);
            }
        }
        if let Some(page) = self.roster.lock().take() {
            return Ok(page);
        }
        let (freed, now) = (self.space.freed(), monotonic_ns());
        if self.refused.lock().is_some_and(|(at, f)| f == freed && now < at + ASKED_NS) {
            return Err(VersionError::Full);
        }
        let grown = self.grow();
        match &grown {
            Err(VersionError::Full) => *self.refused.lock() = Some((now, freed)),
            Ok(_) => *self.refused.lock() = None,
            Err(_) => {}
        }
        grown
    }

    /// An extent more; one page of it is taken, the others wait.
    fn grow(&self) -> Result<PageId, VersionError> {
        let ids = self.new_extent()?;
        let (first, others) = ids.split_first().expect("a claim brings what was asked for");
        let mut roster = self.roster.lock();
        roster.enter(*first, PageUse::Taken);
        others.iter().rev().for_each(|page| roster.enter(*page, PageUse::Empty));
        Ok(*first)
    }

    /// The pages of an extent more, for who holds `growing`. They are not in the roster yet.
    pub(super) fn new_extent(&self) -> Result<Vec<PageId>, VersionError> {
        let unit = match self.unit_alone()? {
            Some(unit) => unit,
            None => self.make_unit()?,
        };
        let pages = self.space.pages();
        let claim = self.space.claim(&unit, EXTENT_PAGES as usize)?;
        let mut log = LogReservation::none(pages.log());
        log.grow(GROWTH_BYTES).map_err(SpaceError::from)?;
        let mut group = Group::new();
        let mut change = Change::new(pages, &mut group);
        let made = self.space.allocate(&mut change, &unit, claim)?;
        let ids: Vec<PageId> = made.iter().map(|page| change.id(*page)).collect();
        for page in made {
            change.apply(page, UNIT, kinds::FORMAT, 0, &[], Undo::Never);
        }
        debug_assert!(change.logged_bytes() as u64 <= GROWTH_BYTES, "log was reserved");
        change.finish(&mut TransactionChain::default());
        self.counts.add(PAGES_GOT, ids.len() as u64);
        Ok(ids)
    }

    /// Makes the store: its allocation unit, and the database's note of it.
    fn make_unit(&self) -> Result<Arc<AllocUnit>, VersionError> {
        let pages = self.space.pages();
        let mut log = LogReservation::none(pages.log());
        log.grow(GROWTH_BYTES).map_err(SpaceError::from)?;
        let made = self.space.create_unit(UNIT, Undo::Never)?;
        let mut group = Group::new();
        let mut change = Change::new(pages, &mut group);
        let noted = change.add(pages.write(self.note.page())?);
        let unit = Arc::new(made.apply(&mut change)?);
        self.note.put(&mut change, noted, unit.first_iam);
        change.finish(&mut TransactionChain::default());
        self.roster.lock().unit = Some(Some(Arc::clone(&unit)));
        Ok(unit)
    }
}
