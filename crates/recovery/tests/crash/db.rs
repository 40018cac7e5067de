//! A small database on the simulated disk: made, recovered, compared with the model.

use crate::handler::{TAG, TestRedo};
use crate::model::{Model, Oracle};
use crate::work::COVERED;
use base::{AllocUnitId, DatabaseId, FileId, Lsn, PageId};
use buffer::{Pages, PagesOptions, Pool};
use os::disk::{Disk as _, File, OpenMode};
use os::memory::Memory;
use os::wait::Waiter;
use page::PageKind;
use space::{AllocUnit, FileFacts, GrowthOptions, Space, SpaceRedo, format_file};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};
use wal::{Log, LogOptions, LogReader, RedoTable, TransactionChain, WalError};

pub(crate) const DATA: &str = "db/data.mdf";
pub(crate) const LOG: &str = "db/log.ldf";
const DATABASE: DatabaseId = DatabaseId(5);
const FAMILY: [u8; 16] = [7; 16];

/// Faults of a mutated build, by name.
pub(crate) type Fault = Option<&'static str>;

pub(crate) struct Db {
    pub log: Arc<Log>,
    pub pool: Arc<Pool>,
    pub pages: Arc<Pages>,
    pub space: Arc<Space>,
    /// Transactions without end, with a bound of their first LSN.
    pub active: Mutex<BTreeMap<u32, Lsn>>,
    pub losers: Vec<TransactionChain>,
    pub model: Model,
}

/// A log that is to be used again too early, or promised twice, does not grow: it is full soon.
fn log_options(fault: Fault) -> LogOptions {
    let (initial_bytes, growth_bytes) = (600 << 10, 1400 << 10);
    let options = LogOptions { initial_bytes, growth_bytes, ..LogOptions::default() };
    match fault {
        Some("early-reuse" | "reserve") => {
            LogOptions { growth_bytes: 0, max_bytes: initial_bytes, ..options }
        }
        _ => LogOptions { max_bytes: 2000 << 10, ..options },
    }
}

fn open_file(disk: &sim::Disk, path: &str, create: bool) -> std::io::Result<Arc<dyn File>> {
    disk.open(Path::new(path), OpenMode { create, direct: path == DATA })
}

/// Makes the files; false when the disk has no room.
pub(crate) fn create(disk: &sim::Disk, fault: Fault) -> bool {
    disk.create_dir(Path::new("db")).expect("a folder");
    let data = open_file(disk, DATA, true).expect("a data file");
    let facts = FileFacts { family: FAMILY, file: FileId(1), size_pages: 96 };
    match format_file(&*data, &facts) {
        Ok(()) => {}
        Err(space::SpaceError::Full) => return false,
        Err(e) => panic!("format: {e}"),
    }
    let log = open_file(disk, LOG, true).expect("a log file");
    match Log::create(log, FAMILY, log_options(fault)) {
        Ok(_) => {}
        Err(WalError::Io(e)) if e.kind() == std::io::ErrorKind::StorageFull => return false,
        Err(e) => panic!("create log: {e}"),
    }
    disk.sync_dir(Path::new("db")).expect("names are durable");
    true
}

fn groups_in(log: &Log, from: Lsn) -> Vec<(u64, Lsn)> {
    let mut found = Vec::new();
    let mut reader = LogReader::new(log, from);
    let mut more = true;
    while more {
        more = reader
            .next_block(|g| {
                let tag = g.records.iter().find(|r| r.kind() == TAG);
                if let Some(tag) = tag {
                    let tag: [u8; 8] = tag.payload().try_into().expect("a tag is eight bytes");
                    found.push((u64::from_le_bytes(tag), g.end()));
                }
                Ok::<(), WalError>(())
            })
            .unwrap_or_else(|e| panic!("read the log: {e}"));
    }
    found
}

/// Recovers the database and compares it with what was promised.
pub(crate) fn open(disk: &sim::Disk, oracle: &Oracle, fault: Fault) -> Db {
    let data = open_file(disk, DATA, false).expect("the data file is there");
    let file = open_file(disk, LOG, false).expect("the log file is there");
    let files = BTreeMap::from([(1, Arc::clone(&data))]);
    buffer::restore_torn_pages(DATABASE, &files).unwrap_or_else(|e| panic!("restore: {e}"));
    let log = Log::open(file, log_options(fault)).unwrap_or_else(|e| panic!("open the log: {e}"));
    assert_eq!(log.family(), FAMILY);
    let end = log.vlfs().last().map_or(0, |v| v.offset + v.bytes);
    let half = log.usage().total_bytes > end + (128 << 10);
    COVERED.half_grown.fetch_add(u64::from(half), Relaxed);
    COVERED.grown.fetch_add(u64::from(!half && end > 600 << 10), Relaxed);
    let min_lsn = log.checkpoint().min_lsn;
    let model = oracle.settle(min_lsn, &groups_in(&log, min_lsn));

    let memory = Memory::new(64 << 20);
    let pool = Pool::new(&memory, 40).expect("memory for a small pool");
    let redo = RedoTable::new().with(space::kinds::RANGE, &SpaceRedo).with(0xF0..=0xF4, &TestRedo);
    let options = PagesOptions { database: DATABASE, durable: true, salvaged: false };
    let pages = Pages::new(&pool, &log, &Arc::new(redo), options);
    pages.attach(FileId(1), DATA, data);
    plant(&log, &pages, fault);
    let redone =
        recovery::redo(&log, &pages, min_lsn, |_| ()).unwrap_or_else(|e| panic!("redo: {e}"));
    let lost: Vec<u32> = redone.losers.iter().map(|t| t.id).collect();
    let mut sorted = lost.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().eq(model.open.keys()), "losers {sorted:?}, not {:?}", model.open);
    if os::entropy::random_u64().is_multiple_of(4) {
        let again = recovery::redo(&log, &pages, min_lsn, |_| ())
            .unwrap_or_else(|e| panic!("redo again: {e}"));
        assert_eq!(again.applied, 0, "a group is applied once");
    }
    let growth = GrowthOptions { pages: 16, percent: 0, max_pages: 480 };
    let space = Space::open(&pages, growth).unwrap_or_else(|e| panic!("open space: {e}"));
    let active = redone.losers.iter().map(|t| (t.id, t.first)).collect();
    let db =
        Db { log, pool, pages, space, active: Mutex::new(active), losers: redone.losers, model };
    db.compare();
    db
}

#[cfg(feature = "mutations")]
fn plant(log: &Log, pages: &Pages, fault: Fault) {
    match fault {
        Some(fault) if log.mutate(fault) => {}
        Some(fault) => pages.mutate(fault),
        None => {}
    }
}

#[cfg(not(feature = "mutations"))]
fn plant(_: &Log, _: &Pages, fault: Fault) {
    assert!(fault.is_none());
}

impl Db {
    fn compare(&self) {
        let model = &self.model;
        let open = |(unit, head): (&u32, &PageId)| AllocUnit::open(AllocUnitId(*unit), *head);
        let units: Vec<AllocUnit> = model.units.iter().map(open).collect();
        let mut all: Vec<AllocUnit> = model.units.iter().map(open).collect();
        for unit in model.dropped.iter().map(open) {
            if self.space.unit_exists(&unit).unwrap_or_else(|e| panic!("{e}")) {
                all.push(unit);
            }
        }
        let findings = self.space.check(&all.iter().collect::<Vec<_>>(), &Waiter::new()).unwrap();
        assert!(findings.is_empty(), "{findings:?}");
        for unit in &units {
            let found = self.space.unit_pages(unit, &Waiter::new());
            let mut found = found.unwrap_or_else(|e| panic!("{e}")).pages;
            found.sort_unstable();
            let expected = model.pages.iter().filter(|(_, p)| p.0 == unit.id.0).map(|p| *p.0);
            assert_eq!(found, expected.collect::<Vec<_>>(), "pages of unit {}", unit.id.0);
        }
        for (id, (unit, records)) in &model.pages {
            let page = self.pages.read(*id).unwrap_or_else(|e| panic!("{e}"));
            let v = page.view();
            assert_eq!((v.kind(), v.alloc_unit().0), (Some(PageKind::Data), *unit), "{id}");
            assert_eq!(page::check_slots(v.0), Ok(()), "{id}");
            let found: Vec<&[u8]> = (0..v.slot_count()).filter_map(|s| v.record(s)).collect();
            assert!(found.iter().eq(records.iter()), "{id} differs at {}", v.lsn());
        }
    }

    pub(crate) fn checkpoint(&self) {
        let oldest = |_| {
            let active = self.active.lock().expect("nothing panics with it");
            let oldest = active.values().copied().min().unwrap_or(Lsn::MAX);
            Ok(recovery::LogBounds { recovery: oldest, undo: oldest })
        };
        let done = recovery::checkpoint(
            &self.log,
            &self.pages,
            oldest,
            (0, recovery::CarriedNotes::default),
            false,
        );
        done.unwrap_or_else(|e| panic!("checkpoint: {e}"));
    }
}
