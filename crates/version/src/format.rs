//! A stored version: 20 bytes in front of the record as it was, its own version tag included.
//!
//! | off | len | |
//! |---|---|---|
//! | 0 | 1 | status A of a large-object fragment, so that the length below is the record's |
//! | 1 | 1 | 0 |
//! | 2 | 2 | length, these 20 bytes included |
//! | 4 | 6 | XSN of the record that points here: of whoever superseded this version |
//! | 10 | 2 | database |
//! | 12 | 4 | hobt |
//! | 16 | 4 | epoch of snapshots in which this version and those behind it were found needed |
//! | 20 | n | the record |

use base::limits::{PAGE_BODY_BYTES, RECORD_BYTES_MAX, VERSION_TAG_BYTES};
use base::{AllocUnitId, DatabaseId, HobtId, Xsn};
use page::RecordKind;

/// The allocation unit of a store, in tempdb or in the database whose own store it is: between
/// those of tables and those of spill files.
pub const UNIT: AllocUnitId = AllocUnitId(0xEFFF_FFFF);

/// What stands in front of the record.
pub const VERSION_FRONT_BYTES: usize = 20;
/// Every record that a page can have fits a page of the store alone.
const _: () =
    assert!(VERSION_FRONT_BYTES + RECORD_BYTES_MAX + VERSION_TAG_BYTES + 2 <= PAGE_BODY_BYTES);

const LINKED_BY: std::ops::Range<usize> = 4..10;

/// Whose version it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The database.
    pub database: DatabaseId,
    /// The heap or index.
    pub hobt: HobtId,
}

/// A stored version, as it stands on its page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StoredVersion<'a> {
    /// The writer of the record that points here.
    pub superseder: Xsn,
    /// Whose it is.
    pub origin: Origin,
    /// When it and what is behind it was found needed.
    pub needed_in: u32,
    /// The record as it was.
    pub record: &'a [u8],
}

impl StoredVersion<'_> {
    /// Reads what a slot holds; `None` when that is no version.
    pub(crate) fn of(bytes: &[u8]) -> Option<StoredVersion<'_>> {
        let (front, record) = bytes.split_at_checked(VERSION_FRONT_BYTES)?;
        let stored = RecordKind::of(front[0]) == RecordKind::Blob && !record.is_empty();
        let mut superseder = [0; 8];
        superseder[..6].copy_from_slice(&front[LINKED_BY]);
        stored.then(|| StoredVersion {
            superseder: Xsn(u64::from_le_bytes(superseder)),
            origin: Origin {
                database: DatabaseId(u16::from_le_bytes([front[10], front[11]])),
                hobt: HobtId(u32::from_le_bytes([front[12], front[13], front[14], front[15]])),
            },
            needed_in: u32::from_le_bytes([front[16], front[17], front[18], front[19]]),
            record,
        })
    }

    /// Its bytes, into an emptied buffer.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let length = VERSION_FRONT_BYTES + self.record.len();
        debug_assert!(length + 2 <= PAGE_BODY_BYTES, "a record fits a page");
        out.clear();
        out.extend_from_slice(&[RecordKind::Blob.bits(), 0]);
        out.extend_from_slice(&(length as u16).to_le_bytes());
        out.extend_from_slice(&superseder_bytes(self.superseder));
        out.extend_from_slice(&self.origin.database.0.to_le_bytes());
        out.extend_from_slice(&self.origin.hobt.0.to_le_bytes());
        out.extend_from_slice(&self.needed_in.to_le_bytes());
        out.extend_from_slice(self.record);
        debug_assert_eq!(StoredVersion::of(out), Some(*self), "it reads as it was written");
    }
}

/// Where the superseder stands, and how.
pub(crate) fn superseder_bytes(superseder: Xsn) -> [u8; 6] {
    assert!(superseder <= Xsn::MAX, "an XSN has 48 bits");
    let b = superseder.0.to_le_bytes();
    [b[0], b[1], b[2], b[3], b[4], b[5]]
}

pub(crate) const SUPERSEDER_AT: usize = LINKED_BY.start;
pub(crate) const NEEDED_IN_AT: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_reads_as_it_was_written_and_what_is_none_is_refused() {
        let origin = Origin { database: DatabaseId(7), hobt: HobtId(0x0102_0304) };
        let superseder = Xsn(0x0605_0403_0201);
        let version = StoredVersion { superseder, origin, needed_in: 9, record: b"row" };
        let mut bytes = Vec::new();
        version.encode(&mut bytes);
        assert_eq!(bytes[..10], [8, 0, 23, 0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(bytes[10..], [7, 0, 4, 3, 2, 1, 9, 0, 0, 0, b'r', b'o', b'w']);
        for cut in 0..=VERSION_FRONT_BYTES {
            assert_eq!(StoredVersion::of(&bytes[..cut]), None);
        }
        bytes[0] = 0x30;
        assert_eq!(StoredVersion::of(&bytes), None);
    }
}
