//! Order, equality and hash of values of one type family.
//!
//! NULL comes first and equals NULL: the order of sorting and grouping. Three-valued logic of
//! predicates is its callers'.
//!
//! Invariant 1: values that `compare` calls equal have the same hash.

use crate::storage::{compare_binary, compare_guids, float_order};
use crate::{Collation, Value};
use std::cmp::Ordering;
use std::hash::Hasher;

/// How two values of one family order; NULL first.
///
/// # Panics
/// When the values are of different families: the caller has not converted them.
#[inline]
pub fn compare(a: &Value, b: &Value, collation: Collation) -> Ordering {
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => x.cmp(y),
        (Value::BigInt(x), Value::BigInt(y)) => x.cmp(y),
        (Value::Char(x), Value::Char(y)) => collation.compare_char(x, y),
        (Value::NChar(x), Value::NChar(y)) => collation.compare_nchar(x, y),
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Less,
        (_, Value::Null) => Ordering::Greater,
        (Value::Decimal(x), Value::Decimal(y)) => x.cmp(y),
        (Value::Money(x), Value::Money(y)) => x.cmp(y),
        (Value::Real(x), Value::Real(y)) => float_order(*x as f64, *y as f64),
        (Value::Float(x), Value::Float(y)) => float_order(*x, *y),
        (Value::Real(x), Value::Float(y)) => float_order(*x as f64, *y),
        (Value::Float(x), Value::Real(y)) => float_order(*x, *y as f64),
        (Value::Date(x), Value::Date(y)) => x.cmp(y),
        (Value::Time(x), Value::Time(y)) => x.cmp(y),
        (Value::DateTime(x), Value::DateTime(y)) => x.cmp(y),
        (Value::SmallDateTime(x), Value::SmallDateTime(y)) => x.cmp(y),
        (Value::DateTime2(x), Value::DateTime2(y)) => x.cmp(y),
        (Value::DateTimeOffset(x), Value::DateTimeOffset(y)) => x.utc.cmp(&y.utc),
        (Value::Binary(x), Value::Binary(y)) => compare_binary(x, y),
        (Value::Guid(x), Value::Guid(y)) => compare_guids(x, y),
        (Value::Variant(x), Value::Variant(y)) => x.compare(y),
        // No statement compares them; rows that a query keeps for itself may.
        (Value::Xml(x), Value::Xml(y)) => (x.text(), x.node()).cmp(&(y.text(), y.node())),
        (a, b) => match (a.as_i64(), b.as_i64()) {
            (Some(x), Some(y)) => x.cmp(&y),
            _ => panic!("{a:?} and {b:?} were not converted to one type"),
        },
    }
}

/// Feeds a hasher so that equal values of one family hash alike.
#[inline]
pub fn hash(value: &Value, collation: Collation, state: &mut impl Hasher) {
    match value {
        Value::Null => state.write_u8(0),
        Value::Bit(_)
        | Value::TinyInt(_)
        | Value::SmallInt(_)
        | Value::Int(_)
        | Value::BigInt(_) => state.write_i64(value.as_i64().unwrap_or(0)),
        Value::Decimal(d) => {
            let d = d.normalized();
            state.write_i128(d.mantissa());
            state.write_u8(d.scale());
        }
        Value::Money(n) => state.write_i64(*n),
        Value::Real(x) => hash_float(*x as f64, state),
        Value::Float(x) => hash_float(*x, state),
        Value::Date(days) => state.write_i32(*days),
        Value::Time(ticks) => state.write_u64(*ticks),
        Value::DateTime(d) => state.write_u64(((d.days as u32 as u64) << 32) | d.ticks as u64),
        Value::SmallDateTime(d) => state.write_u32(((d.days as u32) << 16) | d.minutes as u32),
        Value::DateTime2(d) => hash_moment(d.days, d.ticks, state),
        Value::DateTimeOffset(d) => hash_moment(d.utc.days, d.utc.ticks, state),
        Value::Char(b) => collation.hash_char(b, state),
        Value::NChar(b) => collation.hash_nchar(b, state),
        Value::Binary(b) => {
            let end = b.iter().rposition(|&x| x != 0).map_or(0, |i| i + 1);
            state.write(&b[..end]);
        }
        Value::Guid(g) => state.write(g),
        Value::Variant(v) => v.hash(state),
        Value::Xml(x) => state.write(x.text().as_bytes()),
    }
}

fn hash_float(x: f64, state: &mut impl Hasher) {
    // Both zeros are equal.
    state.write_u64(if x == 0.0 { 0 } else { x.to_bits() });
}

fn hash_moment(days: i32, ticks: u64, state: &mut impl Hasher) {
    state.write_i32(days);
    state.write_u64(ticks);
}
