//! Operators on values whose types are settled.

use super::BinaryOp;
use crate::convert::{fit_number, overflow};
use crate::decimal::divide_rounded;
use crate::value::{DateTime, SmallDateTime};
use crate::{ByteBuffer, Bytes, Decimal, SqlType, Value};
use base::{SqlError, SqlResult, messages};

/// Ticks of `datetime` in a day.
const DATETIME_TICKS: i64 = 25_920_000;

/// Computes an operator on operands converted as its `Operation` says; NULL gives NULL.
///
/// # Errors
/// 8134 on division by zero, 8115 on overflow.
#[inline]
pub fn apply(op: BinaryOp, left: &Value, right: &Value, result: SqlType) -> SqlResult<Value> {
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => int(op, *a, *b),
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::BigInt(a), Value::BigInt(b)) => whole(op, *a, *b, SqlType::BigInt),
        (Value::Decimal(a), Value::Decimal(b)) => decimal(op, *a, *b, result),
        (Value::Float(a), Value::Float(b)) => Ok(Value::Float(float(op, *a, *b, result)?)),
        (Value::Real(a), Value::Real(b)) => {
            let x = float(op, *a as f64, *b as f64, result)? as f32;
            if x.is_finite() { Ok(Value::Real(x)) } else { Err(overflow("expression", result)) }
        }
        (Value::Money(a), Value::Money(b)) => money(op, *a, *b, result),
        (Value::Bit(a), Value::Bit(b)) => Ok(Value::Bit(match op {
            BinaryOp::BitAnd => a & b,
            BinaryOp::BitOr => a | b,
            _ => a ^ b,
        })),
        (Value::Char(a), Value::Char(b)) => join(a, b, result).map(Value::Char),
        (Value::NChar(a), Value::NChar(b)) => join(a, b, result).map(Value::NChar),
        (Value::Binary(a), Value::Binary(b)) => join(a, b, result).map(Value::Binary),
        (Value::DateTime(a), Value::DateTime(b)) => datetime(op, *a, *b),
        (Value::SmallDateTime(a), Value::SmallDateTime(b)) => smalldatetime(op, *a, *b),
        (a, b) => match (a.as_i64(), b.as_i64()) {
            (Some(a), Some(b)) => whole(op, a, b, result),
            _ => panic!("{left:?} and {right:?} were not converted for {}", op.name()),
        },
    }
}

fn divide_by_zero() -> SqlError {
    SqlError::new(messages::DIVIDE_BY_ZERO, &[])
}

#[inline]
fn int(op: BinaryOp, a: i32, b: i32) -> SqlResult<Value> {
    let n = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div | BinaryOp::Modulo if b == 0 => return Err(divide_by_zero()),
        BinaryOp::Div => a.checked_div(b),
        // The remainder of the smallest number by -1 is 0.
        BinaryOp::Modulo => Some(a.wrapping_rem(b)),
        BinaryOp::BitAnd => Some(a & b),
        BinaryOp::BitOr => Some(a | b),
        BinaryOp::BitXor => Some(a ^ b),
    };
    n.map(Value::Int).ok_or_else(|| overflow("expression", SqlType::Int))
}

fn whole(op: BinaryOp, a: i64, b: i64, result: SqlType) -> SqlResult<Value> {
    let n = match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div | BinaryOp::Modulo if b == 0 => return Err(divide_by_zero()),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Modulo => Some(a.wrapping_rem(b)),
        BinaryOp::BitAnd => Some(a & b),
        BinaryOp::BitOr => Some(a | b),
        BinaryOp::BitXor => Some(a ^ b),
    };
    n.and_then(|n| fit_number(n as i128, result)).ok_or_else(|| overflow("expression", result))
}

#[inline]
fn decimal(op: BinaryOp, a: Decimal, b: Decimal, result: SqlType) -> SqlResult<Value> {
    let SqlType::Decimal { precision, scale } = result else {
        panic!("decimals give a decimal, not {result}");
    };
    if matches!(op, BinaryOp::Div | BinaryOp::Modulo) && b.mantissa() == 0 {
        return Err(divide_by_zero());
    }
    let d = match op {
        BinaryOp::Add => a.add_at(b, scale),
        BinaryOp::Sub => a.add_at(b.neg(), scale),
        BinaryOp::Mul => a.mul(b, scale),
        BinaryOp::Div => a.div(b, scale),
        _ => a.checked_rem(b),
    };
    d.and_then(|d| d.fit(precision, scale))
        .map(Value::Decimal)
        .ok_or_else(|| overflow("expression", result))
}

fn float(op: BinaryOp, a: f64, b: f64, result: SqlType) -> SqlResult<f64> {
    let x = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        _ if b == 0.0 => return Err(divide_by_zero()),
        _ => a / b,
    };
    if x.is_finite() { Ok(x) } else { Err(overflow("expression", result)) }
}

fn money(op: BinaryOp, a: i64, b: i64, result: SqlType) -> SqlResult<Value> {
    let (x, y) = (a as i128, b as i128);
    let tenths = match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => divide_rounded(x * y, 10_000),
        BinaryOp::Div | BinaryOp::Modulo if b == 0 => return Err(divide_by_zero()),
        BinaryOp::Div => x * 10_000 / y,
        _ => x % y,
    };
    let fits = result != SqlType::SmallMoney || i32::try_from(tenths).is_ok();
    match i64::try_from(tenths) {
        Ok(m) if fits => Ok(Value::Money(m)),
        _ => Err(overflow("expression", result)),
    }
}

/// Both strings in turn, cut to what the result type holds.
fn join(a: &Bytes, b: &Bytes, result: SqlType) -> SqlResult<Bytes> {
    if b.is_empty() {
        return Ok(a.clone());
    }
    if a.is_empty() {
        return Ok(b.clone());
    }
    if result.is_max() {
        return join_long(a, b);
    }
    let limit: usize = 8000;
    Ok(Bytes::joined(a, &b[..b.len().min(limit.saturating_sub(a.len()))]))
}

/// Both, where they may be as long as values can be.
fn join_long(a: &Bytes, b: &Bytes) -> SqlResult<Bytes> {
    let mut both = ByteBuffer::with_room(a.len() + b.len())?;
    both.extend(a)?;
    both.extend(b)?;
    Ok(both.into_bytes())
}

fn datetime(op: BinaryOp, a: DateTime, b: DateTime) -> SqlResult<Value> {
    let ticks = |d: DateTime| d.days as i64 * DATETIME_TICKS + d.ticks as i64;
    let sum = match op {
        BinaryOp::Sub => ticks(a) - ticks(b),
        _ => ticks(a) + ticks(b),
    };
    let days = sum.div_euclid(DATETIME_TICKS);
    if !(-53_690..=2_958_463).contains(&days) {
        return Err(SqlError::new(messages::DATETIME_OVERFLOW_ADD, &[&"datetime"]));
    }
    let ticks = sum.rem_euclid(DATETIME_TICKS) as u32;
    Ok(Value::DateTime(DateTime { days: days as i32, ticks }))
}

fn smalldatetime(op: BinaryOp, a: SmallDateTime, b: SmallDateTime) -> SqlResult<Value> {
    let minutes = |d: SmallDateTime| d.days as i64 * 1440 + d.minutes as i64;
    let sum = match op {
        BinaryOp::Sub => minutes(a) - minutes(b),
        _ => minutes(a) + minutes(b),
    };
    match u16::try_from(sum.div_euclid(1440)) {
        Ok(days) => {
            let minutes = sum.rem_euclid(1440) as u16;
            Ok(Value::SmallDateTime(SmallDateTime { days, minutes }))
        }
        Err(_) => Err(SqlError::new(messages::DATETIME_OVERFLOW_ADD, &[&"smalldatetime"])),
    }
}

/// Unary minus on a value of the type that `negated_type` gave.
///
/// # Errors
/// 8115 on overflow, 8117 for a value without it.
pub fn negate(value: &Value, result: SqlType) -> SqlResult<Value> {
    let too_large = || overflow("expression", result);
    Ok(match *value {
        Value::Null => Value::Null,
        Value::TinyInt(n) => Value::SmallInt(-(n as i16)),
        Value::SmallInt(n) => Value::SmallInt(n.checked_neg().ok_or_else(too_large)?),
        Value::Int(n) => Value::Int(n.checked_neg().ok_or_else(too_large)?),
        Value::BigInt(n) => Value::BigInt(n.checked_neg().ok_or_else(too_large)?),
        Value::Money(n) => money(BinaryOp::Sub, 0, n, result)?,
        Value::Decimal(d) => Value::Decimal(d.neg()),
        Value::Real(x) => Value::Real(-x),
        Value::Float(x) => Value::Float(-x),
        _ => {
            let name = result.error_name();
            return Err(SqlError::new(messages::OPERAND_TYPE_INVALID, &[&name, &"minus"]));
        }
    })
}

/// `~`
///
/// # Errors
/// 8117 for anything but bits and integers.
pub fn bit_not(value: &Value, sql_type: SqlType) -> SqlResult<Value> {
    Ok(match *value {
        Value::Null => Value::Null,
        Value::Bit(b) => Value::Bit(!b),
        Value::TinyInt(n) => Value::TinyInt(!n),
        Value::SmallInt(n) => Value::SmallInt(!n),
        Value::Int(n) => Value::Int(!n),
        Value::BigInt(n) => Value::BigInt(!n),
        _ => {
            let name = sql_type.error_name();
            return Err(SqlError::new(messages::OPERAND_TYPE_INVALID, &[&name, &"'~'"]));
        }
    })
}
