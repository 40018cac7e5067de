//! Spill files in a tempdb on a simulated disk: what was written is read, or error 824; pages
//! change hands between files and tables, and neither finds anything of the other's.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

use access::{Field, Isolation, LockPlan, ScanRange, Spill as _, SpillFile};
use base::{DatabaseId, FileId, HobtId, IndexId, ObjectId, PageId, SessionId};
use buffer::Pool;
use catalog::view::{IndexKind, SystemObjects};
use catalog::{DatabaseOptions, HobtColumn, HobtSpec};
use database::{Database, Environment, Files, Sizing};
use os::disk::FileStatsSnapshot;
use os::memory::Memory;
use rowstore::TempSpill;
use sim::{Disk, DiskOptions, Options, Simulation};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use types::{Collation, SqlType};
use work::{Engine, Work};

const DATA: &str = "/data/tempdb.mdf";

struct Place {
    disk: Disk,
    env: Environment,
    db: Arc<Database>,
    spill: Arc<TempSpill>,
    memory: Arc<Memory>,
}

/// A tempdb whose file has so many pages and may grow by as many at a time, up to a size.
fn place(frames: usize, growth: u32, max_pages: u32, left_bytes: usize) -> Place {
    let disk = Disk::new(DiskOptions { latency: false, ..DiskOptions::default() });
    let memory = Memory::new(frames * 8224 + left_bytes);
    let env = Environment {
        disk: Arc::new(disk.clone()),
        pool: Pool::new(&memory, frames).unwrap(),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    };
    env.disk.create_dir(Path::new("/data")).unwrap();
    let mut sizing = Sizing::default();
    (sizing.data_growth.pages, sizing.data_growth.max_pages) = (growth, max_pages);
    let files = Files::of(Path::new("/data"), "tempdb");
    let options = DatabaseOptions::default();
    let db = Database::create(&env, DatabaseId(2), "tempdb", &files, &sizing, &options, false);
    let db = db.unwrap();
    let spill = TempSpill::new(db.home(), &memory);
    Place { disk, env, db, spill, memory }
}

impl Place {
    fn stats(&self) -> FileStatsSnapshot {
        self.db.pages().file(FileId(1)).unwrap().stats().snapshot()
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// The rows of a file by its seed: many short ones, some longer than a page, few than a block.
fn rows(seed: u64, count: u64) -> impl Iterator<Item = Vec<u8>> {
    let mut r = Random(seed);
    (0..count).map(move |n| {
        let bytes = match r.below(40) {
            0 => r.below(100_000),
            1..4 => r.below(20_000),
            4..6 => 0,
            _ => r.below(700),
        };
        let first = (seed ^ n) as u8;
        (0..bytes).map(|i| first.wrapping_add(i as u8)).collect()
    })
}

fn write(file: &mut dyn SpillFile, seed: u64, count: u64) {
    rows(seed, count).for_each(|row| file.append(&row).unwrap());
}

fn read(file: &mut dyn SpillFile, seed: u64, count: u64) {
    file.rewind().unwrap();
    for (n, row) in rows(seed, count).enumerate() {
        assert_eq!(file.next().unwrap(), Some(&row[..]), "row {n} of {seed}");
    }
    assert_eq!(file.next().unwrap(), None);
    assert_eq!(file.next().unwrap(), None);
}

/// Rows come back in order and whole, again and again; long files go to the disk in long runs.
#[test]
fn what_was_written_is_read() {
    let p = place(64, 1024, 1 << 20, 16 << 20);
    let mut empty = p.spill.create().unwrap();
    read(empty.as_mut(), 1, 0);
    let mut file = p.spill.create().unwrap();
    let before = p.stats();
    write(file.as_mut(), 7, 3000);
    let written = p.stats();
    let bytes: u64 = rows(7, 3000).map(|r| r.len() as u64 + 4).sum();
    assert_eq!(file.bytes(), bytes);
    let writes = written.writes - before.writes;
    assert!(writes * 150_000 < bytes, "{writes} writes for {bytes} bytes");
    read(file.as_mut(), 7, 3000);
    let again = p.stats();
    let reads = again.reads - written.reads;
    assert!((bytes / 65_536..bytes / 55_000).contains(&reads), "{reads} reads for {bytes} bytes");
    file.rewind().unwrap();
    assert_eq!(file.next().unwrap(), rows(7, 1).next().as_deref());
    read(file.as_mut(), 7, 3000);
    assert_eq!(file.bytes(), bytes);
    drop(file);
    assert_eq!(p.memory.reserved_bytes(), 64 * 8224, "blocks are given back");
    assert!(p.db.check().is_clean());
}

/// A file shorter than a block is nowhere but in memory.
#[test]
fn a_short_file_touches_no_disk() {
    let p = place(64, 1024, 1 << 20, 16 << 20);
    let (before, log) = (p.stats(), p.db.log().next_lsn());
    let mut files: Vec<_> = (0..4).map(|_| p.spill.create().unwrap()).collect();
    for file in &mut files {
        (0..64_u8).for_each(|n| file.append(&[n; 1000]).unwrap());
        for _ in 0..2 {
            file.rewind().unwrap();
            for n in 0..64_u8 {
                assert_eq!(file.next().unwrap(), Some(&[n; 1000][..]));
            }
            assert_eq!(file.next().unwrap(), None);
        }
        assert_eq!(file.bytes(), 64 * 1004);
    }
    drop(files);
    assert_eq!((p.stats(), p.db.log().next_lsn()), (before, log));
}

/// Many short files have no more than their share of memory together: the others are on the disk.
#[test]
fn many_short_files_leave_memory_to_others() {
    let p = place(64, 1024, 1 << 20, 1 << 20);
    let share = p.memory.limit_bytes() / 16;
    let mut files: Vec<_> = (0..60).map(|_| p.spill.create().unwrap()).collect();
    for (n, file) in files.iter_mut().enumerate() {
        (0..16).for_each(|_| file.append(&[n as u8; 1000]).unwrap());
        file.rewind().unwrap();
        let blocks = p.memory.reserved_bytes() - 64 * 8224;
        assert!(blocks <= share, "{blocks} of {share} after {n} files");
    }
    for (n, file) in files.iter_mut().enumerate() {
        for _ in 0..16 {
            assert_eq!(file.next().unwrap(), Some(&[n as u8; 1000][..]));
        }
        assert_eq!(file.next().unwrap(), None);
    }
}

/// Where no memory is left for blocks they are one page each, and nothing else is different.
#[test]
fn a_file_needs_no_memory() {
    let p = place(64, 1024, 1 << 20, 0);
    let mut file = p.spill.create().unwrap();
    write(file.as_mut(), 3, 500);
    read(file.as_mut(), 3, 500);
    assert_eq!(p.memory.reserved_bytes(), 64 * 8224);
}

/// A damaged page is error 824 with its file and number, and no byte of it is a row.
#[test]
fn damage_is_an_error_and_never_a_row() {
    let p = place(64, 1024, 1 << 20, 1 << 20);
    let mut files: Vec<_> = (0..2).map(|_| p.spill.create().unwrap()).collect();
    for file in &mut files {
        (0..2000_u32).for_each(|n| file.append(&[n as u8; 1000]).unwrap());
        file.rewind().unwrap();
    }
    // Pages of the first file: those with its bytes, by what they say.
    let file = p.db.pages().file(FileId(1)).unwrap();
    let page_of = |n: u32| p.disk.bytes_at(Path::new(DATA), u64::from(n) * 8192, 8192);
    let unit = |bytes: &[u8]| page::PageView(bytes.first_chunk().unwrap()).alloc_unit().0;
    let pages = (file.len().unwrap() / 8192) as u32;
    let of = |id: u32| (0..pages).filter(|n| unit(&page_of(*n)) == id).collect::<Vec<_>>();
    let (first, second) = (of(0xF000_0000), of(0xF000_0001));
    assert!(first.len() > 240 && second.len() > 240, "{} and {}", first.len(), second.len());
    let mut expect = |n: u32, bytes: &[u8], state: &str| {
        let sound = page_of(n);
        p.disk.damage(Path::new(DATA), u64::from(n) * 8192, bytes);
        files[0].rewind().unwrap();
        let mut rows = 0_u32;
        let error = loop {
            match files[0].next() {
                Ok(Some(row)) => assert_eq!(row, [rows as u8; 1000]),
                Ok(None) => panic!("{state}: the damage was not seen"),
                Err(e) => break e,
            }
            rows += 1;
        };
        assert_eq!(error.number(), 824, "{state}");
        let id = PageId::new(1, n).to_string();
        assert!(error.text().contains(&id) && error.text().contains("tempdb.mdf"), "{error:?}");
        p.disk.damage(Path::new(DATA), u64::from(n) * 8192, &sound);
    };
    let victim = first[first.len() / 2];
    let mut torn = page_of(victim);
    torn[4096..].copy_from_slice(&page_of(first[3])[4096..]);
    expect(victim, &torn, "torn");
    expect(victim, &page_of(first[3]), "another page of the file");
    expect(victim, &[0; 8192], "never written");
    let mut foreign = page_of(victim);
    foreign[24..28].copy_from_slice(&0xF000_0001_u32.to_le_bytes());
    let mut sealed: page::PageBytes = foreign.try_into().unwrap();
    page::seal(&mut sealed);
    expect(victim, &sealed, "another's, and sound");
    for file in &mut files {
        file.rewind().unwrap();
        (0..2000_u32).for_each(|n| assert_eq!(file.next().unwrap(), Some(&[n as u8; 1000][..])));
    }
}

/// A full tempdb is error 1105; what the file had is free when it is gone.
#[test]
fn a_full_tempdb_is_1105_until_the_file_is_gone() {
    let p = place(64, 64, 512, 1 << 20);
    for _ in 0..3 {
        let mut file = p.spill.create().unwrap();
        let full =
            (0..10_000_u32).find_map(|n| file.append(&[n as u8; 1000]).err().map(|e| (n, e)));
        let (rows, error) = full.unwrap();
        assert_eq!(error.number(), 1105);
        assert!(rows > 1000, "{rows} rows in 4 MB");
    }
    assert!(p.db.check().is_clean());
}

fn spec(hobt: u32) -> HobtSpec {
    let column =
        |sql_type| HobtColumn { sql_type, nullable: false, collation: Collation::default() };
    HobtSpec {
        database: DatabaseId(2),
        object_id: ObjectId(100_000 + hobt as i32),
        index_id: IndexId(1),
        hobt: HobtId(hobt),
        kind: IndexKind::Heap,
        columns: vec![column(SqlType::Int), column(SqlType::varchar(8000))],
        added: Vec::new(),
        declared_key: 0,
        key: Vec::new(),
        unique: false,
        fill_factor: 0,
        padded: false,
    }
}

/// A heap is filled, read and rolled back, creation and all: its pages are dirty, and somebody's
/// next.
fn table(p: &Place, hobt: u32, rows: i32) {
    let mut work = Work::new(&p.env.engine, SessionId(60 + hobt as i16), Arc::default());
    work.begin(true, "");
    p.db.builder().create_hobt(&mut work, &spec(hobt)).unwrap();
    let heap = p.db.hobts().get(HobtId(hobt)).unwrap();
    let plan = LockPlan::change(Isolation::ReadCommitted);
    let filler = [b'a' + (hobt % 26) as u8; 3000];
    for n in 0..rows {
        let key = n.to_le_bytes();
        let row = [Field::Inline(&key), Field::Inline(&filler)];
        heap.insert(&mut work, &row, &plan).unwrap();
    }
    let mut found = 0;
    {
        let plan = LockPlan::read(Isolation::ReadCommitted);
        let mut cursor = heap.scan(&mut work, &ScanRange::default(), &plan).unwrap();
        while cursor.next(&mut work).unwrap() {
            assert_eq!(cursor.field(1).unwrap().inline(), Some(&filler[..]));
            found += 1;
        }
    }
    assert_eq!(found, rows);
    work.roll_back().unwrap();
}

/// Files and tables take the same pages in turn, while others read ahead, flush and evict.
#[test]
fn pages_change_hands_between_files_and_tables() {
    for seed in 0..16 {
        Simulation::run(seed, Options::default(), |_| {
            let p = Arc::new(place(64, 256, 4096, 200_000));
            let stop = Arc::new(AtomicBool::new(false));
            let service = |which: u32| {
                let (p, stop) = (Arc::clone(&p), Arc::clone(&stop));
                os::task::spawn("service", move || {
                    let mut r = Random(seed + u64::from(which));
                    while !stop.load(Relaxed) {
                        match which {
                            0 => assert!(p.db.pages().flush_dirty().lsn <= p.db.log().next_lsn()),
                            1 => assert!(p.env.pool.lazy_write() <= 128),
                            _ => p.db.pages().read_ahead(PageId::new(1, r.below(900) as u32), 8),
                        }
                        os::task::sleep_ns(100_000);
                    }
                })
            };
            let services: Vec<_> = (0..3).map(service).collect();
            let files = (1..4_u64).map(|n| {
                let p = Arc::clone(&p);
                os::task::spawn("files", move || {
                    for round in 0..3 {
                        let (a, b) = (seed + n * 100 + round, seed + n * 77 + round);
                        let mut first = p.spill.create().unwrap();
                        write(first.as_mut(), a, 150);
                        let mut second = p.spill.create().unwrap();
                        write(second.as_mut(), b, 60);
                        read(first.as_mut(), a, 150);
                        read(second.as_mut(), b, 60);
                        drop(first);
                        read(second.as_mut(), b, 60);
                    }
                })
            });
            let files: Vec<_> = files.collect();
            let tables = (0..2_u32).map(|n| {
                let p = Arc::clone(&p);
                let each = move |round| table(&p, 300 + n * 10 + round, 120);
                os::task::spawn("tables", move || (0..3).for_each(each))
            });
            let tables: Vec<_> = tables.collect();
            files.into_iter().chain(tables).for_each(|t| t.join().unwrap());
            stop.store(true, Relaxed);
            services.into_iter().for_each(|t| t.join().unwrap());
            let report = p.db.check();
            assert!(report.is_clean(), "{report:?}");
        });
    }
}
