//! A database of numbered pages, each with a counter, on a simulated disk.

use base::{AllocUnitId, DatabaseId, FileId, Lsn, PageId, SqlError};
use buffer::{BufferError, Change, Pages, PagesOptions, Pool, Undo};
use os::disk::{Disk as _, File, OpenMode};
use os::memory::Memory;
use page::{PageBytes, PageKind, PageMut, PageView, at, seal};
use sim::{Disk, DiskOptions};
use std::path::Path;
use std::sync::Arc;
use wal::{
    ApplyError, Group, GroupRange, Kind, Log, LogOptions, PageOp, RecordDescription, RecordView,
    RedoHandler, RedoTable, TransactionChain,
};

pub(crate) const SET: Kind = Kind(0xF0);
pub(crate) const PAGES: u32 = 200;
/// The doublewrite area is before it.
pub(crate) const FIRST: u32 = 48;

struct Counters;

impl RedoHandler for Counters {
    fn apply(&self, op: &PageOp<'_>, page: &mut PageBytes) -> Result<(), ApplyError> {
        let value = op.payload.try_into().map_err(|_| ApplyError("a counter has eight bytes"))?;
        let value: [u8; 8] = value;
        page[at::BODY..at::BODY + 8].copy_from_slice(&value);
        // The far end too, so that a torn page is one with two values.
        page[8184..].copy_from_slice(&value);
        Ok(())
    }

    fn describe<'a>(&self, _: &RecordView<'a>) -> RecordDescription<'a> {
        RecordDescription::default()
    }
}

pub(crate) fn value(v: PageView<'_>) -> u64 {
    let front: [u8; 8] = v.0[at::BODY..at::BODY + 8].try_into().unwrap();
    assert_eq!(front, v.0[8184..], "a page is changed whole");
    u64::from_le_bytes(front)
}

pub(crate) fn id(n: u32) -> PageId {
    PageId::new(1, FIRST + n)
}

pub(crate) struct Rig {
    pub(crate) disk: Disk,
    pub(crate) log: Arc<Log>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) pages: Arc<Pages>,
}

pub(crate) fn open(disk: &Disk, path: &str, create: bool) -> Arc<dyn File> {
    disk.open(Path::new(path), OpenMode { create, direct: false }).unwrap()
}

/// A data file of formatted, sealed pages.
fn make_file(disk: &Disk, path: &str) {
    let file = open(disk, path, true);
    let mut all = vec![0; (FIRST + PAGES) as usize * 8192];
    for n in 0..PAGES {
        let from = (FIRST + n) as usize * 8192;
        let page: &mut PageBytes = (&mut all[from..from + 8192]).try_into().unwrap();
        PageMut(page).format(PageKind::Data, id(n), AllocUnitId(1), 0, 8);
        seal(page);
    }
    file.write_at(&all, 0).unwrap();
    file.sync().unwrap();
}

pub(crate) fn attach(
    disk: &Disk,
    pool: &Arc<Pool>,
    log: &Arc<Log>,
    path: &str,
    durable: bool,
) -> Arc<Pages> {
    let redo = Arc::new(RedoTable::new().with(0xF0..=0xF0, &Counters));
    let pages = Pages::new(
        pool,
        log,
        &redo,
        PagesOptions { database: DatabaseId(5), durable, salvaged: false },
    );
    pages.attach(FileId(1), path, open(disk, path, false));
    pages
}

impl Rig {
    pub(crate) fn new(frames: usize) -> Rig {
        let disk = Disk::new(DiskOptions { latency: false, ..DiskOptions::default() });
        make_file(&disk, "a.mdf");
        make_file(&disk, "b.mdf");
        let options = LogOptions { initial_bytes: 8 << 20, ..LogOptions::default() };
        let log = Log::create(open(&disk, "a.ldf", true), [1; 16], options).unwrap();
        let pool = Pool::new(&Memory::new(64 << 20), frames).unwrap();
        let pages = attach(&disk, &pool, &log, "a.mdf", true);
        Rig { disk, log, pool, pages }
    }

    pub(crate) fn set(&self, n: u32, to: u64) -> GroupRange {
        let guard = self.pages.write(id(n)).unwrap();
        let mut group = Group::new();
        let mut change = Change::new(&self.pages, &mut group);
        let page = change.add(guard);
        change.apply(page, AllocUnitId(1), SET, 0, &[&to.to_le_bytes()], Undo::Never);
        change.finish(&mut TransactionChain::default())
    }

    pub(crate) fn get(&self, n: u32) -> u64 {
        value(self.pages.read(id(n)).unwrap().view())
    }

    /// A page as it stands on the disk.
    pub(crate) fn on_disk(&self, n: u32) -> Vec<u8> {
        let mut b = vec![0; 8192];
        let file = open(&self.disk, "a.mdf", false);
        file.read_at(&mut b, u64::from(FIRST + n) * 8192).unwrap();
        b
    }

    pub(crate) fn damage(&self, n: u32, at: u64) {
        let place = u64::from(FIRST + n) * 8192 + at;
        self.disk.damage(Path::new("a.mdf"), place, &[0xA5; 512]);
    }

    /// Every page out of memory.
    pub(crate) fn empty(&self) {
        self.pages.flush_dirty();
        while self.pool.evict(64) > 0 {}
        assert_eq!(self.pool.free_count(), self.pool.frame_count());
    }
}

pub(crate) fn number(e: BufferError) -> i32 {
    SqlError::from(e).number()
}

pub(crate) fn lsn_of(page: &[u8]) -> Lsn {
    let page: &PageBytes = page.try_into().unwrap();
    PageView(page).lsn()
}
