//! A seeded mutator: what a fuzzer does to inputs, without its eyes. For runs that must repeat.

/// A small generator: the same seed draws the same numbers.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Dice(seed ^ 0x9E37_79B9_7F4A_7C15)
    }

    /// A number below `n`, 0 for none.
    pub fn roll(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }
}

const TELLING: [u8; 14] =
    [0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, 0xE7, 0xA7, 0xF3, b'(', b'\'', b'/', b' '];

/// Alters bytes in one to four places; `other` is what pieces may come from.
pub fn mutate(bytes: &mut Vec<u8>, other: &[u8], bytes_max: usize, dice: &mut Dice) {
    for _ in 0..=dice.roll(4) {
        let at = dice.roll(bytes.len());
        match dice.roll(7) {
            0 if !bytes.is_empty() => bytes[at] = dice.roll(256) as u8,
            1 if !bytes.is_empty() => bytes[at] = TELLING[dice.roll(TELLING.len())],
            2 if !bytes.is_empty() => bytes[at] ^= 1 << dice.roll(8),
            3 => {
                let end = (at + dice.roll(9)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let from = dice.roll(other.len());
                let end = (from + dice.roll(200)).min(other.len());
                bytes.splice(at..at, other[from..end].iter().copied());
            }
            5 if bytes.len() > 1 => bytes.truncate(at),
            _ => {
                let end = (at + dice.roll(40)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = dice.roll(bytes.len() + 1);
                bytes.splice(to..to, copy);
            }
        }
    }
    bytes.truncate(bytes_max);
}
