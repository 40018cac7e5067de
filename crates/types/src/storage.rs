//! The bytes of values in rows and index keys: SQL Server's on-row forms.
//!
//! ```text
//! bit                1   0 or 1 (a row packs eight of them; here each has its byte)
//! tinyint..bigint    1 2 4 8   little-endian
//! decimal            sign (1: not negative), magnitude of 4 8 12 16 for precision <= 9 19 28 38
//! money, smallmoney  8 4   ten-thousandths
//! real, float        4 8   IEEE
//! date               3     days from 0001-01-01
//! time(s)            3 4 5 units of 10^-s s for s <= 2 4 7
//! datetime           ticks of 1/300 s (4), days from 1900 (4)
//! smalldatetime      minutes (2), days from 1900 (2)
//! datetime2(s)       time(s), date
//! datetimeoffset(s)  datetime2(s) in UTC, offset in minutes (2)
//! char, nchar        padded with blanks; binary padded with zeros
//! uniqueidentifier   16 in SQL Server's byte order
//! rowversion         8     highest byte first
//! sql_variant        its type, then the stored form of that: see variant.rs
//! xml                0, then its text in UTF-8 (xml::Xml says more)
//! ```
//!
//! Decoding never panics: bytes may come from a damaged page.

use crate::decimal::pow10;
use crate::value::{DateTime, DateTime2, DateTimeOffset, SmallDateTime};
use crate::{Bytes, Collation, Decimal, SqlType, TextOrder, Value, Variant};
use base::{SqlError, messages};
use std::cmp::Ordering;
use std::fmt;

/// Units of 100 ns in a day.
const DAY_TICKS: u64 = 864_000_000_000;
/// Days from 0001-01-01 to 9999-12-31, and one.
const DAYS_END: i32 = 3_652_059;

/// Stored bytes that are no value of their type: the page is damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CorruptValue {
    /// The type they were read as.
    pub sql_type: SqlType,
    /// How many bytes there were.
    pub length: usize,
}

impl fmt::Display for CorruptValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} stored bytes are no value of type {}", self.length, self.sql_type)
    }
}

impl std::error::Error for CorruptValue {}

impl From<CorruptValue> for SqlError {
    fn from(e: CorruptValue) -> SqlError {
        SqlError::new(messages::INTERNAL, &[&e])
    }
}

/// Bytes of a fixed-width type; `None` for variable ones. A bit answers 1.
#[inline]
pub const fn fixed_width(sql_type: SqlType) -> Option<u16> {
    Some(match sql_type {
        SqlType::Bit | SqlType::TinyInt => 1,
        SqlType::SmallInt => 2,
        SqlType::Int | SqlType::SmallMoney | SqlType::Real | SqlType::SmallDateTime => 4,
        SqlType::BigInt
        | SqlType::Money
        | SqlType::Float
        | SqlType::DateTime
        | SqlType::RowVersion => 8,
        SqlType::Decimal { precision, .. } => 1 + decimal_width(precision) as u16,
        SqlType::Date => 3,
        SqlType::Time(s) => time_width(s) as u16,
        SqlType::DateTime2(s) => time_width(s) as u16 + 3,
        SqlType::DateTimeOffset(s) => time_width(s) as u16 + 5,
        SqlType::Char(n) | SqlType::Binary(n) => n,
        SqlType::NChar(n) => n.saturating_mul(2),
        SqlType::UniqueIdentifier => 16,
        SqlType::VarChar(_)
        | SqlType::NVarChar(_)
        | SqlType::VarBinary(_)
        | SqlType::Text
        | SqlType::NText
        | SqlType::Image
        | SqlType::Variant
        | SqlType::Xml => return None,
    })
}

/// Bytes of a decimal's magnitude.
pub(crate) const fn decimal_width(precision: u8) -> usize {
    match precision {
        0..=9 => 4,
        10..=19 => 8,
        20..=28 => 12,
        _ => 16,
    }
}

/// Bytes of a time of day.
pub(crate) const fn time_width(scale: u8) -> usize {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

const fn time_unit(scale: u8) -> u64 {
    10_u64.pow(7_u32.saturating_sub(scale as u32))
}

/// Appends the stored form of a value that is not NULL and has been converted to the type.
///
/// # Panics
/// When the value is of another kind than the type: the caller has not converted it.
pub fn encode_storage(value: &Value, sql_type: SqlType, out: &mut Vec<u8>) {
    match (value, sql_type) {
        (Value::Bit(b), SqlType::Bit) => out.push(*b as u8),
        (Value::TinyInt(n), SqlType::TinyInt) => out.push(*n),
        (Value::SmallInt(n), SqlType::SmallInt) => out.extend_from_slice(&n.to_le_bytes()),
        (Value::Int(n), SqlType::Int) => out.extend_from_slice(&n.to_le_bytes()),
        (Value::BigInt(n), SqlType::BigInt) => out.extend_from_slice(&n.to_le_bytes()),
        (Value::Decimal(d), SqlType::Decimal { precision, scale }) => {
            encode_decimal(*d, precision, scale, out);
        }
        (Value::Money(n), SqlType::Money) => out.extend_from_slice(&n.to_le_bytes()),
        (Value::Money(n), SqlType::SmallMoney) => {
            out.extend_from_slice(&(*n as i32).to_le_bytes());
        }
        (Value::Real(x), SqlType::Real) => out.extend_from_slice(&x.to_le_bytes()),
        (Value::Float(x), SqlType::Float) => out.extend_from_slice(&x.to_le_bytes()),
        (Value::Date(days), SqlType::Date) => encode_date(*days, out),
        (Value::Time(ticks), SqlType::Time(s)) => encode_time(*ticks, s, out),
        (Value::DateTime(d), SqlType::DateTime) => {
            out.extend_from_slice(&d.ticks.to_le_bytes());
            out.extend_from_slice(&d.days.to_le_bytes());
        }
        (Value::SmallDateTime(d), SqlType::SmallDateTime) => {
            out.extend_from_slice(&d.minutes.to_le_bytes());
            out.extend_from_slice(&d.days.to_le_bytes());
        }
        (Value::DateTime2(d), SqlType::DateTime2(s)) => {
            encode_time(d.ticks, s, out);
            encode_date(d.days, out);
        }
        (Value::DateTimeOffset(d), SqlType::DateTimeOffset(s)) => {
            encode_time(d.utc.ticks, s, out);
            encode_date(d.utc.days, out);
            out.extend_from_slice(&d.offset.to_le_bytes());
        }
        (Value::Char(b), SqlType::Char(n)) => padded(b, n as usize, b" ", out),
        (Value::NChar(b), SqlType::NChar(n)) => padded(b, n as usize * 2, b" \0", out),
        (Value::Binary(b), SqlType::Binary(n)) => padded(b, n as usize, b"\0", out),
        (Value::Binary(b), SqlType::RowVersion) => padded(b, 8, b"\0", out),
        (Value::Char(b), SqlType::VarChar(_) | SqlType::Text)
        | (Value::NChar(b), SqlType::NVarChar(_) | SqlType::NText)
        | (Value::Binary(b), SqlType::VarBinary(_) | SqlType::Image) => out.extend_from_slice(b),
        (Value::Guid(g), SqlType::UniqueIdentifier) => out.extend_from_slice(g),
        (Value::Variant(v), SqlType::Variant) => v.encode(out),
        (Value::Xml(x), SqlType::Xml) => x.encode(out),
        (value, sql_type) => panic!("a {sql_type} cannot store {value:?}"),
    }
}

fn encode_decimal(d: Decimal, precision: u8, scale: u8, out: &mut Vec<u8>) {
    let d = d.fit(precision, scale).expect("the value was converted to its column's type");
    out.push((d.mantissa() >= 0) as u8);
    let magnitude = d.mantissa().unsigned_abs().to_le_bytes();
    out.extend_from_slice(&magnitude[..decimal_width(precision)]);
}

fn encode_date(days: i32, out: &mut Vec<u8>) {
    debug_assert!((0..DAYS_END).contains(&days));
    out.extend_from_slice(&days.to_le_bytes()[..3]);
}

fn encode_time(ticks: u64, scale: u8, out: &mut Vec<u8>) {
    debug_assert!(ticks < DAY_TICKS);
    let units = ticks / time_unit(scale);
    out.extend_from_slice(&units.to_le_bytes()[..time_width(scale)]);
}

fn padded(bytes: &[u8], width: usize, pad: &[u8], out: &mut Vec<u8>) {
    debug_assert!(bytes.len() <= width, "the value was converted to its column's type");
    let end = out.len() + width;
    out.extend_from_slice(&bytes[..bytes.len().min(width)]);
    out.extend(pad.iter().cycle().take(end - out.len()));
}

/// Reads the stored form of a value.
///
/// # Errors
/// The bytes are no value of the type.
#[inline]
pub fn decode_storage(bytes: &[u8], sql_type: SqlType) -> Result<Value, CorruptValue> {
    let corrupt = CorruptValue { sql_type, length: bytes.len() };
    if let Some(width) = fixed_width(sql_type)
        && bytes.len() != width as usize
    {
        return Err(corrupt);
    }
    decode_sized(bytes, sql_type).ok_or(corrupt)
}

/// `bytes` has the width of the type, where that is fixed.
#[inline]
fn decode_sized(bytes: &[u8], sql_type: SqlType) -> Option<Value> {
    Some(match sql_type {
        SqlType::Bit => match bytes[0] {
            0 => Value::Bit(false),
            1 => Value::Bit(true),
            _ => return None,
        },
        SqlType::TinyInt => Value::TinyInt(bytes[0]),
        SqlType::SmallInt => Value::SmallInt(i16::from_le_bytes(array(bytes)?)),
        SqlType::Int => Value::Int(i32::from_le_bytes(array(bytes)?)),
        SqlType::BigInt => Value::BigInt(i64::from_le_bytes(array(bytes)?)),
        SqlType::Decimal { precision: precision @ ..=18, scale } => {
            let magnitude = short_unsigned(&bytes[1..]);
            if i128::from(magnitude) >= pow10(precision) {
                return None;
            }
            let n = magnitude as i64;
            Value::Decimal(Decimal::from_parts(if bytes[0] == 0 { -n } else { n }, scale))
        }
        SqlType::Decimal { precision, scale } => {
            let magnitude = i128::try_from(unsigned(&bytes[1..])).ok()?;
            let signed = if bytes[0] == 0 { -magnitude } else { magnitude };
            Value::Decimal(Decimal::new(signed, scale)?.fit(precision, scale)?)
        }
        SqlType::Money => Value::Money(i64::from_le_bytes(array(bytes)?)),
        SqlType::SmallMoney => Value::Money(i32::from_le_bytes(array(bytes)?) as i64),
        SqlType::Real => Value::Real(f32::from_le_bytes(array(bytes)?)),
        SqlType::Float => Value::Float(f64::from_le_bytes(array(bytes)?)),
        SqlType::Date => Value::Date(decode_date(bytes)?),
        SqlType::Time(s) => Value::Time(decode_time(bytes, s)?),
        SqlType::DateTime => {
            let ticks = u32::from_le_bytes(array(&bytes[..4])?);
            let days = i32::from_le_bytes(array(&bytes[4..])?);
            let sane = ticks < 25_920_000 && (-53_690..=2_958_463).contains(&days);
            Value::DateTime(sane.then_some(DateTime { days, ticks })?)
        }
        SqlType::SmallDateTime => {
            let minutes = u16::from_le_bytes(array(&bytes[..2])?);
            let days = u16::from_le_bytes(array(&bytes[2..])?);
            let sane = minutes < 1440;
            Value::SmallDateTime(sane.then_some(SmallDateTime { days, minutes })?)
        }
        SqlType::DateTime2(s) => Value::DateTime2(decode_datetime2(bytes, s)?),
        SqlType::DateTimeOffset(s) => {
            let (moment, offset) = bytes.split_at(bytes.len() - 2);
            let offset = i16::from_le_bytes(array(offset)?);
            let utc = decode_datetime2(moment, s)?;
            let sane = (-840..=840).contains(&offset);
            Value::DateTimeOffset(sane.then_some(DateTimeOffset { utc, offset })?)
        }
        SqlType::RowVersion => Value::Binary(Bytes::new(bytes)),
        SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text => Value::Char(Bytes::new(bytes)),
        SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::NText => {
            if !bytes.len().is_multiple_of(2) {
                return None;
            }
            Value::NChar(Bytes::new(bytes))
        }
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Image => {
            Value::Binary(Bytes::new(bytes))
        }
        SqlType::UniqueIdentifier => Value::Guid(array(bytes)?),
        SqlType::Variant => Value::Variant(Variant::decode(bytes)?.into()),
        SqlType::Xml => Value::Xml(xml::Xml::decode(bytes).ok()?),
    })
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

#[inline]
fn unsigned(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |n, &b| (n << 8) | b as u128)
}

/// The same of at most eight bytes.
#[inline]
fn short_unsigned(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    match bytes {
        [a, b, c, d] => return u64::from(u32::from_le_bytes([*a, *b, *c, *d])),
        [a, b, c] => return u64::from(u32::from_le_bytes([*a, *b, *c, 0])),
        _ => wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]),
    }
    u64::from_le_bytes(wide)
}

#[inline]
fn decode_date(bytes: &[u8]) -> Option<i32> {
    let days = short_unsigned(bytes) as i32;
    (days < DAYS_END).then_some(days)
}

fn decode_time(bytes: &[u8], scale: u8) -> Option<u64> {
    let ticks = (unsigned(bytes) as u64).checked_mul(time_unit(scale))?;
    (ticks < DAY_TICKS).then_some(ticks)
}

fn decode_datetime2(bytes: &[u8], scale: u8) -> Option<DateTime2> {
    let (time, date) = bytes.split_at(bytes.len() - 3);
    Some(DateTime2 { days: decode_date(date)?, ticks: decode_time(time, scale)? })
}

/// The stored form of a short whole number, a date or a decimal of at most 18 digits as a number
/// that orders as the values of the type do; `None` for other types and for bytes of another width.
#[inline]
pub fn stored_number(bytes: &[u8], sql_type: SqlType) -> Option<i64> {
    Some(match sql_type {
        SqlType::Int => i32::from_le_bytes(array(bytes)?).into(),
        SqlType::Date => match bytes {
            [a, b, c] => u32::from_le_bytes([*a, *b, *c, 0]).into(),
            _ => return None,
        },
        SqlType::Decimal { precision: ..=18, .. } => {
            let (sign, magnitude) = bytes.split_first()?;
            let n = short_unsigned(magnitude) as i64;
            if *sign == 0 { -n } else { n }
        }
        SqlType::BigInt | SqlType::Money => i64::from_le_bytes(array(bytes)?),
        SqlType::SmallInt => i16::from_le_bytes(array(bytes)?).into(),
        SqlType::TinyInt | SqlType::Bit => u8::from_le_bytes(array(bytes)?).into(),
        SqlType::SmallMoney => i32::from_le_bytes(array(bytes)?).into(),
        _ => return None,
    })
}

/// A value as [`stored_number`] has those of a column's type; `None` where the column cannot hold
/// it, or not as such a number.
pub fn number_of(value: &Value, sql_type: SqlType) -> Option<i64> {
    match (value, sql_type) {
        (Value::Date(days), SqlType::Date) => Some((*days).into()),
        (Value::Money(n), SqlType::Money | SqlType::SmallMoney) => Some(*n),
        (Value::Decimal(d), SqlType::Decimal { precision: ..=18, scale }) => {
            let d = d.normalized();
            if d.scale() > scale {
                return None;
            }
            d.rescale(scale)?.short()
        }
        (
            value,
            SqlType::Int | SqlType::BigInt | SqlType::SmallInt | SqlType::TinyInt | SqlType::Bit,
        ) => value.as_i64(),
        _ => None,
    }
}

/// How two stored forms compare.
#[derive(Clone, Copy, Debug)]
pub struct StorageOrder {
    /// Given two forms, and `rule`.
    pub function: TextOrder,
    /// The number of the collation.
    pub rule: u16,
}

impl StorageOrder {
    /// How two stored forms compare.
    #[inline]
    pub fn of(&self, a: &[u8], b: &[u8]) -> Ordering {
        (self.function)(a, b, self.rule)
    }
}

/// What orders stored forms of a type. It answers some order, and does not panic, for bytes that
/// are no values.
pub fn compare_storage(sql_type: SqlType, collation: Collation) -> StorageOrder {
    let function: TextOrder = match sql_type {
        SqlType::Bit | SqlType::TinyInt => |a, b, _| compare_unsigned(a, b),
        SqlType::SmallInt => |a, b, _| compare_signed::<2>(a, b),
        SqlType::Int | SqlType::SmallMoney => |a, b, _| compare_signed::<4>(a, b),
        SqlType::BigInt | SqlType::Money => |a, b, _| compare_signed::<8>(a, b),
        SqlType::Decimal { .. } => |a, b, _| compare_decimals(a, b),
        SqlType::Real => |a, b, _| compare_reals(a, b),
        SqlType::Float => |a, b, _| compare_floats(a, b),
        SqlType::Date | SqlType::Time(_) | SqlType::DateTime2(_) => {
            |a, b, _| compare_unsigned(a, b)
        }
        // Ticks are never negative, so the pair orders as one signed number.
        SqlType::DateTime => |a, b, _| compare_signed::<8>(a, b),
        SqlType::SmallDateTime => |a, b, _| compare_unsigned(a, b),
        SqlType::DateTimeOffset(_) => |a, b, _| compare_offsets(a, b),
        SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text => collation.char_order(),
        SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::NText => collation.nchar_order(),
        SqlType::Binary(_)
        | SqlType::VarBinary(_)
        | SqlType::RowVersion
        | SqlType::Image
        | SqlType::Xml => |a, b, _| compare_binary(a, b),
        SqlType::UniqueIdentifier => |a, b, _| compare_guids(a, b),
        SqlType::Variant => |a, b, _| compare_variants(a, b),
    };
    StorageOrder { function, rule: collation.id() }
}

/// A weight for each byte of stored forms: of two whose first different bytes have different
/// weights, [`compare_storage`] puts the one with the lesser weight first.
pub fn storage_weights(sql_type: SqlType, collation: Collation) -> Option<&'static [u8; 256]> {
    match sql_type {
        SqlType::Char(_) | SqlType::VarChar(_) => collation.first_weights(),
        _ => None,
    }
}

#[inline]
fn compare_signed<const N: usize>(a: &[u8], b: &[u8]) -> Ordering {
    let number = |x: &[u8]| match x.first_chunk::<N>() {
        Some(chunk) => {
            let mut wide = [if chunk[N - 1] & 0x80 == 0 { 0 } else { 0xFF }; 8];
            wide[..N].copy_from_slice(chunk);
            i64::from_le_bytes(wide)
        }
        None => 0,
    };
    number(a).cmp(&number(b))
}

fn compare_unsigned(a: &[u8], b: &[u8]) -> Ordering {
    if a.len() == b.len() && a.len() <= 8 {
        return short_unsigned(a).cmp(&short_unsigned(b));
    }
    a.iter().rev().cmp(b.iter().rev())
}

fn compare_decimals(a: &[u8], b: &[u8]) -> Ordering {
    let parts = |x: &[u8]| match x.split_first() {
        Some((sign, magnitude)) => (*sign != 0, unsigned(&magnitude[..magnitude.len().min(16)])),
        None => (true, 0),
    };
    match (parts(a), parts(b)) {
        ((_, 0), (_, 0)) => Ordering::Equal,
        ((true, x), (true, y)) => x.cmp(&y),
        ((false, x), (false, y)) => y.cmp(&x),
        ((false, _), (true, _)) => Ordering::Less,
        ((true, _), (false, _)) => Ordering::Greater,
    }
}

fn compare_floats(a: &[u8], b: &[u8]) -> Ordering {
    let number = |x| array(x).map_or(0.0, f64::from_le_bytes);
    float_order(number(a), number(b))
}

fn compare_reals(a: &[u8], b: &[u8]) -> Ordering {
    let number = |x| array(x).map_or(0.0, f32::from_le_bytes) as f64;
    float_order(number(a), number(b))
}

fn compare_variants(a: &[u8], b: &[u8]) -> Ordering {
    match (Variant::decode(a), Variant::decode(b)) {
        (Some(x), Some(y)) => x.compare(&y),
        (x, y) => x.is_some().cmp(&y.is_some()).then_with(|| a.cmp(b)),
    }
}

/// The order of floats: zeros are equal, and what is not a number (no SQL value) comes last.
pub(crate) fn float_order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn compare_offsets(a: &[u8], b: &[u8]) -> Ordering {
    let moment = |x: &'_ [u8]| x.len().saturating_sub(2);
    compare_unsigned(&a[..moment(a)], &b[..moment(b)])
}

/// Byte order; the shorter one counts as padded with zeros.
pub(crate) fn compare_binary(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    a[..common].cmp(&b[..common]).then_with(|| {
        let rest = |x: &[u8]| x[common..].iter().any(|&b| b != 0);
        rest(a).cmp(&rest(b))
    })
}

/// SQL Server looks at the last six bytes first.
pub(crate) fn compare_guids(a: &[u8], b: &[u8]) -> Ordering {
    guid_in_order(a).cmp(&guid_in_order(b))
}

/// The bytes of a uniqueidentifier, those that count most first.
pub(crate) fn guid_in_order(bytes: &[u8]) -> [u8; 16] {
    const ORDER: [usize; 16] = [10, 11, 12, 13, 14, 15, 8, 9, 6, 7, 4, 5, 0, 1, 2, 3];
    ORDER.map(|i| bytes.get(i).copied().unwrap_or(0))
}

/// Bytes that a value takes in a row: DATALENGTH.
pub fn storage_bytes(value: &Value, sql_type: SqlType) -> usize {
    match (value, fixed_width(sql_type)) {
        (Value::Null, _) => 0,
        (_, Some(width)) => width as usize,
        (Value::Variant(v), _) => storage_bytes(v.value(), v.sql_type()),
        (Value::Xml(x), None) => 1 + x.text().len(),
        (value, None) => value.as_bytes().map_or(0, <[u8]>::len),
    }
}
