//! Group commit: who writes the log, and who waits for whom.
//!
//! One flush at a time. A committer that finds none in progress closes the open block, writes
//! everything closed durably; those who come meanwhile wait, and one of them leads the next
//! flush for all. A lone session never waits for another thread or a timer.
//!
//! Who waits for the flush in progress, and who for the next, sleep apart: when a flush ends, all
//! whom it covered are woken, and of the others the one who leads.
//!
//! Who has nothing left to do but to tell that its commit is durable need not sleep for that: it
//! leaves what is to be done then ([`Log::when_durable`]) and its thread goes on with other work
//! (flush pipelining, as Aether has it). When it has none, or soon, it leads a flush where nobody
//! flushes ([`Log::flush_left`]), so one that is alone waits for nobody; then it does what was left
//! by those whom the flush covered, and leads the next when somebody has left something meanwhile.
//!
//! Invariants
//!  1. While somebody waits and no flush is in progress, somebody who waits is awake: whoever ends
//!     a flush wakes one of the next. That one leads it, or finds another who does, or who has done
//!     so and has woken all the others of it. What is left has somebody awake for it: who
//!     left it and has not been to `flush_left` since, the flush in progress, or, behind one of
//!     somebody who waits, the log writer.
//!  3. What is left is done once, behind the flush that covers it, by a thread that holds nothing:
//!     one that has left something itself, or the log writer. Others lead with latches held.
//!  2. Headers of VLFs are durable with the blocks that need them: where there are some, one sync
//!     covers all writes of the flush.

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

/// What is to be done once a record is on disk.
type Then = Box<dyn FnOnce() + Send>;

/// Something that was left for that.
struct Left {
    lsn: Lsn,
    since_ns: u64,
    then: Then,
}

/// Whether a flush is being done.
#[derive(Default)]
pub(crate) struct Flushing {
    pub(crate) in_progress: bool,
    /// What was left, and not yet taken by who does it.
    left: Vec<Left>,
    /// Counts flushes: who waits for the one in progress waits at the place of its number, who
    /// waits for the next at the other.
    number: usize,
}

impl Flushing {
    /// Takes what was left for records before this one.
    fn take_left(&mut self, durable: Lsn) -> Vec<Left> {
        let (done, left) =
            std::mem::take(&mut self.left).into_iter().partition(|l| l.lsn < durable);
        self.left = left;
        done
    }
}

/// Where those wait whom the flush in progress covers, and those of the next.
#[derive(Default)]
pub(crate) struct FlushWaits {
    places: [Condvar; 2],
    /// What the flush in progress will have made durable; 0 while that is open: it takes whatever
    /// is appended by then.
    covers: AtomicU64,
}

impl FlushWaits {
    fn place(&self, number: usize) -> &Condvar {
        &self.places[number % 2]
    }
}

/// A block, and where it goes in the file.
type Placed = (u64, Arc<Buffer>);

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

    /// The same for a commit, which is counted when it waits.
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

    /// Leaves something to be done once a commit's record is on disk, by whoever writes it. The
    /// caller sees to that soon: by [`Log::flush_left`].
    pub fn when_durable(&self, lsn: Lsn, then: impl FnOnce() + Send + 'static) {
        assert!(lsn < self.next_lsn(), "record {lsn} was never appended");
        let since_ns = os::clock::monotonic_ns();
        self.flushing.lock().left.push(Left { lsn, since_ns, then: Box::new(then) });
    }

    /// Does what was left and has become durable, and flushes for the rest unless somebody is at
    /// it: until nothing is left, or what is left is another's. The caller holds nothing.
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

    /// Has the log writer do it, for a caller that cannot now.
    pub fn have_left_flushed(&self) {
        self.wake_writer();
    }

    /// What was left by those whom a flush has covered.
    fn do_left(&self, done: Vec<Left>) {
        let now = os::clock::monotonic_ns();
        let waited = |left: &Left| now.saturating_sub(left.since_ns);
        self.counters.flush_waits.fetch_add(done.len() as u64, Relaxed);
        self.counters.flush_wait_ns.fetch_add(done.iter().map(waited).sum(), Relaxed);
        for left in done {
            // A panic of one is told by whoever left it, and costs the others nothing.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(left.then));
        }
    }

    /// The log writer's part: what was left by those whom a flush of somebody else has covered.
    /// False where there was nothing.
    pub(crate) fn do_what_is_left(&self) -> bool {
        let done = self.flushing.lock().take_left(self.durable_lsn());
        let some = !done.is_empty();
        if some {
            self.do_left(done);
        }
        some
    }

    /// Whether something is left that no flush has covered.
    pub(crate) fn has_left(&self) -> bool {
        !self.flushing.lock().left.is_empty()
    }

    /// When the last flush ended.
    pub fn flushed_ns(&self) -> u64 {
        self.flushed_ns.load(Relaxed)
    }

    /// Puts everything appended so far on disk; a flush of others that has it in hand is waited
    /// for.
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

    /// Says when the flush of somebody else ended that was waited for; 0 for its own.
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
                // Invariant 3: it does what is done, and leads what is not.
                self.wake_writer();
            }
        }
    }

    fn begin_flush(&self, mut flushing: MutexGuard<'_, Flushing>) {
        assert!(!flushing.in_progress, "one flush at a time");
        debug_assert!(self.lost.lock().is_none(), "a log that was found has gone on");
        flushing.in_progress = true;
        flushing.number += 1;
        self.waits.covers.store(0, Relaxed);
    }

    fn end_flush(&self) -> MutexGuard<'_, Flushing> {
        let mut flushing = self.flushing.lock();
        assert!(flushing.in_progress, "one flush at a time, ended by who began it");
        flushing.in_progress = false;
        self.flushed_ns.store(os::clock::monotonic_ns(), Relaxed);
        // The next leader first: the disk is idle until it comes.
        self.waits.place(flushing.number + 1).notify_one();
        self.waits.place(flushing.number).notify_all();
        flushing
    }

    /// Writes headers and blocks durably, then says so. Only the flush in progress calls.
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
            // Under the tail's latch: who has not appended yet will see it (`flush_until`).
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

    /// Where the durable log ends, as blocks and headers tell it: at the end of a block.
    pub fn end_to_tell(&self) -> Lsn {
        let end = Lsn(self.durable_end.load(Acquire));
        debug_assert_eq!(end.slot(), 0, "blocks become durable, not records");
        end
    }

    /// The same for the header of a block that is closed now.
    pub(crate) fn end_for(&self, closing: &Tail) -> Lsn {
        if self.mutations.has(Fault::EndUntold) {
            return Lsn::ZERO;
        }
        match self.mutations.has(Fault::EndEarly) {
            true => closing.block.lsn,
            false => self.end_to_tell(),
        }
    }

    /// Blocks are durable now. Only the flush in progress calls.
    fn note_end(&self, end: Option<Lsn>) {
        if let Some(end) = end {
            assert!(end > self.end_to_tell(), "rule 2: blocks are written in order of LSN");
            self.durable_end.store(end.0, Release);
        }
    }

    /// Tells the file's header where the durable log ends, if that is news. Nobody relies on it.
    pub(crate) fn note_end_in_header(&self, end: Lsn) {
        if self.noted_end.swap(end.0, Relaxed) != end.0 {
            // What is not noted proves nothing; the next idle turn tries again.
            if file_header::write_end(&*self.file, end).is_err() {
                self.noted_end.store(0, Relaxed);
            }
        }
    }

    /// Blocks that follow each other in the file are one write.
    fn write_blocks(&self, headers: &[VlfState], blocks: &[Placed]) -> io::Result<()> {
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
