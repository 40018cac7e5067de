//! Target `log`: the bytes of a log file through opening, scanning, reading back and going on.
//!
//! An input is a list of changes to a small sound log: bytes anywhere, bytes of a record, a block
//! of records of its own, a VLF's header, a checkpoint pointer. A byte in front says whether
//! checksums are made right afterwards. Behind a mark come the steps of somebody who uses the log
//! (`log_use.rs`).
//!
//! Promises
//!  1. A log opens, or an error says why not; what is read are groups that end.
//!  2. An opened log can be read to its end, each record by its LSN too, and takes new groups,
//!     which are there after the next opening.
//!  3. A log that does not open is salvaged up to its damage or refused, and its file is not
//!     written.

use crate::Input;
use crate::input::put_piece;
use crate::log_image::{self, SECTOR};
use crate::log_use::{self, NOTE};
use crate::memory::MemoryFile;
use base::{AllocUnitId, Lsn, PageId};
use os::disk::File;
use std::sync::{Arc, OnceLock};
use wal::{
    CheckpointEnd, FoundLog, Group, Log, LogOptions, LogReader, LogReservation, RecordFlags,
    RecordReader, Seal, TransactionChain, WalError, kinds,
};

const FAMILY: [u8; 16] = [3; 16];
const CHANGES_MAX: usize = 60;
/// More records than the small log has: a scan that reads more goes in a circle.
const RECORDS_MAX: usize = 200_000;

fn options() -> LogOptions {
    LogOptions {
        initial_bytes: 560 << 10,
        growth_bytes: 256 << 10,
        growth_percent: 0,
        max_bytes: 4 << 20,
        durable: true,
    }
}

fn note(log: &Log, chain: &mut TransactionChain, payloads: &[&[u8]]) -> Lsn {
    let mut group = Group::new();
    for p in payloads {
        let page = (PageId::new(1, 77), 5, AllocUnitId(9));
        let pushed = group.push_page(NOTE, RecordFlags(0), chain.id, Lsn::ZERO, page, &[p]);
        pushed.expect("a small group fits a block");
    }
    assert_eq!(group.last_payload(), *payloads.last().unwrap_or(&&[][..]));
    log.append(&mut group, chain).last
}

/// A sound log, the same bytes in every process.
fn sound() -> &'static [u8] {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let file = MemoryFile::new(Vec::new());
        let log = Log::create(Arc::clone(&file) as Arc<dyn File>, FAMILY, options());
        let log = log.expect("an empty file becomes a log");
        let mut chain = TransactionChain { id: 7, ..TransactionChain::default() };
        for n in 0..24_u8 {
            let mut group = Group::new();
            group.push_plain(kinds::BEGIN, 7, &[n; 9]).expect("room");
            log.append(&mut group, &mut chain);
            let long = vec![n; 900 + usize::from(n) * 60];
            let last = note(&log, &mut chain, &[b"one", &long, b"three"]);
            group.push_compensation(7, last).expect("room");
            log.append(&mut group, &mut chain);
            if n % 3 == 0 {
                log.flush_to(last);
            }
            if n == 8 || n == 16 {
                checkpoint(&log);
            }
        }
        log.flush_all();
        let mut image = file.copy();
        let blocks = log_image::blocks(&image);
        assert!(blocks.len() > 5, "several blocks");
        // The incarnation is random; here it is not.
        let first = log_image::records(&image, blocks[0])[0];
        image[first + 16..first + 24].fill(1);
        log_image::seal_chain(&mut image, &blocks);
        image
    })
}

/// A checkpoint as a database takes it.
fn checkpoint(log: &Arc<Log>) {
    let (mut group, mut nobody) = (Group::new(), TransactionChain::default());
    group.push_plain(kinds::CHECKPOINT_BEGIN, 0, &1_i64.to_le_bytes()).expect("room");
    let begin = log.append(&mut group, &mut nobody).last;
    let payload = CheckpointEnd::bytes(begin, 2, b"carried");
    group.push_plain(CheckpointEnd::KIND, 0, &payload).expect("room");
    log.append(&mut group, &mut nobody);
    log.flush_all();
    log.set_checkpoint(begin, begin, false).expect("memory");
}

/// Alters the log, opens it, reads it, uses it.
pub(crate) fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let seal = input.byte() & 1 == 0;
    let mut image = sound().to_vec();
    let mut places = log_image::blocks(&image);
    let mut changes = 0;
    while !input.is_empty() && changes < CHANGES_MAX {
        changes += 1;
        if change(&mut image, &mut places, &mut input, seal) == NextAction::Use {
            break;
        }
    }
    if seal {
        places.sort_unstable();
        places.dedup();
        log_image::seal_chain(&mut image, &places);
    }
    open(image, input);
}

/// What an input goes on with.
#[derive(PartialEq, Eq)]
enum NextAction {
    Change,
    Use,
}

fn overwrite(image: &mut [u8], at: usize, piece: &[u8]) {
    for (byte, new) in image.iter_mut().skip(at).zip(piece) {
        *byte = *new;
    }
}

fn change(
    image: &mut Vec<u8>,
    places: &mut Vec<usize>,
    input: &mut Input<'_>,
    seal: bool,
) -> NextAction {
    let which = usize::from(input.byte());
    match input.byte() % 8 {
        7 => return NextAction::Use,
        0 => {
            let at = input.long() as usize % image.len();
            overwrite(image, at, input.piece());
        }
        1 => {
            let block = places[which % places.len()];
            let within = usize::from(input.word()) % 600;
            overwrite(image, block + within, input.piece());
        }
        2 => {
            let records = log_image::records(image, places[which % places.len()]);
            if let Some(&record) = records.get(usize::from(input.byte()) % records.len().max(1)) {
                let within = usize::from(input.byte());
                overwrite(image, record + within, input.piece());
            }
        }
        3 => own_block(image, places, which, input),
        4 => {
            let at = SECTOR * (1 + which % 2);
            pointer(image, at, input);
            if seal {
                log_image::seal_sector(image, at);
            }
        }
        5 => {
            let vlf = vlf_offset(image, which);
            let within = usize::from(input.byte()) % 32;
            overwrite(image, vlf + within, input.piece());
            if seal {
                log_image::seal_sector(image, vlf);
            }
        }
        _ => match which % 4 {
            0 => {
                overwrite(image, 0, input.piece());
                log_image::seal_sector(image, 0);
            }
            1 => image.truncate((input.long() as usize % image.len()).max(SECTOR)),
            _ => {}
        },
    }
    NextAction::Change
}

fn vlf_offset(image: &[u8], which: usize) -> usize {
    let mut at = log_image::FIRST_VLF;
    for _ in 0..which % 4 {
        let Some(bytes) = image.get(at + 8..at + 12) else { break };
        let bytes = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        if bytes == 0 || at + bytes >= image.len() {
            break;
        }
        at += bytes;
    }
    at
}

/// A pointer's fields, near to what they are so that they often make sense.
fn pointer(image: &mut [u8], at: usize, input: &mut Input<'_>) {
    let field = usize::from(input.byte()) % 5;
    let (offset, bytes) = [(0, 8), (8, 8), (16, 8), (24, 1), (32, 8)][field];
    let (how, value) = (input.byte(), input.long());
    let Some(place) = image.get_mut(at + offset..at + offset + bytes) else { return };
    match how % 3 {
        0 => place[0] = place[0].wrapping_add(value as u8),
        1 => overwrite(place, 0, &value.to_le_bytes()),
        _ => overwrite(place, bytes / 2, &value.to_le_bytes()),
    }
}

/// A block behind the last, or in place of another, with the input's bytes as its records.
fn own_block(image: &mut [u8], places: &mut Vec<usize>, which: usize, input: &mut Input<'_>) {
    let model = places[which % places.len()];
    let (count, odd) = (input.byte(), input.byte());
    let body = input.piece();
    let Some(header) = image.get(model..model + 32).map(<[u8]>::to_vec) else { return };
    let units = usize::from(u16::from_le_bytes([header[12], header[13]]));
    let last = *places.iter().max().unwrap_or(&model);
    let at = if odd & 1 == 0 { model } else { last + units.max(1) * SECTOR };
    let used = (32 + body.len()) as u32;
    let own_units = (used as usize).div_ceil(SECTOR) + usize::from(odd >> 6);
    overwrite(image, at, &header);
    let number = (at as u32 / SECTOR as u32).wrapping_sub(16);
    if odd & 1 != 0 {
        overwrite(image, at + 8, &number.to_le_bytes());
    }
    overwrite(image, at + 12, &(own_units as u16).to_le_bytes());
    overwrite(image, at + 14, &u16::from(count).to_le_bytes());
    overwrite(image, at + 16, &used.to_le_bytes());
    overwrite(image, at + 32, body);
    places.push(at);
}

fn open(image: Vec<u8>, mut input: Input<'_>) {
    let file = MemoryFile::new(image);
    let before = file.copy();
    match Log::open(Arc::clone(&file) as Arc<dyn File>, options()) {
        Err(e) => {
            assert!(file.copy() == before, "what does not open is not written");
            let _ = (e.to_string(), e.damaged_at());
            assert!(e.into_sql("db").number() > 0);
            salvage(before);
        }
        Ok(log) => {
            read(&log, log.checkpoint().min_lsn);
            read(&log, log.checkpoint().checkpoint);
            let notes = if input.is_empty() {
                go_on(&log);
                Vec::new()
            } else {
                log_use::run(&log, &mut input)
            };
            drop(log);
            reopened(file, notes);
        }
    }
}

/// Reads what is there of a damaged log, and goes on in a copy of it.
fn salvage(image: Vec<u8>) {
    let file = MemoryFile::new(image.clone());
    let Ok(mut found) = FoundLog::salvage(Arc::clone(&file) as Arc<dyn File>) else { return };
    let _ = (found.family(), found.end(), found.must_reach(Lsn::MAX).is_err());
    assert!(file.copy() == image, "promise 3");
    if found.widen().is_err() {
        return;
    }
    if let Ok(log) = found.open(LogOptions { durable: false, ..options() }) {
        read(&log, log.checkpoint().min_lsn);
        if log.go_on().is_ok() {
            let mut chain = TransactionChain { id: 9, ..TransactionChain::default() };
            let last = note(&log, &mut chain, &[b"undone", &[1; 3000]]);
            log.flush_to(last);
            let mut records = RecordReader::new(&log);
            assert!(records.record(last).is_ok_and(|r| r.payload().len() == 3000));
            log.seal(Seal::Emergency);
            assert!(LogReservation::none(&log).grow(1).is_err(), "a sealed log gives no room");
        }
    }
}

/// Every group from a place on, and each of its records again by its LSN.
fn read(log: &Log, from: Lsn) -> usize {
    let mut reader = LogReader::new(log, from);
    let mut lsns = Vec::new();
    let mut notes = 0;
    loop {
        let more = reader.next_block(|group| {
            assert_eq!(group.end(), group.records[group.records.len() - 1].lsn);
            for r in group.records {
                let facts = (r.kind(), r.page(), r.slot(), r.alloc_unit(), r.transaction());
                notes += usize::from(facts.0 == NOTE && r.payload() == b"again");
                lsns.push((r.lsn, r.previous()));
            }
            assert!(lsns.len() < RECORDS_MAX, "the log goes in a circle");
            Ok::<(), WalError>(())
        });
        match more {
            Ok(true) => {}
            Ok(false) => break,
            Err(e) => {
                assert!(e.into_sql("db").number() > 0);
                break;
            }
        }
    }
    let mut records = RecordReader::new(log);
    for (lsn, previous) in lsns.iter().step_by(lsns.len() / 50 + 1) {
        let record = records.record(*lsn).expect("a record that was read is found");
        assert_eq!((record.lsn, record.previous()), (*lsn, *previous));
        let _ = records.record(*previous).map(|r| r.payload().len());
    }
    notes
}

fn go_on(log: &Arc<Log>) {
    let _ = (log.family(), log.vlfs(), log.usage(), log.options(), log.file().len());
    let mut room = LogReservation::none(log);
    if room.grow(64 << 10).is_err() || room.confirm().is_err() {
        return;
    }
    let mut chain = TransactionChain { id: 9, ..TransactionChain::default() };
    let mut last = Lsn::ZERO;
    for n in 0..4 {
        last = note(log, &mut chain, &[b"again", &[n; 3000]]);
    }
    log.flush_to(last);
    assert_eq!(chain.records, 8);
    room.shrink(1000);
    assert!(room.bytes() > 0);
    if log.set_checkpoint(last, last, false).is_ok() {
        log.set_reuse_wait(wal::ReuseWait::Nothing);
        log.truncate(last);
        let usage = log.usage();
        assert!(usage.used_bytes <= usage.total_bytes);
    }
}

/// What was appended is there at the next opening.
fn reopened(file: Arc<MemoryFile>, notes: Vec<(Lsn, u8, usize)>) {
    let log = Log::open(file as Arc<dyn File>, options());
    let log = log.expect("a log that opened once opens again");
    let _ = read(&log, log.checkpoint().min_lsn);
    if let Some(&(first, _, _)) = notes.first() {
        assert!(log_use::found_from(&log, first, notes.into_iter()), "promise 2");
    }
    log.flush_all();
}

/// Changes of every sort.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![0], vec![1]];
    let image = sound();
    let blocks = log_image::blocks(image);
    let records = log_image::records(image, blocks[1]);
    let body = image[records[0]..records[1]].to_vec();
    for sealed in [0, 1_u8] {
        for which in 0..4_u8 {
            let mut seed = vec![sealed, which, 1, 14, 0];
            put_piece(&mut seed, &[2, 0]);
            seed.extend_from_slice(&[which, 2, which, 2]);
            put_piece(&mut seed, &[3, 1]);
            seeds.push(seed);
            for odd in [0, 1, 0x41] {
                let mut seed = vec![sealed, which, 3, 1, odd];
                put_piece(&mut seed, &body);
                seeds.push(seed);
            }
            for field in 0..5 {
                let seed = vec![sealed, which, 4, field, 0, 1, 0, 0, 0];
                seeds.push(seed);
            }
            let mut seed = vec![sealed, which, 5, 4];
            put_piece(&mut seed, &[1]);
            seed.extend_from_slice(&[which, 6, 0, 0x20, 2, 0]);
            seeds.push(seed);
            seeds.push([&[sealed, 0, 7][..], &used(which)].concat());
            seeds.push([&[sealed][..], &lost_pointers(which), &[0, 7], &used(which)].concat());
            let mut seed = vec![sealed, which, 0, 0, 0x40, 0, 0];
            put_piece(&mut seed, &[9; 20]);
            seeds.push(seed);
        }
    }
    seeds
}

/// Every step of `log_use.rs` with several arguments.
fn used(which: u8) -> Vec<u8> {
    let mut steps = Vec::new();
    for round in 0..4_u8 {
        for step in 0..17 {
            steps.extend_from_slice(&[step, round + which, which * 40 + round, 3 + which]);
            steps.extend_from_slice(&[0, 5, 20 + round, 1, 3, 6, 1 + round, 14, round, 200, 9]);
        }
        steps.extend_from_slice(&[
            16, round, 7, 0, 0, 0, 8, 0, 210, 10, 0, 6, 6, 11, 0, 2, 10, 0, 0,
        ]);
    }
    steps
}

/// Damage that takes away one checkpoint pointer or both, a header, or a block.
fn lost_pointers(which: u8) -> Vec<u8> {
    let mut seed = Vec::new();
    let place = |at: u32, seed: &mut Vec<u8>| {
        seed.extend_from_slice(&[0, 0]);
        seed.extend_from_slice(&at.to_le_bytes());
        put_piece(seed, &[0xEE; 24]);
    };
    for at in [512, 1024] {
        place(at, &mut seed);
    }
    match which {
        1 => place(log_image::FIRST_VLF as u32, &mut seed),
        2 => place(log_image::FIRST_VLF as u32 + 8192 + 2048, &mut seed),
        3 => place(0, &mut seed),
        _ => {}
    }
    seed
}
