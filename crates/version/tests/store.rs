//! Each store as a map from places to records: what is kept is read until it is freed or left
//! behind, under many units of work and in fewer frames than pages.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use base::limits::PAGE_BYTES;
use base::{AllocUnitId, DatabaseId, FileId, HobtId, PageId, Xsn};
use buffer::{Change, PageRef, Pages, PagesOptions, Pool, Undo};
use os::disk::{Disk as _, File, OpenMode};
use os::memory::Memory;
use os::wait::Waiter;
use page::{PageKind, PageMut, PageView};
use sim::{Disk, DiskOptions};
use space::{AllocUnit, FileFacts, GrowthOptions, Space, SpaceRedo, format_file};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use version::{
    DatabaseStore, Origin, PageCopy, Place, StoreNote, StoredVersion, TempdbStore, VersionPtr,
    VersionStore,
};
use wal::{Group, Log, LogOptions, RedoTable, TransactionChain};

const DATABASE: DatabaseId = DatabaseId(5);
const ORIGIN: Origin = Origin { database: DATABASE, hobt: HobtId(70) };

fn open(disk: &Disk, path: &str) -> Arc<dyn File> {
    disk.open(Path::new(path), OpenMode { create: true, direct: false }).unwrap()
}

/// A database with so many frames; tempdb does not survive.
fn database(frames: usize, survives: bool) -> Arc<Space> {
    let log = LogOptions { initial_bytes: 16 << 20, ..LogOptions::default() };
    database_with(frames, survives, log)
}

fn database_with(frames: usize, survives: bool, log_options: LogOptions) -> Arc<Space> {
    let options = DiskOptions { latency: false, capacity_bytes: 1 << 40, ..DiskOptions::default() };
    let disk = Disk::new(options);
    let data = open(&disk, "t.mdf");
    let facts = FileFacts { family: [1; 16], file: FileId(1), size_pages: 128 };
    format_file(&*data, &facts).unwrap();
    let log_options = LogOptions { durable: survives, ..log_options };
    let log = Log::create(open(&disk, "t.ldf"), [1; 16], log_options).unwrap();
    let pool = Pool::new(&Memory::new(64 << 20), frames).unwrap();
    let redo = RedoTable::new()
        .with(space::kinds::RANGE, &SpaceRedo)
        .with(version::VERSION_KINDS, &version::VersionRedo);
    let options = PagesOptions { database: DATABASE, durable: survives, salvaged: false };
    let pages = Pages::new(&pool, &log, &Arc::new(redo), options);
    pages.attach(FileId(1), "t.mdf", data);
    Space::open(&pages, GrowthOptions { pages: 128, ..GrowthOptions::default() }).unwrap()
}

/// A note on the boot page, as a database makes it.
struct Note;

impl StoreNote for Note {
    fn page(&self) -> PageId {
        space::boot_page()
    }

    fn first_iam(&self, page: PageView<'_>) -> Option<PageId> {
        let first = u32::from_le_bytes(page.0[112..116].try_into().unwrap());
        (first != 0).then(|| PageId::new(1, first))
    }

    fn put(&self, change: &mut Change<'_>, page: PageRef, first_iam: PageId) {
        let (at, to) = (112_u16.to_le_bytes(), first_iam.page.to_le_bytes());
        let kind = space::kinds::SET_FACTS;
        change.apply(page, AllocUnitId(0), kind, 0, &[&at, &to], Undo::Never);
    }
}

/// One of the stores, with its database.
struct KeptStore {
    space: Arc<Space>,
    of: Store,
}

enum Store {
    Tempdb(Arc<TempdbStore>),
    Own(Arc<DatabaseStore>),
}

impl KeptStore {
    fn tempdb() -> KeptStore {
        let space = database(64, false);
        KeptStore { of: Store::Tempdb(TempdbStore::new(&space)), space }
    }

    fn own() -> KeptStore {
        let space = database(64, true);
        KeptStore { of: Store::Own(DatabaseStore::new(&space, Box::new(Note))), space }
    }

    fn store(&self) -> Arc<dyn VersionStore> {
        match &self.of {
            Store::Tempdb(store) => store.clone(),
            Store::Own(store) => store.clone(),
        }
    }

    /// The same store, as a process finds it that begins now: everything is home.
    fn opened_again(self) -> KeptStore {
        let Store::Own(_) = &self.of else { return self };
        KeptStore { of: Store::Own(DatabaseStore::new(&self.space, Box::new(Note))), ..self }
    }

    fn survives(&self) -> bool {
        matches!(self.of, Store::Own(_))
    }

    /// Spoils a page in its file, and takes it out of memory.
    fn damage(&self, page: PageId) {
        self.checkpoint();
        let file = self.space.pages().file(page.file).unwrap();
        file.write_at(&[1; PAGE_BYTES], u64::from(page.page) * PAGE_BYTES as u64).unwrap();
        // Others take its frame.
        for _ in 0..3 {
            self.pages().into_iter().filter(|other| *other != page).for_each(|other| {
                drop(self.space.pages().read(other).unwrap());
            });
        }
    }

    /// Frees the log of what is home, as a checkpoint does.
    fn checkpoint(&self) {
        if let Store::Own(_) = &self.of {
            let pages = self.space.pages();
            let flushed = pages.flush_dirty();
            let mut group = Group::new();
            group.push_plain(wal::kinds::CHECKPOINT_END, 0, &[]).unwrap();
            let at = pages.log().append(&mut group, &mut TransactionChain::default());
            pages.log().flush_to(at.last);
            pages.log().set_checkpoint(at.last, flushed.lsn.min(at.last), false).unwrap();
            pages.log().truncate(flushed.lsn);
        }
    }

    fn pages(&self) -> Vec<PageId> {
        match &self.of {
            Store::Tempdb(store) => store.pages(),
            Store::Own(store) => store.pages().unwrap(),
        }
    }

    fn copy_page(&self, page: PageId, into: &mut PageCopy) -> bool {
        match &self.of {
            Store::Tempdb(store) => store.copy_page(page, into).unwrap(),
            Store::Own(store) => store.copy_page(page, into).unwrap(),
        }
    }

    /// All that the store has, by its place.
    fn scanned(&self) -> BTreeMap<VersionPtr, (Xsn, Vec<u8>)> {
        let (mut found, mut copy) = (BTreeMap::new(), PageCopy::default());
        for page in self.pages() {
            assert!(self.copy_page(page, &mut copy), "nobody gives pages back meanwhile");
            for (at, version) in copy.versions() {
                assert_eq!((at.page, version.origin), (page, ORIGIN));
                let before = found.insert(at, (version.superseder, version.record.to_vec()));
                assert!(before.is_none(), "{at:?} is told once");
            }
        }
        found
    }

    /// Its pages and their records are sound, and the maps with them.
    fn is_sound(&self, others: &[&AllocUnit]) {
        let Store::Own(_) = &self.of else { return };
        let noted = self.space.pages().read(space::boot_page()).unwrap();
        let first = Note.first_iam(noted.view()).unwrap();
        drop(noted);
        let (pages, findings) = version::verify_store(&self.space, first, &Waiter::new()).unwrap();
        assert_eq!(findings, []);
        assert_eq!(pages, self.store().usage().pages);
        let unit = AllocUnit::open(version::VERSION_UNIT, first);
        let units: Vec<&AllocUnit> = [&unit].into_iter().chain(others.iter().copied()).collect();
        let found = self.space.check(&units, &Waiter::new()).unwrap();
        assert!(found.is_empty(), "{found:?}");
    }
}

/// Numbers that look random and are the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % n
    }
}

fn keep(store: &dyn VersionStore, place: &mut Place, by: Xsn, record: &[u8]) -> VersionPtr {
    store.make_room(place, record.len()).unwrap();
    store.append(place, ORIGIN, by, (record, 0)).unwrap()
}

fn is_there(store: &dyn VersionStore, at: VersionPtr, record: &[u8]) -> bool {
    let mut found = Vec::new();
    store.read(at, ORIGIN, &mut found).is_ok() && found == record
}

#[test]
fn what_is_kept_is_read_until_it_is_freed_or_left_behind() {
    (0..20).for_each(|seed| as_a_map(KeptStore::tempdb(), seed));
}

/// The same of a database's own store, which is opened again in between.
#[test]
fn a_databases_own_store_is_a_map_too() {
    (0..20).for_each(|seed| as_a_map(KeptStore::own(), seed));
}

fn as_a_map(mut kept: KeptStore, seed: u64) {
    let (mut store, mut draw) = (kept.store(), Draw(seed));
    let mut places: Vec<Place> = (0..4).map(|_| Place::default()).collect();
    let mut model: BTreeMap<VersionPtr, (Xsn, Vec<u8>)> = BTreeMap::new();
    for n in 1..4000_u64 {
        match draw.below(100) {
            0..60 => {
                let length = 1 + draw.below(if n % 50 == 0 { 8000 } else { 200 });
                let record = vec![n as u8; length];
                let at = keep(&*store, &mut places[n as usize % 4], Xsn(n), &record);
                assert!(model.insert(at, (Xsn(n), record)).is_none(), "a place is given once");
            }
            60..90 => {
                let drawn = model.keys().nth(draw.below(model.len().max(1))).copied();
                let Some(at) = drawn else { continue };
                let (by, record) = model.remove(&at).unwrap();
                assert!(is_there(&*store, at, &record));
                store.free(at, Xsn(by.0 + 1)).unwrap();
                assert!(is_there(&*store, at, &record), "it is another's, who asks");
                store.free(at, by).unwrap();
                assert!(!is_there(&*store, at, &record), "it is gone");
            }
            90..95 => {
                let Some((at, entry)) = model.iter_mut().nth(draw.below(4)) else { continue };
                change_one(&*store, *at, entry, n);
            }
            95..98 => store.leave(&mut places[draw.below(4)]).unwrap(),
            _ => {
                let horizon = Xsn(n.saturating_sub(300));
                reclaim(&*store, &|by| by < horizon);
                model.retain(|_, (by, _)| *by >= horizon);
            }
        }
        if n % 900 == 0 {
            kept.checkpoint();
            kept = kept.opened_again();
            store = kept.store();
            places = (0..4).map(|_| Place::default()).collect();
        }
    }
    for (at, (_, record)) in &model {
        assert!(is_there(&*store, *at, record), "seed {seed}: {at:?}");
    }
    assert!(kept.scanned() == model, "seed {seed}: a scan tells what was put");
    kept.is_sound(&[]);
}

/// Another record points at a version, which gets another tag and is found needed.
fn change_one(store: &dyn VersionStore, at: VersionPtr, entry: &mut (Xsn, Vec<u8>), n: u64) {
    store.relink(at, entry.0, Xsn(n)).unwrap();
    entry.0 = Xsn(n);
    let bytes = entry.1.len().min(14);
    let tag = vec![!n as u8; bytes];
    let end = entry.1.len() - bytes;
    entry.1[end..].copy_from_slice(&tag);
    store.retag(at, Xsn(n), &tag).unwrap();
    store.note_needed(at, Xsn(n), n as u32).unwrap();
    let mut needed_in = None;
    store.look(at, Xsn(n), &mut |v| needed_in = Some(v.needed_in)).unwrap();
    assert_eq!(needed_in, Some(n as u32));
}

/// Goes over the whole store; how many pages it gave back.
fn reclaim(store: &dyn VersionStore, is_past: &dyn Fn(Xsn) -> bool) -> usize {
    let (mut from, mut freed) = (Some(0), 0);
    while let Some(at) = from {
        let step = store.reclaim(at, 16, is_past).unwrap();
        (from, freed) = (step.next, freed + step.freed);
    }
    freed
}

#[test]
fn what_everybody_has_left_behind_takes_no_room_for_long() {
    for kept in [KeptStore::tempdb(), KeptStore::own()] {
        let store = kept.store();
        let mut place = Place::default();
        let mut most = 0;
        for round in 1..30_u64 {
            for n in 0..2000 {
                keep(&*store, &mut place, Xsn(round * 10_000 + n), &[7; 300]);
            }
            most = most.max(store.usage().pages);
            store.leave(&mut place).unwrap();
            reclaim(&*store, &|by| by.0 < round * 10_000 + 2000);
            kept.checkpoint();
        }
        let usage = store.usage();
        assert_eq!(usage.generated - usage.cleaned, 0);
        assert!(most < 200 && usage.pages < 100, "{most} pages at most, {} now", usage.pages);
        kept.is_sound(&[]);
    }
}

#[test]
fn one_row_changed_again_and_again_keeps_its_slot() {
    for kept in [KeptStore::tempdb(), KeptStore::own()] {
        let store = kept.store();
        let mut place = Place::default();
        let mut last = None;
        for n in 1..100_000_u64 {
            let at = keep(&*store, &mut place, Xsn(n), &n.to_le_bytes());
            if let Some((before, by)) = last.replace((at, Xsn(n))) {
                store.free(before, by).unwrap();
            }
            if n % 30_000 == 0 {
                kept.checkpoint();
            }
        }
        assert!(store.usage().pages <= 8, "{} pages", store.usage().pages);
    }
}

/// What a store has after a start: pages that nobody has looked at. They are filled before the
/// store grows, and what is past goes.
#[test]
fn a_store_that_is_opened_again_fills_what_it_has() {
    let kept = KeptStore::own();
    let (store, mut place) = (kept.store(), Place::default());
    let put = |store: &dyn VersionStore, place: &mut Place, from: u64| -> Vec<(VersionPtr, Xsn)> {
        (from..from + 400).map(|n| (keep(store, place, Xsn(n), &[7; 700]), Xsn(n))).collect()
    };
    let first = put(&*store, &mut place, 1);
    store.leave(&mut place).unwrap();
    first.iter().for_each(|(at, by)| store.free(*at, *by).unwrap());
    let pages = store.usage().pages;
    drop((store, place));
    let kept = kept.opened_again();
    let (store, mut place) = (kept.store(), Place::default());
    assert_eq!((store.usage().pages, store.usage().empty), (pages, 0), "nothing was looked at");
    let second = put(&*store, &mut place, 1000);
    assert_eq!(store.usage().pages, pages, "what it has is filled");
    let mut needed_in = None;
    store.note_needed(second[0].0, second[0].1, 17).unwrap();
    drop(place);
    let kept = kept.opened_again();
    let store = kept.store();
    store.look(second[0].0, second[0].1, &mut |v| needed_in = Some(v.needed_in)).unwrap();
    assert!(needed_in.is_some_and(|n| n != 17), "an epoch of before the start is no epoch");
    assert!(second.iter().all(|(at, _)| is_there(&*store, *at, &[7; 700])));
    assert_eq!(reclaim(&*store, &|_| true) as u64, pages - store.usage().pages);
    assert!(kept.scanned().is_empty() && store.usage().empty <= 72, "{:?}", store.usage());
    kept.is_sound(&[]);
}

/// Another unit of the database.
/// Pages are made ahead as many as were taken since the last time, at most as many as are asked
/// for, and go back when nobody takes any more.
#[test]
fn pages_are_made_ahead_as_they_are_wanted() {
    let kept = KeptStore::own();
    let store = kept.store();
    assert_eq!(store.make_ahead(512).unwrap(), 0, "nobody writes");
    let mut place = Place::default();
    let fill = |place: &mut Place, versions: u64| {
        (0..versions).map(|n| keep(&*store, place, Xsn(1 + n), &[7; 4000])).collect::<Vec<_>>()
    };
    let mut all = fill(&mut place, 80);
    let waiting = store.make_ahead(512).unwrap();
    assert!((40..56).contains(&waiting), "as many as were taken: {waiting}");
    let before = store.activity();
    assert_eq!(before.generated, 80);
    assert!((40..56).contains(&before.pages_ahead), "{before:?}");
    all.extend(fill(&mut place, 60));
    assert_eq!(store.activity().allocated_pages, before.allocated_pages, "they found them");
    assert!(store.make_ahead(16).unwrap() <= 32, "no more than is asked for");
    place_home(&store, &mut place);
    for (n, at) in all.iter().enumerate() {
        let by = if n < 80 { n } else { n - 80 };
        store.free(*at, Xsn(1 + by as u64)).unwrap();
    }
    for _ in 0..12 {
        store.make_ahead(512).unwrap();
    }
    reclaim(&*store, &|_| true);
    let usage = store.usage();
    assert!(usage.pages <= 72 && usage.pages == usage.empty, "64 and an extent: {usage:?}");
    let now = store.activity();
    assert_eq!(now.allocated_pages - now.deleted_pages, usage.pages, "{now:?}");
}

fn place_home(store: &Arc<dyn VersionStore>, place: &mut Place) {
    store.leave(place).unwrap();
}

/// A page that keeps versions is named by the lowest superseder that it waits for.
#[test]
fn a_page_tells_whom_it_waits_for() {
    let kept = KeptStore::own();
    let (store, mut place) = (kept.store(), Place::default());
    for by in [5, 3, 9, 4] {
        keep(&*store, &mut place, Xsn(by), &[1; 100]);
    }
    place_home(&store, &mut place);
    let waits_for = |past: u64| {
        let step = store.reclaim(0, 64, &|by| by <= Xsn(past)).unwrap();
        (step.versions, step.kept_for)
    };
    assert_eq!(waits_for(2), (0, vec![Xsn(3)]));
    assert_eq!(waits_for(4), (2, vec![Xsn(5)]));
    assert_eq!(waits_for(9), (2, vec![]));
    assert_eq!(store.activity().retrieved, 0, "the background is no reader");
}

fn unit(space: &Space, id: u32) -> AllocUnit {
    let mut group = Group::new();
    let made = space.create_unit(AllocUnitId(id), Undo::Never).unwrap();
    let mut change = Change::new(space.pages(), &mut group);
    let unit = made.apply(&mut change).unwrap();
    change.finish(&mut TransactionChain::default());
    unit
}

/// Takes an extent for another unit, and writes its pages: in tempdb past the pool, as spill files
/// do.
fn take_over(space: &Space, unit: &AllocUnit, survives: bool) -> Vec<PageId> {
    let claim = space.claim(unit, 8).unwrap();
    let mut group = Group::new();
    let mut change = Change::new(space.pages(), &mut group);
    if survives {
        let made = space.allocate(&mut change, unit, claim).unwrap();
        let ids = made.iter().map(|page| change.id(*page)).collect();
        for page in made {
            let payload = [PageKind::Data as u8, 0];
            change.apply(page, unit.id, space::kinds::FORMAT, 0, &[&payload], Undo::Never);
        }
        change.finish(&mut TransactionChain::default());
        return ids;
    }
    let made = space.allocate_past_pool(&mut change, unit, claim).unwrap();
    change.finish(&mut TransactionChain::default());
    for page in &made {
        let mut bytes = [0; PAGE_BYTES];
        PageMut(&mut bytes).format(PageKind::Data, *page, unit.id, 0, 0);
        bytes[PAGE_BYTES - 1] = 7;
        space.pages().write_past_pool(*page, &mut bytes).unwrap();
    }
    made
}

/// Whether a page is as [`take_over`] has written it.
fn is_as_taken(space: &Space, page: PageId, unit: &AllocUnit, survives: bool) -> bool {
    if survives {
        let guard = space.pages().read(page).unwrap();
        return guard.view().alloc_unit() == unit.id && guard.view().slot_count() == 0;
    }
    let mut bytes = [0; PAGE_BYTES];
    space.pages().read_past_pool(page, &mut bytes).unwrap();
    PageView(&bytes).alloc_unit() == unit.id && bytes[PAGE_BYTES - 1] == 7
}

/// Extents that nobody wants are the database's again. A pointer that leads there finds nothing,
/// whatever has become of the page, and changes nothing.
#[test]
fn extents_go_back_and_old_pointers_find_nothing() {
    old_pointers(&KeptStore::tempdb());
    old_pointers(&KeptStore::own());
}

fn old_pointers(kept: &KeptStore) {
    let (space, store, survives) = (&kept.space, kept.store(), kept.survives());
    let mut place = Place::default();
    let mut put: Vec<(VersionPtr, Xsn)> = Vec::new();
    for n in 1..4000 {
        put.push((keep(&*store, &mut place, Xsn(n), &[7; 500]), Xsn(n)));
    }
    store.leave(&mut place).unwrap();
    let (most, free) = (store.usage().pages, space.free_pages().unwrap());
    reclaim(&*store, &|by| by.0 < 3900);
    let usage = store.usage();
    assert!(most > 200 && usage.pages < 100, "{most} pages at most, {} now", usage.pages);
    assert_eq!(space.free_pages().unwrap() - free, most - usage.pages);
    kept.is_sound(&[]);

    let other = unit(space, 0xF000_0001);
    let mut taken: Vec<PageId> = (0..20).flat_map(|_| take_over(space, &other, survives)).collect();
    // One cannot be read any more.
    let damaged = taken.pop().unwrap();
    kept.damage(damaged);
    if survives {
        let (at, by) = put.iter().find(|(at, _)| taken.contains(&at.page)).unwrap();
        nobody_waits(space, &store, *at, *by);
        let opened: Arc<dyn VersionStore> = DatabaseStore::new(space, Box::new(Note));
        nobody_waits(space, &opened, *at, *by);
    }
    let mut copy = PageCopy::default();
    let (mut met, mut unreadable) = (0, 0);
    for (at, by) in &put {
        let is_there = by.0 >= 3900;
        assert_eq!(store.look(*at, *by, &mut |_| ()).unwrap(), is_there);
        if !is_there {
            store.relink(*at, *by, Xsn(5000)).unwrap();
            store.free(*at, *by).unwrap();
            met += u64::from(taken.contains(&at.page));
            unreadable += u64::from(at.page == damaged);
        }
        if at.page == damaged {
            assert!(!kept.copy_page(at.page, &mut copy));
        }
    }
    assert!(met > 500 && unreadable > 0, "{met} in others' pages, {unreadable} nowhere");
    assert!(taken.iter().all(|page| is_as_taken(space, *page, &other, survives)));
    // What comes now has a place of its own.
    let fresh: Vec<_> =
        (6000..7000).map(|n| keep(&*store, &mut place, Xsn(n), &[9; 700])).collect();
    assert!(fresh.iter().all(|at| is_there(&*store, *at, &[9; 700])));
}

/// Who follows an old pointer may hold the very page to which it leads: that is not waited for.
fn nobody_waits(space: &Space, store: &Arc<dyn VersionStore>, at: VersionPtr, by: Xsn) {
    let latched = space.pages().write(at.page).unwrap();
    let store = Arc::clone(store);
    let follows = os::task::spawn("follows", move || {
        let mut found = Vec::new();
        assert!(!store.look(at, by, &mut |_| ()).unwrap());
        assert!(store.read(at, ORIGIN, &mut found).is_err());
        store.relink(at, by, Xsn(5000)).unwrap();
        store.retag(at, by, &[1; 14]).unwrap();
        store.note_needed(at, by, 1).unwrap();
        store.free(at, by).unwrap();
    });
    for _ in 0..1000 {
        if follows.is_finished() {
            break;
        }
        os::task::sleep_ns(10_000_000);
    }
    assert!(follows.is_finished(), "{at:?} is another's, and is waited for");
    follows.join().unwrap();
    drop(latched);
}

/// A page of the store that is damaged is an error for who wants its versions, and for nobody else:
/// writers, the background and a check go on, and the check tells.
#[test]
fn a_damaged_page_is_an_error_for_who_wants_it() {
    let kept = KeptStore::own();
    let (store, mut place) = (kept.store(), Place::default());
    let mut put: Vec<VersionPtr> = Vec::new();
    for n in 1..2000 {
        put.push(keep(&*store, &mut place, Xsn(n), &[7; 700]));
    }
    store.leave(&mut place).unwrap();
    let damaged = put[300].page;
    kept.checkpoint();
    kept.damage(damaged);
    let kept = kept.opened_again();
    let (store, mut found) = (kept.store(), Vec::new());
    for (n, at) in put.iter().enumerate() {
        let read = store.read(*at, ORIGIN, &mut found);
        assert_eq!(read.is_ok(), at.page != damaged, "{at:?}");
        let freed = store.free(*at, Xsn(n as u64 + 1));
        assert_eq!(freed.is_ok(), at.page != damaged, "{at:?}");
    }
    let error = store.read(put[300], ORIGIN, &mut found).unwrap_err().into_sql("d");
    assert_eq!(error.number(), 824);
    reclaim(&*store, &|by| by.0 < 2000);
    for n in 3000..4000 {
        put.push(keep(&*store, &mut place, Xsn(n), &[8; 700]));
    }
    assert!(put[1999..].iter().all(|at| is_there(&*store, *at, &[8; 700])));
    let noted = kept.space.pages().read(space::boot_page()).unwrap();
    let first = Note.first_iam(noted.view()).unwrap();
    drop(noted);
    let (_, findings) = version::verify_store(&kept.space, first, &Waiter::new()).unwrap();
    assert_eq!(findings.iter().map(|f| f.page).collect::<Vec<_>>(), [damaged]);
}

/// Where the log has no room a version is refused before it is put. What must be done under a row's
/// latch is done out of what was reserved; when the log has room again all goes on.
#[test]
fn a_full_log_refuses_and_heals() {
    let bytes = 1 << 20;
    let log = LogOptions { initial_bytes: bytes, max_bytes: bytes, ..LogOptions::default() };
    let space = database_with(64, true, log);
    let kept = KeptStore { of: Store::Own(DatabaseStore::new(&space, Box::new(Note))), space };
    let store = kept.store();
    let mut places: Vec<Place> = (0..5).map(|_| Place::default()).collect();
    let mut put: Vec<(VersionPtr, Xsn)> = Vec::new();
    let mut refused = 0;
    for n in 1..10_000_u64 {
        let (place, by) = (&mut places[n as usize % 5], Xsn(n));
        match store.make_room(place, 200) {
            Ok(()) => put.push((store.append(place, ORIGIN, by, (&[7; 200], 0)).unwrap(), by)),
            Err(version::VersionError::Full) => refused += 1,
            Err(e) => panic!("{e:?}"),
        }
    }
    assert!(put.len() > 1500 && refused > 1000, "{} put, {refused} refused", put.len());
    assert!(store.reclaim(0, 8, &|_| true).is_err(), "there is no log for it");
    let changed = &put[..300];
    for (at, by) in changed {
        store.relink(*at, *by, Xsn(by.0 + 100_000)).unwrap();
        store.retag(*at, Xsn(by.0 + 100_000), &[9; 14]).unwrap();
    }
    // One that cannot be freed now is left to the background.
    put[300..].iter().for_each(|(at, by)| store.free(*at, *by).unwrap());
    assert!(kept.scanned().len() > 300, "not all of them could be freed");
    let mut record = vec![7; 200];
    record[186..].fill(9);
    assert!(changed.iter().all(|(at, _)| is_there(&*store, *at, &record)));
    kept.checkpoint();
    reclaim(&*store, &|by| by.0 < 100_000);
    assert_eq!(kept.scanned().len(), 300);
    let at = keep(&*store, &mut places[0], Xsn(200_000), &[8; 200]);
    assert!(is_there(&*store, at, &[8; 200]));
    kept.is_sound(&[]);
}

/// A store that has no room says so and has changed nothing; when there is room it goes on.
#[test]
fn a_full_database_refuses_and_heals() {
    let kept = KeptStore::own();
    let (store, mut place) = (kept.store(), Place::default());
    let first = keep(&*store, &mut place, Xsn(1), &[7; 100]);
    let size = kept.space.size_pages(FileId(1)).unwrap();
    let limit = |max_pages| GrowthOptions { pages: 128, max_pages, ..GrowthOptions::default() };
    kept.space.set_growth(FileId(1), limit(size));
    let (mut n, mut put) = (2, Vec::new());
    let full = loop {
        match store.make_room(&mut place, 7000) {
            Ok(()) => put.push(store.append(&mut place, ORIGIN, Xsn(n), (&[7; 7000], 0)).unwrap()),
            Err(e) => break e,
        }
        n += 1;
    };
    assert!(matches!(full, version::VersionError::Full), "{full:?}");
    assert!(is_there(&*store, first, &[7; 100]));
    assert!(put.iter().all(|at| is_there(&*store, *at, &[7; 7000])));
    kept.is_sound(&[]);
    // What is past makes room.
    store.leave(&mut place).unwrap();
    reclaim(&*store, &|by| by.0 > 1 && by.0 < 5);
    let again = keep(&*store, &mut place, Xsn(n), &[9; 7000]);
    assert!(is_there(&*store, again, &[9; 7000]));
    // So does a longer file, a second later at most.
    while store.make_room(&mut place, 7000).is_ok() {
        n += 1;
        store.append(&mut place, ORIGIN, Xsn(n), (&[9; 7000], 0)).unwrap();
    }
    kept.space.set_growth(FileId(1), limit(size + 128));
    os::task::sleep_ns(1_100_000_000);
    for m in 1..20 {
        keep(&*store, &mut place, Xsn(n + m), &[9; 7000]);
    }
    kept.is_sound(&[]);
}

/// Rounds of a writer at most, and pages that go back at least.
const ROUNDS_MAX: u32 = 2_000;
const FREED_MIN: u64 = 50;

/// The same while versions come and go, extents go back, others take them and old pointers are
/// followed at once. How soon an extent is empty hangs on who runs when: writers go on until so
/// many pages have gone back, within bounds.
#[test]
fn extents_go_back_while_old_pointers_are_followed() {
    beside_each_other(&KeptStore::tempdb());
    beside_each_other(&KeptStore::own());
}

fn beside_each_other(kept: &KeptStore) {
    let (space, store, survives) = (&kept.space, kept.store(), kept.survives());
    let next = Arc::new(AtomicU64::new(1));
    let past = Arc::new(AtomicU64::new(0));
    let freed = Arc::new(AtomicU64::new(0));
    let writers = (0..3).map(|seed| {
        let (store, next, past) = (Arc::clone(&store), Arc::clone(&next), Arc::clone(&past));
        let freed = Arc::clone(&freed);
        os::task::spawn("writer", move || {
            let (mut place, mut draw) = (Place::default(), Draw(seed));
            let mut old: Vec<(VersionPtr, Xsn)> = Vec::new();
            for round in 0..ROUNDS_MAX {
                if round >= 40 && freed.load(Relaxed) > FREED_MIN {
                    break;
                }
                for _ in 0..250 {
                    let by = Xsn(next.fetch_add(1, Relaxed));
                    let record = by.0.to_le_bytes().repeat(50);
                    let at = keep(&*store, &mut place, by, &record);
                    let is_there = is_there(&*store, at, &record);
                    // Others may have gone far ahead meanwhile.
                    assert!(is_there || by.0 < past.load(Relaxed), "nobody is past it");
                    old.push((at, by));
                    let (at, by) = old[draw.below(old.len())];
                    let own = by.0.to_le_bytes().repeat(50);
                    let show = &mut |v: StoredVersion<'_>| assert_eq!(v.record, own, "its own");
                    store.look(at, by, show).unwrap();
                    store.relink(at, by, by).unwrap();
                    if draw.below(4) == 0 {
                        store.free(at, by).unwrap();
                    }
                }
                store.leave(&mut place).unwrap();
                past.fetch_max(next.load(Relaxed).saturating_sub(900), Relaxed);
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut taken: Vec<AllocUnit> = Vec::new();
    for n in 0.. {
        let mut from = Some(0);
        while let Some(at) = from {
            let past = past.load(Relaxed);
            let step = store.reclaim(at, 16, &|by| by.0 < past).unwrap();
            from = step.next;
            freed.fetch_add(step.freed as u64, Relaxed);
        }
        let unit = unit(space, 0xF000_0000 + n);
        let pages: Vec<PageId> = (0..4).flat_map(|_| take_over(space, &unit, survives)).collect();
        assert!(pages.iter().all(|page| is_as_taken(space, *page, &unit, survives)));
        taken.push(unit);
        if taken.len() > 3 {
            space.drop_unit(&taken.remove(0), &Waiter::new()).unwrap();
        }
        if writers.iter().all(|w| w.is_finished()) {
            break;
        }
        kept.checkpoint();
    }
    writers.into_iter().for_each(|w| w.join().unwrap());
    let freed = freed.load(Relaxed);
    assert!(freed > FREED_MIN, "{freed} pages");
    kept.is_sound(&taken.iter().collect::<Vec<_>>());
}
