//! Forwarded rows: a heap row that outgrew its page, and the stub that it left at its RID.
//!
//! ```text
//!   stub        status A 1 | page 4 | file 2 | slot 2                         9 bytes
//!   the row     its record, of kind forwarded, and behind its columns (before its in-row version
//!               and its version tag) the RID that it has: page 4, file 2, slot 2   + 8 bytes
//! ```
//!
//! Status B of a data record says what follows its columns: the RID of a forwarded row (a ghost of
//! one keeps it), or two bytes which a record shorter than a stub is given, so that a stub fits its
//! place. SQL Server keeps the RID in a hidden last column instead (`docs/formats/row.md`).
//!
//! Invariants
//!  1. [`forwarded`] and [`homed`] are inverse to each other, whatever the record's tag.

use crate::header::{u16_at, u32_at};
use crate::record::{HAS_TAG, RecordKind};
use base::PageId;
use std::borrow::Cow;

/// A stub.
pub const STUB_BYTES: usize = 9;
/// A RID, as a forwarded row and a stub have it.
pub const RID_BYTES: usize = 8;
/// Status B: the row's RID follows its columns.
const HAS_HOME: u8 = 0x01;
/// Status B: two bytes follow the columns that mean nothing.
const IS_PADDED: u8 = 0x02;
const PADDING_BYTES: usize = 2;

/// What may be set in status B.
pub(crate) const STATUS_B: u8 = HAS_HOME | IS_PADDED;

/// Whether status B says that a RID follows.
pub(crate) const fn has_home(status_b: u8) -> bool {
    status_b & HAS_HOME != 0
}

/// What follows the columns of a data record, before its tag, by its status B.
#[inline]
pub(crate) fn trailer_bytes(status_b: u8) -> usize {
    let home = if status_b & HAS_HOME != 0 { RID_BYTES } else { 0 };
    home + if status_b & IS_PADDED != 0 { PADDING_BYTES } else { 0 }
}

/// The 8 bytes of a RID: page 4, file 2, slot 2.
#[inline]
pub fn rid_bytes(page: PageId, slot: u16) -> [u8; RID_BYTES] {
    let (p, f, s) = (page.page.to_le_bytes(), page.file.0.to_le_bytes(), slot.to_le_bytes());
    [p[0], p[1], p[2], p[3], f[0], f[1], s[0], s[1]]
}

/// A page and a slot from the 8 bytes of a RID.
#[inline]
pub fn rid_of(bytes: &[u8]) -> Option<(PageId, u16)> {
    let whole = bytes.len() == RID_BYTES;
    whole.then(|| (PageId::new(u16_at(bytes, 4), u32_at(bytes, 0)), u16_at(bytes, 6)))
}

/// The stub that leads to a place.
pub fn stub((page, slot): (PageId, u16)) -> [u8; STUB_BYTES] {
    let mut stub = [0; STUB_BYTES];
    stub[0] = RecordKind::ForwardingStub.bits();
    stub[1..].copy_from_slice(&rid_bytes(page, slot));
    debug_assert_eq!(stub_target(&stub), Some((page, slot)), "it reads as it was written");
    stub
}

/// Where a record leads to, if it is a stub.
#[inline]
pub fn stub_target(record: &[u8]) -> Option<(PageId, u16)> {
    if RecordKind::of(*record.first()?) != RecordKind::ForwardingStub {
        return None;
    }
    rid_of(record.get(1..STUB_BYTES)?)
}

/// The RID of a row that is not at home, or of the ghost of one.
#[inline]
pub fn home_of(record: &[u8]) -> Option<(PageId, u16)> {
    let [status, status_b, ..] = *record else { return None };
    match RecordKind::of(status) {
        RecordKind::Primary
        | RecordKind::ForwardingStub
        | RecordKind::Index
        | RecordKind::GhostIndex
        | RecordKind::Blob => return None,
        RecordKind::Forwarded | RecordKind::GhostData | RecordKind::GhostVersion => {}
    }
    if !has_home(status_b) {
        return None;
    }
    let end = columns_and_trailer(record)?;
    rid_of(record.get(end.checked_sub(RID_BYTES)?..end)?)
}

/// The same row at home: without its RID.
pub fn homed(record: &[u8]) -> Cow<'_, [u8]> {
    if home_of(record).is_none() {
        return Cow::Borrowed(record);
    }
    let mut row = record.to_vec();
    let end = columns_and_trailer(record).expect("it has a RID behind its columns");
    row.drain(end - RID_BYTES..end);
    row[1] &= !HAS_HOME;
    if RecordKind::of(row[0]) == RecordKind::Forwarded {
        row[0] = RecordKind::with_kind(row[0], RecordKind::Primary);
    }
    Cow::Owned(row)
}

/// The same row away from home.
pub fn forwarded(row: &[u8], (page, slot): (PageId, u16)) -> Vec<u8> {
    assert_eq!(RecordKind::of(row[0]), RecordKind::Primary, "a row at home is forwarded");
    let end = columns_and_trailer(row).expect("a record has its tag");
    let mut record = Vec::with_capacity(row.len() + RID_BYTES);
    record.extend_from_slice(&row[..end]);
    record.extend_from_slice(&rid_bytes(page, slot));
    record.extend_from_slice(&row[end..]);
    record[0] = RecordKind::with_kind(record[0], RecordKind::Forwarded);
    record[1] |= HAS_HOME;
    debug_assert_eq!(home_of(&record), Some((page, slot)), "it reads as it was written");
    debug_assert_eq!(*homed(&record), *row, "invariant 1");
    record
}

/// The status B of a record that has a RID behind its columns, or nothing.
pub const fn status_b(has_home: bool) -> u8 {
    if has_home { HAS_HOME } else { 0 }
}

/// Makes a record of a heap, without a tag, as long as a stub at least.
pub fn pad(record: &mut Vec<u8>) {
    assert_eq!(record[0] & HAS_TAG, 0, "a record is padded before it is tagged");
    if record.len() >= STUB_BYTES {
        return;
    }
    record.extend_from_slice(&[0; PADDING_BYTES]);
    record[1] |= IS_PADDED;
    debug_assert!(record.len() >= STUB_BYTES, "two bytes are missing at most");
}

/// The kind that a ghost's row had.
pub fn kind_before(ghost: &[u8]) -> Option<RecordKind> {
    let away = home_of(ghost).is_some();
    match RecordKind::of(*ghost.first()?).unghosted()? {
        RecordKind::Primary if away => Some(RecordKind::Forwarded),
        kind => Some(kind),
    }
}

fn columns_and_trailer(record: &[u8]) -> Option<usize> {
    crate::record::body_end(record)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Previous, VersionTag, length};
    use base::Xsn;

    fn row() -> Vec<u8> {
        vec![0x10, 0, 8, 0, 7, 0, 0, 0, 1, 0, 0]
    }

    #[test]
    fn a_row_goes_and_comes_home_with_and_without_a_tag() {
        let home = (PageId::new(3, 0x0102_0304), 77);
        let mut tagged = row();
        VersionTag::new(Xsn(9), Previous::None).put(&mut tagged);
        for row in [row(), tagged] {
            let away = forwarded(&row, home);
            assert_eq!(away.len(), row.len() + RID_BYTES);
            assert_eq!(length(&away, 0), Some(away.len()));
            assert_eq!((home_of(&away), home_of(&row)), (Some(home), None));
            assert_eq!(homed(&away), row);
            assert_eq!(VersionTag::of(&away), VersionTag::of(&row), "the tag stays its end");
            let mut ghost = away.clone();
            ghost[0] = RecordKind::with_kind(ghost[0], RecordKind::GhostData);
            assert_eq!(home_of(&ghost), Some(home), "a ghost keeps it");
            assert_eq!(kind_before(&ghost), Some(RecordKind::Forwarded));
        }
    }

    #[test]
    fn a_stub_is_as_sql_server_has_it() {
        let bytes = stub((PageId::new(1, 0x1234), 5));
        assert_eq!(bytes, [0x04, 0x34, 0x12, 0, 0, 1, 0, 5, 0]);
        assert_eq!(length(&bytes, 0), Some(STUB_BYTES));
        assert_eq!(stub_target(&bytes), Some((PageId::new(1, 0x1234), 5)));
        assert_eq!(home_of(&bytes), None);
        for cut in 0..STUB_BYTES {
            assert_eq!(stub_target(&bytes[..cut]), None, "{cut} bytes");
        }
    }

    #[test]
    fn a_short_record_gets_the_length_of_a_stub() {
        let mut short = vec![0x10, 0, 4, 0, 1, 0, 1];
        pad(&mut short);
        assert_eq!(short.len(), STUB_BYTES);
        assert_eq!(length(&short, 0), Some(STUB_BYTES));
        let mut long = row();
        pad(&mut long);
        assert_eq!(long, row());
        assert_eq!(homed(&forwarded(&short, (PageId::new(1, 9), 2))), short);
    }
}
