//! Group commit: who writes the log, and who waits for whom.
//!
//! One flush at a time. A committer that finds none in progress closes the open block, writes
//! everything closed and syncs; those who come meanwhile wait, and one of them leads the next
//! flush for all. A lone session never waits for another thread or a timer.

use crate::log::Log;
use crate::mutations::Fault;
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use os::wait::{WaitKind, timed_signalled};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Whether a flush is being done.
#[derive(Default)]
pub(crate) struct Flushing {
    pub(crate) in_progress: bool,
}

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
                self.flushed.wait(&mut flushing);
                waited = true;
                continue;
            }
            waited = false;
            flushing.in_progress = true;
            drop(flushing);
            self.write_out(close_open_block);
            flushing = self.flushing.lock();
            assert!(flushing.in_progress, "one flush at a time, ended by who began it");
            flushing.in_progress = false;
            self.flushed_ns.store(os::clock::monotonic_ns(), Relaxed);
            self.flushed.notify_all();
        }
    }

    /// Writes headers, then blocks, then syncs, then says so. Only the flush in progress calls.
    fn write_out(&self, close_open_block: bool) {
        let (headers, blocks, end) = {
            let mut tail = self.tail.lock();
            if close_open_block && !tail.block.is_empty() {
                tail.next_block(0);
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
                blocks.push((offset, std::sync::Arc::clone(&b.bytes)));
                tail.recent.push_back(b);
            }
            (headers, blocks, tail.block.lsn)
        };
        let began = os::clock::monotonic_ns();
        for v in headers {
            self.written(self.file.write_at(&v.header(), v.offset));
        }
        for (offset, bytes) in &blocks {
            self.written(self.file.write_at(bytes, *offset));
        }
        let bytes: usize = blocks.iter().map(|(_, bytes)| bytes.len()).sum();
        self.counters.flushes.fetch_add(u64::from(bytes > 0), Relaxed);
        self.counters.flushed_bytes.fetch_add(bytes as u64, Relaxed);
        drop(blocks);
        if self.durable_flushes && !self.mutations.has(Fault::SkippedSync) {
            self.written(self.file.sync());
        }
        let took = os::clock::monotonic_ns().saturating_sub(began);
        self.counters.write_ns.fetch_add(took, Relaxed);
        self.tail.lock().retire();
        assert!(self.durable_lsn() <= end, "what is durable stays so");
        self.durable.store(end.0, Release);
        self.wake_when_low();
    }

    fn written(&self, result: std::io::Result<()>) {
        if let Err(e) = result {
            os::stop::process(&format!("write or sync of the transaction log failed: {e}"));
        }
    }
}
