//! A column of a key: where a record has its bytes, and in which order they stand.
//!
//! A comparison is a function over stored bytes. The crate that knows the SQL type and the
//! collation of the column hands the function in; the tree that keeps records in order calls it.

use std::cmp::Ordering;

/// How two values of a column compare, as bytes in a record, given [`KeyColumn::rule`].
pub type Compare = fn(&[u8], &[u8], u16) -> Ordering;

/// Feeds a hasher with what equality looks at in a value of a column, as bytes in a record, given
/// [`KeyColumn::rule`].
pub type Hash = fn(&[u8], u16, &mut dyn std::hash::Hasher);

/// Bytes that are a little-endian number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Number {
    /// In two's complement, of 2, 4 or 8 bytes.
    Signed,
    /// Of up to eight bytes, below 2^63.
    Unsigned,
}

impl Number {
    /// The number of these bytes; `None` where they are not as many.
    #[inline]
    pub fn of(self, bytes: &[u8]) -> Option<i64> {
        Some(match (self, bytes) {
            (Number::Signed, &[a, b, c, d]) => i64::from(i32::from_le_bytes([a, b, c, d])),
            (Number::Signed, &[a, b]) => i64::from(i16::from_le_bytes([a, b])),
            (Number::Signed, bytes) => i64::from_le_bytes(bytes.try_into().ok()?),
            (Number::Unsigned, &[a, b, c]) => i64::from(u32::from_le_bytes([a, b, c, 0])),
            (Number::Unsigned, bytes) => {
                let mut wide = [0; 8];
                wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
                i64::from_le_bytes(wide)
            }
        })
    }
}

/// A column of a key.
#[derive(Clone, Copy, Debug)]
pub struct KeyColumn {
    /// What equal values have in common; `None` where that is all their bytes.
    pub hash: Option<Hash>,
    /// The order of its type and collation, ascending.
    pub compare: Compare,
    /// What `compare` and `hash` are given beside the bytes.
    pub rule: u16,
    /// Its bytes are a number that `compare` orders as such, if they are: searches guess at its
    /// place.
    pub number: Option<Number>,
    /// A weight for each byte: of values whose first different bytes have different weights, the
    /// one with the lesser weight comes first.
    pub weights: Option<&'static [u8; 256]>,
    /// Whether the index has it in descending order.
    pub descending: bool,
    /// Its physical column in the leaf layout.
    pub leaf_column: usize,
}
