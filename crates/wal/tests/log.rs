//! The log at its door: what was appended comes back, what is full says so, damage is told.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use base::{AllocUnitId, Lsn, PageId};
use os::disk::{Disk as _, File, OpenMode};
use sim::{Disk, DiskOptions, Options, Simulation};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use wal::{
    Group, GroupRange, Kind, Log, LogOptions, LogReader, LogReservation, RecordFlags, RecordReader,
    ShrinkStop, TransactionChain, VLFS_MIN, VlfStatus, WalError, kinds,
};

const PATH: &str = "db.ldf";
const FAMILY: [u8; 16] = [3; 16];
const NOTE: Kind = Kind(0xF0);

fn options() -> LogOptions {
    let (initial_bytes, max_bytes) = (640 << 10, 640 << 10);
    LogOptions { initial_bytes, growth_bytes: 0, growth_percent: 0, max_bytes, durable: true }
}

fn disk() -> Disk {
    Disk::new(DiskOptions { latency: false, ..DiskOptions::default() })
}

fn file(disk: &Disk, create: bool) -> Arc<dyn File> {
    disk.open(Path::new(PATH), OpenMode { create, direct: false }).unwrap()
}

fn reopen(disk: &Disk, options: LogOptions) -> Result<Arc<Log>, WalError> {
    Log::open(file(disk, false), options)
}

fn note(log: &Log, chain: &mut TransactionChain, payloads: &[&[u8]]) -> GroupRange {
    let mut group = Group::new();
    for p in payloads {
        let page = (PageId::new(1, 77), 5, AllocUnitId(9));
        group.push_page(NOTE, RecordFlags(0), chain.id, Lsn::ZERO, page, &[p]).unwrap();
    }
    log.append(&mut group, chain)
}

/// Every note from a place on, with its LSN and whether its group goes on.
fn notes(log: &Log, from: Lsn) -> Vec<(Lsn, Vec<u8>, bool)> {
    let mut found = Vec::new();
    let mut reader = LogReader::new(log, from);
    while reader
        .next_block(|g| {
            for r in g.records.iter().filter(|r| r.kind() == NOTE) {
                assert_eq!((r.page(), r.slot()), (Some(PageId::new(1, 77)), 5));
                let more = r.lsn != g.end();
                found.push((r.lsn, r.payload().to_vec(), more));
            }
            Ok::<(), WalError>(())
        })
        .unwrap()
    {}
    found
}

fn checkpoint(log: &Log) -> Lsn {
    let mut group = Group::new();
    group.push_plain(kinds::CHECKPOINT_BEGIN, 0, &[]).unwrap();
    let at = log.append(&mut group, &mut TransactionChain::default()).first;
    log.flush_to(at);
    log.set_checkpoint(at, at, false).unwrap();
    log.truncate(at);
    at
}

/// A small generator, so that a failing round can be repeated by its number.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

/// Groups of any size come back in order, from memory and disk, over blocks and reused VLFs, and
/// after a new start; LSNs only ever grow.
#[test]
fn what_is_appended_is_read_back_over_wraps_and_restarts() {
    for round in 1..=12 {
        let mut random = Random(round);
        let disk = disk();
        let mut log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
        let (mut model, mut last, mut from) = (Vec::new(), Lsn::ZERO, log.checkpoint().min_lsn);
        for i in 0..260_u32 {
            let big = random.below(6) == 0;
            let payloads: Vec<Vec<u8>> = (0..=random.below(3))
                .map(|n| vec![(i + n as u32) as u8; random.below(if big { 14_000 } else { 300 })])
                .collect();
            let refs: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
            let at = note(&log, &mut TransactionChain::default(), &refs);
            assert!(at.first > last && at.last >= at.first);
            for (n, p) in payloads.into_iter().enumerate() {
                let lsn = Lsn(at.first.0 + n as u64);
                model.push((lsn, p, lsn != at.last));
            }
            last = at.last;
            match random.below(25) {
                0..=7 => log.flush_to(last),
                8 | 9 => {
                    from = checkpoint(&log);
                    model.retain(|(lsn, _, _)| *lsn >= from);
                    last = log.last_lsn();
                }
                10 => {
                    log.flush_all();
                    drop(log);
                    log = reopen(&disk, options()).unwrap();
                    assert_eq!(log.checkpoint().min_lsn, from);
                }
                11 => assert_eq!(notes(&log, from), model, "round {round}"),
                _ => {}
            }
        }
        assert_eq!(notes(&log, from), model, "round {round}");
        let newest = log.vlfs().iter().map(|v| v.sequence).max().unwrap();
        assert!(newest > 4, "the log wrapped");
        assert_eq!(log.family(), FAMILY);
    }
}

/// Undo walks a transaction back by its own links, wherever its records are by now.
#[test]
fn a_transaction_is_walked_back_through_memory_and_disk() {
    let disk = disk();
    let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
    let mut mine = TransactionChain { id: 7, ..TransactionChain::default() };
    let mut other = TransactionChain { id: 8, ..TransactionChain::default() };
    for i in 0..200_u8 {
        note(&log, &mut mine, &[&[i; 100], &[i; 3]]);
        note(&log, &mut other, &[&[0; 900]]);
        if i % 7 == 0 {
            log.flush_all();
        }
    }
    assert_eq!((mine.records, other.records), (400, 200));
    let (mut at, mut seen) = (mine.last, Vec::new());
    let mut records = RecordReader::new(&log);
    while at != Lsn::ZERO {
        let r = records.record(at).unwrap();
        assert_eq!((r.lsn, r.transaction()), (at, 7));
        seen.push((r.payload()[0], r.payload().len()));
        at = r.previous();
    }
    let expected = (0..200_u8).rev().flat_map(|i| [(i, 3), (i, 100)]);
    assert!(seen.into_iter().eq(expected));
    assert!(matches!(records.record(Lsn(mine.last.0 + 50)), Err(WalError::Missing(_))));
}

/// Many committers, one sync for several of them; each returns only when its record is durable.
#[test]
fn group_commit_shares_syncs_and_loses_nobody() {
    for seed in 0..10 {
        Simulation::run(seed, Options::default(), |_| {
            let disk = Disk::new(DiskOptions::default());
            let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
            let before = log.file().stats().snapshot().syncs;
            let tasks: Vec<_> = (0..8_u8)
                .map(|t| {
                    let log = Arc::clone(&log);
                    os::task::spawn("committer", move || {
                        for i in 0..20 {
                            let at = note(&log, &mut TransactionChain::default(), &[&[t, i]]);
                            log.flush_to(at.last);
                            assert!(at.last < log.durable_lsn());
                        }
                    })
                })
                .collect();
            tasks.into_iter().for_each(|t| t.join().unwrap());
            let syncs = log.file().stats().snapshot().syncs - before;
            assert!(syncs < 120, "{syncs} syncs for 160 commits");
            let mut found: Vec<_> =
                notes(&log, log.checkpoint().min_lsn).into_iter().map(|n| n.1).collect();
            found.sort();
            let all = (0..8).flat_map(|t| (0..20).map(move |i| vec![t, i]));
            assert!(found.into_iter().eq(all));
        });
    }
}

/// What is left for a durable record is done once, when it is durable and not before, whoever
/// writes the log: one who has left something, one who waits, or the log writer.
#[test]
fn what_is_left_is_done_once_and_behind_its_flush() {
    const COMMITS: u64 = 20;
    for seed in 0..20 {
        Simulation::run(seed, Options::default(), |_| {
            let disk = Disk::new(DiskOptions::default());
            let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
            let (done, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
            let before = log.file().stats().snapshot().syncs;
            let (theirs, stopped) = (Arc::clone(&log), Arc::clone(&stop));
            let writer = os::task::spawn("log writer", move || {
                while !stopped.load(SeqCst) {
                    theirs.writer_turn(os::clock::monotonic_ns() + 1_000_000_000);
                }
            });
            let leaves = |t: u8| {
                let (log, done) = (Arc::clone(&log), Arc::clone(&done));
                os::task::spawn("committer", move || {
                    for i in 0..COMMITS as u8 {
                        let at = note(&log, &mut TransactionChain::default(), &[&[t, i]]).last;
                        let (its, done) = (Arc::clone(&log), Arc::clone(&done));
                        log.when_durable(at, move || {
                            assert!(at < its.durable_lsn(), "not before");
                            done.fetch_add(1, SeqCst);
                        });
                        // Now and then it has something else to do first.
                        if i % 3 != 1 {
                            log.flush_left();
                        }
                    }
                    log.flush_left();
                })
            };
            let waits = |t: u8| {
                let log = Arc::clone(&log);
                os::task::spawn("committer", move || {
                    for i in 0..COMMITS as u8 {
                        let at = note(&log, &mut TransactionChain::default(), &[&[t, i]]).last;
                        log.flush_commit(at);
                    }
                })
            };
            let tasks: Vec<_> = (0..4).map(leaves).chain((4..6).map(waits)).collect();
            tasks.into_iter().for_each(|t| t.join().unwrap());
            let until = os::clock::monotonic_ns() + 10_000_000_000;
            while done.load(SeqCst) < 4 * COMMITS && os::clock::monotonic_ns() < until {
                os::task::sleep_ns(1_000_000);
            }
            assert_eq!(
                done.load(SeqCst),
                4 * COMMITS,
                "seed {seed}: each once, nobody is forgotten"
            );
            stop.store(true, SeqCst);
            log.wake_writer();
            writer.join().unwrap();
            let syncs = log.file().stats().snapshot().syncs - before;
            assert!(syncs < 6 * COMMITS, "{syncs} syncs for {} commits", 6 * COMMITS);
        });
    }
}

/// `flush_all` waits for a flush of others that is under way: what it found appended is durable
/// when it returns, also where the open block was just taken.
#[test]
fn flush_all_waits_for_the_flush_of_others() {
    for seed in 0..10 {
        Simulation::run(seed, Options::default(), |_| {
            let disk = Disk::new(DiskOptions::default());
            let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
            let other = Arc::clone(&log);
            let task = os::task::spawn("committer", move || {
                for i in 0..20 {
                    let at = note(&other, &mut TransactionChain::default(), &[&[i]]);
                    other.flush_to(at.last);
                }
            });
            for _ in 0..200 {
                let last = log.last_lsn();
                log.flush_all();
                assert!(last < log.durable_lsn(), "{last} was appended before");
                os::task::sleep_ns(10_000);
            }
            task.join().unwrap();
        });
    }
}

/// A full log refuses new promises with a reason, keeps the old ones, and is usable again once a
/// checkpoint has freed it.
#[test]
fn a_full_log_refuses_keeps_its_promises_and_is_freed_by_a_checkpoint() {
    let disk = disk();
    let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
    let mut undo = LogReservation::none(&log);
    undo.grow(100 << 10).unwrap();
    let mut forward = 0;
    loop {
        let mut r = LogReservation::none(&log);
        if let Err(e) = r.grow(2000) {
            log.set_reuse_wait(wal::ReuseWait::ActiveTransaction);
            assert!(matches!(e, WalError::Full { .. }));
            let text = r.grow(2000).unwrap_err().into_sql("db").to_string();
            assert!(text.contains("9002") || text.contains("ACTIVE_TRANSACTION"), "{text}");
            break;
        }
        let at = note(&log, &mut TransactionChain::default(), &[&[1; 1900]]);
        log.flush_to(at.last);
        forward += 1;
    }
    assert!(forward > 50, "{forward} groups fit before the log was full");
    assert!(log.usage().reserved_bytes >= 100 << 10);
    // The holder of a promise logs all of it, in the least favourable portions it may use.
    for _ in 0..50 {
        let at = note(&log, &mut TransactionChain::default(), &[&[2; 2000]]);
        log.flush_to(at.last);
    }
    drop(undo);
    assert_eq!(log.usage().reserved_bytes, 0);
    let at = checkpoint(&log);
    LogReservation::none(&log).grow(100 << 10).unwrap();
    let active = log.vlfs().iter().filter(|v| v.status == VlfStatus::Active).count();
    assert_eq!(active, 1, "{:?}", log.vlfs());
    assert!(log.vlfs().iter().any(|v| v.sequence == at.vlf()));
}

/// The log grows when it may, by its increment, and what it logs then survives a restart.
#[test]
fn a_log_grows_instead_of_refusing() {
    let disk = disk();
    let growing = LogOptions { growth_bytes: 512 << 10, max_bytes: 4 << 20, ..options() };
    let log = Log::create(file(&disk, true), FAMILY, growing).unwrap();
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut r = LogReservation::none(&log);
        r.grow(50_000).unwrap();
        held.push(r);
        note(&log, &mut TransactionChain::default(), &[&[4; 50_000]]);
    }
    log.flush_all();
    assert!(log.usage().total_bytes > 1 << 20 && log.vlfs().len() > 4);
    let vlfs = log.vlfs().len();
    drop((held, log));
    let log = reopen(&disk, growing).unwrap();
    assert_eq!(log.vlfs().len(), vlfs);
    assert_eq!(notes(&log, log.checkpoint().min_lsn).len(), 20);
}

/// The log writer makes room before it is needed: a session that then takes it touches no file.
/// Without need it does nothing, and not a byte more than may be.
#[test]
fn the_log_writer_grows_ahead_of_need_and_only_then() {
    let disk = disk();
    let most = (640 << 10) + (6 << 20);
    let growing = LogOptions { growth_bytes: 6 << 20, max_bytes: most, ..options() };
    let log = Log::create(file(&disk, true), FAMILY, growing).unwrap();
    let turns = |n: usize| (0..n).for_each(|_| log.writer_turn(os::clock::monotonic_ns()));
    let touched = || {
        let s = log.file().stats().snapshot();
        (s.writes, s.syncs, log.file().len().unwrap())
    };
    // The file's header is told how far the log is durable.
    turns(1);
    let idle = touched();
    turns(20);
    assert_eq!((touched(), log.vlfs().len()), (idle, 4), "nobody needs more");
    let nobody = &mut TransactionChain::default();
    while log.usage().used_bytes < 460 << 10 {
        note(&log, nobody, &[&[1; 4000]]);
        log.flush_all();
    }
    assert_eq!(log.usage().total_bytes, 640 << 10);
    let full = log.usage().used_bytes;
    turns(30);
    let grown = log.vlfs();
    assert_eq!(log.usage().total_bytes, (640 << 10) + (6 << 20), "one increment");
    assert_eq!(log.file().len().unwrap(), log.usage().total_bytes);
    let end = grown.last().map(|v| v.offset + v.bytes);
    assert_eq!((end, grown.len()), (Some(log.usage().total_bytes), 8), "{grown:?}");
    assert_eq!(log.usage().used_bytes, full, "growing logs nothing");
    let before = touched();
    let mut large = LogReservation::none(&log);
    large.grow(4 << 20).unwrap();
    assert_eq!(touched(), before, "the session waited for no file");
    turns(30);
    assert_eq!(log.vlfs().len(), 8, "it has all that it may have");
    assert!(matches!(large.grow(2 << 20), Err(WalError::Full { .. })));
    drop(large);
    drop(log);
    let log = reopen(&disk, growing).unwrap();
    assert_eq!(log.vlfs().len(), 8);
}

/// How a log grows is changed while it is in use: the last step ends at the limit, percent are of
/// its length, a limit below it is refused, and a length that is asked for is made at once.
#[test]
fn limits_and_lengths_change_while_the_log_is_in_use() {
    let disk = disk();
    let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
    let turns = |n: usize| (0..n).for_each(|_| log.writer_turn(os::clock::monotonic_ns()));
    let length = || log.usage().total_bytes;
    let first = length();
    let mut held = LogReservation::none(&log);
    assert!(matches!(held.grow(1 << 20), Err(WalError::Full { .. })));
    let most = 1280 << 10;
    let percent = LogOptions { growth_percent: 50, max_bytes: most, ..options() };
    assert_eq!(log.set_growth(&LogOptions { max_bytes: first - 8192, ..percent }), Err(first));
    assert_eq!(log.options().max_bytes, options().max_bytes, "nothing was changed");
    log.set_growth(&percent).unwrap();
    let use_up = |bytes: u64| {
        while log.usage().used_bytes < bytes {
            note(&log, &mut TransactionChain::default(), &[&[1; 4000]]);
            log.flush_all();
        }
        turns(5);
    };
    use_up(480 << 10);
    assert_eq!(length(), first + first / 2);
    use_up(720 << 10);
    assert_eq!(length(), most, "the last step ends at the limit");
    assert!(matches!(held.grow(1 << 20), Err(WalError::Full { .. })));
    log.resize(3 << 20).unwrap();
    assert_eq!((length(), log.file().len().unwrap()), (3 << 20, 3 << 20));
    held.grow(1 << 20).unwrap();
    turns(5);
    let end = log.vlfs().last().map(|v| v.offset + v.bytes);
    assert_eq!(end, Some(3 << 20), "all of it is made into VLFs");
    log.resize(1 << 20).unwrap();
    assert_eq!(length(), 3 << 20, "a log is never shorter");
    drop((held, log));
    let log = reopen(&disk, percent).unwrap();
    assert_eq!(log.usage().total_bytes, 3 << 20);
    log.restore_growth(&percent);
    let more = LogReservation::none(&log).grow(3 << 20);
    assert!(matches!(more, Err(WalError::Full { .. })));
}

/// A disk that has no room for the increment costs nothing but the refusal that follows, and the
/// log goes on as soon as there is room.
#[test]
fn a_full_disk_stops_growing_ahead_and_is_asked_again() {
    Simulation::run(1, Options::default(), |_| {
        let small = DiskOptions { latency: false, capacity_bytes: 3 << 20, ..Default::default() };
        let disk = Disk::new(small);
        let growing = LogOptions { growth_bytes: 1 << 20, max_bytes: 9 << 20, ..options() };
        let log = Log::create(file(&disk, true), FAMILY, growing).unwrap();
        let hog = disk.open(Path::new("hog"), OpenMode { create: true, direct: false }).unwrap();
        hog.set_len(2 << 20).unwrap();
        let nobody = &mut TransactionChain::default();
        while log.usage().used_bytes < 460 << 10 {
            note(&log, nobody, &[&[1; 4000]]);
            log.flush_all();
        }
        (0..5).for_each(|_| log.writer_turn(os::clock::monotonic_ns()));
        assert_eq!((log.vlfs().len(), log.file().len().unwrap()), (4, 640 << 10));
        let refused = LogReservation::none(&log).grow(300 << 10);
        assert!(matches!(refused, Err(WalError::Full { .. })));
        hog.set_len(0).unwrap();
        os::task::sleep_ns(2_000_000_000);
        (0..5).for_each(|_| log.writer_turn(os::clock::monotonic_ns()));
        assert_eq!(log.file().len().unwrap(), (640 << 10) + (1 << 20));
        LogReservation::none(&log).grow(300 << 10).unwrap();
    });
}

fn bytes(disk: &Disk) -> Vec<u8> {
    let f = file(disk, false);
    let mut b = vec![0; f.len().unwrap() as usize];
    f.read_at(&mut b, 0).unwrap();
    b
}

/// Each way to damage the file is told, and none is taken for an empty or shorter log.
#[test]
fn a_damaged_or_shortened_log_file_is_refused_with_a_reason() {
    let made = |change: &dyn Fn(&mut Vec<u8>)| {
        let disk = disk();
        let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
        for _ in 0..20 {
            note(&log, &mut TransactionChain::default(), &[&[5; 5000]]);
        }
        checkpoint(&log);
        log.flush_all();
        drop(log);
        let mut all = bytes(&disk);
        change(&mut all);
        let f = file(&disk, false);
        f.set_len(all.len() as u64).unwrap();
        f.write_at(&all, 0).unwrap();
        f.sync().unwrap();
        drop(f);
        reopen(&disk, options()).map(|log| notes(&log, log.checkpoint().min_lsn).len())
    };
    assert!(made(&|_| ()).is_ok());
    let refused = |what: &str, change: &dyn Fn(&mut Vec<u8>)| match made(change) {
        Ok(_) => panic!("{what}: opened"),
        Err(e) => {
            let text = e.to_string();
            assert!(text.contains(what), "{what}: {text}");
            assert!(e.into_sql("db").to_string().len() > 20);
        }
    };
    refused("its header is not that of a log", &|b| b[3] ^= 1);
    refused("its header is not that of a log", &|b| b[..512].fill(0));
    refused("it has no checkpoint", &|b| b[512..1536].fill(0xEE));
    refused("shortened", &|b| b.truncate(500 << 10));
    refused("virtual log file", &|b| b[8192 + 7] ^= 0x40);
    // Checksums are right from here on: what was written so is damage all the same.
    refused("the same number", &|b| {
        let second = 8192 + u32::from_le_bytes([b[8200], b[8201], b[8202], b[8203]]) as usize;
        b.copy_within(8192..8704, second);
    });
    refused("it has no checkpoint", &|b| {
        for at in [512, 1024] {
            // min_lsn behind the checkpoint
            b[at + 23] = 0x7F;
            let sum = crc32c::crc32c(&b[at..at + 508]);
            b[at + 508..at + 512].copy_from_slice(&sum.to_le_bytes());
        }
    });
    refused("missing or damaged", &|b| {
        b[16_384..160_000].iter_mut().step_by(512).for_each(|x| *x ^= 1)
    });
    // The newer of two pointers is damaged: the one before still opens the log.
    assert!(made(&|b| b[512 + 20] ^= 1).is_ok() && made(&|b| b[1024 + 20] ^= 1).is_ok());
    let nothing = disk();
    drop(file(&nothing, true));
    assert!(matches!(reopen(&nothing, options()), Err(WalError::Io(_) | WalError::NotALog(_))));
}

/// A block whose checksum is right, and whose last group goes on or whose records leave a rest, is
/// damage to a reader: neither the end of the log nor a reason to stop.
#[test]
fn a_sealed_block_whose_records_make_no_sense_is_an_error() {
    // The first block has the incarnation, this one the notes.
    const BLOCK: usize = 16_384 + 512;
    let read = |change: &dyn Fn(&mut [u8])| {
        let disk = disk();
        let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
        let last = note(&log, &mut TransactionChain::default(), &[&[5; 40], &[6; 40]]).last;
        log.flush_to(last);
        drop(log);
        let mut block = disk.bytes_at(Path::new(PATH), BLOCK as u64, 512);
        let used = u32::from_le_bytes([block[16], block[17], block[18], block[19]]) as usize;
        change(&mut block[..used]);
        let front = crc32c::crc32c_append(crc32c::crc32c(&block[..24]), &[0; 4]);
        let sum = crc32c::crc32c_append(front, &block[28..used]);
        block[24..28].copy_from_slice(&sum.to_le_bytes());
        disk.damage(Path::new(PATH), BLOCK as u64, &block);
        let log = reopen(&disk, options()).unwrap();
        let mut reader = LogReader::new(&log, log.checkpoint().min_lsn);
        let mut next = || reader.next_block(|_| Ok::<(), WalError>(()));
        next().and_then(|_| next()).map_err(|e| e.to_string())
    };
    assert_eq!(read(&|_| ()), Ok(true));
    // The last record of 28 + 40 bytes: its flags say MORE, or its length is one too small.
    let flags = |block: &mut [u8]| block[block.len() - 68 + 3] |= RecordFlags::MORE;
    let length = |block: &mut [u8]| block[block.len() - 68] -= 1;
    for change in [&flags as &dyn Fn(&mut [u8]), &length] {
        assert!(read(change).is_err_and(|text| text.contains("missing or damaged")));
    }
}

/// The largest group fits one block, one byte more is refused and adds nothing.
#[test]
fn a_group_is_bounded_by_a_block() {
    let disk = disk();
    let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
    let mut group = Group::new();
    let most = 61_440 - 32 - 16;
    assert!(group.push_plain(NOTE, 0, &vec![1; most + 1]).is_err() && group.is_empty());
    group.push_plain(NOTE, 0, &vec![1; most]).unwrap();
    assert!(group.push_plain(NOTE, 0, &[]).is_err());
    let at = log.append(&mut group, &mut TransactionChain::default());
    assert_eq!(RecordReader::new(&log).record(at.last).unwrap().payload().len(), most);
}

/// A block of a future that a crash cut off, sound and at the very place where the next could be,
/// is neither taken for the log's end nor read when the log goes on in another VLF.
#[test]
fn a_stale_block_is_no_successor() {
    let disk = disk();
    let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
    let nobody = &mut TransactionChain::default();
    while log.vlfs()[0].bytes - u64::from(log.next_lsn().block()) * 512 > 30_000 {
        let at = note(&log, nobody, &[&[1; 4000]]);
        log.flush_to(at.last);
    }
    let known = notes(&log, log.checkpoint().min_lsn);
    let known_end = log.end_to_tell().block();
    let before = bytes(&disk);
    let lost = note(&log, nobody, &[&[2; 8]]);
    log.flush_to(lost.last);
    let stale = note(&log, nobody, &[&[3; 9000]]);
    log.flush_to(stale.last);
    drop(log);
    // The crash keeps the second block and loses the first: both were of one flush, so the second
    // knows of nothing that is lost.
    let place = 8192 + lost.last.block() as usize * 512;
    let f = file(&disk, false);
    let at = 8192 + stale.last.block() as usize * 512;
    let mut second = disk.bytes_at(Path::new(PATH), at as u64, 9216);
    second[28..32].copy_from_slice(&known_end.to_le_bytes());
    let used = u32::from_le_bytes([second[16], second[17], second[18], second[19]]) as usize;
    let front = crc32c::crc32c_append(crc32c::crc32c(&second[..24]), &[0; 4]);
    let sum = crc32c::crc32c_append(front, &second[28..used]);
    second[24..28].copy_from_slice(&sum.to_le_bytes());
    f.write_at(&second, at as u64).unwrap();
    f.write_at(&before[place..place + 512], place as u64).unwrap();
    f.sync().unwrap();
    drop(f);
    let log = reopen(&disk, options()).unwrap();
    assert_eq!(notes(&log, log.checkpoint().min_lsn), known);
    assert_eq!(log.next_lsn().block(), lost.last.block(), "the new block has the lost one's place");
    let far = note(&log, nobody, &[&[4; 50_000]]);
    assert_eq!(far.first.vlf(), lost.last.vlf() + 1, "the group went to the next VLF");
    for flushed in [false, true] {
        if flushed {
            log.flush_all();
        }
        let now = notes(&log, log.checkpoint().min_lsn);
        assert_eq!(now.last().map(|n| n.0), Some(far.last));
        assert_eq!(now.len(), known.len() + 1);
    }
    drop(log);
    let log = reopen(&disk, options()).unwrap();
    assert_eq!(notes(&log, log.checkpoint().min_lsn).len(), known.len() + 1);
}

/// Whoever reads the log keeps what he reads: no checkpoint gives it away, the full log names him,
/// and when he has gone it is reused.
#[test]
fn what_is_being_read_is_not_reused() {
    let disk = disk();
    let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
    let first = note(&log, &mut TransactionChain::default(), &[b"first"]).first;
    let reader = log.hold(Some(first)).unwrap();
    let from_checkpoint = log.hold(None).unwrap();
    assert_eq!(from_checkpoint.from(), log.checkpoint().min_lsn);
    drop(from_checkpoint);
    // Into the third virtual log file.
    while log.next_lsn().vlf() < 3 {
        note(&log, &mut TransactionChain::default(), &[&[7; 14_000]]);
    }
    let at = checkpoint(&log);
    assert!(log.truncate(at), "it says that somebody reads");
    assert_eq!(notes(&log, first)[0].1, b"first");
    assert!(log.vlfs().iter().take(2).all(|v| v.status == VlfStatus::Active));
    drop(reader);
    assert!(!log.truncate(at));
    assert!(log.vlfs().iter().take(2).all(|v| v.status == VlfStatus::Inactive));
    let gone = [first, Lsn::new(99, 16, 1), log.next_lsn()];
    assert!(gone.iter().all(|&lsn| log.hold(Some(lsn)).is_err()), "not there, or not any more");
}

/// A log that has grown becomes short again, as far as nobody needs it; the log's own end moves
/// out of the way; it is opened again, and grows again.
#[test]
fn a_log_shrinks_to_what_is_needed() {
    let turns = |log: &Log| (0..20).for_each(|_| log.writer_turn(os::clock::monotonic_ns()));
    let disk = disk();
    let log = Log::create(file(&disk, true), FAMILY, options()).unwrap();
    log.resize(4 << 20).unwrap();
    turns(&log);
    let long = log.usage().total_bytes;
    assert_eq!(long, 4 << 20);
    let mut chain = TransactionChain::default();
    while log.usage().used_bytes < 3 << 20 {
        note(&log, &mut chain, &[&[1; 9000]]);
    }
    log.flush_all();
    assert_eq!(log.shrink(1 << 20).unwrap(), ShrinkStop::InUse, "it is needed");
    checkpoint(&log);
    assert!(log.leave_vlf(1 << 20), "its end lies behind the mark");
    assert!(!log.leave_vlf(1 << 20), "it does not any more");
    let end = checkpoint(&log);
    let mut room = LogReservation::none(&log);
    room.grow(2 << 20).unwrap();
    assert_eq!(log.shrink(0).unwrap(), ShrinkStop::Promised);
    assert!(log.usage().total_bytes > 2 << 20 && log.usage().total_bytes < long);
    drop(room);
    assert_eq!(log.shrink(1 << 20).unwrap(), ShrinkStop::Done);
    let short = log.usage().total_bytes;
    assert_eq!(short, log.file().len().unwrap());
    assert!((1 << 20..2 << 20).contains(&short), "{short}");
    assert_eq!(log.shrink(short - 1).unwrap(), ShrinkStop::Done, "a VLF is kept whole");
    assert_eq!(log.usage().total_bytes, short);
    let _stop = log.shrink(0).unwrap();
    let least = log.usage().total_bytes;
    assert!(least < short && log.vlfs().len() >= VLFS_MIN);
    let at = note(&log, &mut TransactionChain::default(), &[b"after"]).last;
    log.flush_to(at);
    drop(log);
    let log = reopen(&disk, options()).unwrap();
    assert_eq!(log.usage().total_bytes, least);
    assert!(notes(&log, end).iter().any(|n| n.0 == at && n.1 == b"after"));
    log.resize(2 << 20).unwrap();
    turns(&log);
    let last = *log.vlfs().last().unwrap();
    assert_eq!(last.offset + last.bytes, 2 << 20);
}
