//! Values cut and filled to the length of a type, and the error where no conversion exists.

use crate::{Bytes, Family, Length, SqlType, Value, text, within_longest};
use base::{SqlError, SqlResult, messages};

/// The bytes cut to a type's length, and filled where the type is of fixed length. `fill` is one
/// character.
pub(super) fn sized(bytes: &Bytes, to: SqlType, fill: &[u8]) -> SqlResult<Bytes> {
    let (limit, fixed) = limits(to);
    if bytes.len() > limit {
        let longest = to.is_max();
        return if longest {
            within_longest(bytes.len()).map(|()| bytes.clone())
        } else {
            Ok(Bytes::new(&bytes[..limit]))
        };
    }
    if !fixed || bytes.len() == limit {
        return Ok(bytes.clone());
    }
    let mut full = bytes.to_vec();
    full.extend(fill.iter().cycle().take(limit - bytes.len()));
    Ok(Bytes::from(full))
}

/// So much of a text as can be in a type, where each `width` bytes of it come of one character.
/// What is longer than any value is kept whole: it fails.
pub(super) fn within(bytes: &Bytes, to: SqlType, width: usize) -> &[u8] {
    let (limit, _) = limits(to);
    let from = if width == 2 { limit / 2 } else { limit.saturating_mul(2) };
    if to.is_max() { bytes } else { &bytes[..bytes.len().min(from)] }
}

/// A type's longest string in bytes, and whether every string has that length.
pub(super) fn limits(to: SqlType) -> (usize, bool) {
    match to {
        SqlType::Char(n) | SqlType::Binary(n) => (n as usize, true),
        SqlType::RowVersion => (8, true),
        SqlType::NChar(n) => (n as usize * 2, true),
        SqlType::NVarChar(Length::N(n)) => (n as usize * 2, false),
        SqlType::VarChar(l) | SqlType::NVarChar(l) | SqlType::VarBinary(l) => (l.limit(), false),
        SqlType::Text | SqlType::NText | SqlType::Image => (Length::Max.limit(), false),
        _ => (0, false),
    }
}

/// ASCII text as a value of a character type, cut and filled as it prescribes.
pub(super) fn text_value(ascii: &str, to: SqlType) -> SqlResult<Value> {
    if to.family() == Family::NChar {
        sized(&text::encoded_utf16(ascii)?, to, b" \0").map(Value::NChar)
    } else {
        sized(&text::encoded_1252(ascii)?, to, b" ").map(Value::Char)
    }
}

pub(super) fn not_allowed(from: SqlType, to: SqlType) -> SqlError {
    SqlError::new(messages::EXPLICIT_NOT_ALLOWED, &[&from.error_name(), &to.error_name()])
}
