//! `Log`: one database's log stream, open for appending.
//!
//! Opening finds the end (`found.rs`), and then goes on from there.

use crate::append::Tail;
use crate::counters::Counters;
use crate::flush::{FlushState, FlushWaits};
use crate::growth::Growth;
use crate::mutations::Mutations;
use crate::record::kinds;
use crate::relief::LogRelief;
use crate::space::{new_vlfs, write_vlfs};
use crate::vlf::{FILE_HEADER_BYTES, VlfState, VlfStatus};
use crate::{CheckpointPointer, Group, ReuseWait, Seal, TransactionChain, WalError, file_header};
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use os::disk::File;
use os::latch::LatchClass;
use os::sync::{Mutex, PaddedCell};
use os::wait::{Waiter, Wake};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// The largest log: 2 TB.
pub const LOG_BYTES_MAX: u64 = 2 << 40;

/// How a log behaves.
#[derive(Clone, Copy, Debug)]
pub struct LogOptions {
    /// Size at creation, file header included.
    pub initial_bytes: u64,
    /// How much the file grows at a time; 0 = never.
    pub growth_bytes: u64,
    /// By how much of its size it grows at a time; 0 = by bytes.
    pub growth_percent: u32,
    /// The largest it may become.
    pub max_bytes: u64,
    /// Whether a flush syncs; tempdb's log does not survive anyway.
    pub durable: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        LogOptions {
            initial_bytes: 1 << 20,
            growth_bytes: 64 << 20,
            growth_percent: 0,
            max_bytes: LOG_BYTES_MAX,
            durable: true,
        }
    }
}

/// Where a group went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupRange {
    /// Its first record.
    pub first: Lsn,
    /// Its last record: the LSN that its pages are stamped with.
    pub last: Lsn,
}

/// Sizes for sys.dm_db_log_space_usage and DBCC SQLPERF(LOGSPACE).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogUsage {
    /// The file.
    pub total_bytes: u64,
    /// Active VLFs as far as they are filled.
    pub used_bytes: u64,
    /// Promised to transactions for their undo.
    pub reserved_bytes: u64,
}

impl LogUsage {
    /// The file without its header, which SQL Server does not count as log.
    pub fn log_bytes(&self) -> u64 {
        self.total_bytes - FILE_HEADER_BYTES
    }
}

/// One database's log stream.
pub struct Log {
    pub(crate) file: Arc<dyn File>,
    pub(crate) durable_flushes: bool,
    /// How it grows changes with `growth` held.
    pub(crate) options: Mutex<LogOptions>,
    pub(crate) tail: PaddedCell<Mutex<Tail>>,
    pub(crate) next: PaddedCell<AtomicU64>,
    pub(crate) durable: PaddedCell<AtomicU64>,
    pub(crate) flushing: Mutex<FlushState>,
    pub(crate) waits: FlushWaits,
    /// When the last flush ended.
    pub(crate) flushed_ns: AtomicU64,
    pub(crate) writer_wanted: Waiter,
    pub(crate) counters: Counters,
    pub(crate) growth: Mutex<Growth>,
    /// Length of the file, as `growth` has it.
    pub(crate) allocated: AtomicU64,
    /// The log writer grows ahead when less than this is free.
    pub(crate) grow_below: AtomicU64,
    pub(crate) free: AtomicU64,
    pub(crate) reserved: PaddedCell<AtomicU64>,
    pub(crate) reuse_wait: Mutex<ReuseWait>,
    /// Where each reader's hold of the log begins. Locked before `pointer` and `tail`.
    pub(crate) holds: Mutex<Vec<Lsn>>,
    pub(crate) pointer: Mutex<CheckpointPointer>,
    pub(crate) mutations: Mutations,
    /// The headers of VLFs that only lost records had entered; `go_on` writes and clears it.
    pub(crate) lost: Mutex<Option<Vec<VlfState>>>,
    sealed: AtomicU8,
    /// The end of the last block that is on disk.
    pub(crate) durable_end: AtomicU64,
    /// The value of that which is in the file's header.
    pub(crate) noted_end: AtomicU64,
    relief: LogRelief,
    family: [u8; 16],
}

impl Log {
    /// Makes the log of a new database in an empty file, durably.
    ///
    /// # Errors
    /// The operating system's.
    pub fn create(
        file: Arc<dyn File>,
        family: [u8; 16],
        options: LogOptions,
    ) -> Result<Arc<Log>, WalError> {
        assert!(options.initial_bytes > FILE_HEADER_BYTES, "a log has a VLF");
        file.set_len(options.initial_bytes)?;
        file_header::write_identity(&*file, &family)?;
        let mut vlfs = new_vlfs(options.initial_bytes);
        (vlfs[0].sequence, vlfs[0].parity, vlfs[0].status) = (1, 64, VlfStatus::Active);
        write_vlfs(&*file, &vlfs)?;
        let start = vlfs[0].first_block();
        let first = Lsn(start.0 + 1);
        let end = vlfs.last().map_or(FILE_HEADER_BYTES, |v| v.offset + v.bytes);
        let pointer = CheckpointPointer {
            generation: 1,
            checkpoint: first,
            min_lsn: first,
            clean: false,
            file_bytes: end,
            durable_end: start,
        };
        let tail = Tail::new(vlfs, 0, start, 0);
        let log = Self::start(file, family, options, tail, pointer)?;
        // The pointer comes last: a file without one is no log yet, one with it has a first block.
        log.flush_all();
        assert!(log.durable_lsn() > first, "the checkpoint's record is durable before its pointer");
        assert!(end <= options.initial_bytes, "the VLFs lie within the file");
        log.write_pointer(&mut log.pointer.lock(), pointer)?;
        Ok(log)
    }

    /// Continues behind the end that was found, durably. Whatever else a crash has left behind it
    /// is lost from now on (rule 5). Before this call nothing is written and no thread appends.
    /// After it, no later crash can make a lost block follow again.
    ///
    /// # Errors
    /// The operating system's.
    pub fn go_on(&self) -> Result<(), WalError> {
        let lost = self.lost.lock().take();
        let lost = lost.expect("a log that was found goes on once");
        for v in &lost {
            self.file.write_at(&v.header(), v.offset)?;
        }
        if !lost.is_empty() {
            synced(&*self.file);
        }
        let end_of_vlfs = self.growth.lock().end();
        if self.checkpoint().file_bytes < end_of_vlfs {
            // A crash came between the header of a new VLF and the pointer: before it is used.
            self.note_length(end_of_vlfs)?;
        }
        self.flush_all();
        assert!(self.last_lsn() < self.durable_lsn(), "rule 5: the incarnation is durable");
        Ok(())
    }

    /// Refuses every further append, for a database that is open to be read.
    pub fn seal(&self, why: Seal) {
        self.sealed.store(why as u8, Relaxed);
    }

    /// Why nothing may be logged, if that is so.
    pub(crate) fn sealed(&self) -> Option<Seal> {
        let sealed = self.sealed.load(Relaxed);
        [Seal::Emergency, Seal::ReadOnly].into_iter().find(|seal| *seal as u8 == sealed)
    }

    pub(crate) fn start(
        file: Arc<dyn File>,
        family: [u8; 16],
        options: LogOptions,
        tail: Tail,
        pointer: CheckpointPointer,
    ) -> Result<Arc<Log>, WalError> {
        let end = tail.vlfs.last().map_or(FILE_HEADER_BYTES, |v| v.offset + v.bytes);
        let allocated = file.len()?;
        let (durable, next) = (tail.block.lsn.0, tail.block.next_lsn().0);
        let log = Log {
            file,
            durable_flushes: options.durable,
            options: Mutex::new(options),
            tail: PaddedCell(Mutex::of(LatchClass::LogManager, tail)),
            next: PaddedCell(AtomicU64::new(next)),
            durable: PaddedCell(AtomicU64::new(durable)),
            flushing: Mutex::of(LatchClass::LogManager, FlushState::default()),
            waits: FlushWaits::default(),
            flushed_ns: AtomicU64::new(0),
            writer_wanted: Waiter::new(),
            counters: Counters::default(),
            growth: Mutex::of(LatchClass::LogManager, Growth::new(end, allocated)),
            allocated: AtomicU64::new(allocated),
            grow_below: AtomicU64::new(0),
            free: AtomicU64::new(0),
            reserved: PaddedCell::default(),
            reuse_wait: Mutex::new(ReuseWait::Nothing),
            holds: Mutex::default(),
            pointer: Mutex::new(pointer),
            mutations: Mutations::default(),
            lost: Mutex::default(),
            sealed: AtomicU8::new(0),
            durable_end: AtomicU64::new(durable),
            noted_end: AtomicU64::new(0),
            relief: LogRelief::default(),
            family,
        };
        log.publish_free(&log.tail.lock());
        log.watch_free(&log.growth.lock());
        let mut group = Group::new();
        let incarnation = os::entropy::random_u64().to_le_bytes();
        let pushed = group.push_plain(kinds::INCARNATION, 0, &incarnation);
        assert!(pushed.is_ok(), "an empty group has room for 24 bytes");
        let first = log.append(&mut group, &mut TransactionChain::default()).first;
        assert!(first.0 >= next && first.0 > durable, "it begins behind what was found");
        assert_eq!(log.reserved.load(Relaxed), 0, "nobody has been promised anything");
        Ok(Arc::new(log))
    }

    /// The family id that ties this log to its data files.
    pub fn family(&self) -> [u8; 16] {
        self.family
    }

    /// The file, for its statistics.
    pub fn file(&self) -> &Arc<dyn File> {
        &self.file
    }

    /// Where sessions ask for a checkpoint because the log is full.
    pub fn relief(&self) -> &LogRelief {
        &self.relief
    }

    /// How it grows and how far.
    pub fn options(&self) -> LogOptions {
        *self.options.lock()
    }

    /// Every VLF in file order.
    pub fn vlfs(&self) -> Vec<VlfState> {
        self.tail.lock().vlfs.clone()
    }

    /// What is used and promised.
    pub fn usage(&self) -> LogUsage {
        let tail = self.tail.lock();
        let active = tail.vlfs.iter().filter(|v| v.status == VlfStatus::Active);
        let active: u64 = active.map(|v| v.bytes).sum();
        let unit = LOG_SECTOR_BYTES as u64;
        let unfilled = u64::from(tail.current().units() - tail.block.lsn.block()) * unit;
        assert!(active >= unfilled, "the open block's VLF is active");
        assert!(active <= self.allocated.load(Relaxed), "VLFs lie within the file");
        LogUsage {
            total_bytes: self.allocated.load(Relaxed),
            used_bytes: active - unfilled.saturating_sub(tail.block.bytes.len() as u64),
            reserved_bytes: self.reserved.load(Relaxed),
        }
    }

    /// How much of the file lies between a record's block and the end of the log: what was logged
    /// since then, and the unused rest at the ends of virtual log files.
    pub fn bytes_since(&self, from: Lsn) -> u64 {
        let tail = self.tail.lock();
        let end = tail.block.lsn;
        let between = tail.vlfs.iter().filter(|v| (from.vlf()..=end.vlf()).contains(&v.sequence));
        let units = |v: &VlfState| {
            let first = if v.sequence == from.vlf() { from } else { v.first_block() };
            let last = if v.sequence == end.vlf() { end.block() } else { v.units() };
            u64::from(last.saturating_sub(first.block()))
        };
        let closed = between.map(units).sum::<u64>() * LOG_SECTOR_BYTES as u64;
        closed + if tail.block.is_empty() { 0 } else { tail.block.bytes.len() as u64 }
    }

    /// One round of the log writer. It waits until blocks are closed or the deadline has come. Then
    /// it puts everything on disk, so that delayed commits are not delayed for ever, and grows the
    /// file by a step where that is due. If nothing was written since the last round, it writes
    /// into the file's header how far the log is durable: no later block records that for the last
    /// ones. Before and after, it runs callbacks whose records are durable. Returns after a stop.
    pub fn writer_turn(&self, deadline_ns: u64) {
        let woken = self.writer_wanted.wait(os::wait::WaitKind::LogMgrQueue, Some(deadline_ns));
        let did = self.do_what_is_left();
        if did && woken == Wake::Signalled && !self.has_left() && !self.has_closed_many() {
            return;
        }
        let before = self.end_to_tell();
        self.flush_all();
        self.do_what_is_left();
        if woken == Wake::TimedOut && before == self.end_to_tell() {
            self.note_end_in_header(before);
        }
        if self.grow_ahead() {
            // The next step comes at once, but in a round of its own: a stop is checked in between.
            self.wake_writer();
        }
    }

    /// Ends the log writer's wait.
    pub fn wake_writer(&self) {
        self.writer_wanted.signal();
    }
}

/// Makes durable what stands in the file.
pub(crate) fn synced(file: &dyn File) {
    if let Err(e) = file.sync() {
        os::stop::process(&format!("sync of the log's headers failed: {e}"));
    }
}
