//! Dates and times to each other, and as numbers of days since 1900-01-01.

use super::number::{self, overflow};
use crate::datetime::{DAY_TICKS, DAYS_1900, Moment};
use crate::{SqlType, Value};
use base::{SqlError, SqlResult, messages};

pub(super) fn between(value: &Value, from: SqlType, to: SqlType) -> SqlResult<Value> {
    let (Some(mut moment), true) = (Moment::of(value), super::matrix::explicit_allowed(from, to))
    else {
        return Err(super::sized::not_allowed(from, to));
    };
    if from == SqlType::DateTime && to == SqlType::SmallDateTime {
        // The third of a millisecond must not decide the minute: 29.998 s rounds down, 29.999 up.
        moment.ticks = (moment.ticks + 5_000) / 10_000 * 10_000;
    }
    if !matches!(to, SqlType::DateTimeOffset(_)) {
        moment.offset = 0;
    }
    moment.to_value(to).ok_or_else(|| {
        SqlError::new(messages::DATETIME_CONVERSION_RANGE, &[&from.error_name(), &to.error_name()])
    })
}

/// Days and their fraction; only the older types have this.
pub(super) fn to_number(value: &Value, from: SqlType, to: SqlType) -> SqlResult<Value> {
    if !matches!(value, Value::DateTime(_) | Value::SmallDateTime(_)) {
        return Err(super::sized::not_allowed(from, to));
    }
    let days = match *value {
        Value::DateTime(d) => d.days as f64 + d.ticks as f64 / 25_920_000.0,
        Value::SmallDateTime(d) => d.days as f64 + d.minutes as f64 / 1440.0,
        _ => 0.0,
    };
    // Unlike a float, a datetime rounds to whole days.
    let whole = matches!(to.family(), crate::Family::Integer) && to != SqlType::Bit;
    let days = if whole { days.round() } else { days };
    number::convert(&Value::Float(days), SqlType::Float, to)
        .map_err(|_| overflow(from.error_name(), to))
}

pub(super) fn from_number(value: &Value, from: SqlType, to: SqlType) -> SqlResult<Value> {
    if !matches!(to, SqlType::DateTime | SqlType::SmallDateTime) {
        return Err(super::sized::not_allowed(from, to));
    }
    let Value::Float(days) = number::convert(value, from, SqlType::Float)? else {
        return Err(super::sized::not_allowed(from, to));
    };
    let too_far = || overflow("expression", to);
    if !(-1e7..1e7).contains(&days) {
        return Err(too_far());
    }
    let whole = days.floor();
    // In 1/300 s first: the unit of the types.
    let ticks = ((days - whole) * 25_920_000.0).round() as u64 * 100_000 / 3;
    let total = (whole as i64 + DAYS_1900 as i64) * DAY_TICKS as i64 + ticks as i64;
    Moment::from_total(total).and_then(|m| m.to_value(to)).ok_or_else(too_far)
}
