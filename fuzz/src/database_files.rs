//! Target `database`: the files of a database that crashed, altered, through opening it.
//!
//! The files come from an engine that was stopped in the midst of its work: heaps, indexes, large
//! values, ghosts, a transaction without end. An input alters pages, log records, the doublewrite
//! area, headers; checksums are made right unless it says otherwise. Opening then restores, redoes,
//! undoes, reads the definitions; what opens is checked by CHECKDB's verifiers, used and closed.
//!
//! Promises
//!  1. A database opens or an error says why not.
//!  2. The verifiers of all structures end on any pages.
//!  3. A database that opened and is clean opens again after it was closed.

use crate::Input;
use crate::input::put_piece;
use crate::log_image;
use crate::memory::MemoryDisk;
use base::limits::PAGE_BYTES;
use base::{DatabaseId, SqlError};
use catalog::view::SystemObjects;
use database::{Database, Environment, Files, Sizing};
use instance::{Instance, InstanceOptions};
use os::disk::Disk;
use os::memory::Memory;
use page::{PageBytes, PageView, seal};
use session::{
    ClosedSink, Completion, Connection, EnvironmentChange, Login, Request, ResultColumn, ResultSink,
};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use types::{SqlType, Value};
use work::Engine;

const FOLDER: &str = "/data";
const NAME: &str = "d";
const CHANGES_MAX: usize = 30;

/// What the engine did before it was stopped.
const STORY: &[&str] = &[
    "create database d",
    "use d",
    "create table heap (a int not null, b varchar(200) null, c nvarchar(max) null)",
    "create table tree (k int not null primary key, v bigint not null, s varchar(100) null)",
    "create index i on tree (v) include (s)",
    "create table pairs (a int not null, b int not null, primary key (a, b), unique (b))",
    "declare @i int = 0; while @i < 300 begin insert tree values (@i * 7 % 311, @i, replicate('x', @i % 90)); set @i += 1 end",
    "declare @i int = 0; while @i < 60 begin insert heap values (@i, replicate('h', @i), replicate(N'large', @i * 60)); set @i += 1 end",
    "insert pairs select k, k + 1000 from tree where k < 50",
    "checkpoint",
    "update tree set s = replicate('y', 95) where k % 3 = 0",
    "update heap set b = replicate('z', 190) where a % 4 = 0",
    "delete tree where k % 5 = 1; delete heap where a > 50",
    "create table late (a int not null, b varchar(max) null)",
    "insert late values (1, replicate(cast('l' as varchar(max)), 30000))",
    "drop table pairs",
    "begin tran; insert tree values (9001, 1, 'open'); update tree set v = v + 100 where k < 40; delete heap where a < 9; insert late values (2, replicate(cast('m' as varchar(max)), 9000))",
];

struct SilentSink;

impl ResultSink for SilentSink {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<(), ClosedSink> {
        Ok(())
    }

    fn row(&mut self, _: &[Value]) -> Result<(), ClosedSink> {
        Ok(())
    }

    fn message(&mut self, message: &SqlError) {
        assert!(message.severity() <= 10, "the story has no errors: {message}");
    }

    fn done(&mut self, _: Completion) {}

    fn return_status(&mut self, _: i32) {}

    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}

    fn environment(&mut self, _: &EnvironmentChange) {}
}

/// The bytes of a data file and of a log file.
struct Image {
    data: Vec<u8>,
    log: Vec<u8>,
}

fn sizing() -> Sizing {
    let mut sizing = Sizing::default();
    sizing.data_growth.pages = 64;
    sizing.log.initial_bytes = 1 << 20;
    sizing.log.growth_bytes = 256 << 10;
    sizing.log.max_bytes = 8 << 20;
    sizing
}

/// Tells the story in a simulated process, so that its bytes are the same each time.
fn crashed() -> &'static Image {
    static IMAGE: OnceLock<Image> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let options = sim::Options { pinned: false, ..sim::Options::default() };
        let run = sim::Simulation::run(11, options, |_| tell());
        match run.ended {
            sim::RunEnd::Done(image) => image,
            other => panic!("the story ends: {:?}", std::mem::discriminant(&other)),
        }
    })
}

fn tell() -> Image {
    let disk = Arc::new(MemoryDisk::default());
    let options = InstanceOptions {
        max_memory_bytes: 48 << 20,
        embedded: true,
        sizing: sizing(),
        ..InstanceOptions::default()
    };
    let folder = Path::new(FOLDER);
    let instance = Instance::open(Arc::clone(&disk) as Arc<dyn Disk>, folder, options)
        .expect("an empty disk becomes an instance");
    let mut session = instance.connect(Login::default()).expect("a session");
    for text in STORY {
        session.run(Request::Batch((*text).to_owned()), &mut SilentSink);
    }
    // Another's commit takes the log of the open transaction to the disk.
    let mut other = instance.connect(Login::default()).expect("a session");
    for text in ["use d", "create table flag (a int)"] {
        other.run(Request::Batch(text.to_owned()), &mut SilentSink);
    }
    let files = Files::of(folder, NAME);
    let copy = |path: &Path| disk.copy(path).expect("a file of the database");
    let image = Image { data: copy(&files.data), log: copy(&files.log) };
    drop((session, other));
    instance.stop().expect("everything goes home");
    image
}

/// Alters the files, opens the database, checks, uses and closes it.
pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let sealed = input.byte() & 1 == 0;
    let Image { data, log } = crashed();
    let (mut data, mut log) = (data.clone(), log.clone());
    let mut changes = 0;
    while !input.is_empty() && changes < CHANGES_MAX {
        changes += 1;
        match input.byte() % 4 {
            0 | 1 => page(&mut data, &mut input, sealed),
            2 => record(&mut log, &mut input),
            _ => raw(&mut data, &mut log, &mut input),
        }
    }
    if sealed {
        let places = log_image::blocks(&log);
        log_image::seal_chain(&mut log, &places);
    }
    open(data, log);
}

/// Bytes of one of the pages that are in use.
fn page(data: &mut [u8], input: &mut Input<'_>, sealed: bool) {
    let used: Vec<usize> = (0..data.len() / PAGE_BYTES)
        .filter(|n| data[n * PAGE_BYTES..][..96].iter().any(|&b| b != 0))
        .collect();
    if used.is_empty() {
        return;
    }
    let at = used[usize::from(input.word()) % used.len()] * PAGE_BYTES;
    let Ok(bytes) = <&mut PageBytes>::try_from(&mut data[at..at + PAGE_BYTES]) else { return };
    let how = input.byte();
    let place = usize::from(input.word());
    let slot = place as u16 % PageView(bytes).slot_count().max(1);
    let within = match how % 3 {
        0 => place % PAGE_BYTES,
        1 => place % 96,
        _ => usize::from(PageView(bytes).slot_offset(slot).unwrap_or(96)) + usize::from(how / 3),
    };
    for (byte, new) in bytes.iter_mut().skip(within).zip(input.piece()) {
        *byte = *new;
    }
    if sealed {
        seal(bytes);
    }
}

/// Bytes of a log record.
fn record(log: &mut [u8], input: &mut Input<'_>) {
    let blocks = log_image::blocks(log);
    if blocks.is_empty() {
        return;
    }
    let records = log_image::records(log, blocks[usize::from(input.word()) % blocks.len()]);
    let Some(&at) = records.get(usize::from(input.byte()) % records.len().max(1)) else { return };
    let within = usize::from(input.byte()) % 80;
    for (byte, new) in log.iter_mut().skip(at + within).zip(input.piece()) {
        *byte = *new;
    }
}

/// Bytes anywhere, or the end cut off.
fn raw(data: &mut Vec<u8>, log: &mut Vec<u8>, input: &mut Input<'_>) {
    let which = input.byte();
    let file = if which & 1 == 0 { data } else { log };
    let at = input.long() as usize % file.len().max(1);
    if which & 0xF0 == 0xF0 {
        file.truncate(at.max(1));
        return;
    }
    for (byte, new) in file.iter_mut().skip(at).zip(input.piece()) {
        *byte = *new;
    }
    if which & 2 != 0 {
        log_image::seal_sector(file, at / log_image::SECTOR * log_image::SECTOR);
    }
}

fn environment(disk: Arc<MemoryDisk>) -> Environment {
    let memory = Memory::new(32 << 20);
    Environment {
        disk,
        pool: buffer::Pool::new(&memory, 512).expect("half of the memory"),
        engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
        system: Arc::new(SystemObjects::default()),
        formats: database::formats(),
    }
}

fn open(data: Vec<u8>, log: Vec<u8>) {
    let disk = Arc::new(MemoryDisk::default());
    let files = Files::of(Path::new(FOLDER), NAME);
    disk.put(&files.data, data);
    disk.put(&files.log, log);
    if use_it(&disk, &files) {
        assert!(use_it(&disk, &files), "a clean database opens again");
    }
}

/// Opens, checks and closes; true where nothing was found wrong.
fn use_it(disk: &Arc<MemoryDisk>, files: &Files) -> bool {
    let env = environment(Arc::clone(disk));
    match Database::open(&env, DatabaseId(5), NAME, files, &sizing()) {
        Err(e) => {
            assert!(e.sql().number() > 0 && !e.sql().text().is_empty(), "{e:?}");
            look_at_it(disk, files);
            false
        }
        Ok((database, _)) => {
            let undone = database.undo_put_off().left == 0;
            let report = database.check();
            let _ = format!("{report:?}");
            let checkpointed = database.checkpoint(false).is_ok();
            let closed = database.close(Vec::new()).is_ok();
            undone && report.is_clean() && checkpointed && closed
        }
    }
}

/// What cannot be opened is looked at in an emergency, if its first pages can be read: its files
/// stay as they are.
fn look_at_it(disk: &Arc<MemoryDisk>, files: &Files) {
    let env = environment(Arc::clone(disk));
    let bytes = || [&files.data, &files.log].map(|path| disk.copy(path));
    let before = bytes();
    if let Ok((database, _)) = Database::open_emergency(&env, DatabaseId(5), NAME, files, &sizing())
    {
        let report = database.check();
        let _ = format!("{report:?}");
        assert!(database.checkpoint(false).is_err(), "nothing is written");
        assert!(database.close(Vec::new()).is_ok());
    }
    assert!(before == bytes(), "an emergency leaves the files as they are");
}

/// The files as they were, and single changes of each sort.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0]];
    for sealed in [0, 1] {
        for which in (0..120_u8).step_by(7) {
            let mut seed = vec![sealed, 0, which, 0, which % 3, which, 0];
            put_piece(&mut seed, &[which, 1]);
            seed.extend_from_slice(&[2, which, 0, which, which % 40]);
            put_piece(&mut seed, &[which]);
            seeds.push(seed);
        }
        let mut seed = vec![sealed, 3, 2, 0, 2, 0, 0];
        put_piece(&mut seed, &[1]);
        seeds.push(seed);
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story leaves what is to be fuzzed: log to redo, a transaction to undo, a clean database
    /// behind them; and the same bytes each time.
    #[test]
    fn the_untouched_files_recover() {
        let Image { data, log } = crashed();
        let disk = Arc::new(MemoryDisk::default());
        let files = Files::of(Path::new(FOLDER), NAME);
        disk.put(&files.data, data.clone());
        disk.put(&files.log, log.clone());
        let env = environment(Arc::clone(&disk));
        let opened = Database::open(&env, DatabaseId(5), NAME, &files, &sizing());
        let (database, report) = opened.unwrap_or_else(|e| panic!("{e}"));
        assert!(report.redone.applied > 20 && report.put_off == 1, "{report:?}");
        assert_eq!(database.undo_put_off().undone, 1);
        assert!(database.check().is_clean());
        database.close(Vec::new()).unwrap_or_else(|e| panic!("{e}"));
        let again = sim::Simulation::run(11, sim::Options::default(), |_| tell());
        let sim::RunEnd::Done(again) = again.ended else { panic!("the story ends") };
        assert!(again.data == *data && again.log == *log, "the same bytes in every process");
    }
}
