//! Numbers to numbers: ranges, rounding and their overflows.
//!
//! decimal and float cut when they become integers, money rounds; everything rounds half away
//! from zero when it becomes decimal or money.

use crate::decimal::divide_rounded;
use crate::{Decimal, SqlType, Value};
use base::{SqlError, SqlResult, messages};

/// Ten-thousandths in one.
const MONEY_UNIT: i64 = 10_000;

/// A number apart from its type.
enum Number {
    Whole(i64),
    Decimal(Decimal),
    Money(i64),
    Float(f64),
}

pub(super) fn convert(value: &Value, from: SqlType, to: SqlType) -> SqlResult<Value> {
    let number = match *value {
        Value::Decimal(d) => Number::Decimal(d),
        Value::Money(m) => Number::Money(m),
        Value::Real(x) => Number::Float(x as f64),
        Value::Float(x) => Number::Float(x),
        _ => Number::Whole(value.as_i64().unwrap_or(0)),
    };
    match to {
        SqlType::Bit => Ok(Value::Bit(match number {
            Number::Whole(n) | Number::Money(n) => n != 0,
            Number::Decimal(d) => d.mantissa() != 0,
            Number::Float(x) => x != 0.0,
        })),
        SqlType::TinyInt | SqlType::SmallInt | SqlType::Int | SqlType::BigInt => {
            to_integer(number, from, to)
        }
        SqlType::Decimal { precision, scale } => to_decimal(number, scale)
            .and_then(|d| d.fit(precision, scale))
            .map(Value::Decimal)
            .ok_or_else(|| overflow(from.error_name(), to)),
        SqlType::Money | SqlType::SmallMoney => to_money(number, from, to),
        SqlType::Real => {
            let x = to_float(number);
            let narrow = x as f32;
            if narrow.is_infinite() { Err(float_overflow(x, to)) } else { Ok(Value::Real(narrow)) }
        }
        SqlType::Float => Ok(Value::Float(match *value {
            // A real keeps its own nearest float.
            Value::Real(x) => x as f64,
            _ => to_float(number),
        })),
        _ => Err(super::sized::not_allowed(from, to)),
    }
}

/// 8115: "Arithmetic overflow error converting {what} to data type {to}."
pub(crate) fn overflow(what: &str, to: SqlType) -> SqlError {
    let e = SqlError::new(messages::ARITHMETIC_OVERFLOW_CONVERT, &[&what, &to.error_name()]);
    if matches!(to, SqlType::Decimal { .. }) { e.with_state(8) } else { e }
}

/// 8115: "Arithmetic overflow error converting expression to data type {to}."
pub fn arithmetic_overflow(to: SqlType) -> SqlError {
    overflow("expression", to)
}

fn float_overflow(x: f64, to: SqlType) -> SqlError {
    let e = SqlError::new(messages::OVERFLOW_TYPE, &[&to.error_name(), &format_args!("{x:.6}")]);
    match to {
        SqlType::SmallInt => e.with_state(2),
        SqlType::Int => e.with_state(3),
        _ => e,
    }
}

/// A whole number as an integer type, when it fits.
pub fn fit_number(n: i128, to: SqlType) -> Option<Value> {
    Some(match to {
        SqlType::TinyInt => Value::TinyInt(n.try_into().ok()?),
        SqlType::SmallInt => Value::SmallInt(n.try_into().ok()?),
        SqlType::Int => Value::Int(n.try_into().ok()?),
        SqlType::BigInt => Value::BigInt(n.try_into().ok()?),
        _ => return None,
    })
}

fn to_integer(number: Number, from: SqlType, to: SqlType) -> SqlResult<Value> {
    match number {
        Number::Whole(n) => fit_number(n as i128, to).ok_or_else(|| match to {
            SqlType::TinyInt | SqlType::SmallInt => {
                let e = SqlError::new(messages::ARITHMETIC_OVERFLOW_VALUE, &[&to.error_name(), &n]);
                e.with_state(if to == SqlType::TinyInt { 2 } else { 1 })
            }
            _ => overflow("expression", to),
        }),
        Number::Decimal(d) => {
            fit_number(d.whole(), to).ok_or_else(|| overflow(from.error_name(), to))
        }
        Number::Money(m) => {
            let whole = divide_rounded(m as i128, MONEY_UNIT as i128);
            fit_number(whole, to).ok_or_else(|| overflow(from.error_name(), to))
        }
        Number::Float(x) => {
            // Casting saturates, far outside every integer type.
            fit_number(x.trunc() as i128, to).ok_or_else(|| float_overflow(x, to))
        }
    }
}

fn to_decimal(number: Number, scale: u8) -> Option<Decimal> {
    match number {
        Number::Whole(n) => Some(Decimal::from_i64(n)),
        Number::Decimal(d) => Some(d),
        Number::Money(m) => Decimal::new(m as i128, 4),
        Number::Float(x) => Decimal::from_f64(x, scale),
    }
}

fn to_money(number: Number, from: SqlType, to: SqlType) -> SqlResult<Value> {
    let tenths = match number {
        Number::Whole(n) => Some(n as i128 * MONEY_UNIT as i128),
        Number::Decimal(d) => d.rescale(4).map(Decimal::mantissa),
        Number::Money(m) => Some(m as i128),
        Number::Float(x) => match Decimal::from_f64(x, 4) {
            Some(d) => Some(d.mantissa()),
            None => return Err(float_overflow(x, to)),
        },
    };
    tenths.and_then(|m| fit_money(m, to)).ok_or_else(|| overflow(from.error_name(), to))
}

/// Ten-thousandths as a money type, when they fit.
pub(super) fn fit_money(tenths: i128, to: SqlType) -> Option<Value> {
    let fits = match to {
        SqlType::SmallMoney => i32::try_from(tenths).is_ok(),
        _ => true,
    };
    fits.then(|| i64::try_from(tenths).ok().map(Value::Money)).flatten()
}

fn to_float(number: Number) -> f64 {
    match number {
        Number::Whole(n) => n as f64,
        Number::Decimal(d) => d.to_f64(),
        Number::Money(m) => m as f64 / MONEY_UNIT as f64,
        Number::Float(x) => x,
    }
}
