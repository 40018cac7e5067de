//! `SET column.WRITE(expression, offset, length)`: a part of a large value replaced.
//!
//! Offset and length count bytes, of nvarchar characters. NULL for the offset appends, for the
//! length it replaces all that follows, for the expression it cuts the value there. (From the
//! reference of UPDATE; numbers of errors from the recorded probes of SqlServerSimulator, but the
//! name in 5302.)

use crate::call::{Call, Function, NullRule};
use base::{SqlError, SqlResult, messages};
use types::{ByteBuffer, SqlType, Value};

/// The column, the expression in its type, offset and length as bigint, and the column's name.
pub static WRITE: Function = Function {
    name: "WRITE",
    min_args: 5,
    max_args: 5,
    result,
    deterministic: true,
    nulls: NullRule::Own,
    date_part: false,
    eval: write,
};

fn result(types: &[SqlType]) -> SqlResult<SqlType> {
    Ok(types.first().copied().unwrap_or(SqlType::VARBINARY_MAX))
}

fn write(_: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let [own, given, offset, length, name] = args else { return Ok(Value::Null) };
    let (bytes, unit) = match own {
        Value::Char(bytes) | Value::Binary(bytes) => (bytes, 1),
        Value::NChar(bytes) => (bytes, 2),
        _ => {
            let name = name.as_text().unwrap_or_default();
            return Err(SqlError::new(messages::MUTATOR_OF_NULL, &[&"write()", &name]));
        }
    };
    let given = match given {
        Value::Char(bytes) | Value::NChar(bytes) | Value::Binary(bytes) => Some(bytes),
        _ => None,
    };
    let units = bytes.len() / unit;
    let (kept, resumed) = span(units, given.is_none(), offset.as_i64(), length.as_i64())?;
    let (before, after) = (&bytes[..kept * unit], &bytes[resumed * unit..]);
    let given: &[u8] = given.map_or(&[], |bytes| bytes);
    let mut whole = ByteBuffer::with_room(before.len() + given.len() + after.len())?;
    for part in [before, given, after] {
        whole.extend(part)?;
    }
    let whole = whole.into_bytes();
    Ok(match own {
        Value::Char(_) => Value::Char(whole),
        Value::NChar(_) => Value::NChar(whole),
        _ => Value::Binary(whole),
    })
}

/// How many units stay before what is written, and where those behind it begin.
fn span(
    units: usize,
    cuts: bool,
    offset: Option<i64>,
    length: Option<i64>,
) -> SqlResult<(usize, usize)> {
    let length = length.filter(|_| !cuts);
    if offset.is_some_and(|n| n < 0) || length.is_some_and(|n| n < 0) {
        return Err(SqlError::new(messages::WRITE_NEGATIVE, &[]));
    }
    let Some(offset) = offset else { return Ok((units, units)) };
    let kept = usize::try_from(offset).unwrap_or(usize::MAX);
    if kept > units {
        return Err(SqlError::new(messages::WRITE_BEYOND, &[]));
    }
    let replaced = length.and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    Ok((kept, kept.saturating_add(replaced).min(units)))
}
