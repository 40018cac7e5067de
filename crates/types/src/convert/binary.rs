//! Bytes to and from the rest.
//!
//! Integers and money stand with the highest byte first and keep their last bytes when cut;
//! everything else keeps its first. A decimal is precision, scale, 0, sign, then its magnitude
//! from the lowest byte.

use super::from_text::hex;
use super::sized::{limits, not_allowed, sized};
use crate::decimal::digits_of;
use crate::storage::{decode_storage, encode_storage};
use crate::value::{DateTime, SmallDateTime};
use crate::{ByteBuffer, Bytes, Decimal, Family, Length, SqlType, Value, text};
use base::{SqlError, SqlResult, messages};

pub(super) fn to_binary(value: &Value, from: SqlType, to: SqlType) -> SqlResult<Value> {
    let high_first = match *value {
        Value::Bit(b) => Some(vec![b as u8]),
        Value::TinyInt(n) => Some(vec![n]),
        Value::SmallInt(n) => Some(n.to_be_bytes().to_vec()),
        Value::Int(n) => Some(n.to_be_bytes().to_vec()),
        Value::BigInt(n) => Some(n.to_be_bytes().to_vec()),
        Value::Money(n) if from == SqlType::SmallMoney => Some((n as i32).to_be_bytes().to_vec()),
        Value::Money(n) => Some(n.to_be_bytes().to_vec()),
        Value::Real(x) => Some(x.to_be_bytes().to_vec()),
        Value::Float(x) => Some(x.to_be_bytes().to_vec()),
        Value::DateTime(d) => Some([d.days.to_be_bytes(), d.ticks.to_be_bytes()].concat()),
        Value::SmallDateTime(d) => Some([d.days.to_be_bytes(), d.minutes.to_be_bytes()].concat()),
        _ => None,
    };
    if let Some(bytes) = high_first {
        return Ok(Value::Binary(justified_right(&bytes, to)));
    }
    let bytes = match value {
        Value::Binary(b) => b.clone(),
        Value::Guid(g) => Bytes::new(g),
        Value::Xml(x) => return super::xml::to_binary(x, to),
        Value::Decimal(d) => Bytes::from(decimal_bytes(*d, from)),
        other => {
            let mut bytes = Vec::with_capacity(11);
            if from != SqlType::Date {
                bytes.push(from.scale());
            }
            encode_storage(other, from, &mut bytes);
            Bytes::from(bytes)
        }
    };
    sized(&bytes, to, b"\0").map(Value::Binary)
}

fn justified_right(bytes: &[u8], to: SqlType) -> Bytes {
    let (limit, fixed) = limits(to);
    if bytes.len() >= limit {
        return Bytes::new(&bytes[bytes.len() - limit..]);
    }
    if !fixed {
        return Bytes::new(bytes);
    }
    let mut full = vec![0; limit - bytes.len()];
    full.extend_from_slice(bytes);
    Bytes::from(full)
}

fn decimal_bytes(d: Decimal, from: SqlType) -> Vec<u8> {
    let precision = match from {
        SqlType::Decimal { precision, .. } => precision,
        _ => digits_of(d.mantissa().unsigned_abs()),
    };
    let mut bytes = vec![precision, d.scale(), 0, (d.mantissa() >= 0) as u8];
    let width = crate::storage::decimal_width(precision);
    bytes.extend_from_slice(&d.mantissa().unsigned_abs().to_le_bytes()[..width]);
    bytes
}

pub(super) fn from_binary(value: &Value, from: SqlType, to: SqlType) -> SqlResult<Value> {
    let Value::Binary(bytes) = value else {
        return Err(not_allowed(from, to));
    };
    let failed =
        || SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &[&from.name(), &to.error_name()]);
    Ok(match to {
        SqlType::Bit => Value::Bit(bytes.iter().any(|&b| b != 0)),
        SqlType::TinyInt => Value::TinyInt(last::<1>(bytes)[0]),
        SqlType::SmallInt => Value::SmallInt(i16::from_be_bytes(last(bytes))),
        SqlType::Int => Value::Int(i32::from_be_bytes(last(bytes))),
        SqlType::BigInt => Value::BigInt(i64::from_be_bytes(last(bytes))),
        SqlType::Money => Value::Money(i64::from_be_bytes(last(bytes))),
        SqlType::SmallMoney => Value::Money(i32::from_be_bytes(last(bytes)) as i64),
        SqlType::Decimal { precision, scale } => {
            let d = decimal_of(bytes).ok_or_else(failed)?;
            Value::Decimal(
                d.fit(precision, scale).ok_or_else(|| super::number::overflow("numeric", to))?,
            )
        }
        SqlType::DateTime => {
            let pair: [u8; 8] = last(bytes);
            let days = i32::from_be_bytes([pair[0], pair[1], pair[2], pair[3]]);
            let ticks = u32::from_be_bytes([pair[4], pair[5], pair[6], pair[7]]);
            checked(Value::DateTime(DateTime { days, ticks }), to).ok_or_else(failed)?
        }
        SqlType::SmallDateTime => {
            let pair: [u8; 4] = last(bytes);
            let days = u16::from_be_bytes([pair[0], pair[1]]);
            let minutes = u16::from_be_bytes([pair[2], pair[3]]);
            checked(Value::SmallDateTime(SmallDateTime { days, minutes }), to).ok_or_else(failed)?
        }
        SqlType::Date => decode_storage(bytes, to).map_err(|_| failed())?,
        SqlType::Time(_) | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => {
            scaled(bytes, to).ok_or_else(failed)?
        }
        SqlType::UniqueIdentifier => {
            let mut guid = [0; 16];
            let n = bytes.len().min(16);
            guid[..n].copy_from_slice(&bytes[..n]);
            Value::Guid(guid)
        }
        _ => return Err(not_allowed(from, to)),
    })
}

/// The last `N` bytes, zeros before them.
fn last<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    let n = bytes.len().min(N);
    out[N - n..].copy_from_slice(&bytes[bytes.len() - n..]);
    out
}

/// The value, when its stored form reads back: it is within its type's range.
fn checked(value: Value, to: SqlType) -> Option<Value> {
    let mut bytes = Vec::with_capacity(8);
    encode_storage(&value, to, &mut bytes);
    decode_storage(&bytes, to).ok()
}

/// A scale, then a stored form of that scale.
fn scaled(bytes: &[u8], to: SqlType) -> Option<Value> {
    let (&scale, rest) = bytes.split_first()?;
    if scale > 7 {
        return None;
    }
    let written = match to {
        SqlType::Time(_) => SqlType::Time(scale),
        SqlType::DateTime2(_) => SqlType::DateTime2(scale),
        _ => SqlType::DateTimeOffset(scale),
    };
    let value = decode_storage(rest, written).ok()?;
    super::temporal::between(&value, written, to).ok()
}

fn decimal_of(bytes: &[u8]) -> Option<Decimal> {
    let (head, magnitude) = bytes.split_first_chunk::<4>()?;
    if magnitude.is_empty() || magnitude.len() > 16 || head[1] > head[0] {
        return None;
    }
    let mut wide = [0; 16];
    wide[..magnitude.len()].copy_from_slice(magnitude);
    let n = i128::try_from(u128::from_le_bytes(wide)).ok()?;
    Decimal::new(if head[3] == 0 { -n } else { n }, head[1])
}

/// Style 0: the bytes themselves; 1: hexadecimal after `0x`; 2: hexadecimal.
pub(super) fn text_to_binary(
    raw: &Bytes,
    wide: bool,
    from: SqlType,
    to: SqlType,
    style: i32,
) -> SqlResult<Value> {
    if !matches!(style, 1 | 2) {
        return sized(raw, to, b"\0").map(Value::Binary);
    }
    let failed =
        || SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &[&from.name(), &to.error_name()]);
    let decoded = if wide { text::decoded_utf16(raw)? } else { text::decoded_1252(raw)? };
    let text = decoded.as_str();
    let digits = match style {
        1 => text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).ok_or_else(failed)?,
        _ => text,
    };
    let digits = digits.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return Err(failed());
    }
    let mut bytes = ByteBuffer::with_room(digits.len() / 2)?;
    for pair in digits.chunks_exact(2) {
        match (hex(pair[0]), hex(pair[1])) {
            (Some(high), Some(low)) => bytes.push((high << 4) | low)?,
            _ => return Err(failed()),
        }
    }
    sized(&bytes.into_bytes(), to, b"\0").map(Value::Binary)
}

pub(super) fn to_text(bytes: &Bytes, to: SqlType, style: i32) -> SqlResult<Value> {
    if !matches!(style, 1 | 2) {
        return Ok(if to.family() == Family::NChar {
            if bytes.len().is_multiple_of(2) {
                return sized(bytes, to, b" \0").map(Value::NChar);
            }
            let mut even = ByteBuffer::with_room(bytes.len() + 1)?;
            even.extend(bytes)?;
            even.push(0)?;
            Value::NChar(sized(&even.into_bytes(), to, b" \0")?)
        } else {
            Value::Char(sized(bytes, to, b" ")?)
        });
    }
    let characters = match to {
        SqlType::NChar(n) => n as usize,
        SqlType::NVarChar(Length::N(n)) => n as usize,
        _ => limits(to).0,
    };
    let wide = to.family() == Family::NChar;
    let shown = shown(bytes, style == 1, characters, wide)?;
    Ok(if wide {
        Value::NChar(sized(&shown, to, b" \0")?)
    } else {
        Value::Char(sized(&shown, to, b" ")?)
    })
}

/// Bytes in hexadecimal, so many characters at most; only whole bytes are shown.
fn shown(bytes: &Bytes, mark: bool, characters: usize, wide: bool) -> SqlResult<Bytes> {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let (marks, width) = (if mark { 2 } else { 0 }, if wide { 2 } else { 1 });
    let count = bytes.len().min(characters.saturating_sub(marks) / 2);
    let mut out = ByteBuffer::with_room((marks + count * 2) * width)?;
    let mut two = |a: u8, b: u8| if wide { out.extend(&[a, 0, b, 0]) } else { out.extend(&[a, b]) };
    if mark && characters >= marks {
        two(b'0', b'x')?;
    }
    for byte in &bytes[..count] {
        two(DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)])?;
    }
    Ok(out.into_bytes())
}
