//! `TempdbStore`: the store on unlogged pages of tempdb, which databases share: its pages, and
//! finding, relinking and freeing versions by their place.

use crate::error::VersionError;
use crate::format::{
    NEEDED_IN_AT, Origin, SUPERSEDER_AT, StoredVersion, UNIT, VERSION_FRONT_BYTES, superseder_bytes,
};
use crate::place::Place;
use crate::store::{Reclamation, Usage, VersionStore};
use base::limits::PAGE_BODY_BYTES;
use base::{PageId, SlotNo, Xsn};
use buffer::{BufferError, WriteGuard};
use os::sync::{Mutex, PaddedCell};
use page::{PageMut, PageView, StoreKind, VersionPtr};
use space::{AllocUnit, Space};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Who may put something on a page of the store; its m_level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum PageOwner {
    /// Nobody has it, and it is in no list.
    Nobody = 0,
    /// A unit of work appends to it.
    Place = 1,
    /// It is in the list of empty pages or of pages with room.
    Listed = 2,
}

/// The m_level of a page that was given back to tempdb: it is nobody's of these.
pub(crate) const GIVEN_BACK: u8 = 3;

/// Pages that wait for somebody to fill them.
#[derive(Default)]
pub(crate) struct Lists {
    pub(crate) unit: Option<Arc<AllocUnit>>,
    /// All pages of the store.
    pub(crate) all: Vec<PageId>,
    /// Pages without versions; the last is taken first.
    pub(crate) empty: Vec<PageId>,
    /// Pages with some versions and much room.
    pub(crate) roomy: Vec<PageId>,
}

/// What is known of a tempdb without room.
#[derive(Default)]
pub(crate) struct RoomRefusal {
    /// When it was asked last, and what had come free by then ([`Space::freed`]).
    pub(crate) asked: Option<(u64, u64)>,
    /// Somebody has told that versions are not kept.
    pub(crate) told: bool,
}

/// The version store on pages of tempdb: one an instance.
pub struct TempdbStore {
    pub(crate) space: Arc<Space>,
    pub(crate) lists: Mutex<Lists>,
    /// One grows the store at a time.
    pub(crate) growing: Mutex<()>,
    /// One reclaims at a time.
    pub(crate) reclaiming: Mutex<()>,
    pub(crate) refused: Mutex<RoomRefusal>,
    pub(crate) generated: PaddedCell<AtomicU64>,
    pub(crate) cleaned: PaddedCell<AtomicU64>,
}

impl TempdbStore {
    /// An empty store in tempdb.
    ///
    /// # Panics
    /// At its first page, when that database survives.
    pub fn new(tempdb: &Arc<Space>) -> Arc<TempdbStore> {
        Arc::new(TempdbStore {
            space: Arc::clone(tempdb),
            lists: Mutex::default(),
            growing: Mutex::new(()),
            reclaiming: Mutex::new(()),
            refused: Mutex::default(),
            generated: PaddedCell::default(),
            cleaned: PaddedCell::default(),
        })
    }

    /// Versions are not kept for want of room: whether that has begun just now, so that it is told
    /// once, until there is room again.
    pub fn begins_without(&self) -> bool {
        !std::mem::replace(&mut self.refused.lock().told, true)
    }

    /// Whether versions were not kept a moment ago.
    pub fn is_without(&self) -> bool {
        self.refused.lock().told
    }

    /// Overwrites bytes of a version that a record by `superseder` points at, if it is there still.
    fn patch(
        &self,
        VersionPtr { page, slot, .. }: VersionPtr,
        superseder: Xsn,
        at: impl FnOnce(&[u8]) -> usize,
        bytes: &[u8],
    ) -> Result<(), VersionError> {
        let write = || self.space.pages().write(page);
        let Some(mut guard) = self.if_own(page, write)? else { return Ok(()) };
        if let Some(version) = version_at(guard.view(), slot, superseder) {
            let at = at(version.record);
            guard.volatile_mut(self.space.pages()).patch(slot.0, at, bytes);
        }
        Ok(())
    }

    /// Whether a page is the store's now.
    pub(crate) fn is_own(&self, page: PageId) -> bool {
        self.lists.lock().all.contains(&page)
    }

    /// A page that a pointer names which may be old. None where it cannot be read and is not the
    /// store's: nothing is there.
    fn if_own<G>(
        &self,
        page: PageId,
        latch: impl Fn() -> Result<G, BufferError>,
    ) -> Result<Option<G>, VersionError> {
        match latch() {
            Ok(guard) => Ok(Some(guard)),
            Err(_) if !self.is_own(page) => Ok(None),
            // It may have become the store's since, sound.
            Err(_) => Ok(Some(latch()?)),
        }
    }

    /// Empties a slot; how long its version was.
    pub(crate) fn drop_version(&self, guard: &mut WriteGuard<'_>, slot: SlotNo) -> usize {
        let before = usize::from(guard.view().free_count());
        let mut page: PageMut<'_> = guard.volatile_mut(self.space.pages());
        page.empty_slot(slot.0);
        let bytes = usize::from(page.view().free_count()) - before;
        while page.drop_last_empty_slot() {}
        bytes
    }

    /// A page that has lost its last version waits for somebody to fill it, unless somebody does.
    pub(crate) fn list_if_empty(&self, mut guard: WriteGuard<'_>) {
        if is_empty(guard.view()) && owned(guard.view()) == Some(PageOwner::Nobody) {
            guard.volatile_mut(self.space.pages()).set_level(PageOwner::Listed as u8);
            self.lists.lock().empty.push(guard.id());
        }
    }
}

impl VersionStore for TempdbStore {
    fn make_room(&self, place: &mut Place, record_bytes: usize) -> Result<(), VersionError> {
        self.give_room(place, record_bytes)
    }

    fn leave(&self, place: &mut Place) -> Result<(), VersionError> {
        self.take_back(place)
    }

    fn append(
        &self,
        place: &mut Place,
        origin: Origin,
        superseder: Xsn,
        (record, needed_in): (&[u8], u32),
    ) -> Result<VersionPtr, VersionError> {
        self.put(place, &StoredVersion { superseder, origin, needed_in, record })
    }

    fn read(&self, at: VersionPtr, origin: Origin, out: &mut Vec<u8>) -> Result<(), VersionError> {
        debug_assert_eq!(at.store, StoreKind::Shared, "its pointers say that they are its own");
        let guard = self.space.pages().read(at.page)?;
        let found = stored_at(guard.view(), at.slot).filter(|v| v.origin == origin);
        let version = found.ok_or(VersionError::Missing(at))?;
        out.clear();
        out.extend_from_slice(version.record);
        Ok(())
    }

    fn look(
        &self,
        at: VersionPtr,
        superseder: Xsn,
        show: &mut dyn FnMut(StoredVersion<'_>),
    ) -> Result<bool, VersionError> {
        let read = || self.space.pages().read(at.page);
        let Some(guard) = self.if_own(at.page, read)? else { return Ok(false) };
        let version = version_at(guard.view(), at.slot, superseder);
        Ok(version.map(show).is_some())
    }

    fn note_needed(&self, at: VersionPtr, superseder: Xsn, epoch: u32) -> Result<(), VersionError> {
        self.patch(at, superseder, |_| NEEDED_IN_AT, &epoch.to_le_bytes())
    }

    fn free(&self, at: VersionPtr, superseder: Xsn) -> Result<(), VersionError> {
        let write = || self.space.pages().write(at.page);
        let Some(mut guard) = self.if_own(at.page, write)? else { return Ok(()) };
        if version_at(guard.view(), at.slot, superseder).is_none() {
            return Ok(());
        }
        let bytes = self.drop_version(&mut guard, at.slot);
        self.cleaned.fetch_add(bytes as u64, Relaxed);
        self.list_if_empty(guard);
        Ok(())
    }

    fn relink(&self, at: VersionPtr, before: Xsn, now: Xsn) -> Result<(), VersionError> {
        self.patch(at, before, |_| SUPERSEDER_AT, &superseder_bytes(now))
    }

    fn retag(&self, at: VersionPtr, superseder: Xsn, tag: &[u8]) -> Result<(), VersionError> {
        let end = |record: &[u8]| {
            assert!(tag.len() <= record.len(), "a tag is the record's end");
            VERSION_FRONT_BYTES + record.len() - tag.len()
        };
        self.patch(at, superseder, end, tag)
    }

    fn reclaim(
        &self,
        from: usize,
        budget: usize,
        is_past: &dyn Fn(Xsn) -> bool,
    ) -> Result<Reclamation, VersionError> {
        self.go_over(from, budget, is_past)
    }

    fn usage(&self) -> Usage {
        let lists = self.lists.lock();
        debug_assert!(lists.empty.len() + lists.roomy.len() <= lists.all.len(), "listed once");
        Usage {
            pages: lists.all.len() as u64,
            empty: lists.empty.len() as u64,
            units: u64::from(lists.unit.is_some()),
            generated: self.generated.load(Relaxed),
            cleaned: self.cleaned.load(Relaxed),
        }
    }
}

/// Whether a page of the store has no version.
pub(crate) fn is_empty(view: PageView<'_>) -> bool {
    usize::from(view.free_count()) + 2 * usize::from(view.slot_count()) == PAGE_BODY_BYTES
}

/// Who may put something on a page of the store; `None` when it is no page of the store.
pub(crate) fn owned(view: PageView<'_>) -> Option<PageOwner> {
    if view.alloc_unit() != UNIT {
        return None;
    }
    [PageOwner::Nobody, PageOwner::Place, PageOwner::Listed]
        .into_iter()
        .find(|o| *o as u8 == view.level())
}

/// The version of a slot, if it is one that a record by `superseder` points at.
fn version_at(view: PageView<'_>, slot: SlotNo, superseder: Xsn) -> Option<StoredVersion<'_>> {
    stored_at(view, slot).filter(|v| v.superseder == superseder)
}

/// The version of a slot, whoever points at it.
fn stored_at(view: PageView<'_>, slot: SlotNo) -> Option<StoredVersion<'_>> {
    let _ = owned(view)?;
    let at = view.slot_offset(slot.0)?;
    if at == 0 { None } else { StoredVersion::of(view.record(slot.0)?) }
}
