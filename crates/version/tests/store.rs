//! The store in tempdb as a map from places to records: what is kept is read until it is freed or
//! left behind, under many units of work and in fewer frames than pages.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use base::limits::PAGE_BYTES;
use base::{AllocUnitId, DatabaseId, FileId, HobtId, PageId, Xsn};
use buffer::{Change, Pages, PagesOptions, Pool, Undo};
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
use version::{Origin, PageCopy, Place, StoredVersion, TempdbStore, VersionPtr, VersionStore as _};
use wal::{Group, Log, LogOptions, RedoTable, TransactionChain};

const ORIGIN: Origin = Origin { database: DatabaseId(5), hobt: HobtId(70) };

fn open(disk: &Disk, path: &str) -> Arc<dyn File> {
    disk.open(Path::new(path), OpenMode { create: true, direct: false }).unwrap()
}

/// A tempdb with so many frames.
fn tempdb(frames: usize) -> Arc<Space> {
    let options = DiskOptions { latency: false, capacity_bytes: 1 << 40, ..DiskOptions::default() };
    let disk = Disk::new(options);
    let data = open(&disk, "t.mdf");
    let facts = FileFacts { family: [1; 16], file: FileId(1), size_pages: 128 };
    format_file(&*data, &facts).unwrap();
    let log_options =
        LogOptions { initial_bytes: 16 << 20, durable: false, ..LogOptions::default() };
    let log = Log::create(open(&disk, "t.ldf"), [1; 16], log_options).unwrap();
    let pool = Pool::new(&Memory::new(64 << 20), frames).unwrap();
    let redo = RedoTable::new().with(space::kinds::RANGE, &SpaceRedo);
    let options = PagesOptions { database: DatabaseId(2), durable: false, salvaged: false };
    let pages = Pages::new(&pool, &log, &Arc::new(redo), options);
    pages.attach(FileId(1), "t.mdf", data);
    Space::open(&pages, GrowthOptions { pages: 128, ..GrowthOptions::default() }).unwrap()
}

/// Numbers that look random and are the same in each run.
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) as usize % n
    }
}

fn keep(store: &TempdbStore, place: &mut Place, by: Xsn, record: &[u8]) -> VersionPtr {
    store.make_room(place, record.len()).unwrap();
    store.append(place, ORIGIN, by, (record, 0)).unwrap()
}

fn is_there(store: &TempdbStore, at: VersionPtr, record: &[u8]) -> bool {
    let mut found = Vec::new();
    store.read(at, ORIGIN, &mut found).is_ok() && found == record
}

/// All that the store has, by its place.
fn scanned(store: &TempdbStore) -> BTreeMap<VersionPtr, (Xsn, Vec<u8>)> {
    let (mut found, mut copy) = (BTreeMap::new(), PageCopy::default());
    for page in store.pages() {
        assert!(store.copy_page(page, &mut copy).unwrap(), "nobody gives pages back meanwhile");
        for (at, version) in copy.versions() {
            assert_eq!((at.page, version.origin), (page, ORIGIN));
            let before = found.insert(at, (version.superseder, version.record.to_vec()));
            assert!(before.is_none(), "{at:?} is told once");
        }
    }
    found
}

#[test]
fn what_is_kept_is_read_until_it_is_freed_or_left_behind() {
    for seed in 0..20 {
        let (store, mut draw) = (TempdbStore::new(&tempdb(64)), Draw(seed));
        let mut places: Vec<Place> = (0..4).map(|_| Place::default()).collect();
        let mut model: BTreeMap<VersionPtr, (Xsn, Vec<u8>)> = BTreeMap::new();
        for n in 1..4000_u64 {
            match draw.below(100) {
                0..60 => {
                    let length = 1 + draw.below(if n % 50 == 0 { 8000 } else { 200 });
                    let record = vec![n as u8; length];
                    let place = &mut places[n as usize % 4];
                    let at = keep(&store, place, Xsn(n), &record);
                    assert!(model.insert(at, (Xsn(n), record)).is_none(), "a place is given once");
                }
                60..90 => {
                    let Some(at) = model.keys().nth(draw.below(model.len().max(1))).copied() else {
                        continue;
                    };
                    let (by, record) = model.remove(&at).unwrap();
                    assert!(is_there(&store, at, &record));
                    store.free(at, Xsn(by.0 + 1)).unwrap();
                    assert!(is_there(&store, at, &record), "it is another's, who asks");
                    store.free(at, by).unwrap();
                    assert!(!is_there(&store, at, &record), "it is gone");
                }
                90..95 => {
                    let Some((at, entry)) = model.iter_mut().nth(draw.below(4)) else { continue };
                    store.relink(*at, entry.0, Xsn(n)).unwrap();
                    entry.0 = Xsn(n);
                    store.note_needed(*at, Xsn(n), n as u32).unwrap();
                    let mut needed_in = None;
                    store.look(*at, Xsn(n), &mut |v| needed_in = Some(v.needed_in)).unwrap();
                    assert_eq!(needed_in, Some(n as u32));
                }
                95..98 => store.leave(&mut places[draw.below(4)]).unwrap(),
                _ => {
                    let horizon = Xsn(n.saturating_sub(300));
                    let mut from = Some(0);
                    while let Some(at) = from {
                        from = store.reclaim(at, 8, &|by| by < horizon).unwrap().next;
                    }
                    model.retain(|_, (by, _)| *by >= horizon);
                }
            }
        }
        for (at, (_, record)) in &model {
            assert!(is_there(&store, *at, record), "seed {seed}: {at:?}");
        }
        assert!(scanned(&store) == model, "seed {seed}: a scan tells what was put");
    }
}

#[test]
fn what_everybody_has_left_behind_takes_no_room_for_long() {
    let store = TempdbStore::new(&tempdb(64));
    let mut place = Place::default();
    let mut most = 0;
    for round in 1..30_u64 {
        for n in 0..2000 {
            keep(&store, &mut place, Xsn(round * 10_000 + n), &[7; 300]);
        }
        most = most.max(store.usage().pages);
        store.leave(&mut place).unwrap();
        let mut from = Some(0);
        while let Some(at) = from {
            from = store.reclaim(at, 16, &|by| by.0 < round * 10_000 + 2000).unwrap().next;
        }
    }
    let usage = store.usage();
    assert_eq!(usage.generated - usage.cleaned, 0);
    assert!(most < 200 && usage.pages < 100, "{most} pages at most, {} now", usage.pages);
}

#[test]
fn one_row_changed_again_and_again_keeps_its_slot() {
    let store = TempdbStore::new(&tempdb(64));
    let mut place = Place::default();
    let mut last = None;
    for n in 1..100_000_u64 {
        let at = keep(&store, &mut place, Xsn(n), &n.to_le_bytes());
        if let Some((before, by)) = last.replace((at, Xsn(n))) {
            store.free(before, by).unwrap();
        }
    }
    assert!(store.usage().pages <= 8, "{} pages", store.usage().pages);
}

/// Another unit of tempdb.
fn unit(tempdb: &Space, id: u32) -> AllocUnit {
    let mut group = Group::new();
    let made = tempdb.create_unit(AllocUnitId(id), Undo::Never).unwrap();
    let mut change = Change::new(tempdb.pages(), &mut group);
    let unit = made.apply(&mut change).unwrap();
    change.finish(&mut TransactionChain::default());
    unit
}

/// Takes an extent for another unit, and writes its pages past the pool.
fn take_over(tempdb: &Space, unit: &AllocUnit) -> Vec<PageId> {
    let claim = tempdb.claim(unit, 8).unwrap();
    let mut group = Group::new();
    let mut change = Change::new(tempdb.pages(), &mut group);
    let made = tempdb.allocate_past_pool(&mut change, unit, claim).unwrap();
    change.finish(&mut TransactionChain::default());
    for page in &made {
        let mut bytes = [0; PAGE_BYTES];
        PageMut(&mut bytes).format(PageKind::Data, *page, unit.id, 0, 0);
        bytes[PAGE_BYTES - 1] = 7;
        tempdb.pages().write_past_pool(*page, &mut bytes).unwrap();
    }
    made
}

/// Extents that nobody wants are tempdb's again. A pointer that leads there finds nothing, whatever
/// has become of the page, and changes nothing.
#[test]
fn extents_go_back_and_old_pointers_find_nothing() {
    let tempdb = tempdb(64);
    let store = TempdbStore::new(&tempdb);
    let mut place = Place::default();
    let mut kept: Vec<(VersionPtr, Xsn)> = Vec::new();
    for n in 1..4000 {
        kept.push((keep(&store, &mut place, Xsn(n), &[7; 500]), Xsn(n)));
    }
    store.leave(&mut place).unwrap();
    let reclaim = |below: u64| {
        let mut from = Some(0);
        while let Some(at) = from {
            from = store.reclaim(at, 16, &|by| by.0 < below).unwrap().next;
        }
    };
    let (most, free) = (store.usage().pages, tempdb.free_pages().unwrap());
    reclaim(3900);
    let usage = store.usage();
    assert!(most > 200 && usage.pages < 100, "{most} pages at most, {} now", usage.pages);
    assert_eq!(tempdb.free_pages().unwrap() - free, most - usage.pages);
    assert!(tempdb.check(&[], &Waiter::new()).is_ok());

    let other = unit(&tempdb, 0xF000_0001);
    let mut taken: Vec<PageId> = (0..20).flat_map(|_| take_over(&tempdb, &other)).collect();
    // One cannot be read any more.
    let damaged = taken.pop().unwrap();
    let file = tempdb.pages().file(damaged.file).unwrap();
    file.write_at(&[1; PAGE_BYTES], u64::from(damaged.page) * PAGE_BYTES as u64).unwrap();
    let mut copy = PageCopy::default();
    let (mut met, mut unreadable) = (0, 0);
    for (at, by) in &kept {
        let is_there = by.0 >= 3900;
        assert_eq!(store.look(*at, *by, &mut |_| ()).unwrap(), is_there);
        if !is_there {
            store.relink(*at, *by, Xsn(5000)).unwrap();
            store.free(*at, *by).unwrap();
            met += u64::from(taken.contains(&at.page));
            unreadable += u64::from(at.page == damaged);
        }
        if at.page == damaged {
            assert!(!store.copy_page(at.page, &mut copy).unwrap());
        }
    }
    assert!(met > 500 && unreadable > 0, "{met} in others' pages, {unreadable} nowhere");
    for page in taken {
        let mut bytes = [0; PAGE_BYTES];
        tempdb.pages().read_past_pool(page, &mut bytes).unwrap();
        assert_eq!(PageView(&bytes).alloc_unit(), other.id);
    }
    // What comes now has a place of its own.
    let fresh: Vec<_> = (6000..7000).map(|n| keep(&store, &mut place, Xsn(n), &[9; 700])).collect();
    assert!(fresh.iter().all(|at| is_there(&store, *at, &[9; 700])));
}

/// Rounds of a writer at most, and pages that go back at least.
const ROUNDS_MAX: u32 = 2_000;
const FREED_MIN: u64 = 50;

/// The same while versions come and go, extents go back, others take them and old pointers are
/// followed at once. How soon an extent is empty hangs on who runs when: writers go on until so
/// many pages have gone back, within bounds.
#[test]
fn extents_go_back_while_old_pointers_are_followed() {
    let tempdb = tempdb(64);
    let store = TempdbStore::new(&tempdb);
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
                    let at = keep(&store, &mut place, by, &record);
                    assert!(is_there(&store, at, &record), "nobody is past it");
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
        let unit = unit(&tempdb, 0xF000_0000 + n);
        let pages: Vec<PageId> = (0..4).flat_map(|_| take_over(&tempdb, &unit)).collect();
        for page in pages {
            let mut bytes = [0; PAGE_BYTES];
            tempdb.pages().read_past_pool(page, &mut bytes).unwrap();
            assert_eq!((PageView(&bytes).alloc_unit(), bytes[PAGE_BYTES - 1]), (unit.id, 7));
        }
        taken.push(unit);
        if taken.len() > 3 {
            tempdb.drop_unit(&taken.remove(0), &Waiter::new()).unwrap();
        }
        if writers.iter().all(|w| w.is_finished()) {
            break;
        }
    }
    writers.into_iter().for_each(|w| w.join().unwrap());
    let freed = freed.load(Relaxed);
    assert!(freed > FREED_MIN, "{freed} pages");
}
