//! Conversions between types: CAST, CONVERT and what statements do implicitly.

use crate::{SqlType, Value};
use base::{SqlError, SqlResult, messages};

/// Converts a value to a type, as CONVERT with a style (0 where none is given).
///
/// # Errors
/// 245, 8114, 241, 242, 8115 and their kin when the value has no form in the type.
pub fn convert(value: &Value, from: SqlType, to: SqlType, style: i32) -> SqlResult<Value> {
    if value.is_null() || from == to {
        return Ok(value.clone());
    }
    let _ = style;
    Err(SqlError::new(messages::NUMERIC_OVERFLOW_CONVERT, &[&from.error_name(), &to.error_name()]))
}

/// A value as PRINT shows it.
pub fn display(value: &Value) -> String {
    value.as_text().unwrap_or_else(|| format!("{value:?}"))
}

/// A value on its way into a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Fit {
    /// It fits: store this.
    Fits(Value),
    /// Characters or bytes other than trailing blanks would be lost: error 2628 with this text.
    Truncated(Value),
}

/// Whether a statement may convert without CAST.
pub fn implicit_allowed(from: SqlType, to: SqlType) -> bool {
    let _ = (from, to);
    true
}

/// Whether CAST may convert.
pub fn explicit_allowed(from: SqlType, to: SqlType) -> bool {
    let _ = (from, to);
    true
}

/// Converts a value for storing in a column of a type, as INSERT and UPDATE do.
///
/// # Errors
/// As `convert`.
pub fn coerce_for_column(value: &Value, from: SqlType, to: SqlType) -> SqlResult<Fit> {
    convert(value, from, to, 0).map(Fit::Fits)
}
