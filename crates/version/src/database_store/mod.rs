//! `DatabaseStore`: a database's own store, on pages of the database itself, logged for redo alone.
//!
//! Its versions survive a crash, so that the former rows of aborted transactions are there. What
//! was put is there after a crash whenever a row's change that points to it is: its record comes
//! earlier in the log. Nothing here is undone: a version that no record points at is garbage, which
//! the background takes out as soon as its superseder is past.
//!
//! ```text
//!   boot page ── notes ──▶ first IAM page ──▶ IAM chain ──▶ extents ──▶ pages of versions
//!                                             roster (memory): which page a place fills
//! ```
//!
//! Invariants
//!  1. A page of versions changes through `redo.rs` alone, and through hints (`note_needed`).
//!  2. A thread that holds a row's latch waits for no log, and for no disk but that of the
//!     version's page. Log and room were reserved before (`budget.rs`, `append.rs`).
//!  3. A thread that holds a row's latch waits only for latches of the store's pages. A pointer may
//!     be old: its page may be a leaf by now, perhaps the very leaf that the thread holds. So the
//!     latch is tried first. The thread waits only where the page cannot leave the store meanwhile
//!     (`leaving`). A thread that holds a page of the store waits for no other page.
//!  4. A version is found by unit, place and superseder. So a page that went to another unit, a
//!     slot that was reused, and an older page that a crash brings back show nothing wrong.
//!  5. An epoch of snapshots on a page is of this process: it is stored with a number that this
//!     process has drawn (`salt`). One of an earlier process reads as some other epoch. At worst
//!     that is one in which the version was needed; then the background frees it, not a writer.
//!  6. Opening a store reads nothing. The first thread that wants a page reads the maps, and no
//!     page of the store.

mod ahead;
mod append;
mod budget;
mod chain;
mod reclaim;
mod redo;
mod roster;
mod scan;

pub(crate) use budget::PlaceBudget;
pub use redo::{VERSION_KINDS, VersionRedo};
pub use scan::verify_store;

use crate::error::VersionError;
use crate::format::{NEEDED_IN_AT, Origin, SUPERSEDER_AT, StoredVersion, superseder_bytes};
use crate::format::{UNIT, VERSION_FRONT_BYTES};
use crate::page_copy::PageCopy;
use crate::place::Place;
use crate::store::{Activity, Reclamation, Usage, VersionStore};
use base::{PageId, SlotNo, Xsn};
use budget::ChainBudget;
use buffer::{Change, PageRef, ReadGuard, WriteGuard};
use os::sync::{Mutex, PaddedCell, RwLock};
use os::tally::Tally;
use os::wait::Waiter;
use page::{PageKind, PageView, StoreKind, VersionPtr};
use roster::{PageUse, Roster};
use space::{AllocUnit, Space};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Where a database notes its store. Owned here, implemented by `database`, which has the boot
/// page.
pub trait StoreNote: Send + Sync {
    /// The page with the note.
    fn page(&self) -> PageId;

    /// The first IAM page of the store, if there is a store.
    fn first_iam(&self, page: PageView<'_>) -> Option<PageId>;

    /// Notes it, in the change that makes the store.
    fn put(&self, change: &mut Change<'_>, page: PageRef, first_iam: PageId);
}

/// A database's own store.
pub struct DatabaseStore {
    space: Arc<Space>,
    note: Box<dyn StoreNote>,
    roster: Mutex<Roster>,
    /// The thread that changes which extents the store has. It may wait for log and disk. No thread
    /// asks for this mutex under a latch.
    growing: Mutex<()>,
    /// The thread that reclaims.
    reclaiming: Mutex<()>,
    /// A thread holds it for reading while it waits for a page that the roster names. Pages leave
    /// the roster only while it is held for writing.
    leaving: RwLock<()>,
    /// When the database refused room last, and what had come free in it by then.
    refused: Mutex<Option<(u64, u64)>>,
    chains: ChainBudget,
    /// Invariant 5.
    salt: u32,
    generated: PaddedCell<AtomicU64>,
    cleaned: PaddedCell<AtomicU64>,
    /// Counted by each thread in cells of its own.
    counts: Tally<COUNTS>,
    /// Pages that wait for writers beside those that are always kept (`ahead.rs`).
    ahead: AtomicUsize,
    /// Pages that places had taken when pages were made ahead last.
    taken_before: AtomicU64,
}

/// What `counts` has.
const PUT: usize = 0;
const READ: usize = 1;
const PAGES_GOT: usize = 2;
const PAGES_AHEAD: usize = 3;
const PAGES_GIVEN: usize = 4;
/// Pages that places took.
const PAGES_TAKEN: usize = 5;
const COUNTS: usize = 6;

impl DatabaseStore {
    /// The store of a database, there or not: it is made when the first version comes.
    pub fn new(space: &Arc<Space>, note: Box<dyn StoreNote>) -> Arc<DatabaseStore> {
        Arc::new(DatabaseStore {
            space: Arc::clone(space),
            note,
            roster: Mutex::default(),
            growing: Mutex::new(()),
            reclaiming: Mutex::new(()),
            leaving: RwLock::new(()),
            refused: Mutex::default(),
            chains: ChainBudget::default(),
            salt: os::entropy::random_u64() as u32,
            generated: PaddedCell::default(),
            cleaned: PaddedCell::default(),
            counts: Tally::default(),
            ahead: AtomicUsize::new(0),
            taken_before: AtomicU64::new(0),
        })
    }

    /// The store's allocation unit, if there is a store. The first call reads the maps. The caller
    /// holds no latch.
    fn unit(&self) -> Result<Option<Arc<AllocUnit>>, VersionError> {
        if let Some(known) = &self.roster.lock().unit {
            return Ok(known.clone());
        }
        let _one = self.growing.lock();
        self.unit_alone()
    }

    /// The same for who holds `growing`.
    fn unit_alone(&self) -> Result<Option<Arc<AllocUnit>>, VersionError> {
        if let Some(known) = &self.roster.lock().unit {
            return Ok(known.clone());
        }
        let noted = self.space.pages().read(self.note.page())?;
        let first_iam = self.note.first_iam(noted.view());
        drop(noted);
        let unit = first_iam.map(|first| Arc::new(AllocUnit::open(UNIT, first)));
        let found = match &unit {
            Some(unit) => self.space.unit_pages(unit, &Waiter::new())?.pages,
            None => Vec::new(),
        };
        let mut roster = self.roster.lock();
        found.into_iter().for_each(|page| roster.enter(page, PageUse::Unseen));
        roster.unit = Some(unit.clone());
        Ok(unit)
    }

    /// A page of the store, to read a version that a pointer names. None where the page is not the
    /// store's: nothing is there. The caller may hold the latch of a row's page.
    fn read_own(&self, page: PageId) -> Result<Option<ReadGuard<'_>>, VersionError> {
        let pages = self.space.pages();
        if let Some(guard) = pages.try_read(page) {
            return Ok(is_store_page(guard.view()).then_some(guard));
        }
        let _stays = self.leaving.read();
        if !self.is_own(page)? {
            return Ok(None);
        }
        Ok(Some(pages.read(page)?))
    }

    /// The same, to change it.
    fn write_own(&self, page: PageId) -> Result<Option<WriteGuard<'_>>, VersionError> {
        let pages = self.space.pages();
        if let Some(guard) = pages.try_write(page) {
            return Ok(is_store_page(guard.view()).then_some(guard));
        }
        let _stays = self.leaving.read();
        if !self.is_own(page)? {
            return Ok(None);
        }
        Ok(Some(pages.write(page)?))
    }

    /// Whether a page is the store's. It stays so while the caller holds `leaving`.
    fn is_own(&self, page: PageId) -> Result<bool, VersionError> {
        let pages = self.space.pages();
        {
            let roster = self.roster.lock();
            if roster.unit.is_some() {
                return Ok(roster.of(page).is_some());
            }
        }
        // Nobody has asked for a page yet. The maps are latched behind a row's page by everybody.
        if pages.file(page.file).is_none() {
            return Ok(false);
        }
        let first_iam = self.note.first_iam(pages.read(self.note.page())?.view());
        let unit = first_iam.map(|first| AllocUnit::open(UNIT, first));
        let has = |unit| self.space.has_extent(&unit, page.extent());
        Ok(unit.map(has).transpose()?.unwrap_or(false))
    }

    /// The version of a slot, whoever points at it.
    fn stored_at<'p>(&self, view: PageView<'p>, slot: SlotNo) -> Option<StoredVersion<'p>> {
        if !is_store_page(view) {
            return None;
        }
        redo::version_of(view, slot.0).map(|version| self.seen(version))
    }

    /// A version as callers see it: the database may have had another number when it was put, and
    /// the epoch is spelled.
    fn seen<'p>(&self, version: StoredVersion<'p>) -> StoredVersion<'p> {
        let database = self.space.pages().database();
        let needed_in = self.respell(version.needed_in);
        StoredVersion { origin: Origin { database, ..version.origin }, needed_in, ..version }
    }

    /// An epoch as it stands on pages, and back; 0 is none.
    fn respell(&self, epoch: u32) -> u32 {
        if epoch == 0 { 0 } else { epoch ^ self.salt }
    }

    /// The version of a slot, if it is one that a record by `superseder` points at.
    fn version_at<'p>(
        &self,
        view: PageView<'p>,
        slot: SlotNo,
        superseder: Xsn,
    ) -> Option<StoredVersion<'p>> {
        self.stored_at(view, slot).filter(|v| v.superseder == superseder)
    }
}

impl VersionStore for DatabaseStore {
    fn make_room(&self, place: &mut Place, record_bytes: usize) -> Result<(), VersionError> {
        self.give_room(place, record_bytes)
    }

    fn leave(&self, place: &mut Place) -> Result<(), VersionError> {
        self.take_back(place);
        place.log.give_back();
        Ok(())
    }

    fn append(
        &self,
        place: &mut Place,
        origin: Origin,
        superseder: Xsn,
        (record, needed_in): (&[u8], u32),
    ) -> Result<VersionPtr, VersionError> {
        let needed_in = self.respell(needed_in);
        self.put(place, &StoredVersion { superseder, origin, needed_in, record })
    }

    fn read(&self, at: VersionPtr, origin: Origin, out: &mut Vec<u8>) -> Result<(), VersionError> {
        debug_assert_eq!(at.store, StoreKind::Own, "its pointers say that they are its own");
        self.counts.add(READ, 1);
        let guard = self.read_own(at.page)?.ok_or(VersionError::Missing(at))?;
        let found = self.stored_at(guard.view(), at.slot).filter(|v| v.origin == origin);
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
        let Some(guard) = self.read_own(at.page)? else { return Ok(false) };
        let version = self.version_at(guard.view(), at.slot, superseder);
        self.counts.add(READ, u64::from(version.is_some()));
        Ok(version.map(show).is_some())
    }

    fn note_needed(&self, at: VersionPtr, superseder: Xsn, epoch: u32) -> Result<(), VersionError> {
        let Some(mut guard) = self.write_own(at.page)? else { return Ok(()) };
        if self.version_at(guard.view(), at.slot, superseder).is_some() {
            let epoch = self.respell(epoch).to_le_bytes();
            guard.hint_mut().patch(at.slot.0, NEEDED_IN_AT, &epoch);
        }
        Ok(())
    }

    fn free(&self, at: VersionPtr, superseder: Xsn) -> Result<(), VersionError> {
        self.free_one(at, superseder)
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

    fn make_ahead(&self, pages_max: usize) -> Result<usize, VersionError> {
        self.grow_ahead(pages_max)
    }

    fn activity(&self) -> Activity {
        Activity {
            generated: self.counts.sum(PUT),
            retrieved: self.counts.sum(READ),
            allocated_pages: self.counts.sum(PAGES_GOT),
            pages_ahead: self.counts.sum(PAGES_AHEAD),
            deleted_pages: self.counts.sum(PAGES_GIVEN),
        }
    }

    fn shown_pages(&self) -> Result<Vec<PageId>, VersionError> {
        self.pages()
    }

    fn show_page(&self, page: PageId, into: &mut PageCopy) -> Result<bool, VersionError> {
        self.copy_page(page, into)
    }

    fn usage(&self) -> Usage {
        // Where the maps cannot be read the store has nothing that anybody could use.
        let _ = self.unit();
        let roster = self.roster.lock();
        Usage {
            pages: roster.count() as u64,
            empty: roster.empty_count() as u64,
            units: u64::from(roster.unit.as_ref().is_some_and(Option::is_some)),
            generated: self.generated.load(Relaxed),
            cleaned: self.cleaned.load(Relaxed),
        }
    }
}

/// Whether a page is one of versions of a database's own store.
fn is_store_page(view: PageView<'_>) -> bool {
    view.alloc_unit() == UNIT && view.kind() == Some(PageKind::Data)
}
