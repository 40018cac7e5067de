//! A group of records under construction: what one `Change` logs, replayed whole or not at all.
//!
//! The buffer is reused: no allocation per row once it has grown.
//!
//! Invariants
//!  1. A group fits one log block (60 KB), so the block's checksum is the group's atomicity.
//!  2. All records of a group that name a transaction name the same one.

use crate::record::{HEADER_BYTES, Kind, PAGE_PART_BYTES, RecordFlags, RecordView};
use base::limits::LOG_BLOCK_BYTES_MAX;
use base::{AllocUnitId, Lsn, PageId};

/// Room a block leaves for records.
pub(crate) const GROUP_BYTES_MAX: usize = LOG_BLOCK_BYTES_MAX - crate::block::BLOCK_HEADER_BYTES;

/// The group would not fit a block; nothing was added.
#[derive(Debug, PartialEq, Eq)]
pub struct GroupOverflow;

/// A transaction's records so far: the ends of its chain, and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TransactionChain {
    /// Low 32 bits of the transaction's id; 0 for records of no transaction.
    pub id: u32,
    /// Its first record; zero before there is one.
    pub first: Lsn,
    /// Its last record; zero before there is one.
    pub last: Lsn,
    /// Bytes it has logged.
    pub bytes: u64,
    /// Records it has logged.
    pub records: u64,
    /// Where its undo continues: its last record, or what its last compensation says.
    pub undo_next: Lsn,
    /// Records that nothing but the log undoes: see [`RecordFlags::needs_log`].
    pub unversioned: u64,
}

/// Records to be appended together.
#[derive(Default)]
pub struct Group {
    pub(crate) bytes: Vec<u8>,
    pub(crate) last_start: usize,
    pub(crate) count: usize,
}

impl Group {
    /// An empty group.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets its records, keeps its buffer.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.count = 0;
        self.last_start = 0;
        debug_assert!(self.is_empty(), "nothing is left");
    }

    /// A planted fault: the last record of several is left out.
    pub(crate) fn lose_tail(&mut self) {
        if self.count < 2 {
            return;
        }
        self.bytes.truncate(self.last_start);
        self.count -= 1;
        let (mut at, mut last) = (0, 0);
        while at < self.bytes.len() {
            last = at;
            at += usize::from(u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]));
        }
        self.bytes[last + 3] &= !RecordFlags::MORE;
        self.last_start = last;
    }

    /// Whether it has no records.
    pub fn is_empty(&self) -> bool {
        debug_assert_eq!(self.count == 0, self.bytes.is_empty(), "records have bytes");
        self.count == 0
    }

    /// Bytes so far.
    pub fn len(&self) -> usize {
        debug_assert!(self.bytes.len() <= GROUP_BYTES_MAX, "invariant 1");
        self.bytes.len()
    }

    /// The payload of the record added last, as it stands in the log.
    ///
    /// # Panics
    /// When there is none.
    pub fn last_payload(&self) -> &[u8] {
        assert!(self.count > 0, "there is a last record");
        let record = RecordView::parse(Lsn::ZERO, &self.bytes[self.last_start..]);
        record.expect("what was pushed is a record").payload()
    }

    /// Adds a record without a page: begin, commit, checkpoint.
    ///
    /// # Errors
    /// When the group would not fit a block.
    pub fn push_plain(
        &mut self,
        kind: Kind,
        transaction: u32,
        payload: &[u8],
    ) -> Result<(), GroupOverflow> {
        self.push(kind, RecordFlags(0), transaction, Lsn::ZERO, None, &[payload])
    }

    /// Adds a compensation that changes no page: earlier groups have already undone what it stands
    /// for. Undo continues at `undo_next`.
    ///
    /// # Errors
    /// When the group would not fit a block.
    pub fn push_compensation(
        &mut self,
        transaction: u32,
        undo_next: Lsn,
    ) -> Result<(), GroupOverflow> {
        self.push_compensation_of(crate::record::kinds::UNDONE, transaction, undo_next, &[])
    }

    /// The same of a kind of its own, which says more.
    ///
    /// # Errors
    /// When the group would not fit a block.
    pub fn push_compensation_of(
        &mut self,
        kind: Kind,
        transaction: u32,
        undo_next: Lsn,
        payload: &[u8],
    ) -> Result<(), GroupOverflow> {
        assert!(transaction != 0, "a transaction's change is compensated");
        let flags = RecordFlags(RecordFlags::COMPENSATION);
        self.push(kind, flags, transaction, undo_next, None, &[payload])
    }

    /// Adds a record that changes a page. `undo_next` is for compensations: where undo goes on.
    ///
    /// # Errors
    /// When the group would not fit a block.
    #[allow(clippy::too_many_arguments)]
    pub fn push_page(
        &mut self,
        kind: Kind,
        flags: RecordFlags,
        transaction: u32,
        undo_next: Lsn,
        page: (PageId, u16, AllocUnitId),
        payload: &[&[u8]],
    ) -> Result<(), GroupOverflow> {
        self.push(kind, flags, transaction, undo_next, Some(page), payload)
    }

    fn push(
        &mut self,
        kind: Kind,
        flags: RecordFlags,
        transaction: u32,
        undo_next: Lsn,
        page: Option<(PageId, u16, AllocUnitId)>,
        payload: &[&[u8]],
    ) -> Result<(), GroupOverflow> {
        let payload_len: usize = payload.iter().map(|p| p.len()).sum();
        let page_len = if page.is_some() { PAGE_PART_BYTES } else { 0 };
        let n = HEADER_BYTES + page_len + payload_len;
        let compensation = flags.has(RecordFlags::COMPENSATION);
        debug_assert!(!flags.has(RecordFlags::MORE | RecordFlags::PAGE), "set here only");
        debug_assert!(compensation || undo_next == Lsn::ZERO, "others are linked when appended");
        debug_assert!(!compensation || transaction != 0, "a transaction's change is compensated");
        let both = compensation && flags.has(RecordFlags::REDO_ONLY);
        debug_assert!(!both, "a compensation is redo-only as it is");
        if self.bytes.len() + n > GROUP_BYTES_MAX || self.count + 1 > crate::block::RECORDS_MAX {
            return Err(GroupOverflow);
        }
        if self.count > 0 {
            self.bytes[self.last_start + 3] |= RecordFlags::MORE;
        }
        self.last_start = self.bytes.len();
        self.count += 1;
        let page_flag = if page.is_some() { RecordFlags::PAGE } else { 0 };
        self.bytes.extend_from_slice(&(n as u16).to_le_bytes());
        self.bytes.extend_from_slice(&[kind.0, flags.0 | page_flag]);
        self.bytes.extend_from_slice(&transaction.to_le_bytes());
        self.bytes.extend_from_slice(&undo_next.0.to_le_bytes());
        if let Some((id, slot, unit)) = page {
            self.bytes.extend_from_slice(&id.page.to_le_bytes());
            self.bytes.extend_from_slice(&id.file.0.to_le_bytes());
            self.bytes.extend_from_slice(&slot.to_le_bytes());
            self.bytes.extend_from_slice(&unit.0.to_le_bytes());
        }
        for part in payload {
            self.bytes.extend_from_slice(part);
        }
        debug_assert_eq!(self.bytes.len(), self.last_start + n, "as long as its header says");
        debug_assert!(self.bytes.len() <= GROUP_BYTES_MAX, "invariant 1");
        Ok(())
    }
}
