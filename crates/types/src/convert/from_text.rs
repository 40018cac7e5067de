//! Text to anything but text and bytes.

use super::number::{fit_money, fit_number, overflow};
use crate::datetime::{Dialect, ParseFailure, parse};
use crate::{Decimal, SqlType, Value};
use base::{SqlError, SqlResult, messages};

pub(super) fn convert(
    text: &str,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
) -> SqlResult<Value> {
    match to {
        SqlType::Bit => to_bit(text, from),
        SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt => {
            to_integer(text, from, to)
        }
        SqlType::Decimal { precision, scale } => to_decimal(text, from, to, precision, scale),
        SqlType::Money | SqlType::SmallMoney => to_money(text, to),
        SqlType::Real | SqlType::Float => to_float(text, from, to),
        SqlType::UniqueIdentifier => to_guid(text),
        _ if to.is_temporal() => to_temporal(text, from, to, style, dialect),
        _ => Err(super::sized::not_allowed(from, to)),
    }
}

fn blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

fn failed(text: &str, from: SqlType, to: SqlType) -> SqlError {
    match to {
        // The wider numbers have their own, shorter message.
        SqlType::BigInt | SqlType::Decimal { .. } | SqlType::Float | SqlType::Real => {
            SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &[&from.name(), &to.error_name()])
        }
        _ => SqlError::new(messages::CONVERSION_FAILED, &[&from.name(), &text, &to.error_name()]),
    }
}

fn to_bit(text: &str, from: SqlType) -> SqlResult<Value> {
    let word = text.trim_matches(blank);
    if word.eq_ignore_ascii_case("true") {
        return Ok(Value::Bit(true));
    }
    if word.eq_ignore_ascii_case("false") || word.is_empty() {
        return Ok(Value::Bit(false));
    }
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(failed(text, from, SqlType::Bit));
    }
    Ok(Value::Bit(digits.bytes().any(|b| b != b'0')))
}

fn to_integer(text: &str, from: SqlType, to: SqlType) -> SqlResult<Value> {
    let word = text.trim_matches(blank);
    let (negative, digits) = match word.strip_prefix('-') {
        Some(rest) => (true, rest.trim_start_matches(blank)),
        None => (false, word.strip_prefix('+').unwrap_or(word).trim_start_matches(blank)),
    };
    // An empty string, and a sign alone, count as 0.
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(failed(text, from, to));
    }
    let mut n: i128 = 0;
    for b in digits.bytes() {
        // Saturates far outside every integer type.
        n = n.saturating_mul(10).saturating_add((b - b'0') as i128);
    }
    fit_number(if negative { -n } else { n }, to).ok_or_else(|| match to {
        SqlType::TinyInt => SqlError::new(messages::NOT_FIT_INT1, &[&from.name(), &text, &"INT1"]),
        SqlType::SmallInt => {
            let args: [&dyn std::fmt::Display; 3] = [&from.name(), &text, &"INT2"];
            SqlError::new(messages::NOT_FIT_INT1, &args).with_state(2)
        }
        SqlType::Int => SqlError::new(messages::OVERFLOW_VARCHAR_INT, &[&from.name(), &text]),
        _ => overflow("expression", to),
    })
}

fn to_decimal(
    text: &str,
    from: SqlType,
    to: SqlType,
    precision: u8,
    scale: u8,
) -> SqlResult<Value> {
    let word = text.trim_matches(blank);
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return Err(failed(text, from, to));
    }
    Decimal::parse(word)
        .and_then(|d| d.fit(precision, scale))
        .map(Value::Decimal)
        .ok_or_else(|| overflow(from.name(), to))
}

fn to_float(text: &str, from: SqlType, to: SqlType) -> SqlResult<Value> {
    let word = text.trim_matches(blank);
    if word.is_empty() {
        return Ok(if to == SqlType::Real { Value::Real(0.0) } else { Value::Float(0.0) });
    }
    // `inf` and `nan` read as floats elsewhere, not here; an exponent may be written with d.
    let plain = word.bytes().all(|b| b.is_ascii_digit() || b"+-.eEdD".contains(&b));
    let x: f64 = match plain.then(|| word.replace(['d', 'D'], "e").parse()) {
        Some(Ok(x)) => x,
        _ => return Err(failed(text, from, to)),
    };
    match to {
        SqlType::Real if (x as f32).is_finite() => Ok(Value::Real(x as f32)),
        SqlType::Float if x.is_finite() => Ok(Value::Float(x)),
        _ => Err(overflow("expression", to)),
    }
}

fn to_money(text: &str, to: SqlType) -> SqlResult<Value> {
    let syntax = || {
        let small = to == SqlType::SmallMoney;
        let message = if small { messages::SMALLMONEY_SYNTAX } else { messages::MONEY_SYNTAX };
        SqlError::new(message, &[])
    };
    // Sign and currency in either order, commas anywhere in the whole part.
    let mut negative = false;
    let mut rest = text.trim_matches(blank);
    loop {
        let mut chars = rest.chars();
        match chars.next() {
            Some('-') => negative = !negative,
            Some('+') => {}
            Some(c) if is_currency(c) || blank(c) => {}
            _ => break,
        }
        rest = chars.as_str();
    }
    if let Some(inner) = rest.strip_prefix('(').and_then(|r| r.strip_suffix(')')) {
        (negative, rest) = (true, inner);
    }
    let plain: String = rest.chars().filter(|&c| c != ',').collect();
    if plain.is_empty() {
        return Ok(Value::Money(0));
    }
    if plain.starts_with(['+', '-']) {
        return Err(syntax());
    }
    if plain.bytes().any(|b| !b.is_ascii_digit() && b != b'.') || plain == "." {
        return Err(syntax());
    }
    if plain.bytes().filter(|&b| b == b'.').count() > 1 {
        return Err(syntax());
    }
    let tenths = Decimal::parse(&plain).and_then(|d| d.rescale(4)).map(Decimal::mantissa);
    tenths
        .and_then(|m| fit_money(if negative { -m } else { m }, to))
        .ok_or_else(|| overflow("expression", to))
}

/// The 34 currency signs that a text of money, and a constant of it, may have.
fn is_currency(c: char) -> bool {
    matches!(
        c,
        '$' | '¢' | '£' | '¤' | '¥' | '৲' | '৳' | '฿' | '៛' | '₠'
            ..='₱' | '﷼' | '﹩' | '＄' | '￠' | '￡' | '￥' | '￦'
    )
}

fn to_guid(text: &str) -> SqlResult<Value> {
    let failed = || SqlError::new(messages::GUID_CONVERSION, &[]);
    let bytes = text.trim_start_matches(blank).as_bytes();
    let bytes = match bytes.strip_prefix(b"{") {
        // Braces must match; without them what follows 36 characters is ignored.
        Some(rest) if rest.get(36) == Some(&b'}') => rest,
        Some(_) => return Err(failed()),
        None => bytes,
    };
    let digits = bytes.get(..36).ok_or_else(failed)?;
    // The order of bytes in a stored uniqueidentifier.
    const PLACES: [usize; 16] = [6, 4, 2, 0, 11, 9, 16, 14, 19, 21, 24, 26, 28, 30, 32, 34];
    let mut guid = [0; 16];
    for (byte, &at) in guid.iter_mut().zip(&PLACES) {
        let pair = (hex(digits[at]), hex(digits[at + 1]));
        *byte = match pair {
            (Some(high), Some(low)) => (high << 4) | low,
            _ => return Err(failed()),
        };
    }
    if [8, 13, 18, 23].iter().any(|&at| digits[at] != b'-') {
        return Err(failed());
    }
    Ok(Value::Guid(guid))
}

/// The value of a hexadecimal digit.
pub(super) fn hex(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|d| d as u8)
}

/// The styles in which text is read as one of the newer types of dates and times.
fn reads_style(style: i32) -> bool {
    matches!(style, 0..=14 | 20..=25 | 100..=114 | 120 | 121 | 126 | 127 | 130 | 131)
}

fn to_temporal(
    text: &str,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
) -> SqlResult<Value> {
    let old = matches!(to, SqlType::DateTime | SqlType::SmallDateTime);
    let failed = |failure| match failure {
        ParseFailure::Range if old => {
            SqlError::new(messages::DATETIME_CONVERSION_RANGE, &[&from.name(), &to.name()])
        }
        ParseFailure::Syntax if to == SqlType::SmallDateTime => {
            SqlError::new(messages::SMALLDATETIME_FAILED, &[])
        }
        _ => SqlError::new(messages::DATETIME_CONVERSION_FAILED, &[]),
    };
    if !old && !reads_style(style) {
        let args: [&dyn std::fmt::Display; 3] = [&style, &from.name(), &to.name()];
        return Err(SqlError::new(messages::STYLE_NOT_SUPPORTED, &args));
    }
    let moment = parse(text, to, style, dialect).map_err(failed)?;
    moment.to_value(to).ok_or_else(|| failed(ParseFailure::Range))
}
