//! The log through crashes: promises kept, losses only at the end, the dead never return; what a
//! crash loses is never taken for damage, and damage never for what a crash loses.
//!
//! A log that is full of large groups wraps quickly, so that new blocks are written over old ones,
//! beside those of a future that a crash cut off.
#![allow(clippy::unwrap_used, clippy::disallowed_types, reason = "a test may fail; no switches")]

use base::Lsn;
use os::disk::{Disk as _, File, OpenMode};
use sim::harness::{Counts, Plan, try_crash_runs};
use sim::{Disk, DiskOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use wal::{
    BlockScan, Group, Kind, Log, LogOptions, LogReader, LogReservation, TransactionChain, WalError,
    kinds,
};

const NOTE: Kind = Kind(0xF0);
const OPTIONS: LogOptions = LogOptions {
    initial_bytes: 600 << 10,
    growth_bytes: 1800 << 10,
    growth_percent: 0,
    max_bytes: 2500 << 10,
    durable: true,
};

static NEWEST_VLF: AtomicU64 = AtomicU64::new(0);
/// Starts that found a longer file than the virtual log files fill: a crash came while it grew.
static HALF_GROWN: AtomicU64 = AtomicU64::new(0);
/// Starts that found all of it made into virtual log files.
static GROWN: AtomicU64 = AtomicU64::new(0);
/// Times that the file became shorter, and that the log left a virtual log file for it.
static SHRUNK: AtomicU64 = AtomicU64::new(0);
static LEFT: AtomicU64 = AtomicU64::new(0);
/// Copies that were damaged, and told so.
static DAMAGED: AtomicU64 = AtomicU64::new(0);

#[derive(Default)]
struct State {
    created: bool,
    next: u64,
    /// Groups of this process: where they are, once known, and whether they were acknowledged.
    current: BTreeMap<u64, (Option<Lsn>, bool)>,
    history: BTreeMap<u64, Lsn>,
}

#[derive(Default)]
struct Oracle(Mutex<State>);

impl Oracle {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn settle(&self, min_lsn: Lsn, found: &[(u64, Lsn)]) {
        let mut s = self.state();
        let current = std::mem::take(&mut s.current);
        for (tag, lsn) in found {
            let known = match current.get(tag) {
                Some((lsn, _)) => *lsn,
                None => Some(*s.history.get(tag).expect("a group came back from the dead")),
            };
            assert!(known.is_none_or(|k| k == *lsn), "group {tag} moved");
            s.history.insert(*tag, *lsn);
        }
        for (tag, lsn) in s.history.iter().filter(|(_, l)| **l >= min_lsn) {
            assert!(found.contains(&(*tag, *lsn)), "group {tag}, which survived, is gone");
        }
        let newest = found.last().map_or(min_lsn, |f| f.1);
        for (tag, (lsn, acknowledged)) in current {
            let survived = found.iter().any(|f| f.0 == tag) || lsn.is_some_and(|l| l < min_lsn);
            assert!(survived || !acknowledged, "group {tag} was acknowledged and is lost");
            assert!(survived || lsn.is_none_or(|l| l > newest), "{tag} is not of a suffix");
        }
    }
}

fn file(disk: &Disk, create: bool) -> Arc<dyn File> {
    disk.open(Path::new("db.ldf"), OpenMode { create, direct: false }).unwrap()
}

fn payload(tag: u64, bytes: usize) -> Vec<u8> {
    let mut p = vec![tag as u8; bytes.max(8)];
    p[..8].copy_from_slice(&tag.to_le_bytes());
    p
}

fn read(log: &Log) -> Vec<(u64, Lsn)> {
    let mut found = Vec::new();
    let mut reader = LogReader::new(log, log.checkpoint().min_lsn);
    let mut more = true;
    while more {
        let next = reader.next_block(|g| {
            for r in g.records.iter().filter(|r| r.kind() == NOTE) {
                let p = r.payload();
                let tag = u64::from_le_bytes(p[..8].try_into().unwrap());
                assert!(p[8..].iter().all(|&b| b == tag as u8), "other bytes than were written");
                if r.lsn == g.end() {
                    found.push((tag, r.lsn));
                }
            }
            Ok::<(), WalError>(())
        });
        more = next.unwrap_or_else(|e| panic!("read: {e}"));
    }
    found
}

fn below(n: u64) -> u64 {
    os::entropy::random_u64() % n
}

fn append(log: &Arc<Log>, oracle: &Oracle, checkpointing: &os::sync::Mutex<()>) {
    let mut room = LogReservation::none(log);
    if room.grow(70_000).is_err() {
        // One at a time, as a checkpoint never goes back.
        let _one = checkpointing.lock();
        return checkpoint(log);
    }
    let tag = {
        let mut s = oracle.state();
        s.next += 1;
        let tag = s.next;
        s.current.insert(tag, (None, false));
        tag
    };
    let mut group = Group::new();
    // Large ones close the small one's block: several blocks of unequal size go to disk together,
    // and a crash may keep the later and lose the earlier.
    let bytes = if below(3) == 0 { 15_000 + below(13_000) } else { below(150) };
    for _ in 0..=below(2) {
        group.push_plain(NOTE, 0, &payload(tag, bytes as usize)).unwrap();
    }
    let at = log.append(&mut group, &mut TransactionChain::default()).last;
    oracle.state().current.get_mut(&tag).unwrap().0 = Some(at);
    if below(4) == 0 {
        log.flush_to(at);
        oracle.state().current.get_mut(&tag).unwrap().1 = true;
    }
}

fn checkpoint(log: &Arc<Log>) {
    let mut group = Group::new();
    group.push_plain(kinds::CHECKPOINT_BEGIN, 0, &[]).unwrap();
    let begin = log.append(&mut group, &mut TransactionChain::default()).first;
    log.flush_to(begin);
    let before = log.checkpoint().checkpoint;
    // As with a transaction that was open at the checkpoint before.
    let min = if below(2) == 0 { before } else { begin };
    if before < begin && log.set_checkpoint(begin, min, false).is_ok() {
        log.truncate(min);
    }
}

/// On a copy of the disk a byte of a block is flipped that was durable when a later block was
/// closed: the log is not opened, and nothing is written.
fn damage_is_told(disk: &Disk, log: &Arc<Log>) {
    let mut room = LogReservation::none(log);
    if room.grow(2000).is_err() {
        return;
    }
    log.flush_all();
    let covered = log.end_to_tell();
    let mut group = Group::new();
    group.push_plain(kinds::CHECKPOINT_BEGIN, 0, &[]).unwrap();
    let last = log.append(&mut group, &mut TransactionChain::default()).last;
    log.flush_to(last);
    let mut scan = BlockScan::new(Arc::clone(log), log.checkpoint().min_lsn);
    let mut blocks = Vec::new();
    while scan.next_block().unwrap() {
        if scan.block().lsn < covered {
            blocks.push(scan.block());
        }
    }
    let Some(hit) = blocks.get(below(blocks.len().max(1) as u64) as usize) else { return };
    let vlfs = log.vlfs();
    let vlf = vlfs.iter().find(|v| v.sequence == hit.lsn.vlf()).unwrap();
    let begins = vlf.offset + u64::from(hit.lsn.block()) * 512;
    let at = begins + below((hit.header_bytes + hit.record_bytes) as u64);
    let copy = disk.after_stop(below(1 << 40));
    let mut byte = copy.bytes_at(Path::new("db.ldf"), at, 1);
    byte[0] ^= 1 << below(8);
    copy.damage(Path::new("db.ldf"), at, &byte);
    let found = file(&copy, false);
    let len = found.len().unwrap() as usize;
    let before = copy.bytes_at(Path::new("db.ldf"), 0, len);
    let opened = Log::open(found, OPTIONS);
    let told = opened.err().unwrap_or_else(|| panic!("damage at {} is taken for the end", hit.lsn));
    assert!(told.damaged_at().is_some(), "{told}");
    assert!(copy.bytes_at(Path::new("db.ldf"), 0, len) == before, "it was written");
    DAMAGED.fetch_add(1, Relaxed);
}

/// A planted fault by name, in a mutated build.
type Fault = Option<&'static str>;

const CUT_FIRST: &str = "cut-first";

/// A log that is to show a fault does not grow: it is full soon, and is used again. Nor does it
/// shrink, but for the fault of that.
fn options(fault: Fault) -> LogOptions {
    match fault {
        Some(fault) if fault != CUT_FIRST => {
            LogOptions { growth_bytes: 0, max_bytes: OPTIONS.initial_bytes, ..OPTIONS }
        }
        _ => OPTIONS,
    }
}

fn plant(log: &Log, fault: Fault) {
    #[cfg(feature = "mutations")]
    assert!(fault.is_none_or(|fault| log.mutate(fault)));
    #[cfg(not(feature = "mutations"))]
    let _ = (log, fault);
}

/// Makes the log shorter, to a length drawn. The disk may refuse.
fn shrink(log: &Log) {
    let to = below(OPTIONS.max_bytes);
    LEFT.fetch_add(u64::from(log.leave_vlf(to)), Relaxed);
    let before = log.usage().total_bytes;
    if log.shrink(to).is_ok() {
        let after = log.usage().total_bytes;
        assert!(log.vlfs().len() >= wal::VLFS_MIN);
        SHRUNK.fetch_add(u64::from(after < before), Relaxed);
    }
}

fn session(disk: &Disk, oracle: &Arc<Oracle>, steps: u64, fault: Fault) {
    let log = Log::open(file(disk, false), options(fault)).unwrap_or_else(|e| panic!("open: {e}"));
    plant(&log, fault);
    let end = log.vlfs().last().map_or(0, |v| v.offset + v.bytes);
    let half = u64::from(log.file().len().unwrap() > end + (128 << 10));
    HALF_GROWN.fetch_add(half, Relaxed);
    GROWN.fetch_add(u64::from(end > 600 << 10) & (1 - half), Relaxed);
    let min_lsn = log.checkpoint().min_lsn;
    oracle.settle(min_lsn, &read(&log));
    let checkpointing = Arc::new(os::sync::Mutex::new(()));
    let tasks: Vec<_> = (0..3)
        .map(|_| {
            let (log, oracle) = (Arc::clone(&log), Arc::clone(oracle));
            let one = Arc::clone(&checkpointing);
            let steps = move || (0..steps).for_each(|_| append(&log, &oracle, &one));
            os::task::spawn("appender", steps)
        })
        .collect();
    for _ in 0..steps / 5 {
        os::task::sleep_ns(below(4_000_000));
        log.writer_turn(os::clock::monotonic_ns() + 1_000_000);
        if fault.is_none_or(|fault| fault == CUT_FIRST) && below(3) == 0 {
            shrink(&log);
        }
    }
    tasks.into_iter().for_each(|t| t.join().unwrap());
    if below(2) == 0 {
        checkpoint(&log);
    }
    damage_is_told(disk, &log);
    let newest = log.vlfs().iter().map(|v| u64::from(v.sequence)).max();
    NEWEST_VLF.fetch_max(newest.unwrap_or(0), Relaxed);
}

fn workload(disk: &Disk, oracle: &Arc<Oracle>, fault: Fault) {
    let made = Log::create(file(disk, true), [1; 16], options(fault)).is_ok();
    disk.sync_dir(Path::new("")).unwrap();
    oracle.state().created = made;
    for _ in 0..if made { 3 } else { 0 } {
        session(disk, oracle, 35, fault);
    }
}

fn run(seeds: std::ops::Range<u64>, cases: u64, fault: Fault) -> Result<Counts, String> {
    let disk = DiskOptions { capacity_bytes: 3 << 20, ..DiskOptions::default() };
    let plan = Plan { seeds, cases, depth: 4, disk, ..Plan::default() };
    try_crash_runs(
        &plan,
        |disk, _, oracle: Arc<Oracle>| workload(&disk, &oracle, fault),
        |disk, oracle| {
            let created = oracle.state().created;
            if created {
                session(&disk, &oracle, 1 + below(6), fault);
            }
        },
    )
}

#[test]
fn acknowledged_groups_survive_and_lost_ones_stay_lost() {
    let counts = run(0..44, 24, None).unwrap_or_else(|e| panic!("{e}"));
    let points = counts.crash_points();
    println!("{points} crash points, {counts:?}, VLF {NEWEST_VLF:?}");
    println!("grown: half {HALF_GROWN:?}, whole {GROWN:?}; shrunk {SHRUNK:?}, left {LEFT:?}");
    if std::env::var(sim::harness::REPLAY).is_err() {
        assert!(points > 500 && NEWEST_VLF.load(Relaxed) > 8);
        assert!(HALF_GROWN.load(Relaxed) > 20 && GROWN.load(Relaxed) > 20);
        assert!(SHRUNK.load(Relaxed) > 100 && LEFT.load(Relaxed) > 20);
        assert!(DAMAGED.load(Relaxed) > 500);
    }
}

/// Each planted fault of the log is caught within 480 crash points.
#[cfg(feature = "mutations")]
#[test]
fn each_mutation_is_caught() {
    let faults = ["log-sync", "early-reuse", "reserve", CUT_FIRST, "end-untold", "end-early"];
    for fault in faults {
        let caught = (0..20).find_map(|seed| run(seed..seed + 1, 24, Some(fault)).err());
        let caught = caught.unwrap_or_else(|| panic!("{fault} is not caught"));
        println!("{fault}: {}", caught.lines().next().unwrap_or_default());
    }
}
