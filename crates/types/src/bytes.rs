//! `Bytes`: an immutable byte string that is cheap to clone.
//!
//! Up to 22 bytes stand inline without heap; a longer one is shared. Most keys, codes and
//! names are short, and a scan that clones values must not copy megabytes. What was made in a
//! vector of much more stays in it: one that is to be as long as memory allows is not there twice.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The longest string that needs no heap.
const INLINE_BYTES: usize = 22;
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
}
