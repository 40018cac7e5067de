//! `ByteBuffer`: a long value as it is made, byte string by byte string.
//!
//! Whatever makes a value that may become long, of arguments that a client chose, makes it here:
//! what passes 2 GB is 7119, what has no room is 701, before it is allocated; and every megabyte
//! looks whether the request is to end.

use crate::Bytes;
use base::{SqlError, SqlResult, messages};
use os::values;

/// The longest value.
pub const LONGEST_BYTES: usize = i32::MAX as usize;
/// After so many bytes somebody looks.
const LOOK_BYTES: usize = 1 << 20;
/// A vector of more than this grows by a quarter, not to twice its length.
const SLOW_BYTES: usize = 16 << 20;

/// A byte string that grows.
#[derive(Default)]
pub struct ByteBuffer {
    bytes: Vec<u8>,
    /// It can have so many before somebody must look.
    within: usize,
}

impl ByteBuffer {
    /// With room for so many bytes: what is to be made is as long, or is known to be no longer.
    ///
    /// # Errors
    /// 7119 and 701.
    pub fn with_room(bytes: usize) -> SqlResult<ByteBuffer> {
        let mut growing = ByteBuffer::default();
        growing.reserve(bytes)?;
        Ok(growing)
    }

    /// Adds bytes at the end.
    ///
    /// # Errors
    /// 7119, 701, and what ends a request.
    #[inline]
    pub fn extend(&mut self, more: &[u8]) -> SqlResult<()> {
        if self.bytes.len() + more.len() > self.within {
            return self.extend_looking(more);
        }
        self.bytes.extend_from_slice(more);
        Ok(())
    }

    #[cold]
    fn extend_looking(&mut self, more: &[u8]) -> SqlResult<()> {
        self.look(more.len())?;
        for piece in more.chunks(LOOK_BYTES) {
            self.bytes.extend_from_slice(piece);
            if piece.len() == LOOK_BYTES {
                values::look()?;
            }
        }
        Ok(())
    }

    /// The same of one.
    ///
    /// # Errors
    /// As [`ByteBuffer::extend`].
    #[inline]
    pub fn push(&mut self, byte: u8) -> SqlResult<()> {
        self.extend(&[byte])
    }

    /// Adds what each of some bytes becomes, which is as long as they are.
    ///
    /// # Errors
    /// As [`ByteBuffer::extend`].
    pub fn extend_mapped<const N: usize, const M: usize>(
        &mut self,
        of: &[u8],
        map: impl Fn([u8; N]) -> [u8; M],
    ) -> SqlResult<()> {
        self.reserve(of.len() / N * M)?;
        for some in of.chunks(LOOK_BYTES) {
            let mapped = some.as_chunks::<N>().0.iter().flat_map(|&one| map(one));
            self.bytes.extend(mapped);
            if some.len() == LOOK_BYTES {
                values::look()?;
            }
        }
        self.within = self.bytes.len();
        Ok(())
    }

    /// Before it has so many more.
    #[cold]
    fn look(&mut self, more: usize) -> SqlResult<()> {
        let long = self.bytes.len() + more;
        if long > self.bytes.capacity() {
            let slow = self.bytes.len() > SLOW_BYTES;
            let grown = self.bytes.len() + self.bytes.len() / if slow { 4 } else { 1 };
            let wanted = long.max(grown.min(LONGEST_BYTES)).max(64);
            self.reserve(wanted - self.bytes.len())?;
        }
        if long > LOOK_BYTES {
            values::look()?;
        }
        self.within = self.bytes.capacity().min(long.max(LOOK_BYTES).saturating_add(LOOK_BYTES));
        Ok(())
    }

    fn reserve(&mut self, more: usize) -> SqlResult<()> {
        let long = self.bytes.len().saturating_add(more);
        within_longest(long)?;
        if long <= self.bytes.capacity() {
            return Ok(());
        }
        // Where it is moved it is there twice for a while.
        values::room(long)?;
        self.bytes.try_reserve_exact(more).map_err(|_| values::exhausted())
    }

    /// Its bytes so far.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// Grows a vector that is there already. On an error there may be a part of what was to be
    /// added.
    pub(crate) fn within<R>(bytes: &mut Vec<u8>, grow: impl FnOnce(&mut ByteBuffer) -> R) -> R {
        let mut growing = ByteBuffer { bytes: std::mem::take(bytes), within: 0 };
        let result = grow(&mut growing);
        *bytes = growing.bytes;
        result
    }

    /// What has been made, with the room behind it.
    pub(crate) fn into_vec(self) -> Vec<u8> {
        self.bytes
    }

    /// What has been made.
    pub fn into_bytes(self) -> Bytes {
        Bytes::from(self.bytes)
    }
}

/// 7119 where a value would be too long.
///
/// # Errors
/// That.
pub fn within_longest(bytes: usize) -> SqlResult<()> {
    if bytes <= LONGEST_BYTES {
        return Ok(());
    }
    Err(SqlError::new(messages::LOB_TOO_LONG, &[&"2147483647"]))
}

/// Writes characters of a text, as UTF-8 would be written into a `String`.
impl std::io::Write for ByteBuffer {
    fn write(&mut self, more: &[u8]) -> std::io::Result<usize> {
        self.extend(more).map_err(std::io::Error::other)?;
        Ok(more.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::memory::Memory;
    use os::values::{ValueMemory, lend};
    use std::sync::Arc;

    #[test]
    fn what_grows_is_whole_and_ends_where_there_is_no_room() {
        let mut growing = ByteBuffer::default();
        let piece: Vec<u8> = (0..=255).collect();
        for _ in 0..20_000 {
            growing.extend(&piece).unwrap();
        }
        growing.push(7).unwrap();
        let bytes = growing.into_bytes();
        assert_eq!(bytes.len(), 256 * 20_000 + 1);
        assert!(bytes.chunks(256).all(|c| c == &piece[..c.len()] || c == [7]));
        let memory = Memory::new(16 << 20);
        let _lent = lend(Some(Arc::new(ValueMemory::new(&memory))));
        let number = |made: SqlResult<ByteBuffer>| made.err().map(|e| e.number());
        assert_eq!(number(ByteBuffer::with_room(15 << 20)), None);
        assert_eq!(number(ByteBuffer::with_room(16 << 20)), Some(701));
        assert_eq!(number(ByteBuffer::with_room(LONGEST_BYTES + 1)), Some(7119));
        let mut growing = ByteBuffer::with_room(10 << 20).unwrap();
        let refused = growing.extend(&vec![0; 16 << 20]).map_err(|e| e.number());
        assert_eq!(refused, Err(701));
    }

    #[test]
    fn units_are_mapped_one_by_one() {
        let mut growing = ByteBuffer::default();
        growing.extend_mapped(b"ab", |[b]: [u8; 1]| [b, 0]).unwrap();
        assert_eq!(growing.as_slice(), b"a\0b\0");
    }
}
