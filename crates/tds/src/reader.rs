//! A cursor over a message's bytes: every read checks the end first.
//!
//! Invariants
//!  1. `at <= bytes.len()`, always; a failed read moves nothing.
//!  2. Nothing is allocated before the bytes it is for are known to be there.

use crate::error::{TdsError, TdsResult};

/// Reads fields one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left() == 0
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The bytes from the cursor on, without moving it.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(crate) fn take(&mut self, n: usize) -> TdsResult<&'a [u8]> {
        let rest = self.rest();
        if n > rest.len() {
            return Err(TdsError::Truncated { offset: self.at, needed: n });
        }
        self.at += n;
        debug_assert!(self.at <= self.bytes.len(), "the check above");
        Ok(&rest[..n])
    }

    pub(crate) fn array<const N: usize>(&mut self) -> TdsResult<[u8; N]> {
        let bytes = self.take(N)?;
        Ok(bytes.try_into().expect("take returns as many bytes as asked"))
    }

    pub(crate) fn u8(&mut self) -> TdsResult<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> TdsResult<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16_be(&mut self) -> TdsResult<u16> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> TdsResult<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32_be(&mut self) -> TdsResult<u32> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> TdsResult<i32> {
        Ok(i32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> TdsResult<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    /// A length in bytes as u32, checked against what is left.
    pub(crate) fn sized_u32(&mut self) -> TdsResult<&'a [u8]> {
        let n = self.u32()? as usize;
        self.take(n)
    }

    /// B_VARBYTE: a byte's length, then so many bytes.
    pub(crate) fn b_varbyte(&mut self) -> TdsResult<&'a [u8]> {
        let n = self.u8()? as usize;
        self.take(n)
    }

    /// B_VARCHAR: a byte's count of UTF-16 units, then these.
    pub(crate) fn b_varchar(&mut self) -> TdsResult<String> {
        let n = self.u8()? as usize;
        Ok(utf16(self.take(n * 2)?))
    }

    /// US_VARCHAR: a count of UTF-16 units as u16, then these.
    pub(crate) fn us_varchar(&mut self) -> TdsResult<String> {
        let n = self.u16()? as usize;
        Ok(utf16(self.take(n * 2)?))
    }
}

/// UTF-16LE text; an unpaired surrogate becomes U+FFFD, an odd last byte is dropped.
pub(crate) fn utf16(bytes: &[u8]) -> String {
    let pairs = bytes.as_chunks::<2>().0;
    let mut out = String::with_capacity(pairs.len());
    // Batches are nearly always ASCII: a character is one byte then, and there is no decoding.
    if pairs.iter().all(|&[low, high]| low < 0x80 && high == 0) {
        out.extend(pairs.iter().map(|&[low, _]| char::from(low)));
        return out;
    }
    let units = pairs.iter().map(|&pair| u16::from_le_bytes(pair));
    out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
    out
}
