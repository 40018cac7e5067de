//! Sort keys: bytes whose order is the order of the values.
//!
//! Sorting, merging and grouping compare millions of pairs; bytes compare with one call, without
//! looking at types or collations again, and the first eight of them fit a register.
//!
//! ```text
//! NULL                      00
//! whole numbers, money,     80 + n, then the n bytes that count, big-endian; of a negative number
//! dates and times           7F - n, then its n bytes as two's complement
//! decimal                   the exponent, then pairs of digits: 2 * pair + 1, the last 2 * pair;
//!                           of a negative number all of it inverted
//! real, float               01, eight bytes ordered by sign
//! uniqueidentifier          01, sixteen bytes in the order in which they count
//! binary                    01, the bytes without zeros at the end, 00 as 00 FF, then 00 00
//! characters                the levels of the collation, one after the other
//! sql_variant               the family's rank, of characters the collation's, the key of the value
//! ```
//!
//! Invariants, for values of one family under one collation
//!  1. Keys order as `compare` orders their values; equal values have equal keys.
//!  2. No key is the beginning of another one: keys of several columns may follow each other,
//!     and a column in descending order has its bytes inverted.

use crate::whole_key::append_whole;
use crate::{Collation, Decimal, Value};

/// Appends a value's key, at most until `out` has `limit` bytes; false when it was cut there.
pub fn append_sort_key(
    value: &Value,
    collation: Collation,
    limit: usize,
    out: &mut Vec<u8>,
) -> bool {
    match value {
        Value::Null => out.push(0),
        Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_) => append_whole(value.as_i64().unwrap_or(0), out),
        Value::Decimal(d) => append_decimal(*d, out),
        Value::Money(n) => append_whole(*n, out),
        Value::Real(x) => append_float(*x as f64, out),
        Value::Float(x) => append_float(*x, out),
        Value::Date(days) => append_whole(*days as i64, out),
        Value::Time(ticks) => append_whole(*ticks as i64, out),
        Value::DateTime(d) => append_whole(((d.days as i64) << 32) | d.ticks as i64, out),
        Value::SmallDateTime(d) => append_whole(((d.days as i64) << 16) | d.minutes as i64, out),
        Value::DateTime2(d) => append_moment(d.days, d.ticks, out),
        Value::DateTimeOffset(d) => append_moment(d.utc.days, d.utc.ticks, out),
        Value::Char(b) => collation.append_key_char(b, limit, out),
        Value::NChar(b) => collation.append_key_nchar(b, limit, out),
        Value::Binary(b) => append_binary(b, limit, out),
        Value::Guid(g) => {
            out.push(1);
            out.extend_from_slice(&crate::storage::guid_in_order(g));
        }
        Value::Variant(v) => v.append_key(limit, out),
        Value::Xml(x) => append_binary(x.text().as_bytes(), limit, out),
    }
    let whole = out.len() <= limit;
    out.truncate(limit);
    whole
}

/// Days and units of 100 ns within the day: fewer than 2^40.
fn append_moment(days: i32, ticks: u64, out: &mut Vec<u8>) {
    append_whole(((days as i64) << 40) | ticks as i64, out);
}

fn append_float(x: f64, out: &mut Vec<u8>) {
    let number = if x.is_nan() { f64::NAN.abs() } else { x + 0.0 };
    let bits = number.to_bits();
    let ordered = if bits >> 63 == 1 { !bits } else { bits | (1 << 63) };
    out.push(1);
    out.extend_from_slice(&ordered.to_be_bytes());
}

/// As 0.DDDD times a power of ten, without zeros at the end of the fraction.
fn append_decimal(d: Decimal, out: &mut Vec<u8>) {
    let d = d.normalized();
    let mantissa = d.mantissa();
    if mantissa == 0 {
        out.push(0x80);
        return;
    }
    let digits = d.digits();
    let from = out.len();
    // 1 to 76: from 38 digits after the point to 38 before it.
    out.push(0x81 + (38 + digits - d.scale()));
    let magnitude = mantissa.unsigned_abs();
    let even = if digits.is_multiple_of(2) { magnitude } else { magnitude * 10 };
    append_pairs(even, digits.div_ceil(2) as usize, out);
    if mantissa < 0 {
        out[from..].iter_mut().for_each(|b| *b = !*b);
    }
}

fn append_pairs(digits: u128, pairs: usize, out: &mut Vec<u8>) {
    let from = out.len();
    out.resize(from + pairs, 0);
    let mut rest = digits;
    for (i, place) in out[from..].iter_mut().rev().enumerate() {
        let (left, pair) = match u64::try_from(rest) {
            Ok(small) => (u128::from(small / 100), (small % 100) as u8),
            Err(_) => (rest / 100, (rest % 100) as u8),
        };
        *place = 2 * pair + u8::from(i > 0);
        rest = left;
    }
    debug_assert_eq!(rest, 0, "as many pairs as there are digits");
}

fn append_binary(bytes: &[u8], limit: usize, out: &mut Vec<u8>) {
    out.push(1);
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |i| i + 1);
    for &b in &bytes[..end] {
        if out.len() > limit {
            return;
        }
        out.push(b);
        if b == 0 {
            out.push(0xFF);
        }
    }
    out.extend_from_slice(&[0, 0]);
}
