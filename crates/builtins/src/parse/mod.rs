//! PARSE and TRY_PARSE: text as a culture writes it, to a number or a date.
//!
//! ```text
//! number.rs  signs, groups, currency, exponents
//! date.rs    days in the culture's order, its names of months, times, offsets
//! ```
//!
//! The language spells them `PARSE(x AS type USING culture)`: the binder makes a call of one of
//! the two functions here, whose result type is the one that was written.

mod date;
mod number;

use crate::call::{Call, Function, NullRule, invalid_argument};
use crate::culture::Culture;
use base::{SqlError, SqlResult, messages};
use types::{Family, SqlType, Value, convert};

/// PARSE(text, culture), with the result type that was written.
pub static PARSE: Function = parser("PARSE", |call, args| parse(call, args, false));

/// TRY_PARSE: NULL for what PARSE refuses.
pub static TRY_PARSE: Function = parser("TRY_PARSE", |call, args| parse(call, args, true));

const fn parser(
    name: &'static str,
    eval: fn(&mut Call<'_>, &[Value]) -> SqlResult<Value>,
) -> Function {
    Function {
        name,
        min_args: 2,
        max_args: 2,
        result: |types| match types {
            [t, _] if t.is_character() => Ok(*t),
            [t, ..] => Err(invalid_argument(*t, 0, "parse")),
            [] => Ok(SqlType::Int),
        },
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval,
    }
}

/// Whether PARSE gives values of a type: numbers but bit, dates and times.
pub fn is_parsed_type(t: SqlType) -> bool {
    t != SqlType::Bit && (t.is_number() || t.is_temporal())
}

fn parse(call: &mut Call<'_>, args: &[Value], attempt: bool) -> SqlResult<Value> {
    let given = if args[1].is_null() { String::new() } else { call.string(args, 1)? };
    let own = call.facts.dialect().language.culture;
    let culture = Culture::named(if args[1].is_null() { own } else { &given })?;
    if args[0].is_null() {
        return Ok(Value::Null);
    }
    let text = call.string(args, 0)?;
    match value(&text, call.result, culture) {
        Some(value) => Ok(value),
        None if attempt => Ok(Value::Null),
        None => {
            let facts: [&dyn std::fmt::Display; 3] = [&text, &call.result.name(), &given];
            Err(SqlError::new(messages::PARSE_FAILED, &facts))
        }
    }
}

fn value(text: &str, t: SqlType, culture: &Culture) -> Option<Value> {
    if t.is_temporal() {
        return date::parse(text, t, culture)?.to_value(t);
    }
    let plain = number::plain(text, t.family(), culture)?;
    if t.family() == Family::Float {
        return convert(&Value::varchar(&plain), SqlType::VARCHAR_MAX, t, 0).ok();
    }
    let exact = types::Decimal::parse(&plain)?;
    if t.family() == Family::Integer && exact.truncate(0) != exact {
        return None;
    }
    let from = SqlType::decimal(38, exact.scale());
    convert(&Value::Decimal(exact), from, t, 0).ok()
}

#[cfg(test)]
mod tests;
