//! Anything to text, in the styles of CONVERT.

use super::sized::{limits, text_value};
use crate::datetime::{
    Dialect, Language, Moment, hijri_from_days, is_hijri, print_style, print_style_in,
};
use crate::{Bytes, Decimal, Family, Length, SqlType, Value};
use base::{SqlError, SqlResult, messages};

pub(super) fn convert(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
) -> SqlResult<Value> {
    if let (Value::Int(n), SqlType::VarChar(length)) = (value, to)
        && let (from, digits) = int_text(*n)
        && digits.len() - from <= length.limit()
    {
        return Ok(Value::Char(Bytes::new(&digits[from..])));
    }
    let characters = match to {
        SqlType::NChar(n) => n as usize,
        SqlType::NVarChar(Length::N(n)) => n as usize,
        _ => limits(to).0,
    };
    let (text, too_long) = match value {
        Value::Binary(bytes) => return super::binary::to_text(bytes, to, style),
        Value::Xml(x) => return super::xml::to_text(x, to),
        Value::Decimal(_) => (value.to_string(), OverflowRule::Numeric),
        Value::Money(m) => (money_text(*m, style), OverflowRule::Money),
        Value::Real(x) => (float_style(*x as f64, style, true), OverflowRule::Float(*x as f64)),
        Value::Float(x) => (float_style(*x, style, false), OverflowRule::Float(*x)),
        Value::Guid(_) => (value.to_string(), OverflowRule::Guid),
        Value::BigInt(n) => (n.to_string(), OverflowRule::Expression),
        _ if from.is_temporal() => {
            (temporal_text(value, from, style, to, dialect.language)?, OverflowRule::Cut)
        }
        // The smaller integers become an asterisk, though not in nvarchar.
        _ if to.family() == Family::NChar => (display(value), OverflowRule::Expression),
        _ => (display(value), OverflowRule::Asterisk),
    };
    if text.len() <= characters {
        return text_value(&text, to);
    }
    match too_long {
        OverflowRule::Cut => text_value(&text, to),
        OverflowRule::Asterisk => text_value("*", to),
        OverflowRule::Numeric => Err(super::number::overflow("numeric", to).with_state(5)),
        OverflowRule::Expression => Err(super::number::overflow("expression", to)),
        OverflowRule::Money => Err(SqlError::new(messages::MONEY_OVERFLOW, &[&to.error_name()])),
        OverflowRule::Guid => Err(SqlError::new(messages::GUID_SHORT, &[])),
        OverflowRule::Float(x) => Err(SqlError::new(
            messages::OVERFLOW_TYPE,
            &[&to.error_name(), &format_args!("{x:.6}")],
        )),
    }
}

/// The digits of a number, at the end of the array from a place on.
fn int_text(n: i32) -> (usize, [u8; 11]) {
    let (mut digits, mut at) = ([b'-'; 11], 11);
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            return (if n < 0 { at - 1 } else { at }, digits);
        }
    }
}

/// What happens to text that is longer than its type.
enum OverflowRule {
    Cut,
    Asterisk,
    Numeric,
    Expression,
    Money,
    Guid,
    Float(f64),
}

/// As PRINT and messages show it: NULL as `NULL`, everything else as its conversion to text.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&display(self))
    }
}

/// A value as PRINT shows it.
fn display(value: &Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bit(b) => (*b as u8).to_string(),
        Value::Decimal(d) => d.to_string(),
        Value::Money(m) => money_text(*m, 0),
        Value::Real(x) => float_style(*x as f64, 0, true),
        Value::Float(x) => float_style(*x, 0, false),
        Value::Char(b) => crate::text::decode_1252(b),
        Value::NChar(b) => crate::text::decode_utf16(b),
        Value::Binary(b) => format!("{b:?}"),
        Value::Guid(g) => guid_text(g),
        Value::Variant(v) => display(v.value()),
        Value::Xml(x) => x.text().into_owned(),
        Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) | Value::BigInt(_) => {
            value.as_i64().unwrap_or(0).to_string()
        }
        Value::Date(_) => in_style(value, SqlType::Date),
        Value::Time(_) => in_style(value, SqlType::Time(7)),
        Value::DateTime(_) => in_style(value, SqlType::DateTime),
        Value::SmallDateTime(_) => in_style(value, SqlType::SmallDateTime),
        Value::DateTime2(_) => in_style(value, SqlType::DateTime2(7)),
        Value::DateTimeOffset(_) => in_style(value, SqlType::DateTimeOffset(7)),
    }
}

fn in_style(value: &Value, sql_type: SqlType) -> String {
    print_style(value, sql_type, 0).unwrap_or_default()
}

/// A day before the Hijri calendar has no text in it: others have seen an error, and not which.
fn before_hijra(value: &Value, from: SqlType, style: i32) -> bool {
    let days = Moment::of(value).map_or(0, |m| m.days);
    is_hijri(style) && !matches!(from, SqlType::Time(_)) && hijri_from_days(days).is_none()
}

fn temporal_text(
    value: &Value,
    from: SqlType,
    style: i32,
    to: SqlType,
    language: &Language,
) -> SqlResult<String> {
    if before_hijra(value, from, style) {
        return Err(super::number::overflow("expression", to));
    }
    print_style_in(value, from, style, language)
        .ok_or_else(|| SqlError::new(messages::STYLE_INVALID, &[&style, &from.name()]))
}

fn guid_text(g: &[u8; 16]) -> String {
    format!(
        "{:08X}-{:04X}-{:04X}-{:02X}{:02X}-{:02X}{:02X}{:02X}{:02X}{:02X}{:02X}",
        u32::from_le_bytes([g[0], g[1], g[2], g[3]]),
        u16::from_le_bytes([g[4], g[5]]),
        u16::from_le_bytes([g[6], g[7]]),
        g[8],
        g[9],
        g[10],
        g[11],
        g[12],
        g[13],
        g[14],
        g[15]
    )
}

/// Style 0: two digits; 1: with commas; 2 and 126: four digits.
fn money_text(tenths: i64, style: i32) -> String {
    let digits = if matches!(style, 2 | 126) { 4 } else { 2 };
    let d =
        Decimal::new(tenths as i128, 4).and_then(|d| d.rescale(digits)).unwrap_or(Decimal::ZERO);
    let plain = d.to_string();
    if style != 1 {
        return plain;
    }
    let (sign, rest) = if let Some(r) = plain.strip_prefix('-') { ("-", r) } else { ("", &*plain) };
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let mut out = sign.to_owned();
    for (i, c) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out + "." + fraction
}

/// Style 0: six digits, scientific where needed; 1: eight, 2: sixteen, always scientific;
/// 3: what loses nothing.
fn float_style(x: f64, style: i32, real: bool) -> String {
    match style {
        1 => scientific(x, 7),
        2 => scientific(x, 15),
        3 => float_text(x, if real { 9 } else { 17 }),
        _ => float_text(x, 6),
    }
}

/// C's `%.{digits}g` with the three exponent digits that SQL Server writes.
pub fn float_text(x: f64, digits: usize) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    if !x.is_finite() {
        return format!("{x}");
    }
    let digits = digits.clamp(1, 17);
    let rounded = format!("{:.*e}", digits - 1, x);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -4 || exponent >= digits as i32 {
        return with_exponent(without_zeros(mantissa), exponent);
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    without_zeros(&format!("{x:.decimals$}")).to_owned()
}

fn scientific(x: f64, decimals: usize) -> String {
    let rounded = format!("{x:.decimals$e}");
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    with_exponent(mantissa, exponent.parse().unwrap_or(0))
}

fn with_exponent(mantissa: &str, exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:03}", exponent.unsigned_abs())
}

fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}
