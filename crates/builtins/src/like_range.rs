//! LikeRangeStart and LikeRangeEnd: where strings lie that match a pattern which is known when the
//! statement runs. No text can call them; seeks do.

use crate::call::{Call, Function, NullRule};
use crate::like::LikePattern;
use base::SqlResult;
use types::{Bytes, Family, SqlType, Value, text};

/// `LikeRangeStart(pattern [, escape])`: the least string that may match; NULL where any may.
pub static LIKE_RANGE_START: Function = Function { eval: start, ..range("LikeRangeStart") };

/// `LikeRangeEnd(pattern [, escape])`: behind all that may match; NULL where nothing is.
pub static LIKE_RANGE_END: Function = Function { eval: end, ..range("LikeRangeEnd") };

const fn range(name: &'static str) -> Function {
    Function {
        name,
        min_args: 1,
        max_args: 2,
        result: |types| Ok(types[0]),
        deterministic: true,
        nulls: NullRule::Strict,
        date_part: false,
        eval: start,
    }
}

fn start(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let range = pattern(call, args).and_then(|p| p.range());
    Ok(range.map_or(Value::Null, |(from, _)| value(&from, call.result)))
}

fn end(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let range = pattern(call, args).and_then(|p| p.range());
    Ok(range.and_then(|(_, to)| to).map_or(Value::Null, |to| value(&to, call.result)))
}

/// None where ESCAPE is no character: the condition itself says so.
fn pattern(call: &Call<'_>, args: &[Value]) -> Option<LikePattern> {
    let escape = match args.get(1).map(|v| v.as_text().unwrap_or_default()) {
        None => None,
        Some(text) => {
            let mut chars = text.chars();
            let one = chars.next().filter(|_| chars.next().is_none())?;
            Some(one)
        }
    };
    Some(LikePattern::compile(args.first()?, escape, call.collation))
}

/// Characters as a value of a type.
fn value(units: &[u16], sql_type: SqlType) -> Value {
    let wide = text::bytes_of_units(units);
    match sql_type.family() {
        Family::NChar => Value::NChar(Bytes::from(wide)),
        _ => Value::Char(Bytes::from(text::narrow(&wide))),
    }
}
