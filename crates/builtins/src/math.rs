//! Mathematical functions.

use crate::call::{Call, invalid_argument, strict_functions};
use base::{SqlError, SqlResult, messages};
use types::{Decimal, Family, SqlType, Value, arithmetic_overflow, convert, fit_number};

strict_functions! {
    /// Mathematical functions.
    "ABS", 1, 1, |t| number(t, "abs"), abs;
    "SIGN", 1, 1, |t| number(t, "sign"), sign;
    "CEILING", 1, 1, |t| whole(t, "ceiling"), |c, a| to_whole(c, a, f64::ceil, 1);
    "FLOOR", 1, 1, |t| whole(t, "floor"), |c, a| to_whole(c, a, f64::floor, -1);
    "ROUND", 2, 3, |t| number(t, "round"), round;
    "POWER", 2, 2, |t| power_type(t), power;
    "DEGREES", 1, 1, |t| angle_type(t, "degrees"), |c, a| scaled(c, a, f64::to_degrees);
    "RADIANS", 1, 1, |t| angle_type(t, "radians"), |c, a| scaled(c, a, f64::to_radians);
    "SQUARE", 1, 1, float, |c, a| of_float(c, a, |x| x * x);
    "SQRT", 1, 1, float, |c, a| of_float(c, a, f64::sqrt);
    "EXP", 1, 1, float, |c, a| of_float(c, a, f64::exp);
    "LOG", 1, 2, float, log;
    "LOG10", 1, 1, float, |c, a| of_float(c, a, |x| if x > 0.0 { x.log10() } else { f64::NAN });
    "SIN", 1, 1, float, |c, a| of_float(c, a, f64::sin);
    "COS", 1, 1, float, |c, a| of_float(c, a, f64::cos);
    "TAN", 1, 1, float, |c, a| of_float(c, a, f64::tan);
    "COT", 1, 1, float, |c, a| of_float(c, a, |x| 1.0 / x.tan());
    "ASIN", 1, 1, float, |c, a| of_float(c, a, f64::asin);
    "ACOS", 1, 1, float, |c, a| of_float(c, a, f64::acos);
    "ATAN", 1, 1, float, |c, a| of_float(c, a, f64::atan);
    "ATN2", 2, 2, float, |c, a| {
        let (y, x) = (c.float(a, 0)?, c.float(a, 1)?);
        Ok(Value::Float(y.atan2(x)))
    };
    "PI", 0, 0, float, |_, _| Ok(Value::Float(std::f64::consts::PI));
    "ISNUMERIC", 1, 1, |_| Ok(SqlType::Int), is_numeric;
}

fn float(_: &[SqlType]) -> SqlResult<SqlType> {
    Ok(SqlType::Float)
}

/// The type in which a function computes its first argument: small integers become int, text
/// float.
fn number(types: &[SqlType], function: &str) -> SqlResult<SqlType> {
    let t = types[0];
    Ok(match t {
        SqlType::TinyInt | SqlType::SmallInt => SqlType::Int,
        SqlType::SmallMoney => SqlType::Money,
        SqlType::Real => SqlType::Float,
        SqlType::Bit => SqlType::Float,
        _ if t.is_number() => t,
        _ if t.is_character() => SqlType::Float,
        _ => return Err(invalid_argument(t, 0, function)),
    })
}

fn whole(types: &[SqlType], function: &str) -> SqlResult<SqlType> {
    Ok(match number(types, function)? {
        SqlType::Decimal { precision, .. } => SqlType::Decimal { precision, scale: 0 },
        other => other,
    })
}

fn power_type(types: &[SqlType]) -> SqlResult<SqlType> {
    Ok(match number(types, "power")? {
        SqlType::Decimal { scale, .. } => SqlType::Decimal { precision: 38, scale },
        other => other,
    })
}

fn angle_type(types: &[SqlType], function: &str) -> SqlResult<SqlType> {
    Ok(match number(types, function)? {
        SqlType::Decimal { scale, .. } => SqlType::Decimal { precision: 38, scale: scale.max(18) },
        other => other,
    })
}

fn overflow(t: SqlType) -> SqlError {
    arithmetic_overflow(t)
}

fn abs(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let too_large = || overflow(call.result);
    Ok(match call.to(args, 0, call.result)? {
        Value::Int(n) => Value::Int(n.checked_abs().ok_or_else(too_large)?),
        Value::BigInt(n) => Value::BigInt(n.checked_abs().ok_or_else(too_large)?),
        Value::Money(n) => Value::Money(n.checked_abs().ok_or_else(too_large)?),
        Value::Decimal(d) if d.mantissa() < 0 => Value::Decimal(d.neg()),
        Value::Float(x) => Value::Float(x.abs()),
        other => other,
    })
}

fn sign(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let of = |n: i128| n.signum();
    let s = match call.to(args, 0, call.result)? {
        Value::Decimal(d) => of(d.mantissa()),
        Value::Money(n) => of(n as i128),
        Value::Float(x) => (x > 0.0) as i128 - (x < 0.0) as i128,
        other => of(other.as_i64().unwrap_or(0) as i128),
    };
    convert(&Value::Int(s as i32), SqlType::Int, call.result, 0)
}

/// FLOOR (`away` -1) and CEILING (`away` 1).
fn to_whole(
    call: &mut Call<'_>,
    args: &[Value],
    float: fn(f64) -> f64,
    away: i128,
) -> SqlResult<Value> {
    let exact =
        if call.result.family() == Family::Decimal { call.arg_types[0] } else { call.result };
    Ok(match call.to(args, 0, exact)? {
        Value::Float(x) => Value::Float(float(x)),
        Value::Money(n) => {
            let rest = n.rem_euclid(10_000);
            let up = if rest == 0 || away < 0 { 0 } else { 10_000 };
            // The least money value has no whole below it.
            let whole = i64::try_from(n as i128 - rest as i128 + up);
            Value::Money(whole.map_err(|_| overflow(call.result))?)
        }
        Value::Decimal(d) => {
            let cut = d.truncate(0);
            let inexact = cut != d && (d.mantissa().signum() == away);
            let n = cut.mantissa() + if inexact { away } else { 0 };
            let fitted = Decimal::new(n, 0).and_then(|d| d.fit(call.result.precision(), 0));
            Value::Decimal(fitted.ok_or_else(|| overflow(call.result))?)
        }
        other => other,
    })
}

/// ROUND(number, length, function): a length below 0 rounds before the point, a function other
/// than 0 cuts.
fn round(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let length = call.int(args, 1)?.clamp(-400, 400) as i32;
    let cut = match args.get(2) {
        Some(_) => call.int(args, 2)? != 0,
        None => false,
    };
    let exact = |m: i128, scale: u8| round_exact(m, scale as i32 - length, cut);
    let result = call.result;
    match call.to(args, 0, result)? {
        Value::Float(x) => Ok(Value::Float(round_float(x, length, cut))),
        Value::Decimal(d) => Decimal::new(exact(d.mantissa(), d.scale()), d.scale())
            .and_then(|d| d.fit(result.precision(), result.scale()))
            .map(Value::Decimal)
            .ok_or_else(|| overflow(result)),
        Value::Money(n) => {
            let n = i64::try_from(exact(n as i128, 4)).map_err(|_| overflow(result))?;
            Ok(Value::Money(n))
        }
        other => {
            let n = exact(other.as_i64().unwrap_or(0) as i128, 0);
            fit_number(n, result).ok_or_else(|| overflow(result))
        }
    }
}

/// A mantissa whose last `digits` digits are rounded away, or cut.
fn round_exact(m: i128, digits: i32, cut: bool) -> i128 {
    if digits <= 0 {
        return m;
    }
    if digits > 38 {
        return 0;
    }
    let unit = 10_i128.pow(digits as u32);
    let rest = m % unit;
    let low = m - rest;
    if !cut && rest.unsigned_abs() >= unit.unsigned_abs() / 2 {
        low + unit * m.signum()
    } else {
        low
    }
}

fn round_float(x: f64, length: i32, cut: bool) -> f64 {
    let digits = crate::format::Digits::of_float(x);
    let text = if length >= 0 {
        if cut { digits.cut(length as usize) } else { digits.fixed(length as usize) }
    } else {
        digits.before_point(-length as usize, cut)
    };
    text.parse().unwrap_or(x)
}

fn power(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let (x, y) = (call.float(args, 0)?, call.float(args, 1)?);
    if x == 0.0 && y < 0.0 {
        return Err(SqlError::new(messages::DIVIDE_BY_ZERO, &[]));
    }
    // Whole numbers stay exact as long as they fit.
    if let (SqlType::Int | SqlType::BigInt, Ok(n)) = (call.result, u32::try_from(y as i64))
        && y.fract() == 0.0
        && let Some(p) = (x as i128).checked_pow(n)
    {
        return fit_number(p, call.result).ok_or_else(|| overflow(call.result));
    }
    let p = checked(x.powf(y), call.result)?;
    convert(&Value::Float(p), SqlType::Float, call.result, 0).map_err(|_| overflow(call.result))
}

fn scaled(call: &mut Call<'_>, args: &[Value], by: fn(f64) -> f64) -> SqlResult<Value> {
    let x = by(call.float(args, 0)?);
    convert(&Value::Float(x), SqlType::Float, call.result, 0).map_err(|_| overflow(call.result))
}

/// 3623 for what is no number, 8115 for what is too large.
fn checked(x: f64, t: SqlType) -> SqlResult<f64> {
    if x.is_nan() {
        return Err(SqlError::new(messages::INVALID_FLOAT_OP, &[]));
    }
    if x.is_infinite() { Err(overflow(t)) } else { Ok(x) }
}

fn of_float(call: &mut Call<'_>, args: &[Value], f: fn(f64) -> f64) -> SqlResult<Value> {
    Ok(Value::Float(checked(f(call.float(args, 0)?), SqlType::Float)?))
}

fn log(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let x = call.float(args, 0)?;
    let base = match args.get(1) {
        Some(_) => call.float(args, 1)?,
        None => std::f64::consts::E,
    };
    if x <= 0.0 || base <= 0.0 || base == 1.0 {
        return Err(SqlError::new(messages::INVALID_FLOAT_OP, &[]));
    }
    let natural = x.ln();
    Ok(Value::Float(if args.len() > 1 { natural / base.ln() } else { natural }))
}

fn is_numeric(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let t = call.arg_types[0];
    if !t.is_character() {
        return Ok(Value::Int(t.is_number() as i32));
    }
    let text = call.string(args, 0)?;
    let text = text.trim();
    // A sign, a point or a currency alone also counts, as it does for SQL Server.
    let is = !text.is_empty()
        && (call.to(args, 0, SqlType::Float).is_ok()
            || call.to(args, 0, SqlType::Money).is_ok()
            || matches!(text, "." | "," | "+" | "-"));
    Ok(Value::Int(is as i32))
}
