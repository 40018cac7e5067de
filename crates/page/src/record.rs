//! The record ("FixedVar" format): status bytes, kinds, length, version tag.
//!
//! | part | bytes | |
//! |---|---|---|
//! | status A | 1 | bits 1-3 kind, 0x10 null bitmap, 0x20 variable part, 0x40 version tag, |
//! | | | 0x80 in-row version |
//! | status B | 1 | data records only: what follows the columns (`forward.rs`) |
//! | fixed end | 2 | data records only: offset of the column count |
//! | fixed columns | n | |
//! | column count, null bitmap | 2 + ceil(n/8) | 1 = NULL; data records always |
//! | variable count, end offsets | 2 + 2k | high bit of an offset: the column is off-row |
//! | variable columns | | |
//! | RID | 8 | of a forwarded row: `forward.rs` |
//! | in-row version | n | the row before, in front of a tag that says so: `in_row.rs` |
//! | version tag | 14 | page 4, file 2, slot 2, XSN 6 |
//!
//! Index records have neither status B nor fixed end: pminlen of their page tells. Large-object
//! fragments have their length where data records have the fixed end.

use crate::forward::{STUB_BYTES, trailer_bytes};
use crate::header::{u16_at, u32_at};
use base::limits::VERSION_TAG_BYTES;
use base::{PageId, SlotNo, Xsn};

/// Status A: a null bitmap follows the fixed columns.
pub(crate) const HAS_NULLS: u8 = 0x10;
/// Status A: a variable part follows.
pub(crate) const HAS_VARIABLE: u8 = 0x20;
/// Status A: the record ends in a version tag.
pub(crate) const HAS_TAG: u8 = 0x40;
/// Status A: an in-row version stands in front of the tag.
pub(crate) const HAS_IN_ROW: u8 = 0x80;
const KIND_BITS: u8 = 0x0E;
/// The longest in-row version: beyond it a former row is cheaper elsewhere.
pub const IN_ROW_BYTES_MAX: usize = 200;
/// Its length and where bytes differ.
pub(crate) const IN_ROW_FRONT_BYTES: usize = 3;
const _: () = assert!(IN_ROW_BYTES_MAX <= 0xFD, "a tag tells lengths up to this");
/// What every data record begins with: two status bytes and the fixed end.
const DATA_FRONT_BYTES: usize = 4;
/// High bit of a variable column's end offset: the bytes are a pointer off the row.
pub(crate) const OFF_ROW: u16 = 0x8000;

/// What a record is: bits 1 to 3 of status A.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum RecordKind {
    /// A row of a heap or of a clustered leaf.
    Primary = 0,
    /// A heap row that moved; its old slot holds a stub.
    Forwarded = 1,
    /// Where a heap row moved to.
    ForwardingStub = 2,
    /// An entry of an index page.
    Index = 3,
    /// A fragment of a large object.
    Blob = 4,
    /// A deleted entry of an index page.
    GhostIndex = 5,
    /// A deleted row.
    GhostData = 6,
    /// A deleted row kept for its versions only.
    GhostVersion = 7,
}

impl RecordKind {
    /// The kind in a status byte.
    pub const fn of(status: u8) -> RecordKind {
        match (status & KIND_BITS) >> 1 {
            0 => RecordKind::Primary,
            1 => RecordKind::Forwarded,
            2 => RecordKind::ForwardingStub,
            3 => RecordKind::Index,
            4 => RecordKind::Blob,
            5 => RecordKind::GhostIndex,
            6 => RecordKind::GhostData,
            _ => RecordKind::GhostVersion,
        }
    }

    /// The status bits of the kind.
    pub const fn bits(self) -> u8 {
        (self as u8) << 1
    }

    /// Whether the record is a ghost.
    pub const fn is_ghost(self) -> bool {
        matches!(self, RecordKind::GhostIndex | RecordKind::GhostData | RecordKind::GhostVersion)
    }

    /// Whether records of this kind start like index records (one status byte, pminlen).
    pub const fn is_index(self) -> bool {
        matches!(self, RecordKind::Index | RecordKind::GhostIndex)
    }

    /// The kind a delete turns it into; `None` for what cannot be a ghost.
    pub const fn ghosted(self) -> Option<RecordKind> {
        match self {
            RecordKind::Primary | RecordKind::Forwarded => Some(RecordKind::GhostData),
            RecordKind::Index => Some(RecordKind::GhostIndex),
            _ => None,
        }
    }

    /// The kind a rolled-back delete turns it back into, unless it was forwarded.
    pub const fn unghosted(self) -> Option<RecordKind> {
        match self {
            RecordKind::GhostData | RecordKind::GhostVersion => Some(RecordKind::Primary),
            RecordKind::GhostIndex => Some(RecordKind::Index),
            _ => None,
        }
    }

    /// A status byte with its kind replaced.
    pub const fn with_kind(status: u8, kind: RecordKind) -> u8 {
        (status & !KIND_BITS) | kind.bits()
    }
}

/// Whether a record is a ghost: a question about its bytes, for redo, undo, space and counts of
/// records. Whether a row stands there is another question, which depends on the record's writer
/// (`rowstore/src/current.rs`). A record without bytes is none.
#[inline]
pub fn is_ghost_record(record: &[u8]) -> bool {
    record.first().is_some_and(|status| RecordKind::of(*status).is_ghost())
}

/// Which version store a pointer leads into.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StoreKind {
    /// The store that the databases of an instance share.
    Shared,
    /// The store of the record's own database.
    Own,
}

/// Where a former version is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct VersionPtr {
    /// In which store.
    pub store: StoreKind,
    /// The page.
    pub page: PageId,
    /// The slot.
    pub slot: SlotNo,
}

/// The bit of a pointer's file number that tells a database's own store from the shared one. Files
/// of a database have numbers below [`LAST_OWN_FILE`] + 1, so the bit is spare.
const OWN_STORE: u16 = 0x8000;

/// The largest file number that a pointer into a database's own store can have: those above it
/// would read as [`IN_ROW`], [`LOST`] and [`ITSELF`].
const LAST_OWN_FILE: u16 = IN_ROW - 1 - OWN_STORE;

impl VersionPtr {
    /// A place in the shared store.
    pub const fn shared(page: PageId, slot: SlotNo) -> VersionPtr {
        VersionPtr { store: StoreKind::Shared, page, slot }
    }

    /// A place in the store of the record's own database.
    pub const fn own(page: PageId, slot: SlotNo) -> VersionPtr {
        VersionPtr { store: StoreKind::Own, page, slot }
    }

    /// As a tag spells it.
    const fn spelled(self) -> (PageId, SlotNo) {
        let PageId { file, page } = self.page;
        match self.store {
            StoreKind::Shared => {
                assert!(file.0 < OWN_STORE, "the bit above file numbers tells the store");
                (self.page, self.slot)
            }
            StoreKind::Own => {
                assert!(file.0 <= LAST_OWN_FILE, "the files above are no places");
                (PageId::new(file.0 | OWN_STORE, page), self.slot)
            }
        }
    }

    /// What a tag spells as a place.
    const fn of((spelled, slot): (PageId, SlotNo)) -> VersionPtr {
        let PageId { file, page } = spelled;
        match file.0 & OWN_STORE {
            0 => VersionPtr::shared(spelled, slot),
            _ => VersionPtr::own(PageId::new(file.0 & !OWN_STORE, page), slot),
        }
    }
}

/// The last 14 bytes of a versioned record: where its previous version is, and who wrote it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VersionTag {
    /// Page and slot of the previous version as the bytes have them, see [`VersionTag::before`];
    /// [`PageId::NONE`] when there is none.
    pub previous: (PageId, SlotNo),
    /// The writer.
    pub writer: Xsn,
}

/// The file number of a previous version that is the ghost's own bytes.
const ITSELF: u16 = u16::MAX;

/// The file number of a previous version that was not kept.
const LOST: u16 = u16::MAX - 1;

/// The first of the file numbers of a previous version that is in the row's own record: the low
/// byte is the length of the in-row version.
const IN_ROW: u16 = 0xFF00;
/// Where a tag has the file number.
const TAG_FILE: usize = 4;

/// Where the version before a record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Previous {
    /// There is none: before its writer there was no row, or nobody asks.
    None,
    /// In a store.
    Stored(VersionPtr),
    /// The ghost's own bytes: it lived, written by this one (0: before versions), nothing earlier.
    Itself(Xsn),
    /// Nowhere, though there was one: what was there since this one wrote it (0: since ever) was
    /// not kept. Earlier there was no row, or nobody asks.
    Lost(Xsn),
    /// In the record itself, in front of its tag (`in_row.rs`): a row, nothing earlier.
    InRow {
        /// Who wrote it (0: before versions).
        born: Xsn,
        /// How many bytes it takes.
        bytes: u8,
    },
}

impl Previous {
    /// As a tag spells it.
    #[inline]
    pub const fn place(self) -> (PageId, SlotNo) {
        match self {
            Previous::None => (PageId::NONE, SlotNo(0)),
            Previous::Stored(at) => at.spelled(),
            Previous::Itself(xsn) => number_at(ITSELF, xsn),
            Previous::Lost(xsn) => number_at(LOST, xsn),
            Previous::InRow { born, bytes } => {
                assert!(bytes < (LOST - IN_ROW) as u8, "the files above mean something else");
                number_at(IN_ROW | bytes as u16, born)
            }
        }
    }
}

/// A number in the place of a page and a slot.
const fn number_at(file: u16, Xsn(n): Xsn) -> (PageId, SlotNo) {
    (PageId::new(file, n as u32), SlotNo((n >> 32) as u16))
}

impl VersionTag {
    /// The tag of a record by `writer`.
    #[inline]
    pub const fn new(writer: Xsn, previous: Previous) -> VersionTag {
        VersionTag { previous: previous.place(), writer }
    }

    /// Where the version before it is.
    #[inline]
    pub fn before(self) -> Previous {
        let (page, slot) = self.previous;
        let number = Xsn(u64::from(slot.0) << 32 | u64::from(page.page));
        match page.file.0 {
            ITSELF => Previous::Itself(number),
            LOST => Previous::Lost(number),
            file if file >= IN_ROW => Previous::InRow { born: number, bytes: file as u8 },
            _ if page.is_none() => Previous::None,
            _ => Previous::Stored(VersionPtr::of(self.previous)),
        }
    }

    /// Gives a record this tag instead of the one it has, or as its first. An in-row version goes
    /// with the tag that told of it; [`crate::InRowVersion::put`] puts one.
    #[inline]
    pub fn put(self, record: &mut Vec<u8>) {
        assert!(!record.is_empty(), "a record has a status");
        let in_row = matches!(self.before(), Previous::InRow { .. });
        assert!(!in_row, "an in-row version is put with its tag");
        let untagged = record.len().saturating_sub(VERSION_TAG_BYTES);
        if record[0] & HAS_TAG != 0 {
            record.truncate(body_end(record).unwrap_or(untagged));
        }
        record[0] = record[0] & !HAS_IN_ROW | HAS_TAG;
        record.extend_from_slice(&self.bytes());
        debug_assert_eq!(VersionTag::of(record), Some(self), "it reads as it was written");
    }

    /// Whether two records are the same but for their tags and in-row versions.
    #[inline]
    pub fn differs_only(a: &[u8], b: &[u8]) -> bool {
        plain_record(a).is_some_and(|a| plain_record(b) == Some(a))
    }

    /// The status of a record that has a tag, and neither a null bitmap nor columns of variable
    /// length.
    pub const fn status(kind: RecordKind) -> u8 {
        kind.bits() | HAS_TAG
    }

    /// Whether a record ends in a tag.
    #[inline]
    pub fn is_on(record: &[u8]) -> bool {
        record.first().is_some_and(|status| status & HAS_TAG != 0)
    }

    /// Reads the tag of a record that has one.
    #[inline]
    pub fn of(record: &[u8]) -> Option<VersionTag> {
        if record.first()? & HAS_TAG == 0 {
            return None;
        }
        VersionTag::from_bytes(record.get(record.len().checked_sub(VERSION_TAG_BYTES)?..)?)
    }

    /// Reads the bytes of a tag.
    #[inline]
    pub(crate) fn from_bytes(t: &[u8]) -> Option<VersionTag> {
        let t = t.first_chunk::<VERSION_TAG_BYTES>()?;
        let mut writer = [0; 8];
        writer[..6].copy_from_slice(&t[8..]);
        Some(VersionTag {
            previous: (PageId::new(u16_at(t, TAG_FILE), u32_at(t, 0)), SlotNo(u16_at(t, 6))),
            writer: Xsn(u64::from_le_bytes(writer)),
        })
    }

    /// The tag's bytes.
    #[inline]
    pub fn bytes(self) -> [u8; VERSION_TAG_BYTES] {
        assert!(self.writer <= Xsn::MAX, "an XSN has 48 bits");
        let mut t = [0; VERSION_TAG_BYTES];
        t[..4].copy_from_slice(&self.previous.0.page.to_le_bytes());
        t[4..6].copy_from_slice(&self.previous.0.file.0.to_le_bytes());
        t[6..8].copy_from_slice(&self.previous.1.0.to_le_bytes());
        t[8..].copy_from_slice(&self.writer.0.to_le_bytes()[..6]);
        t
    }
}

/// A row or entry without columns of variable length, by which those that begin alike are known: of
/// the same kind, with a tag or without, with an in-row version of one length or without, and as
/// long.
#[derive(Clone, Copy, Debug)]
pub struct RecordPattern {
    /// Status and, of rows, fixed end: what is beyond is masked out.
    front: u32,
    front_mask: u32,
    /// The column count, where there is one.
    columns: u16,
    columns_mask: u16,
    columns_at: usize,
    in_row: Option<InRowPattern>,
    len: usize,
}

/// Where records of one length have in-row versions of one length.
#[derive(Clone, Copy, Debug)]
struct InRowPattern {
    at: usize,
    bytes: usize,
}

impl InRowPattern {
    /// Of a record that has an in-row version.
    fn of(record: &[u8]) -> Option<InRowPattern> {
        let at = body_end(record)?;
        Some(InRowPattern { at, bytes: bytes_behind(record, at)? })
    }

    /// Whether bytes begin with a record that has one there, as long as its tag says.
    #[inline]
    fn is_in(self, bytes: &[u8]) -> bool {
        bytes_behind(bytes, self.at) == Some(self.bytes)
    }
}

impl RecordPattern {
    /// What is known by a whole record; `None` where its length is not in its front.
    pub fn of(record: &[u8]) -> Option<RecordPattern> {
        let front = *record.first_chunk::<DATA_FRONT_BYTES>()?;
        let status = front[0];
        let (front_mask, fixed_end) = match RecordKind::of(status) {
            _ if status & HAS_VARIABLE != 0 => return None,
            RecordKind::Primary => (u32::MAX, Some(usize::from(u16_at(&front, 2)))),
            // The page tells where the fixed part ends; without a bitmap it is the whole entry.
            RecordKind::Index if status & HAS_NULLS == 0 => (0xFF, None),
            _ => return None,
        };
        let (columns_at, columns_mask) = match fixed_end {
            Some(end) if status & HAS_NULLS != 0 => (end, u16::MAX),
            Some(_) | None => (0, 0),
        };
        let columns = u16_at(record.get(columns_at..columns_at + 2)?, 0) & columns_mask;
        let in_row = match status & HAS_BOTH {
            HAS_BOTH => Some(InRowPattern::of(record)?),
            HAS_IN_ROW => return None,
            _ => None,
        };
        let like = RecordPattern {
            front: u32::from_le_bytes(front) & front_mask,
            front_mask,
            columns,
            columns_mask,
            columns_at,
            in_row,
            len: record.len(),
        };
        debug_assert!(like.begins(record), "it is like itself");
        Some(like)
    }

    /// Whether bytes begin with a record that is like it.
    #[inline]
    pub fn begins(&self, bytes: &[u8]) -> bool {
        let (Some(front), Some(count)) = (
            bytes.first_chunk::<DATA_FRONT_BYTES>(),
            bytes.get(self.columns_at..).and_then(|b| b.first_chunk::<2>()),
        ) else {
            return false;
        };
        u32::from_le_bytes(*front) & self.front_mask == self.front
            && u16::from_le_bytes(*count) & self.columns_mask == self.columns
            && bytes.len() >= self.len
            && self.in_row.is_none_or(|version| version.is_in(bytes))
    }

    /// How long they are.
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }
}

/// Whether a status says that a null bitmap follows the fixed columns.
pub const fn has_null_bitmap(status: u8) -> bool {
    status & HAS_NULLS != 0
}

/// Whether a status says that a variable part follows.
pub const fn has_variable_columns(status: u8) -> bool {
    status & HAS_VARIABLE != 0
}

/// A tag and an in-row version.
const HAS_BOTH: u8 = HAS_TAG | HAS_IN_ROW;

/// How long the in-row version of a record is that has one, by its first byte and by the tag behind
/// it (invariant 2).
#[inline]
pub(crate) fn bytes_behind(record: &[u8], body_end: usize) -> Option<usize> {
    let bytes = *record.get(body_end)?;
    let tag = record.get(body_end + usize::from(bytes)..)?.first_chunk::<VERSION_TAG_BYTES>()?;
    let told = u16_at(tag, TAG_FILE) == IN_ROW | u16::from(bytes);
    let bytes = usize::from(bytes);
    (told && (IN_ROW_FRONT_BYTES..=IN_ROW_BYTES_MAX).contains(&bytes)).then_some(bytes)
}

/// Where a record's in-row version begins, or its tag, or where it ends.
#[inline]
pub(crate) fn body_end(record: &[u8]) -> Option<usize> {
    let status = *record.first()?;
    if status & HAS_TAG == 0 {
        return Some(record.len());
    }
    let end = record.len().checked_sub(VERSION_TAG_BYTES)?;
    if status & HAS_IN_ROW == 0 {
        return Some(end);
    }
    // A file number that says something else is no length.
    let told = u16_at(record.get(end..)?.first_chunk::<VERSION_TAG_BYTES>()?, TAG_FILE);
    let bytes = usize::from(told.checked_sub(IN_ROW)?);
    let at = end.checked_sub(bytes).filter(|at| *at > 0)?;
    bytes_behind(record, at).map(|_| at)
}

/// A record's status and what follows it, without its tag and its in-row version; `None` where its
/// bytes make no sense.
#[inline]
pub fn plain_record(record: &[u8]) -> Option<(u8, &[u8])> {
    let end = body_end(record)?;
    Some((record[0] & !(HAS_TAG | HAS_IN_ROW), record.get(1..end)?))
}

/// The length of the record that `bytes` begin with; `None` when they make no sense.
#[inline]
pub fn length(bytes: &[u8], min_len: u16) -> Option<usize> {
    let status = *bytes.first()?;
    let kind = RecordKind::of(status);
    let (body, trailer) = match kind {
        RecordKind::ForwardingStub => {
            return (bytes.len() >= STUB_BYTES).then_some(STUB_BYTES);
        }
        RecordKind::Blob => {
            let n = usize::from(u16_at(bytes.get(..4)?, 2));
            return (n >= 14 && n <= bytes.len()).then_some(n);
        }
        RecordKind::Index | RecordKind::GhostIndex => (usize::from(min_len), 0),
        RecordKind::Primary
        | RecordKind::Forwarded
        | RecordKind::GhostData
        | RecordKind::GhostVersion => {
            // Status bytes and the fixed end itself belong to the fixed part.
            let fixed_end = usize::from(u16_at(bytes.get(..DATA_FRONT_BYTES)?, 2));
            if fixed_end < DATA_FRONT_BYTES {
                return None;
            }
            (fixed_end, trailer_bytes(bytes[1]))
        }
    };
    let end = end_of_columns(bytes, body, status)? + trailer;
    let n = match status & (HAS_TAG | HAS_IN_ROW) {
        HAS_TAG => end + VERSION_TAG_BYTES,
        HAS_BOTH => end + bytes_behind(bytes, end)? + VERSION_TAG_BYTES,
        _ => end,
    };
    (n <= bytes.len() && n > 0).then_some(n)
}

/// Where the columns end: after the last variable one, or the null bitmap, or the fixed part.
#[inline]
fn end_of_columns(bytes: &[u8], fixed_end: usize, status: u8) -> Option<usize> {
    if fixed_end == 0 {
        return None;
    }
    let mut end = fixed_end;
    if status & HAS_NULLS != 0 {
        let columns = usize::from(u16_at(bytes.get(end..end + 2)?, 0));
        end += 2 + columns.div_ceil(8);
    }
    if status & HAS_VARIABLE != 0 {
        let count = usize::from(u16_at(bytes.get(end..end + 2)?, 0));
        let offsets_end = end + 2 + 2 * count;
        if count == 0 {
            return Some(offsets_end);
        }
        let last = u16_at(bytes.get(offsets_end - 2..offsets_end)?, 0) & !OFF_ROW;
        end = usize::from(last);
        if end < offsets_end {
            return None;
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(s: &str) -> Vec<u8> {
        let s: String = s.split_whitespace().collect();
        (0..s.len() / 2).map(|i| u8::from_str_radix(&s[2 * i..2 * i + 2], 16).unwrap()).collect()
    }

    #[test]
    fn published_dumps_have_their_published_lengths() {
        let b = "62".repeat(10);
        let psi = hex(&format!("3000 0800 02000000 0400 0a 0200 1100 1b00 {b}"));
        assert_eq!((psi.len(), length(&psi, 0)), (27, Some(27)));
        let (a, b) = ("61".repeat(10), "62".repeat(10));
        let so = hex(&format!(
            "7000 0800 01000000 0300 00 0200 1b00 2500 {a}{b} 0000000000000000 310000000000"
        ));
        assert_eq!((so.len(), length(&so, 0)), (51, Some(51)));
        let tag = VersionTag::of(&so).unwrap();
        assert_eq!((tag.previous.0, tag.writer), (PageId::NONE, Xsn(49)));
        let store = hex("B0000000 0100 0000 270000000000");
        let mut rec = vec![0x40];
        rec.extend(store);
        let tag = VersionTag::of(&rec).unwrap();
        assert_eq!(tag.previous, (PageId::new(1, 176), SlotNo(0)));
        assert_eq!(tag.bytes()[..], rec[1..]);
    }

    #[test]
    fn a_tag_says_where_the_version_before_is() {
        let number = Xsn(0x0605_0403_0201);
        let shared = Previous::Stored(VersionPtr::shared(PageId::new(1, 176), SlotNo(3)));
        let own = Previous::Stored(VersionPtr::own(PageId::new(LAST_OWN_FILE, 176), SlotNo(3)));
        let [itself, lost] = [Previous::Itself(number), Previous::Lost(number)];
        let [short, long] = [0, 200].map(|bytes| Previous::InRow { born: number, bytes });
        for before in [Previous::None, shared, own, itself, lost, short, long] {
            assert_eq!(VersionTag::new(Xsn(9), before).before(), before);
        }
        let lost = VersionTag::new(Xsn(9), Previous::Lost(number)).bytes();
        assert_eq!(lost[..], hex("01020304 feff 0506 090000000000"));
        assert_eq!(VersionTag::new(Xsn(9), shared).bytes()[..8], hex("B0000000 0100 0300"));
        let own = Previous::Stored(VersionPtr::own(PageId::new(1, 176), SlotNo(3)));
        assert_eq!(VersionTag::new(Xsn(9), own).bytes()[..8], hex("B0000000 0180 0300"));
    }

    #[test]
    fn first_bytes_mean_what_dumps_show() {
        use RecordKind::*;
        for (status, kind) in
            [(0x30, Primary), (0x70, Primary), (0x32, Forwarded), (0x04, ForwardingStub)]
        {
            assert_eq!(RecordKind::of(status), kind);
        }
        for (status, kind) in [(0x06, Index), (0x36, Index), (0x3C, GhostData), (0x1A, GhostIndex)]
        {
            assert_eq!(RecordKind::of(status), kind);
        }
        assert_eq!(RecordKind::with_kind(0x30, GhostData), 0x3C);
        assert_eq!(RecordKind::with_kind(0x3C, Primary), 0x30);
    }

    #[test]
    fn a_data_record_that_ends_within_its_own_front_is_none() {
        for fixed_end in 0..4_u8 {
            assert_eq!(length(&[0x00, 0, fixed_end, 0, 9, 9, 9, 9], 0), None, "{fixed_end}");
        }
        assert_eq!(length(&[0x00, 0, 4, 0, 9, 9, 9, 9], 0), Some(4));
    }

    #[test]
    fn what_begins_alike_is_as_long_and_of_its_kind() {
        let plain = hex("1000 0800 02000000 0200 00");
        let like = RecordPattern::of(&plain).unwrap();
        assert_eq!((like.len(), like.begins(&plain), like.begins(&plain[..10])), (11, true, false));
        let other = hex("1000 0800 07000000 0200 02 ffff");
        assert!(like.begins(&other), "other values, a NULL, and what follows on the page");
        for unlike in [
            "1c00 0800 02000000 0200 00", // a ghost
            "5000 0800 02000000 0200 00 0000000000000000 310000000000",
            "3000 0800 02000000 0200 00 0100 1100 6262",
            "1000 0900 0200000000 0200 00", // a longer fixed part
            "1000 0800 02000000 0900 0000", // more columns
            "1001 0800 02000000 0200 00 0000000000000000", // what follows the columns
        ] {
            assert!(!like.begins(&hex(unlike)), "{unlike}");
        }
    }

    /// Rows with in-row versions of one length begin alike; one of another length does not, nor one
    /// whose tag tells another.
    #[test]
    fn what_has_a_version_of_the_same_length_begins_alike() {
        let row = |quantity: &str, version: &str, tag: &str| {
            let record = hex(&format!("d000 0800 {quantity} 0200 00 {version} {tag} 090000000000"));
            assert_eq!(length(&record, 8), Some(record.len()));
            record
        };
        let one = row("02000000", "070400 01000000", "08000000 07ff 0000");
        let like = RecordPattern::of(&one).unwrap();
        assert_eq!((like.len(), like.begins(&one)), (32, true));
        assert!(like.begins(&row("09000000", "070400 08000000", "03000000 07ff 0000")));
        assert!(!like.begins(&row("09000000", "050400 0800", "03000000 05ff 0000")));
        let mut damaged = one.clone();
        damaged[22] = 5;
        assert!(!like.begins(&damaged) && RecordPattern::of(&damaged).is_none());
        let plain = hex("1000 0800 02000000 0200 00");
        assert!(!like.begins(&plain) && !RecordPattern::of(&plain).unwrap().begins(&one));
    }

    #[test]
    fn what_begins_alike_has_the_length_that_its_bytes_say() {
        for (first, min_len) in (0..=255).flat_map(|s| [(s, 5), (s, 9)]) {
            for counts in [[6, 2], [6, 9], [9, 2]] {
                let mut b = [1_u8; 64];
                b[..4].copy_from_slice(&[first, 0, counts[0], 0]);
                b[usize::from(counts[0])..][..2].copy_from_slice(&[counts[1], 0]);
                let Some(n) = length(&b, min_len) else { continue };
                let Some(like) = RecordPattern::of(&b[..n]) else { continue };
                let kind = RecordKind::of(first);
                assert!(!kind.is_ghost() && kind != RecordKind::Forwarded, "{first}");
                assert_eq!((like.len(), like.begins(&b)), (n, true));
                let mut c = b;
                c[4] = 77;
                assert_eq!(like.begins(&c).then_some(Some(n)), Some(length(&c, min_len)));
                for status in (0..=255).filter(|s| *s != first) {
                    c[0] = status;
                    assert!(!like.begins(&c), "{first} and {status}");
                }
            }
        }
    }

    #[test]
    fn no_prefix_of_anything_panics() {
        let psi = hex(&format!("3000 0800 02000000 0400 0a 0200 1100 1b00 {}", "62".repeat(10)));
        for cut in 0..psi.len() {
            assert_eq!(length(&psi[..cut], 0), None);
        }
        for status in 0..=255_u8 {
            for fill in [0, 1, 0x7F, 0xFF] {
                let mut b = [fill; 40];
                b[0] = status;
                let _ = length(&b, 11);
            }
        }
    }
}
