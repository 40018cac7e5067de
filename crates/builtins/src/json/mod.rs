//! JSON functions: ISJSON, JSON_VALUE, JSON_QUERY, JSON_PATH_EXISTS, JSON_MODIFY, JSON_OBJECT,
//! JSON_ARRAY, and the rows of OPENJSON.
//!
//! JSON is text, read each time from its beginning and no further than the answer needs; nothing
//! is kept of it. Only an object or an array is JSON text; a scalar alone is error 13609.

mod construct;
mod modify;
mod open;
mod path;
mod reader;

use crate::call::{Call, Function, NullRule, invalid_argument};
use crate::chars::Chars;
use crate::document::push_value;
use base::{SqlError, SqlResult, messages};
use path::Path;
use reader::{Kind, Reader, Span, unescaped};
use types::{Family, SqlType, Value, text};

pub use construct::{JSON_ARRAY, JSON_OBJECT};
pub use open::JsonColumn;
pub(crate) use open::{JsonItems, JsonRecords};

const fn function(
    name: &'static str,
    counts: (usize, usize),
    result: fn(&[SqlType]) -> SqlResult<SqlType>,
    eval: fn(&mut Call<'_>, &[Value]) -> SqlResult<Value>,
) -> Function {
    Function {
        name,
        min_args: counts.0,
        max_args: counts.1,
        result,
        deterministic: true,
        nulls: NullRule::Own,
        date_part: false,
        eval,
    }
}

/// Functions that read or change JSON text.
pub(crate) const FUNCTIONS: &[Function] = &[
    function("ISJSON", (1, 2), |_| Ok(SqlType::Int), is_json),
    function("JSON_VALUE", (2, 2), |_| Ok(SqlType::nvarchar(4000)), json_value),
    function("JSON_QUERY", (1, 2), |_| Ok(SqlType::NVARCHAR_MAX), json_query),
    function("JSON_PATH_EXISTS", (2, 2), |_| Ok(SqlType::Int), json_path_exists),
    function("JSON_MODIFY", (3, 3), modify_result, |c, a| json_modify(c, a, false)),
];

/// JSON_MODIFY whose new value is JSON itself: that of JSON_QUERY and its kin.
pub static JSON_MODIFY_RAW: Function =
    function("JSON_MODIFY JSON", (3, 3), modify_result, |c, a| json_modify(c, a, true));

/// A character as messages show it; behind the end it is a point.
fn shown(text: &[u16], at: usize) -> char {
    let unit = text.get(at).copied();
    unit.map_or('.', |u| char::from_u32(u32::from(u)).unwrap_or(char::REPLACEMENT_CHARACTER))
}

/// A text argument; None when it is NULL.
fn text_of(
    call: &Call<'_>,
    args: &[Value],
    i: usize,
    function: &str,
) -> SqlResult<Option<Vec<u16>>> {
    if args[i].is_null() {
        return Ok(None);
    }
    if !call.arg_types[i].is_character() {
        return Err(call.invalid(i, function));
    }
    Chars::in_encoding(call, args, i, true)?.units().map(Some)
}

/// The path argument, which is never NULL.
fn path_of(call: &Call<'_>, args: &[Value], function: &str, append: bool) -> SqlResult<Path> {
    match text_of(call, args, 1, function)? {
        Some(text) => Path::parse(&text, append),
        None => {
            let error = SqlError::new(messages::ARGUMENT_TYPE_INVALID, &[&"NULL", &2, &function]);
            Err(error.with_state(8))
        }
    }
}

fn nvarchar(units: &[u16]) -> SqlResult<Value> {
    os::values::room(units.len() * 2)?;
    Ok(Value::NChar(text::bytes_of_units(units).into()))
}

fn is_json(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let Some(text) = text_of(call, args, 0, "isjson")? else { return Ok(Value::Null) };
    let wanted = args.get(1).and_then(Value::as_text);
    let kind = match Reader::new(&text).whole() {
        Ok(span) => span.kind,
        Err(e) if e.number() == messages::JSON_TEXT_INVALID.number => return Ok(Value::Int(0)),
        Err(e) => return Err(e),
    };
    let fits = match wanted.as_deref() {
        None => kind.is_container(),
        Some("VALUE") => true,
        Some("ARRAY") => kind == Kind::Array,
        Some("OBJECT") => kind == Kind::Object,
        Some(_) => matches!(kind, Kind::String | Kind::Number),
    };
    Ok(Value::Int(i32::from(fits)))
}

/// 13608 of a strict path.
fn missing(path: &Path) -> SqlResult<Value> {
    match path.strict {
        true => Err(SqlError::new(messages::JSON_PROPERTY_MISSING, &[])),
        false => Ok(Value::Null),
    }
}

fn json_value(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let path = path_of(call, args, "JSON_VALUE", false)?;
    let Some(text) = text_of(call, args, 0, "json_value")? else { return Ok(Value::Null) };
    let Some(span) = Reader::new(&text).find(&path)? else { return missing(&path) };
    scalar(&text, &span, &path)
}

/// What JSON_VALUE answers of a value.
fn scalar(text: &[u16], span: &Span, path: &Path) -> SqlResult<Value> {
    const UNITS_MAX: usize = 4000;
    let fault = match span.kind {
        Kind::Null => return Ok(Value::Null),
        Kind::Number | Kind::Bool => return nvarchar(&text[span.at.clone()]),
        Kind::String => {
            let units = unescaped(text, &span.at)?;
            if units.len() <= UNITS_MAX {
                return nvarchar(&units);
            }
            SqlError::new(messages::JSON_STRING_TRUNCATED, &[])
        }
        Kind::Array | Kind::Object => {
            SqlError::new(messages::JSON_SCALAR_MISSING, &[]).with_state(2)
        }
    };
    if path.strict { Err(fault) } else { Ok(Value::Null) }
}

fn json_query(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let path = match args.len() {
        1 => Path::default(),
        _ => path_of(call, args, "JSON_QUERY", false)?,
    };
    let Some(text) = text_of(call, args, 0, "json_query")? else { return Ok(Value::Null) };
    let Some(span) = Reader::new(&text).find(&path)? else { return missing(&path) };
    fragment(&text, &span, &path, 2)
}

/// What JSON_QUERY answers of a value.
fn fragment(text: &[u16], span: &Span, path: &Path, state: u8) -> SqlResult<Value> {
    match span.kind {
        Kind::Array | Kind::Object => nvarchar(&text[span.at.clone()]),
        Kind::Null => Ok(Value::Null),
        _ if path.strict => {
            Err(SqlError::new(messages::JSON_OBJECT_MISSING, &[]).with_state(state))
        }
        _ => Ok(Value::Null),
    }
}

fn json_path_exists(call: &mut Call<'_>, args: &[Value]) -> SqlResult<Value> {
    let path = path_of(call, args, "JSON_PATH_EXISTS", false)?;
    let Some(text) = text_of(call, args, 0, "json_path_exists")? else { return Ok(Value::Null) };
    match Reader::new(&text).find(&path) {
        Ok(found) => Ok(Value::Int(i32::from(found.is_some()))),
        Err(e) if e.number() == messages::JSON_TEXT_INVALID.number => Ok(Value::Int(0)),
        Err(e) => Err(e),
    }
}

/// A new value is text, a number or a bit.
fn modify_result(types: &[SqlType]) -> SqlResult<SqlType> {
    match types[2].family() {
        Family::Money | Family::Temporal | Family::Binary | Family::Guid => {
            Err(invalid_argument(types[2], 2, "json_modify"))
        }
        _ => Ok(SqlType::NVARCHAR_MAX),
    }
}

fn json_modify(call: &mut Call<'_>, args: &[Value], raw: bool) -> SqlResult<Value> {
    let path = path_of(call, args, "JSON_MODIFY", true)?;
    let Some(text) = text_of(call, args, 0, "json_modify")? else { return Ok(Value::Null) };
    let mut written = String::new();
    if !args[2].is_null() {
        push_value(&args[2], call.arg_types[2], raw, &mut written)?;
    }
    os::values::room(2 * (written.len() + text.len()))?;
    let new: Vec<u16> = written.encode_utf16().collect();
    let new = (!args[2].is_null()).then_some(new.as_slice());
    let changed = modify::modify(&text, &path, new).map_err(|e| {
        let text_error = e.number() == messages::JSON_TEXT_INVALID.number;
        if text_error { e.with_state(7) } else { e }
    })?;
    nvarchar(&changed)
}
