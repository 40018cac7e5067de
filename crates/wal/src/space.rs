//! Log space: what is free, what is reserved, and truncation. `growth.rs` makes more.
//!
//! A reservation promises a transaction that it can log that many bytes more, its undo included,
//! even while other transactions are refused with error 9002.
//!
//! Invariants
//!  1. Sum of reservations + margin <= free space whenever a new reservation is granted.
//!  2. A VLF becomes reusable only after a checkpoint pointer that does not need it is durable
//!     (README rule 6).

use crate::append::Tail;
use crate::log::Log;
use crate::mutations::Fault;
use crate::vlf::{FILE_HEADER_BYTES, VLF_HEADER_BYTES, VlfState, VlfStatus, vlf_sizes_at_creation};
use crate::{CheckpointPointer, ReuseWait, WalError, file_header};
use base::Lsn;
use base::limits::{LOG_BLOCK_BYTES_MAX, LOG_SECTOR_BYTES};
use os::wait::Waiter;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// Kept free beyond all reservations. One block of the largest size, because the free space is
/// recomputed only when a block closes; and another one for a block that did not fit the end of a
/// VLF.
pub(crate) const MARGIN_BYTES: u64 = 2 * LOG_BLOCK_BYTES_MAX as u64;
/// Charged to each holder of a reservation: the flush of its commit or rollback closes a block,
/// which costs a header and padding to whole sectors.
const HOLDER_BYTES: u64 = 1024;
/// The bytes at the end of each inactive VLF that a group may waste because it does not fit.
const WASTE_BYTES: u64 = 8192;

/// What a reservation takes from the free space. While it is used up, other threads close blocks
/// (page writes, checkpoints); their padding and headers cost a quarter at most.
fn charge(bytes: u64) -> u64 {
    if bytes == 0 { 0 } else { HOLDER_BYTES + bytes + bytes / 4 }
}

/// The right to that much log, given back when dropped.
pub struct LogReservation {
    log: Arc<Log>,
    bytes: u64,
}

impl LogReservation {
    /// Nothing reserved yet.
    pub fn none(log: &Arc<Log>) -> Self {
        LogReservation { log: Arc::clone(log), bytes: 0 }
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reserves more. The file grows when needed and allowed.
    ///
    /// # Errors
    /// [`WalError::Full`]; what is held stays held.
    pub fn grow(&mut self, more: u64) -> Result<(), WalError> {
        let bytes = self.bytes.saturating_add(more);
        let (before, after) = (charge(self.bytes), charge(bytes));
        assert!(after >= before, "who asks for more is charged more");
        self.log.reserve(after - before)?;
        self.bytes = bytes;
        debug_assert!(self.log.reserved.load(Relaxed) >= after, "what is held is counted");
        Ok(())
    }

    /// Checks that what is held is still covered; the file grows when it is not. It is for a holder
    /// that keeps one reservation for several transactions: the log that the first one wrote has
    /// used up free space.
    ///
    /// # Errors
    /// [`WalError::Full`]; what is held stays held.
    pub fn confirm(&mut self) -> Result<(), WalError> {
        let all = self.log.reserved.load(Relaxed);
        assert!(all >= charge(self.bytes), "what is held is counted");
        self.log.reserve(0)
    }

    /// Asks for log space. When the log is full, waits for a checkpoint, which may free some, and
    /// asks again. The reason in [`WalError::Full`] is then what the checkpoint found. It waits for
    /// up to two checkpoints, because the first may have begun before the request. The caller holds
    /// no latch that a checkpoint wants. A cancelled request ends the wait.
    ///
    /// # Errors
    /// Those of what is asked.
    #[inline]
    pub fn patiently(
        &mut self,
        asker: Option<&Waiter>,
        ask: impl Fn(&mut Self) -> Result<(), WalError>,
    ) -> Result<(), WalError> {
        match ask(self) {
            Err(WalError::Full { .. }) => self.after_relief(asker, ask),
            other => other,
        }
    }

    #[cold]
    fn after_relief(
        &mut self,
        asker: Option<&Waiter>,
        ask: impl Fn(&mut Self) -> Result<(), WalError>,
    ) -> Result<(), WalError> {
        let log = Arc::clone(&self.log);
        let waited = log.relief().wait(asker);
        match ask(self) {
            Err(WalError::Full { .. }) if waited => {
                log.relief().wait(asker);
                ask(self)
            }
            other => other,
        }
    }

    /// Divides it: the result holds that many bytes, or what there is.
    #[must_use]
    pub fn split(&mut self, bytes: u64) -> LogReservation {
        let bytes = bytes.min(self.bytes);
        // Another holder is charged, too: the rest gives that up.
        let rest = (self.bytes - bytes).saturating_sub(HOLDER_BYTES);
        let (before, after) = (charge(self.bytes), charge(rest) + charge(bytes));
        match after.checked_sub(before) {
            Some(more) => drop(self.log.reserved.fetch_add(more, Relaxed)),
            None => drop(self.log.reserved.fetch_sub(before - after, Relaxed)),
        }
        self.bytes = rest;
        LogReservation { log: Arc::clone(&self.log), bytes }
    }

    /// Gives bytes back, at most what is held.
    pub fn shrink(&mut self, fewer: u64) {
        let fewer = fewer.min(self.bytes);
        let before = charge(self.bytes);
        self.bytes -= fewer;
        let back = before - charge(self.bytes);
        let all = self.log.reserved.fetch_sub(back, Relaxed);
        assert!(all >= back, "no more is given back than was reserved");
    }
}

impl Drop for LogReservation {
    fn drop(&mut self) {
        self.shrink(self.bytes);
        assert_eq!(self.bytes, 0, "all of it is given back");
    }
}

impl Log {
    fn reserve(&self, bytes: u64) -> Result<(), WalError> {
        if let Some(seal) = self.sealed() {
            return Err(WalError::Sealed(seal));
        }
        if self.mutations.has(Fault::SkippedReserve) {
            self.reserved.fetch_add(bytes, Relaxed);
            return Ok(());
        }
        loop {
            let free = self.free.load(Relaxed);
            if bytes == 0 && self.reserved.load(Relaxed).saturating_add(MARGIN_BYTES) <= free {
                return Ok(());
            }
            let fits = |reserved: u64| {
                let all = reserved.checked_add(bytes)?;
                (all.saturating_add(MARGIN_BYTES) <= free).then_some(all)
            };
            if self.reserved.fetch_update(SeqCst, Relaxed, fits).is_ok() {
                // The log may have become shorter meanwhile (`shrink.rs`, invariant 2).
                if self.free.load(SeqCst) >= free {
                    return Ok(());
                }
                self.reserved.fetch_sub(bytes, SeqCst);
                continue;
            }
            self.grow(bytes)?;
        }
    }

    /// Recomputes the free space. The caller holds the tail.
    pub(crate) fn publish_free(&self, tail: &Tail) {
        let current = tail.current();
        debug_assert!(tail.block.lsn.block() <= current.units(), "the open block is in its VLF");
        debug_assert_eq!(current.status, VlfStatus::Active, "what is current is not free");
        let rest = u64::from(current.units().saturating_sub(tail.block.lsn.block()));
        let rest = rest * LOG_SECTOR_BYTES as u64;
        let inactive = tail.vlfs.iter().filter(|v| v.status == VlfStatus::Inactive);
        let usable = |v: &VlfState| v.bytes.saturating_sub(VLF_HEADER_BYTES + WASTE_BYTES);
        let rest = rest.saturating_sub(tail.block.bytes.len() as u64);
        let free = rest + inactive.map(usable).sum::<u64>();
        debug_assert!(free < self.allocated.load(Relaxed), "less is free than there is");
        self.free.store(free, SeqCst);
    }

    /// Makes a checkpoint durable: from now on recovery begins there.
    ///
    /// The caller has made every page of changes before `min_lsn` durable and flushed the log up
    /// to the end of the checkpoint's records.
    ///
    /// # Errors
    /// The operating system's, of the write; a failed sync stops the process.
    pub fn set_checkpoint(
        &self,
        checkpoint: Lsn,
        min_lsn: Lsn,
        clean: bool,
    ) -> Result<(), WalError> {
        assert!(min_lsn <= checkpoint, "recovery reads from min_lsn through the checkpoint");
        assert!(checkpoint < self.durable_lsn(), "the checkpoint is on disk");
        let mut pointer = self.pointer.lock();
        assert!(pointer.checkpoint <= checkpoint, "a checkpoint never goes back");
        assert!(pointer.min_lsn <= min_lsn, "min_lsn never goes back: it may be truncated");
        let generation = pointer.generation + 1;
        let file_bytes = pointer.file_bytes;
        let durable_end = self.end_to_tell();
        let next =
            CheckpointPointer { generation, checkpoint, min_lsn, clean, file_bytes, durable_end };
        self.write_pointer(&mut pointer, next)
    }

    /// Writes a pointer durably, then makes it the log's current one.
    pub(crate) fn write_pointer(
        &self,
        pointer: &mut CheckpointPointer,
        next: CheckpointPointer,
    ) -> Result<(), WalError> {
        let next = CheckpointPointer { durable_end: self.end_to_tell(), ..next };
        file_header::write_pointer(&*self.file, &next)?;
        *pointer = next;
        Ok(())
    }

    /// The last durable checkpoint.
    pub fn checkpoint(&self) -> CheckpointPointer {
        *self.pointer.lock()
    }

    /// Frees every VLF below `before`. It frees nothing beyond the durable checkpoint's `min_lsn`
    /// (rule 6), nor beyond the first record that a reader holds. Returns whether a reader kept a
    /// VLF that would have been freed.
    pub fn truncate(&self, before: Lsn) -> bool {
        let holds = self.holds.lock();
        let before = before.min(self.pointer.lock().min_lsn).min(self.durable_lsn());
        let held = holds.iter().min().copied().unwrap_or(Lsn::MAX);
        let kept = held.vlf() < before.vlf();
        let mut needed = before.min(held).vlf();
        if self.mutations.has(Fault::EarlyReuse) {
            needed = self.pointer.lock().checkpoint.vlf();
        }
        let mut tail = self.tail.lock();
        let current = tail.current;
        assert!(before.vlf() <= tail.current().sequence, "rule 6: nothing ahead is freed");
        let mut freed = false;
        for (i, v) in tail.vlfs.iter_mut().enumerate() {
            if i != current && v.status == VlfStatus::Active && v.sequence < needed {
                v.status = VlfStatus::Inactive;
                freed = true;
            }
        }
        self.counters.truncations.fetch_add(u64::from(freed), Relaxed);
        tail.check();
        self.publish_free(&tail);
        kept
    }

    /// Where the log begins that is not given away: the first block of its oldest VLF.
    pub fn oldest_kept(&self) -> Lsn {
        let tail = self.tail.lock();
        let kept = tail.vlfs.iter().filter(|v| v.status == VlfStatus::Active);
        let oldest = kept.min_by_key(|v| v.sequence).unwrap_or(tail.current());
        oldest.first_block()
    }

    /// What kept the log from being reused at the last checkpoint.
    pub fn reuse_wait(&self) -> ReuseWait {
        *self.reuse_wait.lock()
    }

    /// Stores what a checkpoint found; error 9002 names it.
    pub fn set_reuse_wait(&self, because: ReuseWait) {
        *self.reuse_wait.lock() = because;
    }
}

/// The VLFs of a new file, unused.
pub(crate) fn new_vlfs(file_bytes: u64) -> Vec<VlfState> {
    let mut offset = FILE_HEADER_BYTES;
    let vlf = |bytes: u64| {
        offset += bytes;
        let (create_lsn, status) = (Lsn::ZERO, VlfStatus::Inactive);
        VlfState { offset: offset - bytes, bytes, sequence: 0, parity: 0, create_lsn, status }
    };
    let sizes = vlf_sizes_at_creation(file_bytes - FILE_HEADER_BYTES);
    let vlfs: Vec<VlfState> = sizes.into_iter().map(vlf).collect();
    let end = vlfs.last().map_or(0, |v| v.offset + v.bytes);
    assert!(end > FILE_HEADER_BYTES && end <= file_bytes, "there is one; all lie in the file");
    vlfs
}

/// Zeroes new VLFs, so that commits overwrite space that exists, and writes their headers, all
/// durably.
pub(crate) fn write_vlfs(file: &dyn os::disk::File, vlfs: &[VlfState]) -> Result<(), WalError> {
    let zeros = vec![0; 1 << 20];
    assert!(vlfs.windows(2).all(|v| v[0].offset + v[0].bytes == v[1].offset), "without a gap");
    for v in vlfs {
        let mut at = v.offset;
        while at < v.offset + v.bytes {
            let n = (v.offset + v.bytes - at).min(zeros.len() as u64);
            file.write_at(&zeros[..n as usize], at)?;
            at += n;
        }
        file.write_at(&v.header(), v.offset)?;
    }
    if let Err(e) = file.sync() {
        os::stop::process(&format!("sync of the new log failed: {e}"));
    }
    Ok(())
}
