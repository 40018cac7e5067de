//! Group commit: which thread writes the log, and which threads wait for it.
//!
//! One flush runs at a time. A thread that commits and finds no flush in progress leads one: it
//! closes the open block and writes all closed blocks durably. Threads that commit meanwhile wait.
//! One of them then leads the next flush for all of them. A session that is alone never waits for
//! another thread or a timer.
//!
//! The threads that the flush in progress covers sleep at one condition variable, those of the next
//! flush at another. When a flush ends, its leader wakes every thread that the flush covered, and
//! one thread of the next flush, which leads that.
//!
//! A thread that only has to report a durable commit need not sleep for it. It leaves a callback
//! ([`Log::when_durable`]) and goes on with other work (flush pipelining, as in Aether). When it
//! has no other work, or soon, it calls [`Log::flush_left`]: that leads a flush unless one is in
//! progress, so a thread that is alone waits for nobody. It then runs the callbacks that the flush
//! covered. If other callbacks have been left meanwhile, it leads the next flush too.
//!
//! Invariants
//!  1. While threads wait and no flush is in progress, one of the waiting threads is awake: the
//!     thread that ends a flush wakes one that waits for the next. The woken thread leads that
//!     flush, or finds that another thread leads it, or finds that another thread has led it and
//!     has woken all others. Every callback has a running thread responsible for it: the thread
//!     that left it, until that has called `flush_left`; then the flush in progress; and after a
//!     flush led by a thread that waits itself (`flush_to`), the log writer.
//!  2. The header of a VLF becomes durable together with the first blocks that need it. When a
//!     flush has headers to write, one sync at its end covers all its writes.
//!  3. A callback runs once, after the flush that covers its record, on a thread that holds no
//!     latch: one that has itself left a callback, or the log writer. Other threads lead flushes
//!     while they hold latches, so they run no callbacks.

use crate::append::{ClosedBlock, Tail};
use crate::block::Buffer;
use crate::file_header;
use crate::log::Log;
use crate::mutations::Fault;
use crate::vlf::VlfState;
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use os::sync::{Condvar, MutexGuard};
use os::wait::{WaitKind, timed_signalled};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// A callback to run once a record is on disk.
type Callback = Box<dyn FnOnce() + Send>;

/// A callback that waits for its record to become durable.
struct PendingCallback {
    lsn: Lsn,
    since_ns: u64,
    then: Callback,
}

/// Whether a flush is in progress, and the callbacks that wait for one.
#[derive(Default)]
pub(crate) struct FlushState {
    pub(crate) in_progress: bool,
    /// Callbacks that no thread has taken yet.
    left: Vec<PendingCallback>,
    /// Counts flushes. A thread that waits for the flush in progress sleeps at this number's
    /// condition variable; a thread that waits for the next flush sleeps at the other.
    number: usize,
}

impl FlushState {
    /// Takes the callbacks of records before `durable`.
    fn take_left(&mut self, durable: Lsn) -> Vec<PendingCallback> {
        let (done, left) =
            std::mem::take(&mut self.left).into_iter().partition(|l| l.lsn < durable);
        self.left = left;
        done
    }
}

/// The condition variables: one for the threads that the flush in progress covers, one for those of
/// the next flush.
#[derive(Default)]
pub(crate) struct FlushWaits {
    places: [Condvar; 2],
    /// The end of what the flush in progress makes durable. It is 0 until that flush has taken its
    /// blocks: until then it covers every record that is appended.
    covers: AtomicU64,
}

impl FlushWaits {
    fn place(&self, number: usize) -> &Condvar {
        &self.places[number % 2]
    }
}

/// A block, and its offset in the file.
type PlacedBlock = (u64, Arc<Buffer>);

impl Log {
    /// Every record below this is on disk.
    #[inline]
    pub fn durable_lsn(&self) -> Lsn {
        let durable = Lsn(self.durable.load(Acquire));
        debug_assert_eq!(durable.slot(), 0, "blocks become durable, not records");
        durable
    }

    /// Returns once the record is on disk (wait WRITELOG).
    pub fn flush_to(&self, lsn: Lsn) {
        if lsn < self.durable_lsn() {
            return;
        }
        assert!(lsn < self.next_lsn(), "record {lsn} was never appended");
        timed_signalled(WaitKind::WriteLog, || self.flush_until(lsn, true));
        assert!(lsn < self.durable_lsn(), "a flush covers what it was asked for");
    }

    /// The same as [`Log::flush_to`], for a commit: the counters count its wait.
    pub fn flush_commit(&self, lsn: Lsn) {
        if lsn < self.durable_lsn() {
            return;
        }
        let began = os::clock::monotonic_ns();
        self.flush_to(lsn);
        let took = os::clock::monotonic_ns().saturating_sub(began);
        self.counters.flush_waits.fetch_add(1, Relaxed);
        self.counters.flush_wait_ns.fetch_add(took, Relaxed);
    }

    /// Leaves a callback for the thread that writes a commit's record to disk. The caller calls
    /// [`Log::flush_left`] soon.
    pub fn when_durable(&self, lsn: Lsn, then: impl FnOnce() + Send + 'static) {
        assert!(lsn < self.next_lsn(), "record {lsn} was never appended");
        let since_ns = os::clock::monotonic_ns();
        self.flushing.lock().left.push(PendingCallback { lsn, since_ns, then: Box::new(then) });
    }

    /// Runs the callbacks whose records are durable. While other callbacks are left and no flush is
    /// in progress, it leads a flush. It returns when no callback is left, or when the flush in
    /// progress covers the rest. The caller holds no latch.
    pub fn flush_left(&self) {
        let mut flushing = self.flushing.lock();
        loop {
            let durable = self.durable_lsn();
            let covered = flushing.left.iter().any(|left| left.lsn < durable);
            if covered {
                let done = flushing.take_left(durable);
                drop(flushing);
                self.do_left(done);
            } else if flushing.in_progress || flushing.left.is_empty() {
                return;
            } else {
                self.begin_flush(flushing);
                os::turn::aside(|| self.write_out(true));
                drop(self.end_flush());
            }
            flushing = self.flushing.lock();
        }
    }

    /// Has the log writer run the callbacks, for a caller that cannot do so now.
    pub fn have_left_flushed(&self) {
        self.wake_writer();
    }

    /// Runs callbacks whose records are durable.
    fn do_left(&self, done: Vec<PendingCallback>) {
        let now = os::clock::monotonic_ns();
        let waited = |left: &PendingCallback| now.saturating_sub(left.since_ns);
        self.counters.flush_waits.fetch_add(done.len() as u64, Relaxed);
        self.counters.flush_wait_ns.fetch_add(done.iter().map(waited).sum(), Relaxed);
        for left in done {
            // The owner of a callback reports its panic; the other callbacks run all the same.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(left.then));
        }
    }

    /// The log writer's part: runs the callbacks that another thread's flush has covered. False
    /// when there were none.
    pub(crate) fn do_what_is_left(&self) -> bool {
        let done = self.flushing.lock().take_left(self.durable_lsn());
        let some = !done.is_empty();
        if some {
            self.do_left(done);
        }
        some
    }

    /// Whether a callback is left.
    pub(crate) fn has_left(&self) -> bool {
        !self.flushing.lock().left.is_empty()
    }

    /// When the last flush ended.
    pub fn flushed_ns(&self) -> u64 {
        self.flushed_ns.load(Relaxed)
    }

    /// Puts everything that was appended so far on disk. It waits for another thread's flush that
    /// has it in hand.
    pub fn flush_all(&self) {
        let (open, last) = {
            let tail = self.tail.lock();
            (tail.block.lsn, Lsn(tail.block.next_lsn().0 - 1))
        };
        if last.slot() > 0 {
            self.flush_to(last);
        } else if open > self.durable_lsn() {
            // All blocks are closed, and maybe none is left in the tail: somebody writes them now.
            timed_signalled(WaitKind::WriteLog, || self.flush_until(Lsn(open.0 - 1), false));
        }
        assert!(open <= self.durable_lsn(), "all blocks before the open one are durable");
    }

    /// Writes the closed blocks, leaving the open one.
    pub(crate) fn flush_closed(&self) {
        let last = self.tail.lock().closed.back().map(|b| Lsn(b.lsn.0 + 1));
        if let Some(last) = last {
            timed_signalled(WaitKind::LogBuffer, || self.flush_until(last, false));
            assert!(last < self.durable_lsn(), "the closed blocks are durable");
        }
    }

    /// Waits for a record to become durable, and leads a flush when none is in progress. Returns
    /// when the flush of another thread ended, if this thread waited for one; 0 after a flush of
    /// its own.
    fn flush_until(&self, lsn: Lsn, close_open_block: bool) -> u64 {
        let mut flushing = self.flushing.lock();
        let mut waited = false;
        loop {
            if lsn < self.durable_lsn() {
                return if waited { self.flushed_ns.load(Relaxed) } else { 0 };
            }
            if flushing.in_progress {
                let covers = self.waits.covers.load(Relaxed);
                let covered = covers == 0 || lsn.0 < covers;
                let number = flushing.number + usize::from(!covered);
                self.waits.place(number).wait(&mut flushing);
                waited = true;
                continue;
            }
            waited = false;
            self.begin_flush(flushing);
            self.write_out(close_open_block);
            flushing = self.end_flush();
            if !flushing.left.is_empty() {
                // Invariant 3: the log writer runs the callbacks that are covered, and leads a
                // flush for the others.
                self.wake_writer();
            }
        }
    }

    fn begin_flush(&self, mut flushing: MutexGuard<'_, FlushState>) {
        assert!(!flushing.in_progress, "one flush at a time");
        debug_assert!(self.lost.lock().is_none(), "a log that was found has gone on");
        flushing.in_progress = true;
        flushing.number += 1;
        self.waits.covers.store(0, Relaxed);
    }

    fn end_flush(&self) -> MutexGuard<'_, FlushState> {
        let mut flushing = self.flushing.lock();
        assert!(flushing.in_progress, "one flush at a time, ended by who began it");
        flushing.in_progress = false;
        self.flushed_ns.store(os::clock::monotonic_ns(), Relaxed);
        // The next leader first: the disk is idle until it comes.
        self.waits.place(flushing.number + 1).notify_one();
        self.waits.place(flushing.number).notify_all();
        flushing
    }

    /// Writes headers and blocks durably, then publishes the new durable end. Only the thread that
    /// leads the flush calls it.
    fn write_out(&self, close_open_block: bool) {
        let (headers, blocks, end, last_end) = {
            let mut tail = self.tail.lock();
            if close_open_block && !tail.block.is_empty() {
                let told = self.end_for(&tail);
                tail.next_block(0, told);
                self.publish_free(&tail);
            }
            let headers = std::mem::take(&mut tail.headers);
            let mut blocks = Vec::with_capacity(tail.closed.len());
            while let Some(b) = tail.closed.pop_front() {
                let v = tail.vlfs.iter().find(|v| v.sequence == b.lsn.vlf());
                let v = v.expect("a block that is not yet durable has its VLF");
                let (offset, end) = (v.file_offset(b.lsn), v.offset + v.bytes);
                assert!(offset + b.bytes.len() as u64 <= end, "a block lies within its VLF");
                assert_eq!(b.bytes.len() % LOG_SECTOR_BYTES, 0, "blocks are whole sectors");
                assert!(b.lsn >= self.durable_lsn(), "what is durable is not written again");
                let before = tail.recent.back().is_none_or(|r| r.lsn < b.lsn);
                assert!(before, "rule 2: blocks are written in order of LSN");
                blocks.push((offset, Arc::clone(&b.bytes)));
                tail.recent.push_back(b);
            }
            let end = tail.block.lsn;
            let last = tail.recent.back().filter(|_| !blocks.is_empty());
            let last_end = last.map(ClosedBlock::end);
            // Stored under the tail's latch: a thread that appends later will see it
            // (`flush_until`).
            self.waits.covers.store(end.0, Relaxed);
            (headers, blocks, end, last_end)
        };
        let began = os::clock::monotonic_ns();
        let bytes: usize = blocks.iter().map(|(_, bytes)| bytes.len()).sum();
        self.counters.flushes.fetch_add(u64::from(bytes > 0), Relaxed);
        self.counters.flushed_bytes.fetch_add(bytes as u64, Relaxed);
        self.written(self.write_blocks(&headers, &blocks));
        self.note_end(last_end);
        drop(blocks);
        let took = os::clock::monotonic_ns().saturating_sub(began);
        self.counters.write_ns.fetch_add(took, Relaxed);
        self.tail.lock().retire();
        assert!(self.durable_lsn() <= end, "what is durable stays so");
        self.durable.store(end.0, Release);
        self.wake_when_low();
    }

    /// Where the durable log ends, as block headers and file headers record it: at the end of a
    /// block.
    pub fn end_to_tell(&self) -> Lsn {
        let end = Lsn(self.durable_end.load(Acquire));
        debug_assert_eq!(end.slot(), 0, "blocks become durable, not records");
        end
    }

    /// The same, for the header of a block that is being closed.
    pub(crate) fn end_for(&self, closing: &Tail) -> Lsn {
        if self.mutations.has(Fault::EndUntold) {
            return Lsn::ZERO;
        }
        match self.mutations.has(Fault::EndEarly) {
            true => closing.block.lsn,
            false => self.end_to_tell(),
        }
    }

    /// Records that the blocks up to `end` are durable. Only the thread that leads the flush calls
    /// it.
    fn note_end(&self, end: Option<Lsn>) {
        if let Some(end) = end {
            assert!(end > self.end_to_tell(), "rule 2: blocks are written in order of LSN");
            self.durable_end.store(end.0, Release);
        }
    }

    /// Writes into the file's header where the durable log ends, if that has changed. Nothing
    /// relies on it being there.
    pub(crate) fn note_end_in_header(&self, end: Lsn) {
        if self.noted_end.swap(end.0, Relaxed) != end.0 {
            // When the write fails, the header proves nothing; the next idle turn of the log writer
            // tries again.
            if file_header::write_end(&*self.file, end).is_err() {
                self.noted_end.store(0, Relaxed);
            }
        }
    }

    /// Blocks that follow each other in the file are written with one write.
    fn write_blocks(&self, headers: &[VlfState], blocks: &[PlacedBlock]) -> io::Result<()> {
        let syncs = self.durable_flushes && !self.mutations.has(Fault::SkippedSync);
        // Invariant 2.
        let one_sync = syncs && headers.is_empty() && !blocks.is_empty();
        for v in headers {
            self.file.write_at(&v.header(), v.offset)?;
        }
        for run in blocks.chunk_by(|a, b| a.0 + a.1.len() as u64 == b.0) {
            let parts: Vec<&[u8]> = run.iter().map(|(_, bytes)| &***bytes).collect();
            if one_sync {
                self.file.write_durably(&parts, run[0].0)?;
                continue;
            }
            for (offset, bytes) in run {
                self.file.write_at(bytes, *offset)?;
            }
        }
        if syncs && !one_sync {
            self.file.sync()?
        }
        Ok(())
    }

    fn written(&self, result: std::io::Result<()>) {
        if let Err(e) = result {
            os::stop::process(&format!("write or sync of the transaction log failed: {e}"));
        }
    }
}
