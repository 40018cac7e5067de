//! `Digits`: a number as its decimal digits, rounded and laid out as text.
//!
//! A float counts with its 15 significant digits, as .NET Framework shows it.

use types::Value;

/// Sign, significant digits without zeros in front, and the place of the point: the value is
/// `0.d1d2d3… * 10^point`.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Digits {
    pub(crate) negative: bool,
    digits: Vec<u8>,
    point: i32,
}

impl Digits {
    /// The digits of a number; `None` for a value that is none.
    pub(crate) fn of(value: &Value) -> Option<Digits> {
        Some(match value {
            Value::Real(x) => Digits::of_scientific(&format!("{x:.6e}")),
            Value::Float(x) => Digits::of_float(*x),
            Value::Decimal(d) => Digits::of_exact(d.mantissa(), d.scale()),
            Value::Money(m) => Digits::of_exact(*m as i128, 4),
            other => Digits::of_exact(other.as_i64()? as i128, 0),
        })
    }

    pub(crate) fn of_float(x: f64) -> Digits {
        Digits::of_scientific(&format!("{x:.14e}"))
    }

    fn of_exact(mantissa: i128, scale: u8) -> Digits {
        let text = mantissa.unsigned_abs().to_string();
        let point = text.len() as i32 - scale as i32;
        Digits::normal(mantissa < 0, text.bytes().map(|b| b - b'0').collect(), point)
    }

    fn of_scientific(text: &str) -> Digits {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).map(|b| b - b'0').collect();
        Digits::normal(text.starts_with('-'), digits, exponent.parse().unwrap_or(0) + 1)
    }

    fn normal(negative: bool, mut digits: Vec<u8>, mut point: i32) -> Digits {
        let zeros = digits.iter().take_while(|&&d| d == 0).count();
        digits.drain(..zeros);
        point -= zeros as i32;
        while digits.last() == Some(&0) {
            digits.pop();
        }
        if digits.is_empty() {
            point = 0;
        }
        let negative = negative && !digits.is_empty();
        Digits { negative, digits, point }
    }

    pub(crate) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Times a power of ten.
    pub(crate) fn shifted(mut self, by: i32) -> Digits {
        if !self.is_zero() {
            self.point += by;
        }
        self
    }

    /// Rounded half away from zero (or cut) to so many digits after the point, before it where
    /// negative.
    pub(crate) fn rounded(&self, decimals: i32, cut: bool) -> Digits {
        let keep = self.point.saturating_add(decimals);
        if keep >= self.digits.len() as i32 {
            return self.clone();
        }
        if keep < 0 {
            return Digits { negative: false, digits: Vec::new(), point: 0 };
        }
        let keep = keep as usize;
        let up = !cut && self.digits[keep] >= 5;
        let mut digits = self.digits[..keep].to_vec();
        let mut point = self.point;
        if up {
            let mut at = keep;
            loop {
                if at == 0 {
                    digits.insert(0, 1);
                    point += 1;
                    break;
                }
                at -= 1;
                if digits[at] < 9 {
                    digits[at] += 1;
                    break;
                }
                digits[at] = 0;
            }
        }
        Digits::normal(self.negative, digits, point)
    }

    /// Rounded to so many significant digits.
    pub(crate) fn significant(&self, n: usize) -> Digits {
        self.rounded(n as i32 - self.point, false)
    }

    /// The digits before the point, at least one.
    pub(crate) fn whole(&self) -> String {
        if self.point <= 0 {
            return "0".to_owned();
        }
        (0..self.point as usize).map(|i| self.digit(i as i32)).collect()
    }

    /// `decimals` digits after the point.
    pub(crate) fn fraction(&self, decimals: usize) -> String {
        (0..decimals as i32).map(|i| self.digit(self.point + i)).collect()
    }

    /// Digits after the point, without zeros at the end.
    pub(crate) fn fraction_len(&self) -> usize {
        (self.digits.len() as i32 - self.point).max(0) as usize
    }

    fn digit(&self, at: i32) -> char {
        let digit = usize::try_from(at).ok().and_then(|i| self.digits.get(i)).copied();
        (b'0' + digit.unwrap_or(0)) as char
    }

    /// The exponent of scientific notation.
    pub(crate) fn exponent(&self) -> i32 {
        if self.is_zero() { 0 } else { self.point - 1 }
    }

    /// The significant digits as text.
    pub(crate) fn plain(&self) -> String {
        self.digits.iter().map(|d| (b'0' + d) as char).collect()
    }

    fn laid_out(&self, decimals: usize) -> String {
        let sign = if self.negative { "-" } else { "" };
        if decimals == 0 {
            return format!("{sign}{}", self.whole());
        }
        format!("{sign}{}.{}", self.whole(), self.fraction(decimals))
    }

    /// With so many digits after the point.
    pub(crate) fn fixed(&self, decimals: usize) -> String {
        self.rounded(decimals as i32, false).laid_out(decimals)
    }

    /// The same, cut.
    pub(crate) fn cut(&self, decimals: usize) -> String {
        self.rounded(decimals as i32, true).laid_out(decimals)
    }

    /// Without digits after the point, and the last `n` before it zero.
    pub(crate) fn before_point(&self, n: usize, cut: bool) -> String {
        self.rounded(-(n as i32), cut).laid_out(0)
    }
}
