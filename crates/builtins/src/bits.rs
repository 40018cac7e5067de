//! Functions of single bits (SQL Server 2022): shifts, counts, reading and setting one.
//!
//! Numbers are two's complement in the width of their type, binary strings run from their last
//! byte. Shifting is logical: what leaves is lost, zeros come in.

use crate::call::{Call, invalid_argument, strict_functions};
use base::{SqlError, SqlResult, messages};
use types::{Family, SqlType, Value};

strict_functions! {
    /// Functions of single bits.
    "BIT_COUNT", 1, 1, |t| of_bits(t, "bit_count").map(|_| SqlType::BigInt), bit_count;
    "GET_BIT", 2, 2, |t| of_bits(t, "get_bit").map(|_| SqlType::Bit), get_bit;
    "LEFT_SHIFT", 2, 2, |t| of_bits(t, "left_shift"), |c, a| shifted(c, a, 1);
    "RIGHT_SHIFT", 2, 2, |t| of_bits(t, "right_shift"), |c, a| shifted(c, a, -1);
    "SET_BIT", 2, 3, |t| of_bits(t, "set_bit"), set_bit;
}

fn of_bits(types: &[SqlType], function: &str) -> SqlResult<SqlType> {
    let t = types[0];
    let fits = matches!(t.family(), Family::Integer | Family::Binary) && !t.is_max();
    let fits = fits && t != SqlType::Bit;
    if fits { Ok(t) } else { Err(invalid_argument(t, 0, function)) }
}

/// The bits of a value as bytes, the last one least.
fn bytes_of(value: &Value) -> Vec<u8> {
    match value {
        Value::TinyInt(n) => n.to_be_bytes().to_vec(),
        Value::SmallInt(n) => n.to_be_bytes().to_vec(),
        Value::Int(n) => n.to_be_bytes().to_vec(),
        Value::BigInt(n) => n.to_be_bytes().to_vec(),
        Value::Binary(b) => b.to_vec(),
        _ => Vec::new(),
    }
}

/// The value of the same kind that has these bits.
fn value_of(like: &Value, bytes: &[u8]) -> Value {
    let number = bytes.iter().fold(0_u64, |n, &b| n << 8 | u64::from(b));
    match like {
        Value::TinyInt(_) => Value::TinyInt(number as u8),
        Value::SmallInt(_) => Value::SmallInt(number as i16),
        Value::Int(_) => Value::Int(number as i32),
        Value::BigInt(_) => Value::BigInt(number as i64),
        _ => Value::varbinary(bytes),
    }
}

fn bit_count(_: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let ones: u32 = bytes_of(&args[0]).iter().map(|b| b.count_ones()).sum();
    Ok(Value::BigInt(ones.into()))
}

/// The byte and the bit within it of an offset from the least bit; `None` beyond the last one.
fn place(call: &Call<'_>, args: &[Value], bytes: &[u8]) -> SqlResult<Option<(usize, u8)>> {
    let offset = usize::try_from(call.int(args, 1)?).ok().filter(|&n| n < bytes.len() * 8);
    Ok(offset.map(|n| (bytes.len() - 1 - n / 8, 1 << (n % 8))))
}

/// 9838.
fn beyond(function: &str, bytes: &[u8]) -> SqlError {
    let last = (bytes.len() * 8).saturating_sub(1);
    SqlError::new(messages::BIT_OFFSET, &[&2, &function, &last])
}

fn get_bit(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let bytes = bytes_of(&args[0]);
    let at = place(call, args, &bytes)?;
    let (byte, bit) = at.ok_or_else(|| beyond("get_bit", &bytes))?;
    Ok(Value::Bit(bytes[byte] & bit != 0))
}

fn set_bit(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let mut bytes = bytes_of(&args[0]);
    let at = place(call, args, &bytes)?;
    let (byte, bit) = at.ok_or_else(|| beyond("set_bit", &bytes).with_state(2))?;
    let on = match if args.len() > 2 { call.int(args, 2)? } else { 1 } {
        n @ (0 | 1) => n == 1,
        _ => return Err(SqlError::new(messages::BIT_VALUE, &[])),
    };
    if on {
        bytes[byte] |= bit;
    } else {
        bytes[byte] &= !bit;
    }
    Ok(value_of(&args[0], &bytes))
}

/// Bits moved to the left, or for a negative number to the right.
fn shifted(call: &mut Call<'_>, args: &[Value], direction: i64) -> SqlResult<Value> {
    let by = call.int(args, 1)?.saturating_mul(direction);
    let bytes = bytes_of(&args[0]);
    let bits = (bytes.len() * 8) as i64;
    let bit = |n: i64| {
        let inside = (0..bits).contains(&n);
        inside && bytes[bytes.len() - 1 - (n / 8) as usize] >> (n % 8) & 1 == 1
    };
    let mut out = vec![0; bytes.len()];
    for n in (0..bits).filter(|n| bit(n.saturating_sub(by))) {
        let at = out.len() - 1 - (n / 8) as usize;
        out[at] |= 1 << (n % 8);
    }
    Ok(value_of(&args[0], &out))
}
