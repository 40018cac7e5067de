//! Appending: a unit of work fills a page of its own, so that nobody waits for anybody.
//!
//! Room is made before the record's page is latched, so appending under that latch cannot fail but
//! by a page that cannot be read.

use crate::error::VersionError;
use crate::format::{Origin, StoredVersion, VERSION_FRONT_BYTES};
use crate::store::{Lists, Owned, Refused, Store, UNIT, VersionPtr, is_empty, owned};
use base::limits::{EXTENT_PAGES, PAGE_BODY_BYTES};
use base::{PageId, SlotNo, Xsn};
use buffer::{Change, Undo, WriteGuard};
use os::clock::monotonic_ns;
use page::{PageKind, PageView, slot_cost};
use space::AllocUnit;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use wal::{Group, LogReservation, TransactionChain};

/// Slots that are looked at for an empty one before a new one is made.
const SLOTS_LOOKED_AT: u16 = 8;

/// A tempdb that has refused is asked again when something has come free in it, or after so long:
/// a disk tells nobody when it has room.
const ASKED_NS: u64 = 1_000_000_000;

/// Where a unit of work puts its versions: a page that nobody else fills.
#[derive(Default)]
pub struct Place {
    page: Option<PageId>,
    /// Bytes that are free on it at least: others only take out.
    room: usize,
    /// Where the next empty slot is looked for.
    slot: u16,
    scratch: Vec<u8>,
}

impl Place {
    /// Whether a record of that length can be appended.
    pub fn has_room(&self, record_bytes: usize) -> bool {
        self.page.is_some() && slot_cost(VERSION_FRONT_BYTES + record_bytes) <= self.room
    }
}

impl Store {
    /// Sees to it that a record of that length can be appended. The caller holds no latch.
    ///
    /// # Errors
    /// [`VersionError::Full`], or a page cannot be read.
    pub fn make_room(&self, place: &mut Place, record_bytes: usize) -> Result<(), VersionError> {
        if place.has_room(record_bytes) {
            return Ok(());
        }
        self.leave(place)?;
        loop {
            let page = self.next_page()?;
            let mut guard = self.space.pages().write(page)?;
            assert_eq!(owned(guard.view()), Some(Owned::Listed), "what was listed is listed once");
            let room = usize::from(guard.view().free_count());
            let enough = slot_cost(VERSION_FRONT_BYTES + record_bytes) <= room;
            let next = if enough { Owned::Place } else { Owned::Nobody };
            guard.volatile_mut(self.space.pages()).set_level(next as u8);
            if enough {
                (place.page, place.room, place.slot) = (Some(page), room, 0);
                return Ok(());
            }
            debug_assert!(!is_empty(guard.view()), "an empty page has room for any record");
        }
    }

    /// Gives the page up: the unit of work rests, or the page is full.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn leave(&self, place: &mut Place) -> Result<(), VersionError> {
        let Some(page) = place.page else { return Ok(()) };
        let mut guard = self.space.pages().write(page)?;
        assert_eq!(owned(guard.view()), Some(Owned::Place), "a place's page is its own");
        guard.volatile_mut(self.space.pages()).set_level(Owned::Nobody as u8);
        place.page = None;
        let view = guard.view();
        let roomy = usize::from(view.free_count()) > PAGE_BODY_BYTES / 2;
        if !is_empty(view) && roomy {
            guard.volatile_mut(self.space.pages()).set_level(Owned::Listed as u8);
            self.lists.lock().roomy.push(page);
            return Ok(());
        }
        self.list_if_empty(guard);
        Ok(())
    }

    /// Keeps a record as it was before `superseder` changed it, and says in which epoch what is
    /// behind it was found needed. Room was made.
    ///
    /// # Errors
    /// A page that cannot be read; nothing has changed then.
    pub fn append(
        &self,
        place: &mut Place,
        origin: Origin,
        superseder: Xsn,
        (record, needed_in): (&[u8], u32),
    ) -> Result<VersionPtr, VersionError> {
        assert!(place.has_room(record.len()), "room was made");
        let page = place.page.expect("a place with room has a page");
        let mut guard = self.space.pages().write(page)?;
        debug_assert_eq!(owned(guard.view()), Some(Owned::Place), "a place's page is its own");
        let version = StoredVersion { superseder, origin, needed_in, record };
        version.encode(&mut place.scratch);
        let slot = free_slot(guard.view(), place.slot);
        self.put(&mut guard, slot, &place.scratch);
        place.room = usize::from(guard.view().free_count());
        place.slot = slot;
        self.generated.fetch_add(place.scratch.len() as u64, Relaxed);
        Ok((page, SlotNo(slot)))
    }

    fn put(&self, guard: &mut WriteGuard<'_>, slot: u16, bytes: &[u8]) {
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
            Ok(_) => *refused = Refused::default(),
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
            page.format(PageKind::Data, id, UNIT, Owned::Listed as u8, 0);
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
fn free_slot(view: PageView<'_>, near: u16) -> u16 {
    let count = view.slot_count();
    let looked_at = (0..SLOTS_LOOKED_AT.min(count)).map(|n| (near % count.max(1) + n) % count);
    looked_at.into_iter().find(|slot| view.slot_offset(*slot) == Some(0)).unwrap_or(count)
}
