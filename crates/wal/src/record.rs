//! A log record as bytes.
//!
//! | off | len | field |
//! |---|---|---|
//! | 0 | 2 | length of the record, header included |
//! | 2 | 1 | kind: which handler, which operation |
//! | 3 | 1 | flags |
//! | 4 | 4 | transaction, low 32 bits; 0 = none (system) |
//! | 8 | 8 | previous LSN of the transaction; of a compensation: the next one to undo |
//! | 16 | 4+2 | page, file — with flag PAGE only, as the next two |
//! | 22 | 2 | slot |
//! | 24 | 4 | allocation unit |
//! | 28 or 16 | | payload |

use base::{AllocUnitId, Lsn, PageId};

/// Length of a record's header without and with its page part.
pub(crate) const HEADER_BYTES: usize = 16;
pub(crate) const PAGE_PART_BYTES: usize = 12;

/// Which handler and which operation of it. Numbers are on-disk format: never reused.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Kind(pub u8);

/// The ranges of kinds, one owner each, and the log's own.
#[allow(missing_docs)]
pub mod kinds {
    use super::Kind;

    /// The first record after a start or recovery: its payload is a random incarnation, so that
    /// no block written now equals a block lost in a crash (README rule 5).
    pub const INCARNATION: Kind = Kind(0x01);
    pub const BEGIN: Kind = Kind(0x02);
    pub const COMMIT: Kind = Kind(0x03);
    pub const ABORT: Kind = Kind(0x04);
    pub const SAVEPOINT: Kind = Kind(0x05);
    pub const CHECKPOINT_BEGIN: Kind = Kind(0x08);
    pub const CHECKPOINT_TRANSACTIONS: Kind = Kind(0x09);
    /// The end of a checkpoint as earlier versions wrote it.
    pub const CHECKPOINT_END_UNTIMED: Kind = Kind(0x0A);
    pub const CHECKPOINT_END: Kind = Kind(0x0B);
    /// The transaction commits if another database's log says so (`txn::PreparePayload`).
    pub const PREPARE: Kind = Kind(0x0C);
    /// A compensation without a page.
    pub const UNDONE: Kind = Kind(0x0D);
    /// Every database knows how a transaction ended that this one decided.
    pub const FORGET: Kind = Kind(0x0E);
    /// The sequence number in the version tags of its transaction (`txn::NumberPayload`).
    pub const VERSION_NUMBER: Kind = Kind(0x0F);
    /// No page has a record by an aborted transaction any more (`txn::NumberPayload`).
    pub const REVERTED: Kind = Kind(0x10);
    /// A part of its transaction is aborted, and the rows that it changed stay as they are: a
    /// compensation, behind which undo goes on before that part (`txn::AbortedTransaction`).
    pub const PART_ABORTED: Kind = Kind(0x11);
    /// A record of a transaction that was active when a checkpoint began, from before: its undo
    /// needs it (`txn::KeptRecords`).
    pub const KEPT_RECORD: Kind = Kind(0x12);
    pub const LAST_OF_LOG: u8 = 0x12;
    pub const FIRST_OF_SPACE: u8 = 0x20;
    pub const FIRST_OF_BTREE: u8 = 0x40;
    pub const FIRST_OF_HEAP: u8 = 0x60;
    pub const FIRST_OF_LOB: u8 = 0x70;
    pub const FIRST_OF_CATALOG: u8 = 0x80;
    pub const FIRST_OF_VERSIONS: u8 = 0x90;
}

/// What a record says about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecordFlags(pub u8);

impl RecordFlags {
    /// The group goes on with the next record.
    pub const MORE: u8 = 0x01;
    /// The record has a page part.
    pub const PAGE: u8 = 0x02;
    /// A compensation: it is never undone, and undo goes on at its "previous" LSN.
    pub const COMPENSATION: u8 = 0x04;
    /// Part of a transaction's chain but without undo.
    pub const REDO_ONLY: u8 = 0x08;
    /// It changes a row that keeps its former version: its transaction may be undone without it.
    pub const VERSIONED: u8 = 0x10;

    /// Whether a transaction's record is undone from the log and in no other way.
    pub const fn needs_log(self) -> bool {
        let others = RecordFlags::COMPENSATION | RecordFlags::REDO_ONLY | RecordFlags::VERSIONED;
        self.has(RecordFlags::PAGE) && !self.has(others)
    }

    /// Whether one of these flags is set.
    pub const fn has(self, flag: u8) -> bool {
        self.0 & flag != 0
    }
}

/// A record within a block's bytes.
#[derive(Clone, Copy, Debug)]
pub struct RecordView<'a> {
    /// Where it is in the log.
    pub lsn: Lsn,
    /// All its bytes.
    pub bytes: &'a [u8],
}

fn u16_at(b: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([b[at], b[at + 1]])
}

fn u32_at(b: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([b[at], b[at + 1], b[at + 2], b[at + 3]])
}

impl<'a> RecordView<'a> {
    /// The record that `bytes` begin with; `None` when they make no sense.
    pub fn parse(lsn: Lsn, bytes: &'a [u8]) -> Option<RecordView<'a>> {
        let n = usize::from(u16_at(bytes.get(..HEADER_BYTES)?, 0));
        let flags = RecordFlags(bytes[3]);
        let least = HEADER_BYTES + if flags.has(RecordFlags::PAGE) { PAGE_PART_BYTES } else { 0 };
        (n >= least).then(|| bytes.get(..n)).flatten().map(|bytes| RecordView { lsn, bytes })
    }

    fn is_whole(&self) -> bool {
        debug_assert!(self.bytes.len() >= HEADER_BYTES, "a record has its header");
        usize::from(u16_at(self.bytes, 0)) == self.bytes.len()
    }

    /// Its kind.
    pub fn kind(&self) -> Kind {
        debug_assert!(self.bytes.len() >= HEADER_BYTES, "a record has its header");
        Kind(self.bytes[2])
    }

    /// Its flags.
    pub fn flags(&self) -> RecordFlags {
        debug_assert!(self.bytes.len() >= HEADER_BYTES, "a record has its header");
        RecordFlags(self.bytes[3])
    }

    /// Low 32 bits of its transaction's id; 0 for none.
    pub fn transaction(&self) -> u32 {
        debug_assert!(self.bytes.len() >= HEADER_BYTES, "a record has its header");
        u32_at(self.bytes, 4)
    }

    /// The transaction's previous record, or what to undo next after a compensation.
    pub fn previous(&self) -> Lsn {
        debug_assert!(self.bytes.len() >= HEADER_BYTES, "a record has its header");
        Lsn(u64::from(u32_at(self.bytes, 8)) | (u64::from(u32_at(self.bytes, 12)) << 32))
    }

    /// The page it changes.
    pub fn page(&self) -> Option<PageId> {
        let at = HEADER_BYTES;
        debug_assert!(self.is_whole(), "a record is as long as it says");
        let page = || PageId::new(u16_at(self.bytes, at + 4), u32_at(self.bytes, at));
        self.flags().has(RecordFlags::PAGE).then(page)
    }

    /// The slot it changes; 0 without a page part.
    pub fn slot(&self) -> u16 {
        debug_assert!(self.is_whole(), "a record is as long as it says");
        if self.flags().has(RecordFlags::PAGE) { u16_at(self.bytes, HEADER_BYTES + 6) } else { 0 }
    }

    /// The allocation unit of its page.
    pub fn alloc_unit(&self) -> AllocUnitId {
        let at = HEADER_BYTES + 8;
        debug_assert!(self.is_whole(), "a record is as long as it says");
        AllocUnitId(if self.flags().has(RecordFlags::PAGE) { u32_at(self.bytes, at) } else { 0 })
    }

    /// What its handler wrote.
    pub fn payload(&self) -> &'a [u8] {
        let page = if self.flags().has(RecordFlags::PAGE) { PAGE_PART_BYTES } else { 0 };
        debug_assert!(self.is_whole(), "a record is as long as it says");
        debug_assert!(HEADER_BYTES + page <= self.bytes.len(), "its parts lie within it");
        &self.bytes[HEADER_BYTES + page..]
    }
}
