//! Random numbers that follow from a seed: splitmix64.

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

/// Mixes two numbers into the seed of a stream of its own.
pub(crate) fn mix(seed: u64, stream: u64) -> u64 {
    let mut r = Random(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
    r.next_u64();
    r.next_u64()
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        let mut r = Random(seed);
        r.next_u64();
        r
    }

    /// The next number.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`, or 0 when `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(n)) >> 64) as u64
    }

    /// True once in `n` times.
    #[inline]
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// One of a few.
    ///
    /// # Panics
    /// When there is none.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }
}
