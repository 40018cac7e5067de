//! Types whose values do not compare, and functions that take no values of some types.
//!
//! text, ntext and image can be tested by IS NULL and LIKE alone, xml by IS NULL. Each clause has
//! an error of its own for them.

use crate::expressions::collation::check_column;
use base::{SqlError, SqlResult, messages};
use plan::ScalarType;
use types::{SqlType, comparison_type};

/// 306, of xml 305: ORDER BY, GROUP BY, PARTITION BY.
pub(crate) fn check_sorted(t: SqlType) -> SqlResult<()> {
    if t == SqlType::Xml {
        return Err(SqlError::new(messages::XML_NOT_COMPARABLE, &[&t.name()]));
    }
    match t.is_text_image() {
        true => Err(SqlError::new(messages::TEXT_NOT_COMPARABLE, &[]).with_state(2)),
        false => Ok(()),
    }
}

/// 421: SELECT DISTINCT.
pub(crate) fn check_distinct(t: SqlType) -> SqlResult<()> {
    match t.is_text_image() || t == SqlType::Xml {
        true => Err(SqlError::new(messages::DISTINCT_NOT_COMPARABLE, &[&t.error_name()])),
        false => Ok(()),
    }
}

/// 5335: UNION, INTERSECT and EXCEPT.
pub(crate) fn check_combined(t: SqlType) -> SqlResult<()> {
    match t.is_text_image() || t == SqlType::Xml {
        true => Err(SqlError::new(messages::UNION_NOT_COMPARABLE, &[&t.error_name()])),
        false => Ok(()),
    }
}

/// The type in which two values are compared by an operation of some name.
///
/// # Errors
/// 402 or 206.
pub(crate) fn compared_as(left: SqlType, right: SqlType, operation: &str) -> SqlResult<SqlType> {
    comparison_type(left, right).map_err(|e| match e.number() {
        number if number == messages::TYPES_INCOMPATIBLE.number => {
            let (left, right) = (left.error_name(), right.error_name());
            SqlError::new(messages::TYPES_INCOMPATIBLE, &[&left, &right, &operation])
        }
        _ => e,
    })
}

/// Functions that take text, ntext and image.
const OF_TEXT: [&str; 7] =
    ["CHOOSE", "CONCAT", "CONCAT_WS", "DATALENGTH", "ISNULL", "PATINDEX", "SUBSTRING"];
/// Functions that take xml.
const OF_XML: [&str; 2] = ["DATALENGTH", "ISNULL"];
/// Functions that take sql_variant.
const OF_VARIANTS: [&str; 10] = [
    "BINARY_CHECKSUM",
    "CHECKSUM",
    "CHOOSE",
    "CONCAT",
    "CONCAT_WS",
    "DATALENGTH",
    "GREATEST",
    "ISNULL",
    "LEAST",
    "SQL_VARIANT_PROPERTY",
];

/// 8116: an argument of a type that the function does not take.
pub(crate) fn check_arguments(function: &str, types: &[SqlType]) -> SqlResult<()> {
    let strange = |t: &SqlType| match t {
        SqlType::Variant => !OF_VARIANTS.contains(&function),
        SqlType::Xml => !OF_XML.contains(&function),
        t => t.is_text_image() && !OF_TEXT.contains(&function),
    };
    let Some(at) = types.iter().position(strange) else { return Ok(()) };
    let (name, function) = (types[at].error_name(), function.to_ascii_lowercase());
    Err(SqlError::new(messages::ARGUMENT_TYPE_INVALID, &[&name, &(at + 1), &function]))
}

/// Whether the item at a place of ORDER BY is something to sort by.
pub(crate) fn check_key(ty: ScalarType, place: usize) -> SqlResult<()> {
    check_sorted(ty.sql_type)?;
    check_column(ty, "ORDER BY", place)
}
