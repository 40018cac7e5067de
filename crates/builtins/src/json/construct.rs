//! JSON_OBJECT and JSON_ARRAY: JSON text made of SQL values, each written as FOR JSON writes it.
//!
//! The first argument is a word of flags that the binder puts there: `n` or `a`, whether NULLs are
//! written or absent; then for each value `j` where it is JSON text itself, `v` where it is not.

use super::function;
use crate::call::{Call, Function};
use crate::document::{made, push_text, push_value};
use base::{SqlError, SqlResult, messages};
use types::{SqlType, Value};

/// Keys and values at most: what one statement may name.
const ARGUMENTS_MAX: usize = 4096;

/// JSON_OBJECT(flags, key, value, …)
pub static JSON_OBJECT: Function =
    function("JSON_OBJECT", (1, ARGUMENTS_MAX), |_| Ok(SqlType::NVARCHAR_MAX), object);
/// JSON_ARRAY(flags, value, …)
pub static JSON_ARRAY: Function =
    function("JSON_ARRAY", (1, ARGUMENTS_MAX), |_| Ok(SqlType::NVARCHAR_MAX), array);

fn object(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let (nulls, raw) = flags(args);
    let mut text = String::from("{");
    for (n, pair) in args[1..].chunks_exact(2).enumerate() {
        let [key, value] = pair else { continue };
        let Some(key) = key.as_text() else {
            let args: [&dyn std::fmt::Display; 3] = [&"NULL", &(2 * n + 1), &"json_object"];
            return Err(SqlError::new(messages::ARGUMENT_TYPE_INVALID, &args));
        };
        if value.is_null() && !nulls {
            continue;
        }
        comma(&mut text);
        push_text(&key, &mut text);
        text.push(':');
        push_value(value, call.arg_types[2 * n + 2], raw.get(n) == Some(&b'j'), &mut text)?;
    }
    text.push('}');
    made(&text)
}

fn array(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let (nulls, raw) = flags(args);
    let mut text = String::from("[");
    for (n, value) in args[1..].iter().enumerate() {
        if value.is_null() && !nulls {
            continue;
        }
        comma(&mut text);
        push_value(value, call.arg_types[n + 1], raw.get(n) == Some(&b'j'), &mut text)?;
    }
    text.push(']');
    made(&text)
}

fn flags(args: &[Value]) -> (bool, Vec<u8>) {
    let word = args.first().and_then(Value::as_text).unwrap_or_default().into_bytes();
    (word.first() == Some(&b'n'), word.get(1..).unwrap_or_default().to_vec())
}

fn comma(text: &mut String) {
    if text.len() > 1 {
        text.push(',');
    }
}
