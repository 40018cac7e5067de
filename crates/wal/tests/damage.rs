//! A log that is damaged is told apart from one that a crash has torn, and is read as far as it
//! goes.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use base::Lsn;
use os::disk::{Disk as _, File, OpenMode};
use sim::{Disk, DiskOptions};
use std::path::Path;
use std::sync::Arc;
use wal::{
    BlockFacts, BlockScan, CheckpointEnd, FoundLog, Group, GroupRange, Kind, Log, LogOptions,
    LogReader, TransactionChain, WalError, kinds,
};

const NOTE: Kind = Kind(0xF0);
const PATH: &str = "db.ldf";
const OPTIONS: LogOptions = LogOptions {
    initial_bytes: 640 << 10,
    growth_bytes: 0,
    growth_percent: 0,
    max_bytes: 640 << 10,
    durable: true,
};

fn disk() -> Disk {
    Disk::new(DiskOptions { latency: false, ..DiskOptions::default() })
}

fn file(disk: &Disk, create: bool) -> Arc<dyn File> {
    disk.open(Path::new(PATH), OpenMode { create, direct: false }).unwrap()
}

fn note(log: &Log, payload: &[u8]) -> GroupRange {
    let mut group = Group::new();
    group.push_plain(NOTE, 0, payload).unwrap();
    log.append(&mut group, &mut TransactionChain::default())
}

fn committed(log: &Log, payload: &[u8]) -> Lsn {
    let at = note(log, payload).last;
    log.flush_to(at);
    at
}

fn bytes(disk: &Disk) -> Vec<u8> {
    let len = file(disk, false).len().unwrap();
    disk.bytes_at(Path::new(PATH), 0, len as usize)
}

fn put(disk: &Disk, at: usize, what: &[u8]) {
    disk.damage(Path::new(PATH), at as u64, what);
}

fn blocks(log: &Arc<Log>) -> Vec<(usize, BlockFacts)> {
    let vlfs = log.vlfs();
    let mut scan = BlockScan::new(Arc::clone(log), log.checkpoint().min_lsn);
    let mut found = Vec::new();
    while scan.next_block().unwrap() {
        let block = scan.block();
        let vlf = vlfs.iter().find(|v| v.sequence == block.lsn.vlf()).unwrap();
        found.push((vlf.offset as usize + block.lsn.block() as usize * 512, block));
    }
    found
}

fn count(log: &Log) -> usize {
    let (mut count, mut reader) = (0, LogReader::new(log, log.checkpoint().min_lsn));
    let mut next = || {
        reader.next_block(|group| {
            count += group.records.iter().filter(|r| r.kind() == NOTE).count();
            Ok::<(), WalError>(())
        })
    };
    while next().unwrap() {}
    count
}

/// A disk with a log of so many commits, each a flush of its own, and where its blocks are.
fn logged(commits: usize) -> (Disk, Vec<(usize, BlockFacts)>) {
    let disk = disk();
    let log = Log::create(file(&disk, true), [1; 16], OPTIONS).unwrap();
    for n in 0..commits {
        committed(&log, &[n as u8; 1200]);
    }
    let found = blocks(&log);
    (disk, found)
}

/// One byte of any block that a later one knows to be durable: the log is damaged there, and the
/// file stays as it is. What comes before it can be read.
#[test]
fn a_flipped_byte_below_the_durable_end_is_damage() {
    let (disk, found) = logged(300);
    let whole = bytes(&disk);
    let covered = found.iter().filter(|(_, b)| b.records > 0).count() - 1;
    let (mut before, mut end) = (0, found[0].1.lsn);
    for (n, (at, block)) in found.iter().take(covered).enumerate() {
        // In turn: within header and records.
        let byte = at + (n * 37) % (block.header_bytes + block.record_bytes);
        put(&disk, byte, &[whole[byte] ^ 0x20]);
        let told = Log::open(file(&disk, false), OPTIONS).err().expect("it is damaged");
        let first = n == 0;
        assert_eq!(told.damaged_at().map(Lsn::block_start), Some(end), "{n}: {told}");
        assert!(first || matches!(told, WalError::Damaged { .. }));
        assert_eq!(disk.bytes_at(Path::new(PATH), byte as u64, 1), [whole[byte] ^ 0x20]);
        if n > 0 && n % 50 == 0 {
            let copy = disk.after_stop(n as u64);
            let log = FoundLog::salvage(file(&copy, false)).unwrap();
            assert_eq!(log.end(), end);
            let log = log.open(OPTIONS).unwrap();
            log.go_on().unwrap();
            assert_eq!(count(&log), before);
        }
        end = Lsn::new(block.lsn.vlf(), block.lsn.block() + block.bytes as u32 / 512, 0);
        before += usize::from(block.records == 1 && block.record_bytes > 1000);
        put(&disk, byte, &[whole[byte]]);
    }
    assert!(bytes(&disk) == whole);
    let log = Log::open(file(&disk, false), OPTIONS).unwrap();
    assert_eq!(count(&log), 300);
}

/// Blocks of one flush: a crash may lose the first and keep the others. That is no damage.
#[test]
fn a_block_lost_of_a_flush_that_had_not_ended_is_no_damage() {
    let disk = disk();
    let log = Log::create(file(&disk, true), [1; 16], OPTIONS).unwrap();
    for n in 0..20 {
        committed(&log, &[n; 1200]);
    }
    let before = blocks(&log).len();
    for n in 0..3 {
        note(&log, &[n; 40_000]);
    }
    log.flush_all();
    let found = blocks(&log);
    drop(log);
    let flush: Vec<_> = found.iter().skip(before - 1).filter(|(_, b)| b.records > 0).collect();
    assert!(flush.len() >= 3);
    let whole = bytes(&disk);
    for (at, block) in flush {
        let copy = disk.after_stop(*at as u64);
        put(&copy, *at, &vec![0; block.bytes]);
        let log = Log::open(file(&copy, false), OPTIONS).unwrap();
        assert!(count(&log) >= 20 && count(&log) < 23);
    }
    assert!(bytes(&disk) == whole);
}

/// Nothing behind the last block says that it was durable, until nobody has logged for a while, or
/// a checkpoint was taken: then the file's header does.
#[test]
fn the_last_block_is_covered_once_the_log_is_idle() {
    for (turns, checkpointed) in [(0, false), (2, false), (0, true)] {
        let disk = disk();
        let log = Log::create(file(&disk, true), [1; 16], OPTIONS).unwrap();
        committed(&log, &[1; 1200]);
        if checkpointed {
            let begin = log.last_lsn();
            log.set_checkpoint(begin, begin, true).unwrap();
        }
        (0..turns).for_each(|_| log.writer_turn(os::clock::monotonic_ns()));
        let (at, _) = *blocks(&log).iter().rfind(|(_, b)| b.record_bytes > 1000).unwrap();
        drop(log);
        let byte = disk.bytes_at(Path::new(PATH), at as u64 + 100, 1)[0];
        put(&disk, at + 100, &[byte ^ 1]);
        let opened = Log::open(file(&disk, false), OPTIONS);
        assert_eq!(opened.is_err(), turns > 0 || checkpointed, "{turns} {checkpointed}");
    }
}

/// Where a log was durable is known to others, too: the pages that are home.
#[test]
fn a_log_that_others_know_to_be_longer_is_damaged() {
    let (disk, _) = logged(5);
    let found = FoundLog::find(file(&disk, false)).unwrap();
    let end = found.end();
    assert!(found.must_reach(end).is_ok());
    let told = found.must_reach(Lsn::new(end.vlf(), end.block() + 1, 0));
    assert!(matches!(told, Err(WalError::Damaged { at, .. }) if at == end));
}

/// Blocks of earlier builds say nothing of the durable log: such a log is opened as it is.
#[test]
fn logs_of_earlier_builds_are_opened() {
    let (disk, found) = logged(30);
    let mut all = bytes(&disk);
    let mut sum = None;
    for (at, block) in found.iter().filter(|(_, b)| b.records > 0) {
        let b = &mut all[*at..at + block.header_bytes + block.record_bytes];
        b[28..32].fill(0);
        if let Some(sum) = sum {
            b[20..24].copy_from_slice(&u32::to_le_bytes(sum));
        }
        let front = crc32c::crc32c_append(crc32c::crc32c(&b[..24]), &[0; 4]);
        let own = crc32c::crc32c_append(front, &b[28..]);
        b[24..28].copy_from_slice(&own.to_le_bytes());
        sum = Some(own);
    }
    for pointer in [512, 1024] {
        if all[pointer..pointer + 512].iter().any(|b| *b != 0) {
            all[pointer + 40..pointer + 48].fill(0);
            let sum = crc32c::crc32c(&all[pointer..pointer + 508]);
            all[pointer + 508..pointer + 512].copy_from_slice(&sum.to_le_bytes());
        }
    }
    put(&disk, 0, &all);
    let log = Log::open(file(&disk, false), OPTIONS).unwrap();
    assert_eq!(count(&log), 30);
    committed(&log, &[9; 100]);
    drop(log);
    assert_eq!(count(&Log::open(file(&disk, false), OPTIONS).unwrap()), 31);
}

/// What is not a block: the header of a virtual log file, of the file, both pointers. Each is told,
/// nothing is written, and what can be read still is.
#[test]
fn damaged_headers_are_told_and_read_around() {
    let (disk, _) = logged(300);
    let whole = bytes(&disk);
    let vlfs = FoundLog::find(file(&disk, false)).unwrap().open(OPTIONS).unwrap().vlfs();
    let second = vlfs.iter().find(|v| v.sequence == 2).unwrap().offset as usize;
    // Where, and whether the log can be read around it.
    for (at, reads) in [(second + 5, true), (second + 9, true), (8192 + 9, true), (3, true)] {
        put(&disk, at, &[whole[at] ^ 8]);
        let before = bytes(&disk);
        assert!(Log::open(file(&disk, false), OPTIONS).is_err(), "{at}");
        assert!(bytes(&disk) == before, "it was written");
        let copy = disk.after_stop(at as u64);
        let salvaged = FoundLog::salvage(file(&copy, false)).and_then(|found| found.open(OPTIONS));
        assert_eq!(salvaged.is_ok(), reads);
        assert_eq!(salvaged.map(|log| count(&log)).unwrap(), 300);
        put(&disk, at, &[whole[at]]);
    }
    put(&disk, 512, &[0xEE; 1024]);
    assert!(matches!(Log::open(file(&disk, false), OPTIONS), Err(WalError::Unsound(_))));
    let salvaged = FoundLog::salvage(file(&disk, false)).unwrap().open(OPTIONS).unwrap();
    assert_eq!(count(&salvaged), 300);
}

/// Without pointers a log is read from its last whole checkpoint, and before that is damage of no
/// account; a checkpoint without its END counts for nothing.
#[test]
fn a_log_without_pointers_begins_at_its_last_checkpoint() {
    let disk = disk();
    let log = Log::create(file(&disk, true), [1; 16], OPTIONS).unwrap();
    for n in 0..40 {
        committed(&log, &[n; 1200]);
    }
    let begin = plain(&log, kinds::CHECKPOINT_BEGIN, &[]);
    committed(&log, &[40; 1200]);
    plain(&log, CheckpointEnd::KIND, &CheckpointEnd::bytes(begin, 7, &[]));
    committed(&log, &[41; 1200]);
    plain(&log, kinds::CHECKPOINT_BEGIN, &[]);
    committed(&log, &[42; 1200]);
    let found = blocks(&log);
    drop(log);
    put(&disk, 512, &[0xEE; 1024]);
    assert_eq!(salvaged(&disk), (begin, 3));
    // The same where all that is said of the file itself is gone.
    put(&disk, 0, &[0; 8192]);
    assert_eq!(salvaged(&disk), (begin, 3));
    // Damage behind the checkpoint ends the log there.
    let (at, block) = found[found.len() - 2];
    assert!(block.records == 1);
    put(&disk, at + 40, &[0x11]);
    assert_eq!(salvaged(&disk), (begin, 2));
    // Without the END that counts the log is read from its first block.
    let at = found.iter().find(|(_, b)| b.lsn.block_start() > begin.block_start()).unwrap().0;
    put(&disk, at + 40, &[0x11]);
    assert_eq!(salvaged(&disk).1, 40);
}

fn plain(log: &Log, kind: Kind, payload: &[u8]) -> Lsn {
    let mut group = Group::new();
    group.push_plain(kind, 0, payload).unwrap();
    let at = log.append(&mut group, &mut TransactionChain::default()).last;
    log.flush_to(at);
    at
}

/// Where a log that is damaged is read from, and how many notes are found.
fn salvaged(disk: &Disk) -> (Lsn, usize) {
    let copy = disk.after_stop(1);
    let log = FoundLog::salvage(file(&copy, false)).unwrap().open(OPTIONS).unwrap();
    (log.checkpoint().min_lsn, count(&log))
}

/// A log that was closed clean, gone on with, and killed before any checkpoint: its pointer still
/// says clean.
#[test]
fn damage_behind_a_clean_stop_is_damage() {
    let disk = disk();
    let log = Log::create(file(&disk, true), [1; 16], OPTIONS).unwrap();
    let begin = committed(&log, &[1; 1200]);
    log.set_checkpoint(begin, begin, true).unwrap();
    drop(log);
    let log = Log::open(file(&disk, false), OPTIONS).unwrap();
    for n in 0..20 {
        committed(&log, &[n; 1200]);
    }
    assert!(log.checkpoint().clean);
    let found = blocks(&log);
    drop(log);
    // From the incarnation's block on.
    for (at, block) in &found[1..15] {
        let copy = disk.after_stop(*at as u64);
        let byte = copy.bytes_at(Path::new(PATH), *at as u64 + 40, 1)[0];
        put(&copy, at + 40, &[byte ^ 2]);
        let told = Log::open(file(&copy, false), OPTIONS).err().expect("it is damaged");
        assert_eq!(told.damaged_at(), Some(block.lsn), "{told}");
    }
}

/// Damage between where recovery begins and its checkpoint, which the end of the log does not show.
#[test]
fn damage_before_the_checkpoint_is_damage() {
    let disk = disk();
    let log = Log::create(file(&disk, true), [1; 16], OPTIONS).unwrap();
    for n in 0..20 {
        committed(&log, &[n; 1200]);
    }
    let mut group = Group::new();
    group.push_plain(kinds::CHECKPOINT_BEGIN, 0, &[]).unwrap();
    let begin = log.append(&mut group, &mut TransactionChain::default()).first;
    log.flush_to(begin);
    log.set_checkpoint(begin, log.checkpoint().min_lsn, false).unwrap();
    let (at, block) = blocks(&log)[10];
    drop(log);
    put(&disk, at + 200, &[0xEE]);
    let told = Log::open(file(&disk, false), OPTIONS).err().unwrap();
    assert_eq!(told.damaged_at(), Some(block.lsn), "{told}");
}
