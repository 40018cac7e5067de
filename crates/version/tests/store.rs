//! The version store as a map from places to records: what is kept is read until it is freed or
//! left behind, under many units of work and in fewer frames than pages.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use base::{DatabaseId, FileId, HobtId, Xsn};
use buffer::{Pages, PagesOptions, Pool};
use os::disk::{Disk as _, File, OpenHow};
use os::memory::Memory;
use sim::{Disk, DiskOptions};
use space::{FileFacts, GrowthOptions, Space, SpaceRedo, format_file};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use version::{Origin, PageCopy, Place, Store, VersionPtr};
use wal::{Log, LogOptions, RedoTable};

const ORIGIN: Origin = Origin { database: DatabaseId(5), hobt: HobtId(70) };

fn open(disk: &Disk, path: &str) -> Arc<dyn File> {
    disk.open(Path::new(path), OpenHow { create: true, direct: false }).unwrap()
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
    let options = PagesOptions { database: DatabaseId(2), durable: false };
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

fn keep(store: &Store, place: &mut Place, by: Xsn, record: &[u8]) -> VersionPtr {
    store.make_room(place, record.len()).unwrap();
    store.append(place, ORIGIN, by, (record, 0)).unwrap()
}

fn is_there(store: &Store, at: VersionPtr, record: &[u8]) -> bool {
    store.read(at, ORIGIN, |found| found == record).unwrap_or(false)
}

/// All that the store has, by its place.
fn scanned(store: &Store) -> BTreeMap<VersionPtr, (Xsn, Vec<u8>)> {
    let (mut found, mut copy) = (BTreeMap::new(), PageCopy::default());
    for page in store.pages() {
        assert!(store.copy_page(page, &mut copy).unwrap(), "nobody gives pages back meanwhile");
        for (at, version) in copy.versions() {
            assert_eq!((at.0, version.origin), (page, ORIGIN));
            let before = found.insert(at, (version.superseder, version.record.to_vec()));
            assert!(before.is_none(), "{at:?} is told once");
        }
    }
    found
}

#[test]
fn what_is_kept_is_read_until_it_is_freed_or_left_behind() {
    for seed in 0..20 {
        let (store, mut draw) = (Store::new(&tempdb(64)), Draw(seed));
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
                    let looked = store.look(*at, Xsn(n), |v| v.needed_in).unwrap();
                    assert_eq!(looked, Some(n as u32));
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
    let store = Store::new(&tempdb(64));
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
    let store = Store::new(&tempdb(64));
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
