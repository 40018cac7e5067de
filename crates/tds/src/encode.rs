//! Values to wire bytes: straight into the output buffer, no allocation.
//!
//! `types::Value` holds strings as the wire wants them (code page 1252, UTF-16LE), so that a
//! string is one copy. A value whose kind is not its type's is our bug; integers, money, floats
//! and strings of the neighbouring kind are still converted, everything else is refused.

use crate::error::{TdsResult, ValueFault};
use crate::typeinfo::{WireCollation, decimal_bytes, fault};
use crate::writer::WireWriter;
use types::{Collation, DateTime2, Decimal, Length, SqlType, Value, text};

/// PLP's length that means NULL.
pub(crate) const PLP_NULL: u64 = u64::MAX;
/// PLP's length that means "see the chunks".
pub(crate) const PLP_UNKNOWN: u64 = u64::MAX - 1;

/// Appends a value of a type, in the form that [`crate::encode_type`] announces. The collation
/// says in which code page characters go that come as UTF-16.
///
/// # Errors
/// `Value` when the value is not one of the type; what was appended is to be cut off.
pub fn encode_value(
    sql: SqlType,
    collation: WireCollation,
    value: &Value,
    out: &mut Vec<u8>,
) -> TdsResult<()> {
    match (sql, value) {
        (_, Value::Null) => encode_null(sql, out),
        (SqlType::Int, &Value::Int(v)) => prefixed(4, &v.to_le_bytes(), out),
        (SqlType::BigInt, &Value::BigInt(v)) => prefixed(8, &v.to_le_bytes(), out),
        (SqlType::VarChar(n), Value::Char(b)) => return sized(n, 1, b, out),
        (SqlType::NVarChar(n), Value::NChar(b)) => return sized(n, 2, b, out),
        (SqlType::Bit, &Value::Bit(v)) => prefixed(1, &[u8::from(v)], out),
        (SqlType::TinyInt, &Value::TinyInt(v)) => prefixed(1, &[v], out),
        (SqlType::SmallInt, &Value::SmallInt(v)) => prefixed(2, &v.to_le_bytes(), out),
        (SqlType::Decimal { precision, scale }, &Value::Decimal(d)) => {
            return decimal(precision, scale, d, out);
        }
        (SqlType::Money, &Value::Money(v)) => money(v, out),
        (SqlType::SmallMoney, &Value::Money(v)) => {
            let v = i32::try_from(v).map_err(|_| fault(ValueFault::Instance("smallmoney")))?;
            prefixed(4, &v.to_le_bytes(), out);
        }
        (SqlType::Real, &Value::Real(v)) => prefixed(4, &v.to_le_bytes(), out),
        (SqlType::Float, &Value::Float(v)) => prefixed(8, &v.to_le_bytes(), out),
        (SqlType::Date, &Value::Date(days)) => {
            out.put_u8(3);
            date(days, out);
        }
        (SqlType::Time(scale), &Value::Time(ticks)) => {
            out.put_u8(time_bytes(scale));
            time(scale, ticks, out);
        }
        (SqlType::DateTime, Value::DateTime(v)) => {
            out.put_u8(8);
            out.put_i32(v.days);
            out.put_u32(v.ticks);
        }
        (SqlType::SmallDateTime, Value::SmallDateTime(v)) => {
            out.put_u8(4);
            out.put_u16(v.days);
            out.put_u16(v.minutes);
        }
        (SqlType::DateTime2(scale), Value::DateTime2(v)) => {
            out.put_u8(time_bytes(scale) + 3);
            datetime2(scale, v, out);
        }
        (SqlType::DateTimeOffset(scale), Value::DateTimeOffset(v)) => {
            out.put_u8(time_bytes(scale) + 5);
            datetime2(scale, &v.utc, out);
            out.extend_from_slice(&v.offset.to_le_bytes());
        }
        (SqlType::Char(n), Value::Char(b)) => return sized(Length::N(n), 1, b, out),
        (SqlType::NChar(n), Value::NChar(b)) => return sized(Length::N(n), 2, b, out),
        (SqlType::Binary(n), Value::Binary(b)) => return sized(Length::N(n), 1, b, out),
        (SqlType::RowVersion, Value::Binary(b)) => return sized(Length::N(8), 1, b, out),
        (SqlType::VarBinary(n), Value::Binary(b)) => return sized(n, 1, b, out),
        (SqlType::UniqueIdentifier, Value::Guid(g)) => prefixed(16, g, out),
        (SqlType::Text, Value::Char(b))
        | (SqlType::NText, Value::NChar(b))
        | (SqlType::Image, Value::Binary(b)) => return behind_pointer(b, out),
        (SqlType::Variant, Value::Variant(v)) => return crate::variant::encode(v, out),
        // UTF-16 without a mark.
        (SqlType::Xml, Value::Xml(x)) => {
            return sized(Length::Max, 2, &text::encode_utf16(&x.text()), out);
        }
        (sql, value) => return encode_converted(sql, collation, value, out),
    }
    Ok(())
}

#[inline]
fn prefixed(length: u8, bytes: &[u8], out: &mut Vec<u8>) {
    debug_assert_eq!(bytes.len(), usize::from(length), "the length is the bytes'");
    out.put_u8(length);
    out.extend_from_slice(bytes);
}

/// NULL in the form that the type has for it.
fn encode_null(sql: SqlType, out: &mut Vec<u8>) {
    match null_bytes(sql) {
        1 => out.put_u8(0),
        2 => out.put_u16(u16::MAX),
        4 => out.put_u32(0),
        _ => out.put_u64(PLP_NULL),
    }
}

/// How many bytes a NULL of a type takes in a ROW.
pub(crate) fn null_bytes(sql: SqlType) -> usize {
    match sql {
        // No pointer.
        sql if sql.is_text_image() => 1,
        sql if sql.is_max() => 8,
        SqlType::Variant => 4,
        SqlType::Char(_)
        | SqlType::VarChar(_)
        | SqlType::NChar(_)
        | SqlType::NVarChar(_)
        | SqlType::Binary(_)
        | SqlType::VarBinary(_)
        | SqlType::RowVersion => 2,
        _ => 1,
    }
}

/// A string or binary of at most `n` characters of `width` bytes.
fn sized(n: Length, width: usize, bytes: &[u8], out: &mut Vec<u8>) -> TdsResult<()> {
    match n {
        Length::N(n) => {
            let limit = usize::from(n) * width;
            let length = u16::try_from(bytes.len()).ok().filter(|_| bytes.len() <= limit);
            out.put_u16(length.ok_or_else(|| fault(ValueFault::Instance("string")))?);
            out.extend_from_slice(bytes);
        }
        Length::Max => {
            let length =
                u32::try_from(bytes.len()).map_err(|_| fault(ValueFault::Instance("string")))?;
            out.put_u64(u64::from(length));
            if length > 0 {
                out.put_u32(length);
                out.extend_from_slice(bytes);
            }
            out.put_u32(0);
        }
    }
    Ok(())
}

/// What stands before and behind the bytes of a long value, where it may be sent in parts: of
/// those that may be as long as two gigabytes and are longer than some packets.
pub(crate) fn long_value<'v>(sql: SqlType, value: &'v Value) -> Option<LongValue<'v>> {
    let bytes = match (sql, value) {
        (SqlType::VarChar(Length::Max) | SqlType::Text, Value::Char(b)) => b,
        (SqlType::NVarChar(Length::Max) | SqlType::NText, Value::NChar(b)) => b,
        (SqlType::VarBinary(Length::Max) | SqlType::Image, Value::Binary(b)) => b,
        _ => return None,
    };
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() > LONG_BYTES)?;
    let mut head = Vec::with_capacity(32);
    if sql.is_text_image() {
        head.put_b_varbyte(&POINTER);
        head.extend_from_slice(&POINTER_TIME);
        head.put_u32(length);
        return Some(LongValue { head, bytes, in_chunks: false });
    }
    head.put_u64(u64::from(length));
    Some(LongValue { head, bytes, in_chunks: true })
}

/// A value that is sent in parts.
pub(crate) struct LongValue<'v> {
    /// What stands before it.
    pub(crate) head: Vec<u8>,
    pub(crate) bytes: &'v [u8],
    /// Each part has its length before it, and an empty one comes last.
    pub(crate) in_chunks: bool,
}

/// A value of more is sent in parts.
const LONG_BYTES: usize = 64 << 10;

/// Where a text or image would lie: nobody follows it, but drivers read it before each value.
const POINTER: [u8; 16] = *b"dummy textptr\0\0\0";
/// And when it would have been written.
const POINTER_TIME: [u8; 8] = *b"dummyTS\0";

/// A text, ntext or image of a row.
fn behind_pointer(bytes: &[u8], out: &mut Vec<u8>) -> TdsResult<()> {
    let length = u32::try_from(bytes.len()).map_err(|_| fault(ValueFault::Instance("text")))?;
    out.put_b_varbyte(&POINTER);
    out.extend_from_slice(&POINTER_TIME);
    out.put_u32(length);
    out.extend_from_slice(bytes);
    Ok(())
}

fn decimal(precision: u8, scale: u8, d: Decimal, out: &mut Vec<u8>) -> TdsResult<()> {
    let d = d.fit(precision, scale).ok_or_else(|| fault(ValueFault::Instance("numeric")))?;
    let mantissa = d.mantissa();
    let length = decimal_bytes(precision);
    out.put_u8(length);
    out.put_u8(u8::from(mantissa >= 0));
    let magnitude = mantissa.unsigned_abs().to_le_bytes();
    out.extend_from_slice(&magnitude[..usize::from(length) - 1]);
    Ok(())
}

/// Money is two integers, the high one first.
fn money(v: i64, out: &mut Vec<u8>) {
    out.put_u8(8);
    let [a, b, c, d, e, f, g, h] = v.to_le_bytes();
    out.extend_from_slice(&[e, f, g, h, a, b, c, d]);
}

fn date(days: i32, out: &mut Vec<u8>) {
    let [a, b, c, _] = days.to_le_bytes();
    out.extend_from_slice(&[a, b, c]);
}

/// The bytes of a time of day.
pub(crate) fn time_bytes(scale: u8) -> u8 {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

/// 100 ns in the last digit of a scale.
pub(crate) fn scale_unit(scale: u8) -> u64 {
    10_u64.pow(u32::from(7_u8.saturating_sub(scale)))
}

fn time(scale: u8, ticks: u64, out: &mut Vec<u8>) {
    let bytes = (ticks / scale_unit(scale)).to_le_bytes();
    out.extend_from_slice(&bytes[..usize::from(time_bytes(scale))]);
}

fn datetime2(scale: u8, v: &DateTime2, out: &mut Vec<u8>) {
    time(scale, v.ticks, out);
    date(v.days, out);
}

/// Values of the neighbouring kind; the cold side of [`encode_value`].
#[cold]
fn encode_converted(
    sql: SqlType,
    collation: WireCollation,
    value: &Value,
    out: &mut Vec<u8>,
) -> TdsResult<()> {
    let wrong = || fault(ValueFault::Instance(sql.name()));
    let converted = match (sql, value) {
        (SqlType::Bit, v) => Value::Bit(v.as_i64().ok_or_else(wrong)? != 0),
        (SqlType::TinyInt, v) => Value::TinyInt(whole(v).ok_or_else(wrong)?),
        (SqlType::SmallInt, v) => Value::SmallInt(whole(v).ok_or_else(wrong)?),
        (SqlType::Int, v) => Value::Int(whole(v).ok_or_else(wrong)?),
        (SqlType::BigInt, v) => Value::BigInt(whole(v).ok_or_else(wrong)?),
        (SqlType::Decimal { .. }, v) => {
            Value::Decimal(Decimal::from_i64(v.as_i64().ok_or_else(wrong)?))
        }
        (SqlType::Float, &Value::Real(v)) => Value::Float(f64::from(v)),
        (SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text, Value::NChar(b)) => {
            Value::Char(Collation::page_of_tds_bytes(collation.0).narrow(b).into())
        }
        (SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::NText, Value::Char(b)) => {
            Value::NChar(text::widen(b).into())
        }
        // Clients of TDS 7.2 see these as text.
        (
            SqlType::NVarChar(_),
            Value::Date(_) | Value::Time(_) | Value::DateTime2(_) | Value::DateTimeOffset(_),
        ) => Value::nvarchar(&value.to_string()),
        _ => return Err(wrong()),
    };
    encode_value(sql, collation, &converted, out)
}

fn whole<T: TryFrom<i64>>(v: &Value) -> Option<T> {
    T::try_from(v.as_i64()?).ok()
}
