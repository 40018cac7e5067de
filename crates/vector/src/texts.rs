//! `Texts`: byte strings as views of 16 bytes over one buffer.
//!
//! ```text
//! at most 12 bytes   length (4) │ bytes (12)
//! longer             length (4) │ first bytes (4) │ offset in the buffer (4) │ 0 (4)
//! ```
//!
//! Invariants
//!  1. A view refers to the buffer of its own `Texts`: no string outlives what it points to.
//!  2. Long strings stand in the buffer in the order of their views, without gaps.

const INLINE_BYTES: usize = 12;

#[derive(Clone, Copy, Debug)]
struct View {
    bytes: u32,
    head: [u8; INLINE_BYTES],
}

/// Byte strings in order.
#[derive(Clone, Default, Debug)]
pub(crate) struct Texts {
    views: Vec<View>,
    buffer: Vec<u8>,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.views.len()
    }

    /// Bytes of the long strings.
    pub(crate) fn buffer_bytes(&self) -> usize {
        self.buffer.len()
    }

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.views.capacity() * size_of::<View>() + self.buffer.capacity()
    }

    pub(crate) fn clear(&mut self) {
        self.views.clear();
        self.buffer.clear();
    }

    /// The string at a position.
    #[inline]
    pub(crate) fn at(&self, position: usize) -> &[u8] {
        let view = &self.views[position];
        let bytes = view.bytes as usize;
        if bytes <= INLINE_BYTES {
            return &view.head[..bytes];
        }
        let from = view.offset();
        &self.buffer[from..from + bytes]
    }

    /// Puts a string behind the others.
    ///
    /// # Panics
    /// Above 4 GB in all: a batch is full long before.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) {
        let mut head = [0; INLINE_BYTES];
        if text.len() <= INLINE_BYTES {
            head[..text.len()].copy_from_slice(text);
        } else {
            head[..4].copy_from_slice(&text[..4]);
            head[4..8].copy_from_slice(&length(self.buffer.len()).to_le_bytes());
            self.buffer.extend_from_slice(text);
        }
        self.views.push(View { bytes: length(text.len()), head });
    }

    /// Drops the strings from a position on.
    pub(crate) fn truncate(&mut self, len: usize) {
        let dropped = self.views.get(len..).unwrap_or_default();
        let long: usize = dropped.iter().map(View::buffer_bytes).sum();
        self.buffer.truncate(self.buffer.len() - long);
        self.views.truncate(len);
    }

    /// Keeps the strings at some positions, which ascend; bytes of others leave the buffer.
    pub(crate) fn keep(&mut self, positions: impl Iterator<Item = usize>) {
        let (mut len, mut end) = (0, 0);
        for position in positions {
            let mut view = self.views[position];
            let long = view.buffer_bytes();
            if long > 0 {
                let from = view.offset();
                self.buffer.copy_within(from..from + long, end);
                view.head[4..8].copy_from_slice(&length(end).to_le_bytes());
                end += long;
            }
            self.views[len] = view;
            len += 1;
        }
        self.views.truncate(len);
        self.buffer.truncate(end);
    }
}

impl View {
    /// Where the bytes of a long string begin.
    #[inline]
    fn offset(&self) -> usize {
        let [_, _, _, _, a, b, c, d, ..] = self.head;
        u32::from_le_bytes([a, b, c, d]) as usize
    }

    fn buffer_bytes(&self) -> usize {
        let bytes = self.bytes as usize;
        if bytes > INLINE_BYTES { bytes } else { 0 }
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("the strings of a vector stay below 4 GB")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Strings come back as they were put in, also when some were dropped and others added; the
        /// buffer has the bytes of long strings only.
        #[test]
        fn strings_come_back(
            strings in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 0..30), any::<bool>()), 0..60),
            cut in 0..60_usize,
        ) {
            let mut texts = Texts::default();
            strings.iter().for_each(|(s, _)| texts.push(s));
            let mut model: Vec<_> = strings.iter().map(|(s, _)| s.clone()).collect();
            texts.truncate(cut);
            model.truncate(cut);
            texts.push(b"thirteen byte");
            model.push(b"thirteen byte".to_vec());
            let kept = |n: &usize| strings.get(*n).is_none_or(|s| s.1);
            let positions: Vec<usize> = (0..model.len()).filter(kept).collect();
            texts.keep(positions.iter().copied());
            let model: Vec<_> = positions.iter().map(|&n| model[n].clone()).collect();
            let found: Vec<_> = (0..texts.len()).map(|n| texts.at(n).to_vec()).collect();
            let long: usize = model.iter().map(Vec::len).filter(|&n| n > INLINE_BYTES).sum();
            prop_assert_eq!(found, model);
            prop_assert_eq!(texts.buffer_bytes(), long);
        }
    }
}
