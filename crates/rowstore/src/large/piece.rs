//! A piece of a value that is off its row (`large/mod.rs`): its record, its key, and the pointer in
//! the row.

use access::{HobtKind, HobtSpec};
use base::AllocUnitId;
use page::KeyColumn;

/// The bytes of a value in one piece, which fills a page.
pub(crate) const PIECE_BYTES: usize = 8000;
pub(crate) const KEY_BYTES: usize = 12;
pub(crate) const POINTER_BYTES: usize = 16;

/// The pointer in the row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
    pub(crate) value: u64,
    pub(crate) bytes: u64,
}

impl Pointer {
    pub(crate) fn to_bytes(self) -> [u8; POINTER_BYTES] {
        let mut bytes = [0; POINTER_BYTES];
        bytes[..8].copy_from_slice(&self.value.to_le_bytes());
        bytes[8..].copy_from_slice(&self.bytes.to_le_bytes());
        debug_assert!(self.value != 0, "rule 4: values are numbered from 1");
        debug_assert_eq!(Pointer::of(&bytes), Some(self), "it reads as it was written");
        bytes
    }

    pub(crate) fn of(bytes: &[u8]) -> Option<Pointer> {
        let (value, length) = bytes.split_first_chunk::<8>()?;
        let length: &[u8; 8] = length.try_into().ok()?;
        Some(Pointer { value: u64::from_le_bytes(*value), bytes: u64::from_le_bytes(*length) })
    }

    pub(crate) fn pieces(self) -> u32 {
        // A damaged pointer may have an impossible length. Then the reader misses pieces.
        u32::try_from(self.bytes.div_ceil(PIECE_BYTES as u64)).unwrap_or(u32::MAX)
    }
}

/// Whether a piece has full length. All pieces of a value but the last have it.
pub(crate) fn is_whole(bytes: u64) -> bool {
    bytes == PIECE_BYTES as u64
}

/// Big-endian, so that bytes compare as the numbers do.
pub(crate) fn key_of(value: u64, piece: u32) -> [u8; KEY_BYTES] {
    let mut key = [0; KEY_BYTES];
    key[..8].copy_from_slice(&value.to_be_bytes());
    key[8..].copy_from_slice(&piece.to_be_bytes());
    key
}

/// The definition of the tree of a hobt's pieces.
pub(crate) fn pieces_spec(owner: &HobtSpec, unit: AllocUnitId) -> HobtSpec {
    assert_ne!(owner.unit, unit, "values off the rows have a unit of their own");
    HobtSpec {
        hobt: owner.hobt,
        unit,
        object: owner.object,
        kind: HobtKind::Clustered,
        widths: vec![Some(KEY_BYTES as u16), None],
        added: Vec::new(),
        nullable: false,
        key: vec![KeyColumn {
            hash: None,
            compare: |a, b, _| a.cmp(b),
            rule: 0,
            number: None,
            weights: None,
            descending: false,
            leaf_column: 0,
        }],
        nullable_key: false,
        uniquifier: false,
        versions: owner.versions,
        pieces: true,
    }
}
