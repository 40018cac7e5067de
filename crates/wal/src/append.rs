//! The log's tail: the open block, and the closed blocks that wait to be written.
//!
//! Cost of an append: one acquisition of the tail's latch and one copy of the group. It allocates
//! nothing once the block buffers exist, as they are reused.

use crate::block::{BLOCK_HEADER_BYTES, Block, Buffer};
use crate::counters::HoldTimes;
use crate::group::{Group, TransactionChain};
use crate::log::{GroupRange, Log};
use crate::mutations::Fault;
use crate::record::RecordFlags;
use crate::vlf::{VlfState, VlfStatus};
use base::Lsn;
use base::limits::{LOG_BLOCK_BYTES_MAX, LOG_SECTOR_BYTES};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// With more closed blocks than this, the appending thread writes the log itself (wait LOGBUFFER).
const CLOSED_BLOCKS_MAX: usize = 64;
/// From so many closed blocks on, each further one wakes the log writer: 1 MB at a time.
const CLOSED_BLOCKS_WAKE: usize = 16;
/// Written blocks kept in memory, so that short rollbacks read no disk.
const RECENT_BLOCKS: usize = 16;
/// Buffers kept for new blocks: as many as there may be closed blocks.
const SPARE_BUFFERS: usize = CLOSED_BLOCKS_MAX;

/// A block whose bytes no longer change.
pub(crate) struct ClosedBlock {
    pub(crate) lsn: Lsn,
    pub(crate) bytes: Arc<Buffer>,
}

impl ClosedBlock {
    /// Its end: the place of the next block, if that is in the same VLF.
    pub(crate) fn end(&self) -> Lsn {
        let units = (self.bytes.len() / LOG_SECTOR_BYTES) as u32;
        Lsn::new(self.lsn.vlf(), self.lsn.block() + units, 0)
    }
}

pub(crate) struct Tail {
    pub(crate) block: Block,
    /// Closed, and not yet taken by a flush.
    pub(crate) closed: VecDeque<ClosedBlock>,
    /// Being written, or written a short time ago; oldest first.
    pub(crate) recent: VecDeque<ClosedBlock>,
    /// VLF headers to be written before the blocks.
    pub(crate) headers: Vec<VlfState>,
    pub(crate) vlfs: Vec<VlfState>,
    /// Index of the VLF that the open block is in.
    pub(crate) current: usize,
    pub(crate) previous_checksum: u32,
    spare: Vec<Buffer>,
    pub(crate) holds: HoldTimes,
}

impl Tail {
    pub(crate) fn new(
        vlfs: Vec<VlfState>,
        current: usize,
        next_block: Lsn,
        previous_checksum: u32,
    ) -> Tail {
        assert_eq!(vlfs[current].sequence, next_block.vlf(), "the open block is in its VLF");
        assert!(vlfs[current].first_block() <= next_block, "blocks come behind the VLF's header");
        let tail = Tail {
            block: Block::open(next_block, Buffer::new()),
            closed: VecDeque::new(),
            recent: VecDeque::new(),
            headers: Vec::new(),
            vlfs,
            current,
            previous_checksum,
            spare: Vec::new(),
            holds: HoldTimes::default(),
        };
        tail.check();
        tail
    }

    /// What holds between any two transitions. It looks at every VLF, so only rare transitions call
    /// it.
    pub(crate) fn check(&self) {
        let current = self.current();
        assert_eq!(current.status, VlfStatus::Active, "the open block's VLF is in use");
        assert_eq!(current.sequence, self.block.lsn.vlf(), "the open block is in its VLF");
        assert!(self.block.lsn.block() <= current.units(), "the open block begins within it");
        let above = self.vlfs.iter().any(|v| v.sequence > current.sequence);
        assert!(!above, "no VLF is newer than the one of the open block");
        let gap = self.vlfs.windows(2).any(|v| v[0].offset + v[0].bytes != v[1].offset);
        assert!(!gap, "VLFs follow each other without a gap");
        let unused = self.vlfs.iter().any(|v| v.sequence == 0 && v.status == VlfStatus::Active);
        assert!(!unused, "a VLF that was never entered holds nothing");
        let closed = self.closed.back().is_none_or(|b| b.lsn < self.block.lsn);
        assert!(closed, "closed blocks come before the open one");
        let recent = self.recent.back().zip(self.closed.front());
        assert!(recent.is_none_or(|(r, c)| r.lsn < c.lsn), "written before those to be written");
    }

    pub(crate) fn current(&self) -> &VlfState {
        debug_assert!(self.current < self.vlfs.len(), "one of the file's VLFs");
        &self.vlfs[self.current]
    }

    /// Bytes from a block offset to the end of the current VLF.
    fn room_in_vlf(&self, from_unit: u32) -> usize {
        debug_assert!(from_unit <= self.current().units(), "a place within the VLF");
        self.current().units().saturating_sub(from_unit) as usize * LOG_SECTOR_BYTES
    }

    fn open_block_has_room(&self, bytes: usize, records: usize) -> bool {
        debug_assert!(bytes > 0 && records > 0, "it is asked for a group");
        self.block.has_room(bytes, records)
            && self.block.bytes.len() + bytes <= self.room_in_vlf(self.block.lsn.block())
    }

    fn buffer(&mut self) -> Buffer {
        debug_assert!(self.spare.len() <= SPARE_BUFFERS, "spare buffers are bounded");
        self.spare.pop().unwrap_or_else(Buffer::new)
    }

    /// Closes the open block, if it has records, and opens one with room for `bytes`. `durable` is
    /// where the durable log ends; the closed block records it.
    pub(crate) fn next_block(&mut self, bytes: usize, durable: Lsn) {
        assert!(bytes <= crate::group::GROUP_BYTES_MAX, "rule 1: a group fits a block");
        let mut at = self.close_block(durable);
        // A flush (0 bytes) leaves an empty block even where it has no room.
        if bytes > 0 && bytes + BLOCK_HEADER_BYTES > self.room_in_vlf(at.block()) {
            self.enter_next_vlf();
            at = self.current().first_block();
        }
        self.open_block(at);
        let room = self.room_in_vlf(at.block());
        debug_assert!(bytes == 0 || bytes + BLOCK_HEADER_BYTES <= room, "there is room now");
    }

    /// Continues in the next VLF, however much room is left in this one. This one has a block.
    pub(crate) fn leave_vlf(&mut self, durable: Lsn) {
        let at = self.close_block(durable);
        assert!(at > self.current().first_block(), "the chain goes on from a block of this VLF");
        self.enter_next_vlf();
        self.open_block(self.current().first_block());
    }

    /// Closes the open block, if it has records. Returns where the next one begins.
    fn close_block(&mut self, durable: Lsn) -> Lsn {
        let at = self.block.lsn;
        if self.block.is_empty() {
            return at;
        }
        // The buffer comes first: when there is no memory for it, nothing has changed.
        let buffer = self.buffer();
        self.previous_checksum = self.block.close(self.previous_checksum, durable);
        let unit = at.block() + (self.block.bytes.len() / LOG_SECTOR_BYTES) as u32;
        let fresh = Block { lsn: at, bytes: buffer, count: 0 };
        let full = std::mem::replace(&mut self.block, fresh);
        debug_assert!(unit > at.block() && unit <= self.current().units(), "inside the VLF");
        let before = self.closed.back();
        debug_assert!(before.is_none_or(|b| b.lsn < at), "rule 2: closed in order of LSN");
        self.closed.push_back(ClosedBlock { lsn: at, bytes: Arc::new(full.bytes) });
        Lsn::new(at.vlf(), unit, 0)
    }

    fn open_block(&mut self, at: Lsn) {
        self.block.begin(at);
        debug_assert!(self.block.is_empty() && self.block.lsn.vlf() == self.current().sequence);
    }

    /// The VLF that comes after the current one.
    pub(crate) fn next_free(&self) -> Option<usize> {
        let n = self.vlfs.len();
        let mut behind = (1..=n).map(|i| (self.current + i) % n);
        behind.find(|&i| self.vlfs[i].status == VlfStatus::Inactive)
    }

    fn enter_next_vlf(&mut self) {
        let sequence = self.current().sequence + 1;
        let Some(free) = self.next_free() else {
            // Reservations prevent this. Without log space the process cannot go on.
            os::stop::process("the transaction log is full beyond its reserve");
        };
        assert!(free != self.current, "the current VLF is not free");
        assert!(self.vlfs[free].sequence < sequence, "sequence numbers only grow (rule 6)");
        let v = &mut self.vlfs[free];
        v.sequence = sequence;
        v.parity = if v.parity == 64 { 128 } else { 64 };
        v.status = VlfStatus::Active;
        let before = self.headers.last();
        assert!(before.is_none_or(|h| h.sequence < sequence), "headers are written in order");
        self.headers.push(*v);
        self.current = free;
    }

    /// Keeps written blocks for readers, and their buffers for new blocks.
    pub(crate) fn retire(&mut self) {
        while self.recent.len() > RECENT_BLOCKS {
            if let Some(old) = self.recent.pop_front()
                && let Ok(buffer) = Arc::try_unwrap(old.bytes)
                && self.spare.len() < SPARE_BUFFERS
            {
                self.spare.push(buffer);
            }
        }
        debug_assert!(self.recent.len() <= RECENT_BLOCKS, "old blocks are given up");
    }
}

impl Log {
    /// Appends a group and links its records into a transaction's chain.
    ///
    /// The caller has reserved the space (rule 7) and holds the latches of every page of the
    /// group (rule 3). Empties the group.
    pub fn append(&self, group: &mut Group, chain: &mut TransactionChain) -> GroupRange {
        assert!(!group.is_empty(), "an append logs something");
        assert!(group.len() <= crate::group::GROUP_BYTES_MAX, "rule 1: a group fits a block");
        if self.mutations.has(Fault::LostTail) {
            group.lose_tail();
        }
        let (appended, waiting, closed) = {
            let mut tail = self.tail.lock();
            let began = tail.hold_begins();
            let closes = !tail.open_block_has_room(group.bytes.len(), group.count);
            if closes {
                let told = self.end_for(&tail);
                tail.next_block(group.bytes.len(), told);
                self.publish_free(&tail);
            }
            let first = tail.block.next_lsn();
            debug_assert!(first.0 >= self.next.load(Relaxed), "LSNs only grow");
            link(group, first, chain);
            tail.block.bytes.extend_from_slice(&group.bytes);
            tail.block.count += group.count as u16;
            let next = tail.block.next_lsn();
            debug_assert!(tail.block.bytes.len() <= LOG_BLOCK_BYTES_MAX, "the block has room");
            let room = tail.room_in_vlf(tail.block.lsn.block());
            debug_assert!(tail.block.bytes.len() <= room, "the VLF has room");
            debug_assert_eq!(next.0 - first.0, group.count as u64, "an LSN for each record");
            self.next.store(next.0, Release);
            tail.hold_ends(began);
            (GroupRange { first, last: Lsn(next.0 - 1) }, tail.closed.len(), closes)
        };
        debug_assert!(chain.id == 0 || chain.last <= appended.last, "the chain ends here");
        group.clear();
        if waiting >= CLOSED_BLOCKS_MAX {
            self.flush_closed();
        } else if closed && waiting >= CLOSED_BLOCKS_WAKE {
            self.writer_wanted.signal();
        }
        appended
    }

    /// Whether there are so many closed blocks that the log writer must write them.
    pub(crate) fn has_closed_many(&self) -> bool {
        self.tail.lock().closed.len() >= CLOSED_BLOCKS_WAKE
    }

    /// A lower bound of the LSN of the next append: the last record's LSN plus one. Its block
    /// exists, so a reader can begin there. The next record may still come in another block.
    #[inline]
    pub fn next_lsn(&self) -> Lsn {
        // Pairs with the release of an append: a thread that sees a record's LSN here also sees
        // that the record's pages were marked dirty before (rule 8).
        let next = Lsn(self.next.load(Acquire));
        debug_assert!(next.slot() > 0, "a block's first record has slot 1");
        next
    }

    /// The record that was appended last.
    #[inline]
    pub fn last_lsn(&self) -> Lsn {
        let last = Lsn(self.next_lsn().0 - 1);
        debug_assert!(last.slot() > 0, "the incarnation's record was appended before");
        last
    }
}

/// Writes the previous LSNs into a group's records, once their own LSNs are known.
fn link(group: &mut Group, first: Lsn, chain: &mut TransactionChain) {
    let (mut at, mut lsn) = (0, first);
    while at < group.bytes.len() {
        let r = &mut group.bytes[at..];
        let n = usize::from(u16::from_le_bytes([r[0], r[1]]));
        let id = u32::from_le_bytes([r[4], r[5], r[6], r[7]]);
        debug_assert!(n >= crate::record::HEADER_BYTES && n <= r.len(), "whole records");
        let more = RecordFlags(r[3]).has(RecordFlags::MORE);
        debug_assert_eq!(more, n < r.len(), "MORE is set on all but the last");
        if id != 0 {
            assert_eq!(id, chain.id, "a group logs for one transaction");
            if RecordFlags(r[3]).has(RecordFlags::COMPENSATION) {
                let next = r[8..16].first_chunk().expect("eight bytes are eight bytes");
                chain.undo_next = Lsn(u64::from_le_bytes(*next));
            } else {
                r[8..16].copy_from_slice(&chain.last.0.to_le_bytes());
                chain.undo_next = lsn;
            }
            if chain.first == Lsn::ZERO {
                chain.first = lsn;
            }
            debug_assert!(chain.last < lsn && chain.first <= lsn, "a chain goes forward");
            chain.last = lsn;
            chain.bytes += n as u64;
            chain.records += 1;
            chain.unversioned += u64::from(RecordFlags(r[3]).needs_log());
        }
        at += n;
        lsn = Lsn(lsn.0 + 1);
    }
}
