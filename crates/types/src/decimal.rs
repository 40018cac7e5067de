//! `Decimal`: a whole number of up to 38 digits and the place of its point.
//!
//! Invariants
//!  1. The magnitude is below 10^38; every constructor and operation keeps it so or answers
//!     `None`, which callers turn into error 8115.
//!  2. The scale is at most 38.
//!
//! The number is kept as two halves so that a `Value` stays 32 bytes; arithmetic goes through
//! `i128`, and through 256 bits where a product or a shifted dividend may exceed it.
//! Rounding is half away from zero, as SQL Server rounds a cast; division truncates.

use ethnum::I256;
use std::cmp::Ordering;
use std::fmt;

/// The largest number of digits.
pub const PRECISION_MAX: u8 = 38;

/// The first magnitude that does not fit: 10^38.
const LIMIT: i128 = 100_000_000_000_000_000_000_000_000_000_000_000_000;

/// A decimal number with its scale.
#[derive(Clone, Copy)]
pub struct Decimal {
    high: i64,
    low: u64,
    scale: u8,
}

/// Powers of 10: computing one takes as long as everything else about a sum.
const POWERS: [i128; PRECISION_MAX as usize + 1] = {
    let mut powers = [1; PRECISION_MAX as usize + 1];
    let mut n = 1;
    while n <= PRECISION_MAX as usize {
        powers[n] = powers[n - 1] * 10;
        n += 1;
    }
    powers
};

/// 10 to the power `n`, for `n` up to 38.
#[inline]
pub(crate) const fn pow10(n: u8) -> i128 {
    POWERS[n as usize]
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { high: 0, low: 0, scale: 0 };

    /// `mantissa / 10^scale`, when it has at most 38 digits.
    #[inline]
    pub const fn new(mantissa: i128, scale: u8) -> Option<Decimal> {
        if mantissa <= -LIMIT || mantissa >= LIMIT || scale > PRECISION_MAX {
            return None;
        }
        Some(Decimal { high: (mantissa >> 64) as i64, low: mantissa as u64, scale })
    }

    /// A whole number.
    pub const fn from_i64(n: i64) -> Decimal {
        Decimal::from_parts(n, 0)
    }

    /// `mantissa / 10^scale`, for a scale that a type has.
    #[inline]
    pub(crate) const fn from_parts(mantissa: i64, scale: u8) -> Decimal {
        Decimal { high: mantissa >> 63, low: mantissa as u64, scale }
    }

    /// The number without its point, where 18 digits hold it.
    #[inline]
    pub(crate) const fn short(self) -> Option<i64> {
        let n = self.low as i64;
        if n >> 63 == self.high { Some(n) } else { None }
    }

    /// The number without its point.
    #[inline]
    pub const fn mantissa(self) -> i128 {
        ((self.high as i128) << 64) | self.low as i128
    }

    /// Digits after the point.
    pub const fn scale(self) -> u8 {
        self.scale
    }

    /// Digits of the mantissa, at least 1.
    pub fn digits(self) -> u8 {
        digits_of(self.mantissa().unsigned_abs())
    }

    /// The same value with another scale, rounded half away from zero; `None` above 38 digits.
    pub fn rescale(self, scale: u8) -> Option<Decimal> {
        if scale >= self.scale {
            let grown = self.mantissa().checked_mul(pow10_checked(scale - self.scale)?)?;
            return Decimal::new(grown, scale);
        }
        Decimal::new(divide_rounded(self.mantissa(), pow10(self.scale - scale)), scale)
    }

    /// The same value cut (not rounded) to a scale no larger than its own.
    pub fn truncate(self, scale: u8) -> Decimal {
        if scale >= self.scale {
            return self;
        }
        let cut = self.mantissa() / pow10(self.scale - scale);
        Decimal::new(cut, scale).expect("cutting digits only shrinks a number")
    }

    /// The value as `decimal(precision, scale)` holds it; `None` when it has too many digits.
    #[inline]
    pub fn fit(self, precision: u8, scale: u8) -> Option<Decimal> {
        let d = if scale == self.scale { self } else { self.rescale(scale)? };
        (d.mantissa().unsigned_abs() < pow10(precision).unsigned_abs()).then_some(d)
    }

    /// The whole part, cut toward zero.
    pub fn whole(self) -> i128 {
        self.mantissa() / pow10(self.scale)
    }

    /// The nearest float.
    pub fn to_f64(self) -> f64 {
        // Text conversion is correctly rounded; dividing two rounded floats is not. A mantissa
        // below 2^53 over an exact power of ten needs no such care.
        let m = self.mantissa();
        if m.unsigned_abs() < (1 << 53) && self.scale <= 22 {
            return m as f64 / 10_f64.powi(self.scale as i32);
        }
        format!("{m}e-{}", self.scale).parse().unwrap_or(0.0)
    }

    /// A float rounded to a scale; `None` when it is not finite or too large. The float counts
    /// with its 17 significant digits.
    pub fn from_f64(f: f64, scale: u8) -> Option<Decimal> {
        if !f.is_finite() {
            return None;
        }
        let text = format!("{f:.16e}");
        let (mantissa, exponent) = text.split_once('e')?;
        let exponent: i32 = exponent.parse().ok()?;
        let digits: i128 = mantissa.replace('.', "").parse().ok()?;
        // The value is digits * 10^(exponent - 16).
        let shift = exponent - 16 + scale as i32;
        if digits == 0 || shift < -(PRECISION_MAX as i32) {
            return Decimal::new(0, scale);
        }
        if shift >= 0 {
            let by = pow10_checked(u8::try_from(shift).ok()?)?;
            return Decimal::new(digits.checked_mul(by)?, scale);
        }
        Decimal::new(divide_rounded(digits, pow10((-shift) as u8)), scale)
    }

    /// Reads `[+-]digits[.digits]`, no exponent; the scale is what stands after the point, cut to
    /// what 38 digits leave. `None` when it is not a number, or too large.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let mut mantissa: i128 = 0;
        for b in whole.bytes() {
            mantissa = push_digit(mantissa, b)?;
        }
        let mut scale = 0;
        let mut cut = false;
        for b in fraction.bytes() {
            if !b.is_ascii_digit() {
                return None;
            }
            match push_digit(mantissa, b) {
                Some(m) if !cut && scale < PRECISION_MAX => {
                    mantissa = m;
                    scale += 1;
                }
                _ => {
                    if !cut && b >= b'5' {
                        mantissa += 1;
                    }
                    cut = true;
                }
            }
        }
        Decimal::new(if negative { -mantissa } else { mantissa }, scale)
    }

    /// Sum at the larger scale.
    #[inline]
    pub fn checked_add(self, other: Decimal) -> Option<Decimal> {
        if self.scale == other.scale {
            // Two magnitudes below 10^38 have a sum below 2^127.
            return Decimal::new(self.mantissa() + other.mantissa(), self.scale);
        }
        self.add_scaled(other)
    }

    fn add_scaled(self, other: Decimal) -> Option<Decimal> {
        let scale = self.scale.max(other.scale);
        let by = self.scale.abs_diff(other.scale);
        if let (Some(a), Some(b), true) = (self.short(), other.short(), by <= 18) {
            // Below 2^63 times 10^18.
            let shifted = |n: i64, of: u8| i128::from(n) * pow10(scale - of);
            return Decimal::new(shifted(a, self.scale) + shifted(b, other.scale), scale);
        }
        let shifted = |d: Decimal| d.mantissa().checked_mul(pow10(scale - d.scale));
        if let (Some(a), Some(b)) = (shifted(self), shifted(other))
            && let Some(sum) = a.checked_add(b)
        {
            return Decimal::new(sum, scale);
        }
        let a = widened(self, scale);
        let b = widened(other, scale);
        narrowed(a + b, scale)
    }

    /// Difference at the larger scale.
    pub fn checked_sub(self, other: Decimal) -> Option<Decimal> {
        self.checked_add(other.neg())
    }

    /// Sum rounded to the scale of its type, which may be smaller than the operands'.
    #[inline]
    pub fn add_at(self, other: Decimal, scale: u8) -> Option<Decimal> {
        let wide = self.scale.max(other.scale);
        if wide == scale {
            return self.checked_add(other);
        }
        let sum = widened(self, wide) + widened(other, wide);
        rescaled_256(sum, wide, scale)
    }

    /// Product rounded to a scale.
    #[inline]
    pub fn mul(self, other: Decimal, scale: u8) -> Option<Decimal> {
        let full = self.scale + other.scale;
        if full == scale
            && let (Some(a), Some(b)) = (self.short(), other.short())
        {
            return Decimal::new(i128::from(a) * i128::from(b), scale);
        }
        self.mul_wide(other, full, scale)
    }

    fn mul_wide(self, other: Decimal, full: u8, scale: u8) -> Option<Decimal> {
        if full == scale
            && let Some(product) = self.mantissa().checked_mul(other.mantissa())
        {
            return Decimal::new(product, scale);
        }
        rescaled_256(I256::from(self.mantissa()) * I256::from(other.mantissa()), full, scale)
    }

    /// Quotient cut to a scale; `None` on overflow. The divisor is not zero.
    pub fn div(self, other: Decimal, scale: u8) -> Option<Decimal> {
        debug_assert!(other.mantissa() != 0, "the caller answers 8134");
        // a/10^sa / (b/10^sb) = (a * 10^(scale + sb - sa) / b) / 10^scale
        let shift = scale as i32 + other.scale as i32 - self.scale as i32;
        let a = I256::from(self.mantissa());
        let b = I256::from(other.mantissa());
        let quotient = if shift >= 0 {
            if shift > 76 {
                return None;
            }
            a.checked_mul(I256::from(10).pow(shift as u32))? / b
        } else {
            a / (b.checked_mul(I256::from(10).pow((-shift) as u32))?)
        };
        narrowed(quotient, scale)
    }

    /// Remainder with the sign of the dividend, at the larger scale. The divisor is not zero.
    pub fn checked_rem(self, other: Decimal) -> Option<Decimal> {
        debug_assert!(other.mantissa() != 0, "the caller answers 8134");
        let scale = self.scale.max(other.scale);
        narrowed(widened(self, scale) % widened(other, scale), scale)
    }

    /// The number with the other sign.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "one of five named operations")]
    #[inline]
    pub fn neg(self) -> Decimal {
        Decimal::new(-self.mantissa(), self.scale).expect("the range is symmetric")
    }

    /// The same value without zeros at the end of its fraction: equal values become identical.
    #[must_use]
    #[inline]
    pub fn normalized(self) -> Decimal {
        if let Some(mut m) = self.short() {
            let mut scale = self.scale;
            while scale > 0 && m % 10 == 0 {
                m /= 10;
                scale -= 1;
            }
            return Decimal::from_parts(m, scale);
        }
        let (mut m, mut scale) = (self.mantissa(), self.scale);
        while scale > 0 && m % 10 == 0 {
            m /= 10;
            scale -= 1;
        }
        Decimal::new(m, scale).expect("removing zeros only shrinks a number")
    }
}

fn pow10_checked(n: u8) -> Option<i128> {
    (n <= PRECISION_MAX).then(|| pow10(n))
}

/// Decimal digits of a magnitude, at least 1.
pub(crate) fn digits_of(magnitude: u128) -> u8 {
    magnitude.checked_ilog10().unwrap_or(0) as u8 + 1
}

/// `a / b` rounded half away from zero, for positive `b`.
pub(crate) fn divide_rounded(a: i128, b: i128) -> i128 {
    debug_assert!(b > 0);
    let (quotient, rest) = (a / b, a % b);
    // Compared without doubling: 2 * rest may exceed the type.
    if rest.unsigned_abs() >= b.unsigned_abs() - rest.unsigned_abs() {
        quotient + a.signum()
    } else {
        quotient
    }
}

fn push_digit(mantissa: i128, digit: u8) -> Option<i128> {
    if !digit.is_ascii_digit() {
        return None;
    }
    let grown = mantissa.checked_mul(10)?.checked_add((digit - b'0') as i128)?;
    (grown < LIMIT).then_some(grown)
}

fn widened(d: Decimal, scale: u8) -> I256 {
    I256::from(d.mantissa()) * I256::from(pow10(scale - d.scale))
}

fn narrowed(m: I256, scale: u8) -> Option<Decimal> {
    Decimal::new(i128::try_from(m).ok()?, scale)
}

fn rescaled_256(m: I256, from: u8, to: u8) -> Option<Decimal> {
    if to >= from {
        return narrowed(m.checked_mul(I256::from(pow10_checked(to - from)?))?, to);
    }
    let by = I256::from(10).pow((from - to) as u32);
    let (quotient, rest) = (m / by, m % by);
    let up = rest.unsigned_abs() >= by.unsigned_abs() - rest.unsigned_abs();
    narrowed(if up { quotient + m.signum() } else { quotient }, to)
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Decimal) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// By value: 1.0 equals 1.00.
impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        if self.scale == other.scale {
            return self.mantissa().cmp(&other.mantissa());
        }
        let scale = self.scale.max(other.scale);
        let shifted = |d: &Decimal| d.mantissa().checked_mul(pow10(scale - d.scale));
        if let (Some(a), Some(b)) = (shifted(self), shifted(other)) {
            return a.cmp(&b);
        }
        widened(*self, scale).cmp(&widened(*other, scale))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let m = self.mantissa();
        if m < 0 {
            f.write_str("-")?;
        }
        let magnitude = m.unsigned_abs();
        if self.scale == 0 {
            return write!(f, "{magnitude}");
        }
        let unit = pow10(self.scale).unsigned_abs();
        write!(f, "{}.{:0w$}", magnitude / unit, magnitude % unit, w = self.scale as usize)
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(s: &str) -> Decimal {
        Decimal::parse(s).unwrap()
    }

    #[test]
    fn numbers_keep_value_and_scale_through_text() {
        for s in
            ["0", "1", "-1", "0.5", "-0.05", "123.4500", "99999999999999999999999999999999999999"]
        {
            assert_eq!(d(s).to_string(), s);
        }
        for bad in ["", "-", ".", "1a", "1.2.3", "1e5", "100000000000000000000000000000000000000"] {
            assert!(Decimal::parse(bad).is_none(), "{bad}");
        }
        assert_eq!(d(".5").to_string(), "0.5");
        assert_eq!(d("-1").mantissa(), -1);
    }

    #[test]
    fn rounding_is_half_away_from_zero() {
        for (s, scale, out) in [
            ("1.005", 2, "1.01"),
            ("-1.005", 2, "-1.01"),
            ("1.0049", 2, "1.00"),
            ("0.5", 0, "1"),
            ("-0.5", 0, "-1"),
            ("0.4", 0, "0"),
        ] {
            assert_eq!(d(s).rescale(scale).unwrap().to_string(), out, "{s}");
        }
        assert!(d("99.99").fit(3, 1).is_none());
        assert!(d("99999999999999999999999999999999999999").rescale(1).is_none());
    }

    #[test]
    fn arithmetic_goes_through_256_bits_where_it_must() {
        assert_eq!(d("1.1").checked_add(d("2.22")).unwrap().to_string(), "3.32");
        assert_eq!(
            d("12345678901234567890.12345").mul(d("1.00000000"), 10).unwrap().to_string(),
            "12345678901234567890.1234500000"
        );
        assert_eq!(d("1").div(d("3"), 6).unwrap().to_string(), "0.333333");
        assert_eq!(d("-2").div(d("3"), 6).unwrap().to_string(), "-0.666666");
        assert_eq!(d("-7.5").checked_rem(d("2")).unwrap().to_string(), "-1.5");
        assert!(d("99999999999999999999999999999999999999").checked_add(d("1")).is_none());
        assert!(d("99999999999999999999999999999999999999").mul(d("10"), 0).is_none());
    }

    #[test]
    fn floats_become_decimals_by_their_digits() {
        assert_eq!(Decimal::from_f64(1.005, 3).unwrap().to_string(), "1.005");
        assert_eq!(Decimal::from_f64(-2.5, 0).unwrap().to_string(), "-3");
        assert_eq!(Decimal::from_f64(1e-300, 2).unwrap().to_string(), "0.00");
        assert!(Decimal::from_f64(1e39, 0).is_none() && Decimal::from_f64(f64::NAN, 0).is_none());
        assert_eq!(d("0.1").to_f64(), 0.1);
        assert_eq!(d("12345678901234567890.5").to_f64(), 12345678901234567890.5);
    }

    #[test]
    fn order_and_equality_are_by_value() {
        assert_eq!(d("1.0"), d("1.00"));
        assert!(d("-2") < d("-1.5") && d("0.001") > d("0"));
        assert_eq!(d("1.500").normalized().to_string(), "1.5");
    }
}
