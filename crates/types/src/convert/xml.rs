//! Text and bytes to xml, and back.
//!
//! Styles: 1 keeps white space between tags, 2 allows a DTD, 3 does both.

use super::sized::{not_allowed, sized};
use crate::{ByteBuffer, Family, Length, SqlType, Value, text};
use ::xml::{ParseOptions, Source, Xml};
use base::{SqlError, SqlResult, messages};

/// A value as xml.
pub(super) fn of(value: &Value, from: SqlType, style: i32) -> SqlResult<Value> {
    let options = match style {
        0..=3 => ParseOptions { preserve: style & 1 != 0, dtd: style & 2 != 0 },
        _ => return Err(SqlError::new(messages::STYLE_INVALID, &[&style, &from.error_name()])),
    };
    let parsed = match value {
        Value::Xml(x) => return Ok(Value::Xml(x.clone())),
        Value::Char(bytes) => Xml::parse(Source::Narrow(bytes), options),
        Value::NChar(bytes) => Xml::parse(Source::Wide(&text::decoded_utf16(bytes)?), options),
        Value::Binary(bytes) => Xml::parse(Source::Bytes(bytes), options),
        _ => return Err(not_allowed(from, SqlType::Xml)),
    };
    parsed.map(Value::Xml)
}

/// The text of a value, whole or not at all.
pub(super) fn to_text(value: &Xml, to: SqlType) -> SqlResult<Value> {
    let whole = value.text();
    let wide = to.family() == Family::NChar;
    let bytes = if wide { text::encoded_utf16(&whole)? } else { text::encoded_1252(&whole)? };
    let lost = !wide
        && !whole.is_ascii()
        && whole.encode_utf16().any(|unit| text::byte_of_unit(unit).is_none());
    if lost {
        return Err(SqlError::new(messages::XML_COLLATION, &[]));
    }
    let width = if wide { 2 } else { 1 };
    if bytes.len() > limit(to).saturating_mul(width) {
        return Err(SqlError::new(messages::XML_TARGET_SHORT, &[]));
    }
    let bytes = sized(&bytes, to, if wide { b" \0" } else { b" " })?;
    Ok(if wide { Value::NChar(bytes) } else { Value::Char(bytes) })
}

/// UTF-16 behind its mark.
pub(super) fn to_binary(value: &Xml, to: SqlType) -> SqlResult<Value> {
    let whole = text::encoded_utf16(&value.text())?;
    let mut bytes = ByteBuffer::with_room(whole.len() + 2)?;
    bytes.extend(&[0xFF, 0xFE])?;
    bytes.extend(&whole)?;
    let bytes = bytes.into_bytes();
    if bytes.len() > limit(to) {
        return Err(SqlError::new(messages::XML_TARGET_SHORT, &[]));
    }
    sized(&bytes, to, b"\0").map(Value::Binary)
}

/// The longest value of a string type.
fn limit(to: SqlType) -> usize {
    match to {
        SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => n as usize,
        SqlType::VarChar(l) | SqlType::NVarChar(l) | SqlType::VarBinary(l) => match l {
            Length::N(n) => n as usize,
            Length::Max => i32::MAX as usize,
        },
        _ => 0,
    }
}
