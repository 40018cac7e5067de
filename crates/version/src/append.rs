//! Appending: a unit of work fills a page of its own, so that nobody waits for anybody.
//!
//! Room is made before the record's page is latched, so appending under that latch cannot fail but
//! by a page that cannot be read.

use crate::error::VersionError;
use crate::format::{StoredVersion, UNIT, VERSION_FRONT_BYTES};
use crate::place::Place;
use crate::tempdb_store::{Lists, PageOwner, RoomRefusal, TempdbStore, is_empty, owned};
use base::limits::{EXTENT_PAGES, PAGE_BODY_BYTES};
use base::{PageId, SlotNo};
use buffer::{Change, Undo, WriteGuard};
use os::clock::monotonic_ns;
use page::{PageKind, PageView, VersionPtr, slot_cost};
use space::AllocUnit;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, LogReservation, TransactionChain};

/// Slots that are looked at for an empty one before a new one is made.
const SLOTS_LOOKED_AT: u16 = 8;

/// A tempdb that has refused is asked again when something has come free in it, or after so long:
/// a disk tells nobody when it has room.
pub(crate) const ASKED_NS: u64 = 1_000_000_000;

impl TempdbStore {
    /// Sees to it that a record of that length can be appended. The caller holds no latch.
    pub(crate) fn give_room(
        &self,
        place: &mut Place,
        record_bytes: usize,
    ) -> Result<(), VersionError> {
        if place.has_room(record_bytes) {
            return Ok(());
        }
        self.take_back(place)?;
        loop {
            let page = self.next_page()?;
            let mut guard = self.space.pages().write(page)?;
            assert_eq!(
                owned(guard.view()),
                Some(PageOwner::Listed),
                "what was listed is listed once"
            );
            let room = usize::from(guard.view().free_count());
            let enough = slot_cost(VERSION_FRONT_BYTES + record_bytes) <= room;
            let next = if enough { PageOwner::Place } else { PageOwner::Nobody };
            guard.volatile_mut(self.space.pages()).set_level(next as u8);
            if enough {
                place.take(page, room);
                return Ok(());
            }
            debug_assert!(!is_empty(guard.view()), "an empty page has room for any record");
        }
    }

    /// Takes the page of a place, which has had enough of it.
    pub(crate) fn take_back(&self, place: &mut Place) -> Result<(), VersionError> {
        let Some(page) = place.page() else { return Ok(()) };
        let mut guard = self.space.pages().write(page)?;
        assert_eq!(owned(guard.view()), Some(PageOwner::Place), "a place's page is its own");
        guard.volatile_mut(self.space.pages()).set_level(PageOwner::Nobody as u8);
        place.clear();
        let view = guard.view();
        let roomy = usize::from(view.free_count()) > PAGE_BODY_BYTES / 2;
        if !is_empty(view) && roomy {
            guard.volatile_mut(self.space.pages()).set_level(PageOwner::Listed as u8);
            self.lists.lock().roomy.push(page);
            return Ok(());
        }
        self.list_if_empty(guard);
        Ok(())
    }

    /// Puts a version, for which room was made.
    pub(crate) fn put(
        &self,
        place: &mut Place,
        version: &StoredVersion<'_>,
    ) -> Result<VersionPtr, VersionError> {
        assert!(place.has_room(version.record.len()), "room was made");
        let page = place.page().expect("a place with room has a page");
        let mut guard = self.space.pages().write(page)?;
        debug_assert_eq!(owned(guard.view()), Some(PageOwner::Place), "a place's page is its own");
        version.encode(&mut place.scratch);
        let slot = free_slot(guard.view(), place.slot());
        self.fill(&mut guard, slot, &place.scratch);
        place.filled(slot, usize::from(guard.view().free_count()));
        self.generated.fetch_add(place.scratch.len() as u64, Relaxed);
        Ok(VersionPtr::shared(page, SlotNo(slot)))
    }

    fn fill(&self, guard: &mut WriteGuard<'_>, slot: u16, bytes: &[u8]) {
        let mut page = guard.volatile_mut(self.space.pages());
        if slot == page.view().slot_count() {
            page.insert(slot, bytes);
        } else {
            page.fill_slot(slot, bytes);
        }
    }

    /// A page that waits to be filled: with room, or empty.
    fn next_page(&self) -> Result<PageId, VersionError> {
        let listed = |lists: &mut Lists| lists.roomy.pop().or_else(|| lists.empty.pop());
        if let Some(page) = listed(&mut self.lists.lock()) {
            return Ok(page);
        }
        let _one = self.growing.lock();
        if let Some(page) = listed(&mut self.lists.lock()) {
            return Ok(page);
        }
        let (freed, now) = (self.space.freed(), monotonic_ns());
        if self.refused.lock().asked.is_some_and(|(at, f)| f == freed && now < at + ASKED_NS) {
            return Err(VersionError::Full);
        }
        let grown = self.grow();
        let mut refused = self.refused.lock();
        match &grown {
            Err(VersionError::Full) => refused.asked = Some((now, freed)),
            Ok(_) => *refused = RoomRefusal::default(),
            Err(_) => {}
        }
        grown
    }

    /// An extent more; one page of it is handed out, the others are listed.
    fn grow(&self) -> Result<PageId, VersionError> {
        let unit = self.unit()?;
        let pages = self.space.pages();
        let mut log = LogReservation::none(pages.log());
        log.grow(4096).map_err(space::SpaceError::from)?;
        let claim = self.space.claim(&unit, EXTENT_PAGES as usize)?;
        let mut group = Group::new();
        let mut change = Change::new(pages, &mut group);
        let made = self.space.allocate_past_pool(&mut change, &unit, claim)?;
        change.finish(&mut TransactionChain::default());
        for &id in &made {
            let mut guard = pages.write_new(id)?;
            let mut page = guard.volatile_mut(pages);
            page.format(PageKind::Data, id, UNIT, PageOwner::Listed as u8, 0);
        }
        let (first, others) = made.split_first().expect("a claim brings what was asked for");
        let mut lists = self.lists.lock();
        lists.all.extend_from_slice(&made);
        lists.empty.extend(others.iter().rev());
        Ok(*first)
    }

    /// The store's allocation unit, made at its first page.
    fn unit(&self) -> Result<Arc<AllocUnit>, VersionError> {
        if let Some(unit) = &self.lists.lock().unit {
            return Ok(Arc::clone(unit));
        }
        let pages = self.space.pages();
        let mut group = Group::new();
        let mut log = LogReservation::none(pages.log());
        log.grow(1024).map_err(space::SpaceError::from)?;
        let made = self.space.create_unit(UNIT, Undo::Never)?;
        let mut change = Change::new(pages, &mut group);
        let unit = Arc::new(made.apply(&mut change)?);
        change.finish(&mut TransactionChain::default());
        self.lists.lock().unit = Some(Arc::clone(&unit));
        Ok(unit)
    }
}

/// An empty slot near one, or the next new one.
pub(crate) fn free_slot(view: PageView<'_>, near: u16) -> u16 {
    let count = view.slot_count();
    let looked_at = (0..SLOTS_LOOKED_AT.min(count)).map(|n| (near % count.max(1) + n) % count);
    looked_at.into_iter().find(|slot| view.slot_offset(*slot) == Some(0)).unwrap_or(count)
}
