//! Rows as text: the parts of which FOR JSON and FOR XML make their documents.
//!
//! The binder makes one call for each row, whose first argument is the shape of the row: how it
//! is written, and the names of its columns. What the row gives is text; joining the texts is
//! STRING_AGG's. These functions have no names that a statement could call.

mod auto;
mod explicit;
mod json;
mod order;
mod xml;

use crate::call::{Call, Function, NullRule};
use base::{SqlError, SqlResult, messages};
use types::{CodePage, Collation, Family, SqlType, Value, Variant, convert, text};

pub use auto::{AutoForm, AutoShape};
pub use explicit::ExplicitShape;
pub use json::JsonShape;
pub(crate) use json::{escaped as json_escaped, push_text, push_value};
pub(crate) use order::in_order;
pub use order::key_order;
pub use xml::{XmlMode, XmlShape, instruction_target, name_of as xml_name};

/// A row of FOR JSON: its shape, then its values.
pub static JSON_ROW: Function = row("FOR JSON", json::row);
/// A row of FOR XML: its shape, then its values.
pub static XML_ROW: Function = row("FOR XML", xml::row);
/// A row of FOR XML EXPLICIT as a record: its shape, then its values.
pub static XML_RECORD: Function = row("FOR XML EXPLICIT", explicit::record);
/// The document of such records: their shape, then the records, [`RECORDS`] apart.
pub static XML_DOCUMENT: Function =
    Function { min_args: 2, max_args: 2, ..row("XML DOCUMENT", explicit::document) };
/// A row of FOR JSON AUTO or FOR XML AUTO over several tables as a record: its shape, its values.
pub static AUTO_RECORD: Function = row("FOR AUTO", auto::record);
/// The document of such records: their shape, then the records, [`RECORDS`] apart.
pub static AUTO_DOCUMENT: Function =
    Function { min_args: 2, max_args: 2, ..row("AUTO DOCUMENT", auto::document) };
/// What stands between records.
pub const RECORDS: &str = "\u{2}";
/// A value with what it is to be ordered by, for STRING_AGG WITHIN GROUP.
pub static ORDERED: Function = Function {
    min_args: 3,
    result: |_| Ok(SqlType::VARBINARY_MAX),
    ..row("WITHIN GROUP", order::pair)
};

/// A text that was made as a value.
pub(crate) fn made(text: &str) -> SqlResult<Value> {
    text::encoded_utf16(text).map(Value::NChar)
}

const fn row(
    name: &'static str,
    eval: fn(&mut Call<'_>, &[Value]) -> SqlResult<Value>,
) -> Function {
    Function {
        name,
        min_args: 1,
        max_args: 4097,
        result: |_| Ok(SqlType::NVARCHAR_MAX),
        deterministic: false,
        nulls: NullRule::Own,
        date_part: false,
        eval,
    }
}

/// Between the parts of a shape: no name holds it.
const BETWEEN: char = '\u{1}';

/// Between records: no text holds it.
const BETWEEN_RECORDS: char = '\u{2}';

/// A name that a shape and a record can hold.
fn checked(name: &str) -> SqlResult<&str> {
    match name.contains([BETWEEN, BETWEEN_RECORDS]) {
        false => Ok(name),
        true => Err(SqlError::new(messages::SYNTAX_NEAR, &[&name.escape_debug()])),
    }
}

/// What a variant holds; text of another code page than 1252 as its characters.
pub(crate) fn held(variant: &Variant) -> (Value, SqlType) {
    let page = variant.collation().map_or(CodePage::Cp1252, Collation::code_page);
    match variant.value() {
        Value::Char(bytes) if page != CodePage::Cp1252 => {
            (Value::NChar(page.widen(bytes).into()), SqlType::NVARCHAR_MAX)
        }
        value => (value.clone(), variant.sql_type()),
    }
}

/// A value as documents write it; text as it is.
fn written(value: &Value, t: SqlType) -> SqlResult<String> {
    if let Value::Variant(v) = value {
        let (held, t) = held(v);
        return written(&held, t);
    }
    let style = match t {
        SqlType::Float => 2,
        SqlType::Real => 1,
        SqlType::Money | SqlType::SmallMoney => 2,
        _ if t.family() == Family::Temporal => 126,
        _ => 0,
    };
    if let Value::Binary(bytes) = value {
        os::values::room(bytes.len() / 3 * 4)?;
        return Ok(base64(bytes));
    }
    let text = convert(value, t, SqlType::NVARCHAR_MAX, style)?;
    os::values::room(text.heap_bytes())?;
    Ok(text.as_text().unwrap_or_default())
}

/// RFC 4648.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0_u32, |n, &b| n << 8 | u32::from(b)) << (8 * (3 - chunk.len()));
        for n in 0..4 {
            let digit = DIGITS[(group >> (18 - 6 * n) & 63) as usize];
            out.push(if n > chunk.len() { '=' } else { digit as char });
        }
    }
    out
}
