//! `Bytes`: a byte string that is cheap to clone. What one has of it nobody else changes.
//!
//! Up to 22 bytes stand inline without heap; a longer one is shared. Most keys, codes and
//! names are short, and a scan that clones values must not copy megabytes. What was made in a
//! vector of much more stays in it: one that is to be as long as memory allows is not there twice.
//! One that is appended to keeps room behind it, and is moved when that is used up.

use crate::ByteBuffer;
use base::SqlResult;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The longest string that needs no heap.
const INLINE_BYTES: usize = 22;
/// Up to this length bytes that get others behind them are copied.
const APPENDED_BYTES: usize = 256;
/// A vector of this length is kept as it is.
const KEPT_BYTES: usize = 32 << 10;

/// An immutable byte string: short ones inline, longer ones shared.
#[derive(Clone)]
pub struct Bytes(Form);

#[derive(Clone)]
enum Form {
    Inline(u8, [u8; INLINE_BYTES]),
    Shared(Arc<[u8]>),
    Kept(Arc<Vec<u8>>),
}

const _: () = assert!(size_of::<Bytes>() == 24);

impl Bytes {
    /// No bytes.
    pub const EMPTY: Bytes = Bytes(Form::Inline(0, [0; INLINE_BYTES]));

    /// A copy of a slice.
    #[inline]
    pub fn new(bytes: &[u8]) -> Bytes {
        if bytes.len() <= INLINE_BYTES {
            let mut room = [0; INLINE_BYTES];
            room[..bytes.len()].copy_from_slice(bytes);
            Bytes(Form::Inline(bytes.len() as u8, room))
        } else {
            Bytes(Form::Shared(Arc::from(bytes)))
        }
    }

    /// Two slices, one behind the other.
    pub fn joined(a: &[u8], b: &[u8]) -> Bytes {
        let len = a.len() + b.len();
        if len > INLINE_BYTES {
            return Bytes::from([a, b].concat());
        }
        let mut room = [0; INLINE_BYTES];
        room[..a.len()].copy_from_slice(a);
        room[a.len()..len].copy_from_slice(b);
        Bytes(Form::Inline(len as u8, room))
    }

    /// Puts others behind the bytes: where nothing else has these, and they are some, in the room
    /// behind them. On an error they may be there in part.
    ///
    /// # Errors
    /// 7119, 701, and what ends a request.
    pub fn append(&mut self, more: &[u8]) -> SqlResult<()> {
        if self.len() + more.len() <= APPENDED_BYTES {
            *self = Bytes::joined(self, more);
            return Ok(());
        }
        if let Form::Kept(kept) = &mut self.0
            && let Some(own) = Arc::get_mut(kept)
        {
            return ByteBuffer::within(own, |growing| growing.extend(more));
        }
        let mut both = ByteBuffer::with_room(self.len() + more.len())?;
        both.extend(self)?;
        both.extend(more)?;
        self.0 = Form::Kept(Arc::new(both.into_vec()));
        Ok(())
    }

    /// Keeps so many of the bytes, of those that have been appended to.
    pub fn truncate(&mut self, bytes: usize) {
        if bytes >= self.len() {
            return;
        }
        if let Form::Kept(kept) = &mut self.0
            && let Some(own) = Arc::get_mut(kept)
        {
            own.truncate(bytes);
            return;
        }
        *self = Bytes::new(&self.as_slice()[..bytes]);
    }

    /// The bytes.
    #[inline]
    pub fn as_slice(&self) -> &[u8] {
        match &self.0 {
            Form::Inline(n, room) => &room[..*n as usize],
            Form::Shared(shared) => shared,
            Form::Kept(kept) => kept,
        }
    }

    /// Heap bytes that this value keeps alive, for memory grants.
    pub fn heap_bytes(&self) -> usize {
        match &self.0 {
            Form::Inline(..) => 0,
            Form::Shared(shared) => shared.len() + 16,
            Form::Kept(kept) => kept.capacity() + 40,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        Bytes::new(bytes)
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        if bytes.len() <= INLINE_BYTES {
            Bytes::new(&bytes)
        } else if bytes.len() < KEPT_BYTES || bytes.capacity() > bytes.len() / 4 * 5 {
            Bytes(Form::Shared(Arc::from(bytes)))
        } else {
            Bytes(Form::Kept(Arc::new(bytes)))
        }
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        for b in self.as_slice() {
            write!(f, "{b:02X}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_long_strings_keep_their_bytes_and_share_when_long() {
        for n in [0, 1, 21, 22, 23, 500, KEPT_BYTES] {
            let v: Vec<u8> = (0..n).map(|i| i as u8).collect();
            let b = Bytes::new(&v);
            assert_eq!(b.as_slice(), &v[..]);
            assert_eq!(b, Bytes::from(v));
            let c = b.clone();
            assert_eq!(std::ptr::eq(c.as_slice(), b.as_slice()), n > INLINE_BYTES);
        }
    }

    #[test]
    fn appended_bytes_are_not_those_of_others() {
        let mut bytes = Bytes::EMPTY;
        let mut expected = Vec::new();
        let mut copies: Vec<(Bytes, usize)> = Vec::new();
        for n in 0..2000_usize {
            let more = [n as u8; 7];
            bytes.append(&more[..n % 8]).unwrap();
            expected.extend_from_slice(&more[..n % 8]);
            assert_eq!(&bytes[..], &expected[..]);
            if n.is_multiple_of(97) {
                copies.push((bytes.clone(), expected.len()));
            }
        }
        for (copy, length) in copies {
            assert_eq!(&copy[..], &expected[..length], "who has a copy sees none of it");
        }
        // With nobody beside it there is room behind, so that most appends move nothing.
        let (mut moved, mut at) = (0, bytes.as_ptr());
        for _ in 0..1000 {
            bytes.append(b"x").unwrap();
            moved += usize::from(at != bytes.as_ptr());
            at = bytes.as_ptr();
        }
        assert!(moved <= 2, "{moved}");
        bytes.truncate(expected.len());
        assert_eq!(&bytes[..], &expected[..]);
        bytes.truncate(10);
        assert_eq!(&bytes[..], &expected[..10]);
    }
}
