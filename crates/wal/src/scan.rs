//! The log block by block, and the holds of those who read it while it grows: recovery and
//! fn_dblog.
//!
//! A scan keeps two blocks in memory: the current one and the next one.
//!
//! Invariants
//!  1. A scan returns a block only when it is sound, follows the block before (`reader.rs`), and
//!     contains whole groups. When no such block is found although the log goes on, the log is
//!     damaged.
//!  2. The log that a hold covers is not reused: `Log::truncate` goes no further than the oldest
//!     hold. A hold is taken under the lock that truncation takes first.

use crate::block::{BLOCK_HEADER_BYTES, records_of};
use crate::log::Log;
use crate::reader::BlockLink;
use crate::record::{RecordFlags, RecordView};
use crate::{VlfStatus, WalError};
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use std::ops::Deref;
use std::sync::Arc;

/// A block as it lies in the log file. All of `bytes` are header, records, or padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockFacts {
    /// Its LSN, of slot 0.
    pub lsn: Lsn,
    /// The bytes that it takes in the file: whole sectors. While it is open, the bytes that it
    /// would take if it were closed now.
    pub bytes: usize,
    /// Its header.
    pub header_bytes: usize,
    /// Its records, one after the other.
    pub record_bytes: usize,
    /// How many.
    pub records: usize,
}

/// Reads blocks forward. Blocks that are not on disk yet are read from memory. `L` is a log,
/// borrowed or shared.
pub struct BlockScan<L> {
    log: L,
    next: Option<Lsn>,
    /// The next block, if it was read already and can no longer change: `ahead_buf` has its bytes.
    ahead: Option<BlockLink>,
    ahead_buf: Vec<u8>,
    at: Lsn,
    units: u32,
    buf: Vec<u8>,
    /// Where each record of the block begins.
    offsets: Vec<u16>,
}

impl<L: Deref<Target = Log>> BlockScan<L> {
    /// A scan that stands before the block of a record.
    pub fn new(log: L, from: Lsn) -> Self {
        let (next, at) = (Some(from.block_start()), Lsn::ZERO);
        let (buf, ahead_buf, offsets) = (Vec::new(), Vec::new(), Vec::new());
        BlockScan { log, next, ahead: None, ahead_buf, at, units: 0, buf, offsets }
    }

    /// Moves to the next block; false at the end of the log.
    ///
    /// # Errors
    /// A block that must be there is missing, or its contents make no sense.
    pub fn next_block(&mut self) -> Result<bool, WalError> {
        self.offsets.clear();
        let Some(at) = self.next else { return Ok(false) };
        let loaded = match self.ahead.take() {
            Some(loaded) => {
                std::mem::swap(&mut self.buf, &mut self.ahead_buf);
                loaded
            }
            None => self.log.load_block(at, &mut self.buf).ok_or(WalError::Missing(at))?,
        };
        let (mut end, mut more) = (BLOCK_HEADER_BYTES, false);
        for record in records_of(at, &self.buf) {
            self.offsets.push(end as u16);
            end += record.bytes.len();
            more = record.flags().has(RecordFlags::MORE);
        }
        // The checksum was right, so these bytes were written so. They are damage all the same, not
        // the end.
        if more || end != self.buf.len() {
            self.offsets.clear();
            return Err(WalError::Missing(Lsn(at.0 + 1)));
        }
        (self.at, self.units) = (at, loaded.units);
        let next = self.log.successor_of(at, loaded, &mut self.ahead_buf);
        let behind = Lsn::new(at.vlf(), at.block() + loaded.units, 0);
        if next.is_none() && loaded.is_closed() && !self.log.is_open_at(behind) {
            // Behind a closed block there is always another; the last one is the open block. Only
            // damage removes it.
            self.offsets.clear();
            return Err(WalError::Missing(behind));
        }
        self.next = next.map(|(lsn, _)| lsn);
        self.ahead = next.map(|(_, loaded)| loaded).filter(BlockLink::is_closed);
        assert!(self.next.is_none_or(|next| next > at), "the log is read forward");
        Ok(true)
    }

    /// How many records the block has; 0 before the first and behind the last block.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    /// A record of the block.
    ///
    /// # Panics
    /// When it has fewer.
    pub fn record(&self, i: usize) -> RecordView<'_> {
        let lsn = Lsn(self.at.0 + i as u64 + 1);
        let record = RecordView::parse(lsn, &self.buf[usize::from(self.offsets[i])..]);
        record.expect("the block was looked through")
    }

    /// Its records in order.
    pub fn records(&self) -> impl Iterator<Item = RecordView<'_>> {
        (0..self.len()).map(|i| self.record(i))
    }

    /// The block itself.
    pub fn block(&self) -> BlockFacts {
        BlockFacts {
            lsn: self.at,
            bytes: self.units as usize * LOG_SECTOR_BYTES,
            header_bytes: BLOCK_HEADER_BYTES,
            record_bytes: self.buf.len().saturating_sub(BLOCK_HEADER_BYTES),
            records: self.len(),
        }
    }
}

/// A promise that the log from some record on stays readable. The reader of the log holds it;
/// meanwhile `log_reuse_wait_desc` may be LOG_SCAN.
pub struct LogHold {
    log: Arc<Log>,
    from: Lsn,
}

impl LogHold {
    /// The record it begins with.
    pub fn from(&self) -> Lsn {
        self.from
    }
}

impl Drop for LogHold {
    fn drop(&mut self) {
        let mut holds = self.log.holds.lock();
        let at = holds.iter().position(|&lsn| lsn == self.from);
        assert!(at.is_some(), "invariant 2: a hold is listed until it ends");
        at.map(|at| holds.swap_remove(at));
    }
}

impl Log {
    /// Whether this is the place of the open block. It may be, even if its VLF has no room there.
    fn is_open_at(&self, block: Lsn) -> bool {
        self.tail.lock().block.lsn == block
    }

    /// Holds the log from a record on. Without a record, from where recovery would begin now.
    ///
    /// # Errors
    /// The record is in no VLF that is in use, or behind the end of the log.
    pub fn hold(self: &Arc<Self>, from: Option<Lsn>) -> Result<LogHold, WalError> {
        let mut holds = self.holds.lock();
        let from = from.unwrap_or_else(|| self.checkpoint().min_lsn);
        {
            let tail = self.tail.lock();
            let within = |v: &&crate::VlfState| v.sequence == from.vlf() && v.sequence != 0;
            let vlf = tail.vlfs.iter().find(within);
            let active = vlf.is_some_and(|v| v.status == VlfStatus::Active);
            if !active || from >= self.next_lsn() {
                return Err(WalError::Missing(from));
            }
        }
        holds.push(from);
        Ok(LogHold { log: Arc::clone(self), from })
    }
}
