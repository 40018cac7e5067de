//! `KeyBuf`: a key copied out of a page or of the log, for when the latch is gone.
//!
//! Spelling, also in log payloads: for each column a byte that is its length, or 0xFE for NULL,
//! or 0xFD and the length as two bytes; then its bytes. A key of up to 120 bytes needs no heap.

use crate::order::{KeyFields, ORDER_COLUMNS_MAX};
use page::Field;

const NULL: u8 = 0xFE;
const LONG: u8 = 0xFD;
const INLINE_BYTES: usize = 120;

/// Bytes of its own, on the heap only when they are more than `FEW`.
#[derive(Clone, Debug)]
pub(crate) struct SmallBytes<const FEW: usize = INLINE_BYTES> {
    len: usize,
    inline: [u8; FEW],
    /// Holds all the bytes once they are too many for `inline`.
    long: Vec<u8>,
}

/// Bytes that are built from their begin to their end.
pub(crate) trait BuiltBytes {
    fn clear(&mut self);
    fn add(&mut self, bytes: &[u8]);
    fn as_slice(&self) -> &[u8];
    fn as_slice_mut(&mut self) -> &mut [u8];
}

impl BuiltBytes for Vec<u8> {
    fn clear(&mut self) {
        self.clear();
    }

    fn add(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn as_slice(&self) -> &[u8] {
        self
    }

    fn as_slice_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl SmallBytes {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut all = Self::new();
        all.extend(bytes);
        debug_assert_eq!(all.as_slice(), bytes, "read as written");
        all
    }
}

impl<const FEW: usize> SmallBytes<FEW> {
    #[inline]
    pub(crate) const fn new() -> Self {
        SmallBytes { len: 0, inline: [0; FEW], long: Vec::new() }
    }

    #[inline]
    pub(crate) fn as_slice(&self) -> &[u8] {
        debug_assert!(self.len <= FEW || self.long.len() == self.len, "all in one place");
        if self.len <= FEW { &self.inline[..self.len] } else { &self.long }
    }

    #[inline]
    fn extend(&mut self, bytes: &[u8]) {
        let end = self.len + bytes.len();
        debug_assert!(self.len <= FEW || self.long.len() == self.len, "all in one place");
        if end <= FEW {
            self.inline[self.len..end].copy_from_slice(bytes);
        } else {
            if self.len <= FEW {
                self.long.clear();
                self.long.extend_from_slice(&self.inline[..self.len]);
            }
            self.long.extend_from_slice(bytes);
        }
        self.len = end;
        debug_assert_eq!(self.as_slice().len(), end, "every byte is kept");
    }
}

impl<const FEW: usize> BuiltBytes for SmallBytes<FEW> {
    fn clear(&mut self) {
        self.len = 0;
        self.long.clear();
    }

    #[inline]
    fn add(&mut self, bytes: &[u8]) {
        self.extend(bytes);
    }

    #[inline]
    fn as_slice(&self) -> &[u8] {
        SmallBytes::as_slice(self)
    }

    fn as_slice_mut(&mut self) -> &mut [u8] {
        if self.len <= FEW { &mut self.inline[..self.len] } else { &mut self.long }
    }
}

/// A key as bytes of its own.
#[derive(Clone, Debug)]
pub struct KeyBuf(SmallBytes);

impl Default for KeyBuf {
    fn default() -> Self {
        KeyBuf(SmallBytes::new())
    }
}

impl PartialEq for KeyBuf {
    fn eq(&self, other: &Self) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for KeyBuf {}

impl KeyBuf {
    /// A key of these fields.
    pub fn of(fields: &[Field<'_>]) -> KeyBuf {
        let mut key = KeyBuf::default();
        fields.iter().for_each(|f| key.push(*f));
        debug_assert_eq!(key.fields().as_slice().len(), fields.len(), "read as written");
        key
    }

    /// Forgets the key, keeps its buffer.
    pub fn clear(&mut self) {
        BuiltBytes::clear(&mut self.0);
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// The spelling.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }

    /// Adds a column.
    ///
    /// # Panics
    /// When it is off the row, which a key column never is.
    pub fn push(&mut self, field: Field<'_>) {
        let before = self.0.len;
        spell(field, |bytes| self.0.extend(bytes));
        let bytes = field.inline().map_or(0, <[u8]>::len);
        debug_assert!(self.0.len > before + bytes, "a column and its length");
    }

    /// The columns.
    pub fn fields(&self) -> KeyFields<'_> {
        let fields = key_fields(self.bytes()).expect("a key buffer holds what was pushed");
        debug_assert_eq!(fields.as_slice().is_empty(), self.is_empty(), "a column has a byte");
        fields
    }
}

/// Hands out the spelling of a column of a key, piece by piece.
///
/// # Panics
/// When it is off the row, which a key column never is.
#[inline]
pub fn spell(field: Field<'_>, mut piece: impl FnMut(&[u8])) {
    let bytes = match field {
        Field::Null => return piece(&[NULL]),
        Field::Inline(bytes) => bytes,
        Field::OffRow(_) => unreachable!("a key column is in the row"),
    };
    if bytes.len() < usize::from(LONG) {
        piece(&[bytes.len() as u8]);
    } else {
        let n = u16::try_from(bytes.len()).expect("a column of a key fits a page");
        let [low, high] = n.to_le_bytes();
        piece(&[LONG, low, high]);
    }
    piece(bytes);
}

/// Reads the spelling of a key; `None` when it is none.
pub fn key_fields(mut bytes: &[u8]) -> Option<KeyFields<'_>> {
    let mut out = KeyFields::default();
    while let Some((&first, rest)) = bytes.split_first() {
        if out.as_slice().len() == ORDER_COLUMNS_MAX {
            return None;
        }
        let (n, rest) = match first {
            NULL => {
                out.push(Field::Null);
                bytes = rest;
                continue;
            }
            LONG => {
                let n = rest.get(..2)?;
                (usize::from(u16::from_le_bytes([n[0], n[1]])), &rest[2..])
            }
            0xFF => return None,
            n => (usize::from(n), rest),
        };
        out.push(Field::Inline(rest.get(..n)?));
        bytes = &rest[n..];
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_whatever_its_length() {
        for n in [0, 1, 4, 119, 120, 121, 252, 253, 254, 255, 256, 1700] {
            let long = vec![7_u8; n];
            let fields = [Field::Inline(&[1, 2, 3, 4]), Field::Null, Field::Inline(&long)];
            let key = KeyBuf::of(&fields);
            assert_eq!(key.fields().as_slice(), fields, "{n}");
            for cut in 0..key.bytes().len() {
                let _ = key_fields(&key.bytes()[..cut]);
            }
        }
        assert!(key_fields(&[0xFF]).is_none() && key_fields(&[5, 1]).is_none());
        assert_eq!(KeyBuf::of(&[Field::Inline(&[9, 0, 0, 0])]).bytes(), [4, 9, 0, 0, 0]);
    }
}
