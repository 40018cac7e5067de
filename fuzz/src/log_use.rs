//! What is done with a log that has opened: the second half of an input of target `log`.
//!
//! An input is a list of steps: groups, flushes, checkpoints, growth, shrinking, readers, promises
//! of room. A model remembers each note that was logged. A step that the log may refuse is refused
//! or done; none panics.
//!
//! Promises
//!  1. Every note from the checkpoint on is read back, and so is one that a hold covers.
//!  2. What was left for a record's flush is done once, and not before the record is durable.
//!  3. More is never used than there is, and no more is reserved than was asked.

use crate::Input;
use base::{AllocUnitId, Lsn, PageId};
use os::wait::Waiter;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use wal::{
    BlockScan, CheckpointEnd, Group, Kind, Log, LogHold, LogOptions, LogReader, LogReservation,
    RecordFlags, RecordReader, ReuseWait, Seal, ShrinkStop, TransactionChain, WalError, kinds,
};

/// A kind that nobody owns.
pub(crate) const NOTE: Kind = Kind(0xF0);
const STEPS_MAX: usize = 120;
const FILE_BYTES_MAX: u64 = 4 << 20;
const FILL_GROUPS_MAX: usize = 100;

/// A record that was logged: all bytes of its payload are one.
struct Note {
    lsn: Lsn,
    fill: u8,
    len: usize,
}

/// Somebody who uses a log.
struct User<'l> {
    log: &'l Arc<Log>,
    chain: TransactionChain,
    notes: Vec<Note>,
    holds: Vec<LogHold>,
    room: LogReservation,
    left: usize,
    done: Arc<AtomicUsize>,
}

/// Runs the steps, flushes, and reads all notes back; returns how many the next opening must find.
pub(crate) fn run(log: &Arc<Log>, input: &mut Input<'_>) -> Vec<(Lsn, u8, usize)> {
    let checkpointer = Arc::new(Waiter::new());
    log.relief().served_by(&checkpointer);
    let mut user = User {
        log,
        chain: TransactionChain { id: 11, ..TransactionChain::default() },
        notes: Vec::new(),
        holds: Vec::new(),
        room: LogReservation::none(log),
        left: 0,
        done: Arc::default(),
    };
    let mut steps = 0;
    while !input.is_empty() && steps < STEPS_MAX {
        steps += 1;
        user.step(input);
        user.sums();
    }
    user.end()
}

impl User<'_> {
    fn step(&mut self, input: &mut Input<'_>) {
        match input.byte() % 18 {
            0 => drop(self.append(1, input.byte(), usize::from(input.word()) % 9000)),
            1 => drop(self.append(1 + input.byte() % 5, input.byte(), 300)),
            2 => self.undo(),
            3 => self.log.flush_to(self.log.last_lsn()),
            4 => self.log.flush_commit(self.log.last_lsn()),
            5 => self.leave(input.byte()),
            6 => self.log.writer_turn(0),
            7 => self.checkpoint(input),
            8 => drop(self.log.truncate(self.place(input))),
            9 => self.hold(input),
            10 => self.shrink(length(input)),
            11 => drop(self.log.leave_vlf(length(input))),
            12 => self.resize(length(input)),
            13 => self.growth(input),
            14 => self.promise(input),
            15 => self.scan(self.place(input)),
            16 => self.fill(input.byte()),
            _ => self.refuse(input),
        }
    }

    /// Logs a group of notes where there is room; the last one's LSN.
    fn append(&mut self, records: u8, fill: u8, len: usize) -> Option<Lsn> {
        let mut group = Group::new();
        let payload = vec![fill; len];
        for slot in 0..records {
            let page = (PageId::new(1, 78), u16::from(slot), AllocUnitId(9));
            let flags = RecordFlags(0);
            let pushed = group.push_page(NOTE, flags, self.chain.id, Lsn::ZERO, page, &[&payload]);
            pushed.expect("a small group fits a block");
        }
        let appended = self.log_group(&mut group)?;
        let lsns = appended.0.0..=appended.1.0;
        self.notes.extend(lsns.map(|lsn| Note { lsn: Lsn(lsn), fill, len }));
        Some(appended.1)
    }

    /// Reserves, and appends what was reserved for; nothing where the log is full.
    fn log_group(&mut self, group: &mut Group) -> Option<(Lsn, Lsn)> {
        let mut room = LogReservation::none(self.log);
        if let Err(e) = room.grow(group.len() as u64) {
            assert!(matches!(e, WalError::Full { .. }), "{e}");
            return None;
        }
        let (before, bytes) = (self.log.next_lsn(), group.len() as u64);
        let counted = (self.chain.bytes, self.chain.records);
        let appended = self.log.append(group, &mut self.chain);
        assert!(appended.first >= before && appended.first <= appended.last);
        let records = appended.last.0 - appended.first.0 + 1;
        let logged = (self.chain.bytes - counted.0, self.chain.records - counted.1);
        assert!(logged == (bytes, records) || logged == (0, 0), "a chain counts what it has");
        Some((appended.first, appended.last))
    }

    fn undo(&mut self) {
        let mut group = Group::new();
        let next = self.notes.first().map_or(Lsn::ZERO, |note| note.lsn);
        group.push_compensation(self.chain.id, next).expect("a small group fits a block");
        if self.log_group(&mut group).is_some() {
            assert_eq!(self.chain.undo_next, next);
        }
    }

    fn leave(&mut self, how: u8) {
        let (log, lsn) = (Arc::clone(self.log), self.log.last_lsn());
        let done = Arc::clone(&self.done);
        self.left += 1;
        self.log.when_durable(lsn, move || {
            assert!(lsn < log.durable_lsn(), "promise 2");
            done.fetch_add(1, Relaxed);
        });
        match how % 4 {
            0 => self.log.flush_left(),
            1 => self.log.have_left_flushed(),
            2 => self.log.writer_turn(0),
            _ => {}
        }
    }

    fn checkpoint(&mut self, input: &mut Input<'_>) {
        let how = input.byte();
        let mut group = Group::new();
        let began = group.push_plain(kinds::CHECKPOINT_BEGIN, 0, &7_i64.to_le_bytes());
        began.expect("a small group fits a block");
        let Some((begin, _)) = self.log_group(&mut group) else { return };
        let least = self.log.checkpoint().min_lsn;
        let min_lsn = if how & 1 == 0 { begin } else { self.place(input).clamp(least, begin) };
        let payload = CheckpointEnd::bytes(min_lsn, 8, input.piece());
        let ended = group.push_plain(CheckpointEnd::KIND, 0, &payload);
        if ended.is_err() {
            return;
        }
        let Some((_, end)) = self.log_group(&mut group) else { return };
        self.log.flush_to(end);
        let mut reader = RecordReader::new(self.log);
        let record = reader.record(end).expect("the checkpoint's end was logged");
        let read = CheckpointEnd::of(&record).expect("it is one");
        assert_eq!((read.min_lsn, read.at), (min_lsn, Some(8)));
        if self.log.set_checkpoint(begin, min_lsn, how & 2 != 0).is_ok() {
            let pointer = self.log.checkpoint();
            assert_eq!((pointer.checkpoint, pointer.min_lsn), (begin, min_lsn));
            self.log.set_reuse_wait(ReuseWait::OldestPage);
        }
    }

    /// A note's place, or one that may be nowhere.
    fn place(&self, input: &mut Input<'_>) -> Lsn {
        let (at, how) = (usize::from(input.byte()), input.byte());
        match self.notes.get(at % self.notes.len().max(1)) {
            Some(note) if how < 200 => note.lsn,
            _ if how < 240 => self.log.checkpoint().min_lsn,
            _ => Lsn::new(u32::from(how), u32::from(input.word()), u16::from(how) & 0xFF),
        }
    }

    fn hold(&mut self, input: &mut Input<'_>) {
        let (how, from) = (input.byte(), self.place(input));
        if how & 1 == 0 && !self.holds.is_empty() {
            self.holds.remove(usize::from(how / 2) % self.holds.len());
        } else if let Ok(hold) = self.log.hold((how & 2 == 0).then_some(from)) {
            self.holds.push(hold);
        }
    }

    fn shrink(&mut self, to: u64) {
        let before = self.log.usage().total_bytes;
        let stop = self.log.shrink(to).expect("a disk in memory cuts");
        let (after, vlfs) = (self.log.usage().total_bytes, self.log.vlfs());
        assert!(after <= before && vlfs.len() >= 2, "{before} to {after}");
        let last = vlfs.last().map_or(0, |v| v.offset);
        assert!(stop != ShrinkStop::Done || last < to, "{stop:?} at {to}, last at {last}");
        assert_eq!(self.log.file().len().ok(), Some(after));
    }

    fn resize(&mut self, to: u64) {
        let before = self.log.usage().total_bytes;
        self.log.resize(to).expect("a disk in memory is large enough");
        assert_eq!(self.log.usage().total_bytes, before.max(to));
    }

    fn growth(&mut self, input: &mut Input<'_>) {
        let (how, max_bytes) = (input.byte(), length(input));
        let growth_bytes = u64::from(how & 7) << 15;
        let growth_percent = if how & 8 == 0 { 0 } else { u32::from(how) };
        let to = LogOptions { growth_bytes, growth_percent, max_bytes, ..self.log.options() };
        if how & 16 == 0 {
            self.log.restore_growth(&to);
            assert_eq!(self.log.options().max_bytes, max_bytes);
        } else if let Err(length) = self.log.set_growth(&to) {
            assert!(length > max_bytes && self.log.usage().total_bytes == length);
        }
    }

    fn promise(&mut self, input: &mut Input<'_>) {
        let (how, bytes) = (input.byte(), u64::from(input.word()) * 40);
        let before = self.room.bytes();
        let cancelled = Waiter::new();
        cancelled.cancel(os::wait::CancelReason::Attention);
        let asked = match how % 4 {
            0 => self.room.grow(bytes),
            1 => self.room.patiently(Some(&cancelled), |room| room.grow(bytes)),
            2 => self.room.confirm(),
            _ => {
                self.room.shrink(bytes);
                assert_eq!(self.room.bytes(), before.saturating_sub(bytes));
                return;
            }
        };
        let more = if how % 4 < 2 && asked.is_ok() { bytes } else { 0 };
        assert_eq!(self.room.bytes(), before + more, "what is refused changes nothing");
        if self.log.relief().is_asked() {
            self.log.relief().done();
        }
    }

    fn scan(&self, from: Lsn) {
        let mut scan = BlockScan::new(&**self.log, from);
        let mut at = Lsn::ZERO;
        while let Ok(true) = scan.next_block() {
            let block = scan.block();
            assert!(block.lsn > at && block.records == scan.len());
            assert!(block.bytes >= block.header_bytes + block.record_bytes);
            let bytes: usize = scan.records().map(|record| record.bytes.len()).sum();
            assert_eq!(bytes, block.record_bytes);
            let since = self.log.bytes_since(block.lsn);
            assert!(since <= self.log.usage().total_bytes, "{since}");
            at = block.lsn;
        }
    }

    /// Logs until there is no room, at most so much.
    fn fill(&mut self, fill: u8) {
        for _ in 0..FILL_GROUPS_MAX {
            if self.append(6, fill, 9900).is_none() {
                break;
            }
        }
    }

    /// Groups that are too long, and a log that is sealed for the rest of the input.
    fn refuse(&mut self, input: &mut Input<'_>) {
        let mut group = Group::new();
        let long = vec![1; 60 << 10];
        assert!(group.push_plain(NOTE, 0, &long).is_err() && group.is_empty());
        if input.byte() == 0xFF {
            self.log.seal(Seal::ReadOnly);
            let refused = LogReservation::none(self.log).grow(1);
            assert!(matches!(refused, Err(WalError::Sealed(Seal::ReadOnly))));
            input.rest();
        }
    }

    fn sums(&self) {
        let usage = self.log.usage();
        assert!(usage.used_bytes <= usage.total_bytes, "promise 3");
        assert!(usage.log_bytes() < usage.total_bytes);
        assert!(self.room.bytes() <= usage.reserved_bytes, "what is held is counted");
        assert!(self.log.durable_lsn() >= self.log.end_to_tell());
        assert!(self.done.load(Relaxed) <= self.left, "promise 2");
    }

    fn end(mut self) -> Vec<(Lsn, u8, usize)> {
        self.log.flush_all();
        self.log.flush_left();
        assert_eq!(self.done.load(Relaxed), self.left, "promise 2");
        for hold in &self.holds {
            let from = hold.from();
            let own = self.notes.first().is_some_and(|note| note.lsn <= from);
            assert!(!own || all_there(self.log, from, &self.notes), "promise 1: a hold");
        }
        let least = self.log.checkpoint().min_lsn;
        let activity = self.log.activity();
        assert!(activity.flushed_bytes >= activity.flushes * 512);
        self.notes.retain(|note| note.lsn >= least);
        let from = self.notes.first().map(|note| note.lsn);
        assert!(from.is_none_or(|from| all_there(self.log, from, &self.notes)), "promise 1");
        drop(self.holds);
        self.notes.into_iter().map(|note| (note.lsn, note.fill, note.len)).collect()
    }
}

/// A length of a file.
fn length(input: &mut Input<'_>) -> u64 {
    u64::from(input.word()) * 512 % FILE_BYTES_MAX
}

fn all_there(log: &Log, from: Lsn, notes: &[Note]) -> bool {
    let expected = notes.iter().filter(|note| note.lsn >= from);
    found_from(log, from, expected.map(|note| (note.lsn, note.fill, note.len)))
}

/// Whether a reader that begins at a place meets exactly these notes in order, but for what others
/// have logged between them.
pub(crate) fn found_from(
    log: &Log,
    from: Lsn,
    expected: impl Iterator<Item = (Lsn, u8, usize)>,
) -> bool {
    let mut expected = expected.peekable();
    let mut reader = LogReader::new(log, from);
    let more = |reader: &mut LogReader<'_>, expected: &mut std::iter::Peekable<_>| {
        reader.next_block(|group| {
            for record in group.records {
                let next: Option<&(Lsn, u8, usize)> = expected.peek();
                let Some(&(lsn, fill, len)) = next else { break };
                let payload = record.payload();
                if record.lsn == lsn && payload.len() == len && payload.iter().all(|&b| b == fill) {
                    expected.next();
                }
            }
            Ok::<(), WalError>(())
        })
    };
    while let Ok(true) = more(&mut reader, &mut expected) {}
    expected.next().is_none()
}
