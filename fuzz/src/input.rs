//! The bytes of a fuzzer's input, taken from the front as numbers and pieces.
//!
//! Taking never fails: behind the end there are zeros and empty pieces, so that every input means
//! something and a shorter one means the same until its end.

/// What is left of an input.
#[derive(Clone, Debug)]
pub struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    /// All of it.
    pub fn new(bytes: &'a [u8]) -> Self {
        Input(bytes)
    }

    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A byte.
    pub fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    /// Two bytes, little-endian.
    pub fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    /// Four bytes, little-endian.
    pub fn long(&mut self) -> u32 {
        u32::from(self.word()) | (u32::from(self.word()) << 16)
    }

    /// At most `n` bytes.
    pub fn take(&mut self, n: usize) -> &'a [u8] {
        let (piece, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        piece
    }

    /// A piece led by its length in a word.
    pub fn piece(&mut self) -> &'a [u8] {
        let n = usize::from(self.word());
        self.take(n)
    }

    /// What is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

/// Appends a piece as [`Input::piece`] reads it.
pub(crate) fn put_piece(out: &mut Vec<u8>, piece: &[u8]) {
    let n = u16::try_from(piece.len()).expect("a seed's pieces are short");
    out.extend_from_slice(&n.to_le_bytes());
    out.extend_from_slice(piece);
}
