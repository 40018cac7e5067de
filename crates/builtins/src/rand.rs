//! RAND(): a session's generator. A seed fixes what follows it.
//!
//! SQL Server's is the combined multiplicative one of L'Ecuyer, "Efficient and portable combined
//! random number generators" (1988); a seed sets its first half, the second begins with 67890. The
//! documentation of RAND gives the three numbers that follow seed 100.

const FIRST_MODULUS: i64 = 2_147_483_563;
const SECOND_MODULUS: i64 = 2_147_483_399;
/// Instead of 0, which would stay 0.
const FIRST_SEED: i64 = 12_345;
const SECOND_SEED: i64 = 67_890;
const SCALE: f64 = 4.656613e-10;

/// The generator.
#[derive(Clone, Copy, Debug)]
pub struct Rand {
    first: i64,
    second: i64,
}

impl Rand {
    /// RAND(seed), before its first number.
    pub fn seeded(seed: i64) -> Rand {
        let first = match seed.rem_euclid(FIRST_MODULUS) {
            0 => FIRST_SEED,
            n => n,
        };
        Rand { first, second: SECOND_SEED }
    }

    /// A session that has given no seed.
    pub fn drawn(bits: u64) -> Rand {
        let (high, low) = ((bits >> 32) as i64, (bits & 0xFFFF_FFFF) as i64);
        Rand { first: high % (FIRST_MODULUS - 1) + 1, second: low % (SECOND_MODULUS - 1) + 1 }
    }

    /// The next number, between 0 and 1.
    pub fn draw(&mut self) -> f64 {
        self.first = self.first * 40_014 % FIRST_MODULUS;
        self.second = self.second * 40_692 % SECOND_MODULUS;
        let z = self.first - self.second;
        let z = if z < 1 { z + FIRST_MODULUS - 1 } else { z };
        z as f64 * SCALE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_a_seed_are_the_documented_ones() {
        let mut rand = Rand::seeded(100);
        let documented = [0.715436657367485, 0.28463380767982, 0.0131039082850364];
        for expected in documented {
            assert!((rand.draw() - expected).abs() < 1e-15);
        }
        assert!((Rand::seeded(0).draw() - 0.943597390424144).abs() < 1e-15);
        let mut drawn = Rand::drawn(u64::MAX);
        assert!((0..1000).all(|_| (0.0..1.0).contains(&drawn.draw())));
    }
}
