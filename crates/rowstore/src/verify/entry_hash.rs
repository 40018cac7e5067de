//! Hashes for the comparison of an index with its table: of the columns of a row that its entry
//! must have, and of the entry.
//!
//! Invariant: a row and its entry have the same hash, wherever each of them keeps its long values.

use crate::hobt::RowHobt;
use access::{ElementHash, EntryPart, HobtKind, RowLocation};
use page::{Field, rid_bytes};

impl RowHobt {
    /// The hash of an entry with these columns; `None` when the record is damaged, or a value off
    /// it cannot be read.
    pub(crate) fn entry_hash(&self, row: RowLocation<'_>, parts: &[EntryPart]) -> Option<u128> {
        debug_assert!(!parts.is_empty(), "an entry has columns");
        let mut hash = ElementHash::default();
        for part in parts {
            match part {
                EntryPart::Rid => {
                    debug_assert_eq!(self.spec.kind, HobtKind::Heap, "a heap's rows have RIDs");
                    inline(&mut hash, &rid_bytes(row.page, row.slot));
                }
                EntryPart::Column(column) => match self.layout.field(row.record, *column)? {
                    Field::Null => hash.number(u64::MAX),
                    Field::Inline(bytes) => inline(&mut hash, bytes),
                    Field::OffRow(pointer) => {
                        let length = pointer.get(8..).and_then(|b| b.first_chunk::<8>())?;
                        hash.number(u64::from_le_bytes(*length));
                        let large = self.large.as_ref()?;
                        large.each_piece_at(pointer, &mut |piece| hash.bytes(piece)).ok()?;
                    }
                },
            }
        }
        Some(hash.end())
    }
}

fn inline(hash: &mut ElementHash, bytes: &[u8]) {
    hash.number(bytes.len() as u64);
    hash.bytes(bytes);
}
