//! Reads the log: forward by groups for recovery and fn_dblog, by LSN for undo.
//!
//! It never returns bytes other than those that were written: a block counts only if its own
//! checksum is right and it is the successor of the block before (rule 4).

use crate::WalError;
use crate::block::{BLOCK_HEADER_BYTES, BlockView, RECORDS_MAX, records_of};
use crate::log::Log;
use crate::record::{RecordFlags, RecordView};
use crate::scan::BlockScan;
use crate::vlf::VlfState;
use base::Lsn;
use base::limits::LOG_SECTOR_BYTES;
use os::disk::File;
use std::io;

/// Where the log ends on disk.
pub(crate) struct LogEnd {
    pub(crate) next_block: Lsn,
    pub(crate) checksum: u32,
}

pub(crate) fn vlf_of(vlfs: &[VlfState], sequence: u32) -> Option<&VlfState> {
    vlfs.iter().find(|v| sequence != 0 && v.sequence == sequence)
}

/// Reads the block at a place into `buf`, if a sound one is there. It overwrites the contents of
/// `buf`.
pub(crate) fn read_block<'b>(
    file: &dyn File,
    vlfs: &[VlfState],
    at: Lsn,
    buf: &'b mut Vec<u8>,
) -> io::Result<Option<BlockView<'b>>> {
    debug_assert_eq!(at.slot(), 0, "a block starts at slot 0");
    let Some(vlf) = vlf_of(vlfs, at.vlf()).filter(|vlf| at.block() < vlf.units()) else {
        return Ok(None);
    };
    let offset = vlf.file_offset(at);
    if buf.len() < LOG_SECTOR_BYTES {
        buf.resize(LOG_SECTOR_BYTES, 0);
    }
    file.read_at(&mut buf[..LOG_SECTOR_BYTES], offset)?;
    let units = BlockView::claimed_units(buf, at);
    if units == 0 || at.block() + units > vlf.units() {
        return Ok(None);
    }
    buf.resize(units as usize * LOG_SECTOR_BYTES, 0);
    if units > 1 {
        let rest = offset + LOG_SECTOR_BYTES as u64;
        file.read_at(&mut buf[LOG_SECTOR_BYTES..], rest)?;
    }
    Ok(BlockView::parse(buf, at))
}

/// Where the next block may be: right behind this one, or first in the next VLF.
pub(crate) fn successors(vlfs: &[VlfState], block: Lsn, units: u32) -> [Option<Lsn>; 2] {
    assert_eq!(block.slot(), 0, "a block starts at slot 0");
    assert!(units > 0, "a block that was read takes a sector");
    let unit = block.block() + units;
    let vlf = vlf_of(vlfs, block.vlf());
    let behind = vlf.filter(|v| unit < v.units()).map(|_| Lsn::new(block.vlf(), unit, 0));
    [behind, vlf_of(vlfs, block.vlf().wrapping_add(1)).map(VlfState::first_block)]
}

/// A group that was read: its records in order. The last record's LSN is the group's.
pub struct GroupView<'a> {
    /// Its records.
    pub records: &'a [RecordView<'a>],
}

impl GroupView<'_> {
    /// The LSN that its pages are stamped with.
    ///
    /// # Panics
    /// Never: a group has a record.
    pub fn end(&self) -> Lsn {
        let last = self.records.last().expect("a group has a record");
        debug_assert!(!last.flags().has(RecordFlags::MORE), "the group ends there");
        let first = last.lsn.0 + 1 - self.records.len() as u64;
        debug_assert_eq!(self.records[0].lsn.0, first, "its LSNs are without a gap");
        last.lsn
    }
}

/// Reads groups forward. Blocks that are not on disk yet are read from memory.
pub struct LogReader<'l> {
    scan: BlockScan<&'l Log>,
    from: Lsn,
}

impl<'l> LogReader<'l> {
    /// A reader whose first group is the one that ends at or after `from`.
    pub fn new(log: &'l Log, from: Lsn) -> Self {
        LogReader { scan: BlockScan::new(log, from), from }
    }

    /// Calls `each` with every group of the next block; false at the end of the log.
    ///
    /// # Errors
    /// A block that must be there is missing, or what `each` returns.
    pub fn next_block<E: From<WalError>>(
        &mut self,
        mut each: impl FnMut(&GroupView<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        if !self.scan.next_block()? {
            return Ok(false);
        }
        let mut group: Vec<RecordView<'_>> = Vec::new();
        for record in self.scan.records() {
            group.push(record);
            if !record.flags().has(RecordFlags::MORE) {
                if record.lsn >= self.from {
                    each(&GroupView { records: &group })?;
                }
                group.clear();
            }
        }
        assert!(group.is_empty(), "rule 1: groups end in their block");
        Ok(true)
    }
}

/// Reads single records by LSN, as undo does when it walks a transaction back. It keeps the block
/// of the last record. So a walk reads and verifies each block once, however many of its records it
/// needs.
pub struct RecordReader<'l> {
    log: &'l Log,
    /// The block that is kept. If that was the open block, `buf` has what the block held when it
    /// was read.
    block: Option<Lsn>,
    buf: Vec<u8>,
    /// Where each record begins, by slot less one.
    offsets: Vec<usize>,
}

impl<'l> RecordReader<'l> {
    /// A reader that keeps no block yet.
    pub fn new(log: &'l Log) -> Self {
        RecordReader { log, block: None, buf: Vec::new(), offsets: Vec::new() }
    }

    /// A record, from memory or disk.
    ///
    /// # Errors
    /// When there is none.
    pub fn record(&mut self, lsn: Lsn) -> Result<RecordView<'_>, WalError> {
        let missing = || WalError::Missing(lsn);
        if self.kept(lsn).is_none() {
            self.keep(lsn.block_start()).ok_or_else(missing)?;
        }
        self.kept(lsn).ok_or_else(missing)
    }

    /// A record of the block that is kept; it reads nothing.
    pub fn kept(&self, lsn: Lsn) -> Option<RecordView<'_>> {
        if self.block != Some(lsn.block_start()) {
            return None;
        }
        let offset = *self.offsets.get(usize::from(lsn.slot()).checked_sub(1)?)?;
        let record = RecordView::parse(lsn, &self.buf[offset..])?;
        assert_eq!(record.lsn, lsn, "a slot holds the record that was found there");
        Some(record)
    }

    fn keep(&mut self, block: Lsn) -> Option<()> {
        self.block = None;
        self.offsets.clear();
        self.log.load_block(block, &mut self.buf)?;
        let mut at = BLOCK_HEADER_BYTES;
        for record in records_of(block, &self.buf) {
            self.offsets.push(at);
            at += record.bytes.len();
        }
        assert!(at <= self.buf.len(), "records lie within their block");
        self.block = Some(block);
        Some(())
    }
}

/// A block's place in the chain.
#[derive(Clone, Copy)]
pub(crate) struct BlockLink {
    pub(crate) units: u32,
    previous: u32,
    /// None while the block is open.
    checksum: Option<u32>,
}

impl BlockLink {
    fn of(view: BlockView<'_>) -> BlockLink {
        let (previous, checksum) = (view.previous_checksum(), Some(view.checksum()));
        BlockLink { units: view.units(), previous, checksum }
    }

    /// Whether the block no longer changes.
    pub(crate) fn is_closed(&self) -> bool {
        self.checksum.is_some()
    }
}

impl Log {
    /// Copies a block's used bytes into `buf`.
    pub(crate) fn load_block(&self, at: Lsn, buf: &mut Vec<u8>) -> Option<BlockLink> {
        let vlfs = {
            let tail = self.tail.lock();
            if tail.block.lsn == at {
                buf.clear();
                buf.extend_from_slice(&tail.block.bytes);
                let units = tail.block.units();
                debug_assert!(units > 0 && usize::from(tail.block.count) <= RECORDS_MAX);
                return Some(BlockLink { units, previous: tail.previous_checksum, checksum: None });
            }
            let kept = tail.closed.iter().chain(&tail.recent).find(|b| b.lsn == at);
            if let Some(b) = kept {
                return used_part(&b.bytes, at, buf);
            }
            tail.vlfs.clone()
        };
        let view = read_block(&*self.file, &vlfs, at, buf).ok().flatten()?;
        let (used, loaded) = (view.bytes.len(), BlockLink::of(view));
        buf.truncate(used);
        Some(loaded)
    }

    /// The block after `at`. Of the two places where it may be, it is at the one whose block
    /// continues the chain (rule 4). The other place may hold a sound block that a crash cut off.
    /// `buf` then has the block's used bytes as they are now.
    pub(crate) fn successor_of(
        &self,
        at: Lsn,
        block: BlockLink,
        buf: &mut Vec<u8>,
    ) -> Option<(Lsn, BlockLink)> {
        let checksum = block.checksum?;
        assert!(block.units > 0, "a closed block takes a sector");
        let vlfs = self.tail.lock().vlfs.clone();
        successors(&vlfs, at, block.units).into_iter().flatten().find_map(|lsn| {
            let next = self.load_block(lsn, buf)?;
            (next.previous == checksum).then_some((lsn, next))
        })
    }
}

fn used_part(raw: &[u8], at: Lsn, buf: &mut Vec<u8>) -> Option<BlockLink> {
    let view = BlockView::parse(raw, at)?;
    debug_assert!(view.bytes.len() <= raw.len(), "the used part is a part");
    buf.clear();
    buf.extend_from_slice(view.bytes);
    Some(BlockLink::of(view))
}
