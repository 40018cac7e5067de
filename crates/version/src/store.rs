//! `Store`: finding, relinking and freeing versions by their place.

use crate::error::VersionError;
use crate::format::{
    NEEDED_IN_AT, Origin, SUPERSEDER_AT, StoredVersion, VERSION_FRONT_BYTES, superseder_bytes,
};
use base::limits::PAGE_BODY_BYTES;
use base::{AllocUnitId, PageId, SlotNo, Xsn};
use buffer::{BufferError, WriteGuard};
use os::sync::{Mutex, Padded};
use page::{PageMut, PageView};
use space::{AllocUnit, Space};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where a version is, as the tag of the record that points there has it.
pub type VersionPtr = (PageId, SlotNo);

/// The allocation unit of the store: between those of tables and those of spill files.
pub(crate) const UNIT: AllocUnitId = AllocUnitId(0xEFFF_FFFF);

/// Who may put something on a page of the store; its m_level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Owned {
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
pub(crate) struct Refused {
    /// When it was asked last, and what had come free by then ([`Space::freed`]).
    pub(crate) asked: Option<(u64, u64)>,
    /// Somebody has told that versions are not kept.
    pub(crate) told: bool,
}

/// The version store of an instance.
pub struct Store {
    pub(crate) space: Arc<Space>,
    pub(crate) lists: Mutex<Lists>,
    /// One grows the store at a time.
    pub(crate) growing: Mutex<()>,
    /// One reclaims at a time.
    pub(crate) reclaiming: Mutex<()>,
    pub(crate) refused: Mutex<Refused>,
    pub(crate) generated: Padded<AtomicU64>,
    pub(crate) cleaned: Padded<AtomicU64>,
}

/// What the store takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Pages of tempdb that it has.
    pub pages: u64,
    /// Of these, pages without versions.
    pub empty: u64,
    /// Allocation units that these are of: one, once there is a page.
    pub units: u64,
    /// Bytes of versions that were put, since the start.
    pub generated: u64,
    /// Bytes of versions that were taken out.
    pub cleaned: u64,
}

impl Store {
    /// An empty store in tempdb.
    ///
    /// # Panics
    /// At its first page, when that database survives.
    pub fn new(tempdb: &Arc<Space>) -> Arc<Store> {
        Arc::new(Store {
            space: Arc::clone(tempdb),
            lists: Mutex::default(),
            growing: Mutex::new(()),
            reclaiming: Mutex::new(()),
            refused: Mutex::default(),
            generated: Padded::default(),
            cleaned: Padded::default(),
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

    /// What it takes now.
    pub fn usage(&self) -> Usage {
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

    /// Reads a version of a hobt for somebody whose snapshot needs it.
    ///
    /// # Errors
    /// [`VersionError::Missing`] when it is not there (rule 3 says when that cannot be).
    pub fn read<R>(
        &self,
        (page, slot): VersionPtr,
        origin: Origin,
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, VersionError> {
        let guard = self.space.pages().read(page)?;
        let found = stored_at(guard.view(), slot).filter(|v| v.origin == origin);
        found.map(|v| f(v.record)).ok_or(VersionError::Missing(page, slot))
    }

    /// Looks at the version that a record by `superseder` points at, if it is still there.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn look<R>(
        &self,
        (page, slot): VersionPtr,
        superseder: Xsn,
        f: impl FnOnce(StoredVersion<'_>) -> R,
    ) -> Result<Option<R>, VersionError> {
        let read = || self.space.pages().read(page);
        let Some(guard) = self.if_own(page, read)? else { return Ok(None) };
        Ok(version_at(guard.view(), slot, superseder).map(f))
    }

    /// Notes the epoch of snapshots in which a version and those behind it were found needed.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn note_needed(
        &self,
        place: VersionPtr,
        superseder: Xsn,
        epoch: u32,
    ) -> Result<(), VersionError> {
        self.patch(place, superseder, |_| NEEDED_IN_AT, &epoch.to_le_bytes())
    }

    /// Takes a version out that a record by `superseder` pointed at. One that is not there any more
    /// is nobody's loss (rule 4).
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn free(&self, (page, slot): VersionPtr, superseder: Xsn) -> Result<(), VersionError> {
        let write = || self.space.pages().write(page);
        let Some(mut guard) = self.if_own(page, write)? else { return Ok(()) };
        if version_at(guard.view(), slot, superseder).is_none() {
            return Ok(());
        }
        let bytes = self.drop_version(&mut guard, slot);
        self.cleaned.fetch_add(bytes as u64, Relaxed);
        self.list_if_empty(guard);
        Ok(())
    }

    /// Another record points at a version from now on, since the one between them goes: it becomes
    /// that of `now`. One that is not there any more is wanted by nobody.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn relink(&self, place: VersionPtr, before: Xsn, now: Xsn) -> Result<(), VersionError> {
        self.patch(place, before, |_| SUPERSEDER_AT, &superseder_bytes(now))
    }

    /// Overwrites the last bytes of a stored record: its version tag. One that is not there any
    /// more is wanted by nobody.
    ///
    /// # Errors
    /// A page that cannot be read.
    pub fn retag(
        &self,
        place: VersionPtr,
        superseder: Xsn,
        tag: &[u8],
    ) -> Result<(), VersionError> {
        let at = |record: &[u8]| {
            assert!(tag.len() <= record.len(), "a tag is the record's end");
            VERSION_FRONT_BYTES + record.len() - tag.len()
        };
        self.patch(place, superseder, at, tag)
    }

    /// Overwrites bytes of a version that a record by `superseder` points at, if it is there still.
    fn patch(
        &self,
        (page, slot): VersionPtr,
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
        if is_empty(guard.view()) && owned(guard.view()) == Some(Owned::Nobody) {
            guard.volatile_mut(self.space.pages()).set_level(Owned::Listed as u8);
            self.lists.lock().empty.push(guard.id());
        }
    }
}

/// Whether a page of the store has no version.
pub(crate) fn is_empty(view: PageView<'_>) -> bool {
    usize::from(view.free_count()) + 2 * usize::from(view.slot_count()) == PAGE_BODY_BYTES
}

/// Who may put something on a page of the store; `None` when it is no page of the store.
pub(crate) fn owned(view: PageView<'_>) -> Option<Owned> {
    if view.alloc_unit() != UNIT {
        return None;
    }
    [Owned::Nobody, Owned::Place, Owned::Listed].into_iter().find(|o| *o as u8 == view.level())
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
