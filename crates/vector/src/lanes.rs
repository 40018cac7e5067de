//! `Lanes`: values of one type side by side, none of them NULL.
//!
//! ```text
//! bit, tinyint..bigint          i64    the number
//! decimal of at most 18 digits  i64    the number without its point
//! money, smallmoney             i64    ten-thousandths
//! date                          i64    days from 0001-01-01
//! time                          i64    100 ns from midnight
//! datetime                      i64    days from 1900 · 2^32 + ticks of 1/300 s
//! smalldatetime                 i64    days from 1900 · 2^16 + minutes
//! datetime2                     i64    100 ns from 0001-01-01
//! longer decimal                i128   the number without its point
//! real, float                   f64
//! all others                    bytes  the stored form that rows have
//! ```
//!
//! Invariants
//!  1. Lanes that are numbers order as the values do.
//!  2. Stored bytes become a lane only if they are a value of the type; so each lane is one.

use crate::texts::Texts;
use types::{
    CorruptValue, DateTime, DateTime2, Decimal, SmallDateTime, SqlType, Value, decode_storage,
    encode_storage, fixed_width, stored_number,
};

/// Units of 100 ns in a day.
const DAY_TICKS: i64 = 864_000_000_000;

/// Values of one type.
#[derive(Clone, Debug)]
pub(crate) enum Lanes {
    Whole(Vec<i64>),
    Wide(Vec<i128>),
    Float(Vec<f64>),
    Bytes(Texts),
}

impl Lanes {
    /// No lane yet.
    pub(crate) fn new(sql_type: SqlType) -> Lanes {
        match sql_type {
            SqlType::Bit
            | SqlType::TinyInt
            | SqlType::SmallInt
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::Decimal { precision: ..=18, .. }
            | SqlType::Money
            | SqlType::SmallMoney
            | SqlType::Date
            | SqlType::Time(_)
            | SqlType::DateTime
            | SqlType::SmallDateTime
            | SqlType::DateTime2(_) => Lanes::Whole(Vec::new()),
            SqlType::Decimal { .. } => Lanes::Wide(Vec::new()),
            SqlType::Real | SqlType::Float => Lanes::Float(Vec::new()),
            _ => Lanes::Bytes(Texts::default()),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Lanes::Whole(lanes) => lanes.len(),
            Lanes::Wide(lanes) => lanes.len(),
            Lanes::Float(lanes) => lanes.len(),
            Lanes::Bytes(texts) => texts.len(),
        }
    }

    /// Bytes that it has allocated.
    pub(crate) fn heap_bytes(&self) -> usize {
        match self {
            Lanes::Whole(lanes) => lanes.capacity() * size_of::<i64>(),
            Lanes::Wide(lanes) => lanes.capacity() * size_of::<i128>(),
            Lanes::Float(lanes) => lanes.capacity() * size_of::<f64>(),
            Lanes::Bytes(texts) => texts.heap_bytes(),
        }
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Lanes::Whole(lanes) => lanes.clear(),
            Lanes::Wide(lanes) => lanes.clear(),
            Lanes::Float(lanes) => lanes.clear(),
            Lanes::Bytes(texts) => texts.clear(),
        }
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        match self {
            Lanes::Whole(lanes) => lanes.truncate(len),
            Lanes::Wide(lanes) => lanes.truncate(len),
            Lanes::Float(lanes) => lanes.truncate(len),
            Lanes::Bytes(texts) => texts.truncate(len),
        }
    }

    /// A lane that nobody reads: the place of a NULL.
    pub(crate) fn push_nothing(&mut self) {
        match self {
            Lanes::Whole(lanes) => lanes.push(0),
            Lanes::Wide(lanes) => lanes.push(0),
            Lanes::Float(lanes) => lanes.push(0.0),
            Lanes::Bytes(texts) => texts.push(&[]),
        }
    }

    /// The lane of a value that is not NULL and has been converted to the type.
    ///
    /// # Panics
    /// When the value is of another kind than the type: the caller has not converted it.
    pub(crate) fn push(&mut self, value: &Value, sql_type: SqlType) {
        let converted = match self {
            Lanes::Whole(lanes) => whole_of(value, sql_type).map(|lane| lanes.push(lane)),
            Lanes::Wide(lanes) => wide_of(value, sql_type).map(|lane| lanes.push(lane)),
            Lanes::Float(lanes) => float_of(value).map(|lane| lanes.push(lane)),
            Lanes::Bytes(texts) => {
                push_text(texts, value, sql_type);
                Some(())
            }
        };
        assert!(converted.is_some(), "a {sql_type} cannot be {value:?}");
    }

    /// The lane of a value's stored form.
    ///
    /// # Errors
    /// The bytes are no value of the type.
    #[inline]
    pub(crate) fn push_stored(
        &mut self,
        bytes: &[u8],
        sql_type: SqlType,
    ) -> Result<(), CorruptValue> {
        let corrupt = CorruptValue { sql_type, length: bytes.len() };
        match self {
            Lanes::Whole(lanes) => lanes.push(stored_whole(bytes, sql_type).ok_or(corrupt)?),
            Lanes::Wide(lanes) => {
                let value = decode_storage(bytes, sql_type)?;
                lanes.push(wide_of(&value, sql_type).ok_or(corrupt)?);
            }
            Lanes::Float(lanes) => {
                let value = decode_storage(bytes, sql_type)?;
                lanes.push(float_of(&value).ok_or(corrupt)?);
            }
            Lanes::Bytes(texts) => {
                check_text(bytes, sql_type)?;
                texts.push(bytes);
            }
        }
        Ok(())
    }

    /// The value of a lane.
    pub(crate) fn value(&self, position: usize, sql_type: SqlType) -> Value {
        match (self, sql_type) {
            (Lanes::Whole(lanes), _) => value_of_whole(lanes[position], sql_type),
            (Lanes::Wide(lanes), _) => decimal(lanes[position], sql_type.scale()),
            (Lanes::Float(lanes), SqlType::Real) => Value::Real(lanes[position] as f32),
            (Lanes::Float(lanes), _) => Value::Float(lanes[position]),
            (Lanes::Bytes(texts), _) => decode_storage(texts.at(position), sql_type)
                .expect("invariant 2: the bytes were looked at when they came"),
        }
    }

    /// Keeps the lanes at some positions, which ascend.
    pub(crate) fn keep(&mut self, positions: impl Iterator<Item = usize>) {
        match self {
            Lanes::Whole(lanes) => keep(lanes, positions),
            Lanes::Wide(lanes) => keep(lanes, positions),
            Lanes::Float(lanes) => keep(lanes, positions),
            Lanes::Bytes(texts) => texts.keep(positions),
        }
    }

    /// Puts a copy of a lane of the same type behind the others.
    pub(crate) fn push_from(&mut self, from: &Lanes, position: usize) {
        match (self, from) {
            (Lanes::Whole(to), Lanes::Whole(from)) => to.push(from[position]),
            (Lanes::Wide(to), Lanes::Wide(from)) => to.push(from[position]),
            (Lanes::Float(to), Lanes::Float(from)) => to.push(from[position]),
            (Lanes::Bytes(to), Lanes::Bytes(from)) => to.push(from.at(position)),
            _ => unreachable!("lanes of one type are of one kind"),
        }
    }
}

/// Keeps the items at some positions, which ascend.
pub(crate) fn keep<T: Copy>(items: &mut Vec<T>, positions: impl Iterator<Item = usize>) {
    let mut len = 0;
    for position in positions {
        items[len] = items[position];
        len += 1;
    }
    items.truncate(len);
}

/// The lane of a value, if the type has such values.
pub(crate) fn whole_of(value: &Value, sql_type: SqlType) -> Option<i64> {
    match (value, sql_type) {
        (Value::Decimal(d), SqlType::Decimal { scale, .. }) => {
            i64::try_from(without_point(*d, scale)?).ok()
        }
        (Value::Money(n), SqlType::Money | SqlType::SmallMoney) => Some(*n),
        (Value::Date(days), SqlType::Date) => Some(i64::from(*days)),
        (Value::Time(ticks), SqlType::Time(_)) => i64::try_from(*ticks).ok(),
        (Value::DateTime(d), SqlType::DateTime) => {
            Some(i64::from(d.days) << 32 | i64::from(d.ticks))
        }
        (Value::SmallDateTime(d), SqlType::SmallDateTime) => {
            Some(i64::from(d.days) << 16 | i64::from(d.minutes))
        }
        (Value::DateTime2(d), SqlType::DateTime2(_)) => {
            Some(i64::from(d.days) * DAY_TICKS + i64::try_from(d.ticks).ok()?)
        }
        (
            value,
            SqlType::Bit | SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt,
        ) => value.as_i64(),
        _ => None,
    }
}

pub(crate) fn wide_of(value: &Value, sql_type: SqlType) -> Option<i128> {
    match (value, sql_type) {
        (Value::Decimal(d), SqlType::Decimal { scale, .. }) => without_point(*d, scale),
        _ => None,
    }
}

/// A decimal as a whole number of units of a scale, where it is one.
fn without_point(d: Decimal, scale: u8) -> Option<i128> {
    if d.scale() == scale {
        return Some(d.mantissa());
    }
    let d = d.normalized();
    if d.scale() > scale { None } else { Some(d.rescale(scale)?.mantissa()) }
}

pub(crate) fn float_of(value: &Value) -> Option<f64> {
    match value {
        Value::Real(x) => Some(f64::from(*x)),
        Value::Float(x) => Some(*x),
        _ => None,
    }
}

fn push_text(texts: &mut Texts, value: &Value, sql_type: SqlType) {
    match (value, sql_type) {
        (Value::Char(b), SqlType::VarChar(_) | SqlType::Text)
        | (Value::NChar(b), SqlType::NVarChar(_) | SqlType::NText)
        | (Value::Binary(b), SqlType::VarBinary(_) | SqlType::Image) => texts.push(b),
        _ => {
            let mut stored = Vec::new();
            encode_storage(value, sql_type, &mut stored);
            texts.push(&stored);
        }
    }
}

#[inline]
fn stored_whole(bytes: &[u8], sql_type: SqlType) -> Option<i64> {
    match sql_type {
        SqlType::Int
        | SqlType::BigInt
        | SqlType::SmallInt
        | SqlType::TinyInt
        | SqlType::Money
        | SqlType::SmallMoney => stored_number(bytes, sql_type),
        _ => whole_of(&decode_storage(bytes, sql_type).ok()?, sql_type),
    }
}

/// Whether bytes are a value of a type that keeps them as they are.
fn check_text(bytes: &[u8], sql_type: SqlType) -> Result<(), CorruptValue> {
    let is_value = match sql_type {
        SqlType::VarChar(_) | SqlType::Text | SqlType::VarBinary(_) | SqlType::Image => true,
        SqlType::NVarChar(_) | SqlType::NText => bytes.len().is_multiple_of(2),
        SqlType::Char(_) | SqlType::NChar(_) | SqlType::Binary(_) | SqlType::UniqueIdentifier => {
            fixed_width(sql_type).is_some_and(|width| usize::from(width) == bytes.len())
        }
        _ => return decode_storage(bytes, sql_type).map(|_| ()),
    };
    is_value.then_some(()).ok_or(CorruptValue { sql_type, length: bytes.len() })
}

/// The value of a lane of numbers.
fn value_of_whole(lane: i64, sql_type: SqlType) -> Value {
    match sql_type {
        SqlType::Bit => Value::Bit(lane != 0),
        SqlType::TinyInt => Value::TinyInt(lane as u8),
        SqlType::SmallInt => Value::SmallInt(lane as i16),
        SqlType::Int => Value::Int(lane as i32),
        SqlType::BigInt => Value::BigInt(lane),
        SqlType::Decimal { scale, .. } => decimal(i128::from(lane), scale),
        SqlType::Money | SqlType::SmallMoney => Value::Money(lane),
        SqlType::Date => Value::Date(lane as i32),
        SqlType::Time(_) => Value::Time(lane as u64),
        SqlType::DateTime => {
            Value::DateTime(DateTime { days: (lane >> 32) as i32, ticks: lane as u32 })
        }
        SqlType::SmallDateTime => {
            Value::SmallDateTime(SmallDateTime { days: (lane >> 16) as u16, minutes: lane as u16 })
        }
        SqlType::DateTime2(_) => {
            let (days, ticks) = (lane.div_euclid(DAY_TICKS), lane.rem_euclid(DAY_TICKS));
            Value::DateTime2(DateTime2 { days: days as i32, ticks: ticks as u64 })
        }
        other => unreachable!("lanes of {other} are no numbers"),
    }
}

fn decimal(mantissa: i128, scale: u8) -> Value {
    Value::Decimal(Decimal::new(mantissa, scale).expect("invariant 2: it was a decimal before"))
}
