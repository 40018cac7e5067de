//! Passwords at rest: PBKDF2-HMAC-SHA256 with a salt, slow on purpose, compared in constant time.
//!
//! The text form is `pbkdf2-sha256$iterations$salt$hash`, both in hexadecimal. The iterations are
//! measured when the hash is made, so that a check costs about 3 ms of CPU (5 at most) on the
//! machine that made it; they are kept between bounds, since that text may come from elsewhere.

use ring::pbkdf2;
use std::fmt::Write as _;
use std::num::NonZeroU32;

const SCHEME: &str = "pbkdf2-sha256";
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;
/// What a check is to cost.
const CHECK_NS: u64 = 3_000_000;
const ITERATIONS_MIN: u32 = 1_000;
const ITERATIONS_MAX: u32 = 40_000;
/// How many are measured.
const ITERATIONS_PROBED: u32 = 2_000;

/// A new salted hash of a password, as text to store.
pub fn hash(password: &str) -> String {
    let mut salt = [0; SALT_BYTES];
    os::entropy::fill(&mut salt);
    let iterations = affordable_iterations();
    let hash = derive(password, &salt, iterations);
    format!("{SCHEME}${iterations}${}${}", hex(&salt), hex(&hash))
}

/// Whether a password is the one whose hash was stored. False for a text that is no such hash.
pub fn verify(password: &str, stored: &str) -> bool {
    let Some((iterations, salt, hash)) = parse(stored) else { return false };
    pbkdf2::verify(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, password.as_bytes(), &hash)
        .is_ok()
}

/// Whether a text is such a hash.
pub fn is_hash(stored: &str) -> bool {
    parse(stored).is_some()
}

/// Spends the time of a check: an unknown login must not answer faster than a known one.
pub fn pretend(password: &str) {
    derive(password, &[0; SALT_BYTES], affordable_iterations());
}

fn derive(password: &str, salt: &[u8], iterations: NonZeroU32) -> [u8; HASH_BYTES] {
    let mut out = [0; HASH_BYTES];
    pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, salt, password.as_bytes(), &mut out);
    out
}

/// Measured once; a busy machine measures CPU time, not the clock.
fn affordable_iterations() -> NonZeroU32 {
    static MEASURED: std::sync::OnceLock<NonZeroU32> = std::sync::OnceLock::new();
    *MEASURED.get_or_init(|| {
        let probed = NonZeroU32::new(ITERATIONS_PROBED).expect("not zero");
        let before = os::clock::thread_cpu_ns();
        derive("probe", &[0; SALT_BYTES], probed);
        let spent = os::clock::thread_cpu_ns().saturating_sub(before).max(1);
        let affordable = u64::from(ITERATIONS_PROBED).saturating_mul(CHECK_NS) / spent;
        let bounded = affordable.clamp(ITERATIONS_MIN.into(), ITERATIONS_MAX.into());
        u32::try_from(bounded).ok().and_then(NonZeroU32::new).expect("between the bounds")
    })
}

fn parse(stored: &str) -> Option<(NonZeroU32, Vec<u8>, Vec<u8>)> {
    let mut parts = stored.split('$');
    if parts.next()? != SCHEME {
        return None;
    }
    let iterations = parts.next()?.parse::<u32>().ok().filter(|n| *n <= ITERATIONS_MAX)?;
    let salt = unhex(parts.next()?)?;
    let hash = unhex(parts.next()?)?;
    if parts.next().is_some() || salt.len() != SALT_BYTES || hash.len() != HASH_BYTES {
        return None;
    }
    Some((NonZeroU32::new(iterations)?, salt, hash))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, b| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{b:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_known_by_its_hash_and_two_hashes_of_it_differ() {
        let (one, two) = (hash("Grüße-1"), hash("Grüße-1"));
        assert_ne!(one, two, "the salts differ");
        assert!(verify("Grüße-1", &one) && verify("Grüße-1", &two));
        for wrong in ["", "Grüße-2", "grüße-1", "Grüße-1 "] {
            assert!(!verify(wrong, &one), "{wrong}");
        }
    }

    #[test]
    fn a_text_that_is_no_hash_lets_nobody_in() {
        let good = hash("x");
        let parts: Vec<&str> = good.split('$').collect();
        let spoilt = [
            String::new(),
            "x".to_owned(),
            format!("plain${}${}${}", parts[1], parts[2], parts[3]),
            format!("{}$0${}${}", parts[0], parts[2], parts[3]),
            format!("{}$4000000000${}${}", parts[0], parts[2], parts[3]),
            format!("{}${}$zz${}", parts[0], parts[1], parts[3]),
            format!("{}${}${}$", parts[0], parts[1], parts[2]),
            format!("{good}$more"),
            format!("{}${}$é{}${}", parts[0], parts[1], &parts[2][2..], parts[3]),
        ];
        for text in spoilt {
            assert!(!verify("x", &text) && !verify("", &text), "{text}");
        }
    }

    #[test]
    fn a_check_costs_at_most_five_milliseconds_of_cpu() {
        let stored = hash("x");
        let cost = (0..5).map(|_| {
            let before = os::clock::thread_cpu_ns();
            verify("x", &stored);
            os::clock::thread_cpu_ns() - before
        });
        let least = cost.min().unwrap();
        assert!((50_000..5_000_000).contains(&least), "{least} ns");
    }
}
