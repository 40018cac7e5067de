//! Conversions between types: CAST, CONVERT and what statements do implicitly.
//!
//! ```text
//! number.rs     numbers to numbers
//! from_text.rs  text to anything
//! to_text.rs    anything to text
//! temporal.rs   dates and times to each other, and as numbers of days
//! binary.rs     bytes to and from the rest
//! xml.rs        text and bytes to xml, and back
//! pages.rs      varchar in other code pages than 1252
//! sized.rs      values cut and filled to the length of a type
//! matrix.rs     which of all these a statement may ask for
//! ```
//!
//! A conversion never consults a session; what of one matters, its language and DATEFORMAT, is an
//! argument of `convert_dated`.

mod binary;
mod from_text;
mod matrix;
mod number;
mod pages;
mod sized;
mod temporal;
mod to_text;
mod xml;

use crate::collation::{trim_char, trim_nchar};
use crate::datetime::{Dialect, names_a_month, names_matter};
use crate::{Bytes, CodePage, Collation, Family, SqlType, Value, Variant, text};
use base::SqlResult;
use sized::{limits, not_allowed, sized, within};

pub use matrix::{
    check_explicit, check_implicit, conversion_is_deterministic, explicit_allowed, implicit_allowed,
};
pub(crate) use number::overflow;
pub use number::{arithmetic_overflow, fit_number};
pub use to_text::float_text;

/// Converts a value to a type, as CONVERT with a style (0 where none is given).
///
/// # Errors
/// 245, 8114, 241, 242, 8115 and their kin when the value has no form in the type; 529 where no
/// conversion exists.
pub fn convert(value: &Value, from: SqlType, to: SqlType, style: i32) -> SqlResult<Value> {
    convert_dated(value, from, to, style, Dialect::default())
}

/// The same with dates as a session writes them.
///
/// # Errors
/// As `convert`.
pub fn convert_dated(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
) -> SqlResult<Value> {
    // What loops convert most, before all that is asked of other pairs.
    match (value, to) {
        (Value::Float(x), SqlType::Int) if x.abs() < f64::from(i32::MAX) => {
            return Ok(Value::Int(*x as i32));
        }
        (Value::Int(_), SqlType::VarChar(_)) => {
            return to_text::convert(value, from, to, style, dialect);
        }
        _ => {}
    }
    if value.is_null() || from == to {
        return Ok(value.clone());
    }
    if to == SqlType::Variant {
        return to_variant(value, from, Collation::default());
    }
    if (from.is_text_image() || to.is_text_image()) && !explicit_allowed(from, to) {
        return Err(not_allowed(from, to));
    }
    match (value, to) {
        (Value::Variant(v), _) => {
            let own = v.collation().unwrap_or_default();
            let collations = (own, Collation::default());
            return convert_collated(v.value(), v.sql_type(), to, style, dialect, collations);
        }
        (Value::Int(n), SqlType::BigInt) => return Ok(Value::BigInt(*n as i64)),
        (_, SqlType::Xml) => return xml::of(value, from, style),
        (Value::Char(b), _) => return from_char(b, from, to, style, dialect),
        (Value::NChar(b), _) => return from_nchar(b, from, to, style, dialect),
        _ => {}
    }
    match (from.family(), to.family()) {
        (_, Family::Char | Family::NChar) => to_text::convert(value, from, to, style, dialect),
        (_, Family::Binary) => binary::to_binary(value, from, to),
        (Family::Binary, _) => binary::from_binary(value, from, to),
        (Family::Temporal, Family::Temporal) => temporal::between(value, from, to),
        (Family::Temporal, _) if to.is_number() => temporal::to_number(value, from, to),
        (_, Family::Temporal) if from.is_number() => temporal::from_number(value, from, to),
        _ if from.is_number() && to.is_number() => number::convert(value, from, to),
        _ => Err(not_allowed(from, to)),
    }
}

/// The same with the collations of the characters: varchar is in the code page of its collation,
/// and a variant brings its own along.
///
/// # Errors
/// As `convert`.
pub fn convert_collated(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
    (source, target): (Collation, Collation),
) -> SqlResult<Value> {
    match to {
        SqlType::Variant if from != to && !value.is_null() => to_variant(value, from, source),
        _ if is_first_page(source) && is_first_page(target) => {
            convert_dated(value, from, to, style, dialect)
        }
        _ => pages::convert(value, from, to, style, dialect, (source, target)),
    }
}

#[inline]
fn is_first_page(collation: Collation) -> bool {
    collation.code_page() == CodePage::Cp1252
}

/// Whether the conversion may ask how the session writes dates: between text and dates, also
/// those of a variant.
pub fn is_dated(from: SqlType, to: SqlType) -> bool {
    let pair = |date: SqlType, text: SqlType| {
        date.is_temporal() && (text.is_character() || text == SqlType::Variant)
    };
    pair(to, from) || pair(from, to) || (from == SqlType::Variant && to.is_character())
}

/// Whether names of months may decide what a value becomes by a conversion that is dated.
pub fn is_named(value: &Value, from: SqlType, to: SqlType, style: i32) -> bool {
    match value {
        Value::Variant(v) => is_named(v.value(), v.sql_type(), to, style),
        Value::Char(bytes) if to.is_temporal() => names_matter(bytes.iter().map(|&b| b.into())),
        Value::NChar(bytes) if to.is_temporal() => names_matter(text::units(bytes)),
        _ => from.is_temporal() && to.is_character() && names_a_month(style),
    }
}

fn to_variant(value: &Value, from: SqlType, collation: Collation) -> SqlResult<Value> {
    if matches!(value, Value::Variant(_)) {
        return Ok(value.clone());
    }
    let variant = Variant::new(value.clone(), from, collation);
    Ok(Value::Variant(variant.ok_or_else(|| not_allowed(from, SqlType::Variant))?.into()))
}

fn from_char(
    b: &Bytes,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
) -> SqlResult<Value> {
    match to.family() {
        Family::Char => Ok(Value::Char(sized(b, to, b" ")?)),
        Family::NChar => Ok(Value::NChar(sized(&text::widened(within(b, to, 2))?, to, b" \0")?)),
        Family::Binary => binary::text_to_binary(b, false, from, to, style),
        _ if b.is_ascii() => {
            let ascii = std::str::from_utf8(b).expect("ASCII is UTF-8");
            from_text::convert(ascii, from, to, style, dialect)
        }
        _ => from_text::convert(&text::decoded_1252(b)?, from, to, style, dialect),
    }
}

fn from_nchar(
    b: &Bytes,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
) -> SqlResult<Value> {
    match to.family() {
        Family::NChar => Ok(Value::NChar(sized(b, to, b" \0")?)),
        Family::Char => Ok(Value::Char(sized(&text::narrowed(within(b, to, 1))?, to, b" ")?)),
        Family::Binary => binary::text_to_binary(b, true, from, to, style),
        _ => from_text::convert(&text::decoded_utf16(b)?, from, to, style, dialect),
    }
}

/// A value on its way into a column.
#[derive(Clone, PartialEq, Debug)]
pub enum Fit {
    /// It fits: store this.
    Fits(Value),
    /// Characters or bytes other than trailing blanks would be lost: error 2628 with this text.
    Truncated(Value),
}

/// Converts a value for storing in a column of a type, as INSERT and UPDATE do: unlike CAST it
/// reports a string that would lose more than blanks (or zeros of a binary) at its end. The
/// collations are the value's and the column's.
///
/// # Errors
/// As `convert`.
pub fn coerce_for_column(
    value: &Value,
    from: SqlType,
    to: SqlType,
    dialect: Dialect,
    (source, target): (Collation, Collation),
) -> SqlResult<Fit> {
    if let (Value::Char(text), SqlType::VarChar(length)) = (value, to)
        && text.len() <= length.limit()
        && source.code_page() == target.code_page()
    {
        return Ok(Fit::Fits(value.clone()));
    }
    let converted = convert_collated(value, from, to, 0, dialect, (source, target))?;
    let longest = limits(to).0;
    let first = is_first_page(source) && is_first_page(target);
    let lost = match (value, to.family()) {
        (Value::Char(_) | Value::NChar(_), Family::Char | Family::NChar) if !first => {
            pages::is_cut(value, &converted, (source, target))
        }
        (Value::Char(b), Family::Char) => trim_char(b).len() > longest,
        (Value::NChar(b), Family::NChar) => trim_nchar(b).len() > longest,
        (Value::Char(b), Family::NChar) => trim_char(b).len() * 2 > longest,
        (Value::NChar(b), Family::Char) => trim_nchar(b).len() / 2 > longest,
        (Value::Binary(b), Family::Binary) => {
            b.iter().rposition(|&x| x != 0).map_or(0, |i| i + 1) > longest
        }
        (Value::Binary(b), Family::Char | Family::NChar) => b.len() > longest,
        _ => false,
    };
    Ok(if lost { Fit::Truncated(converted) } else { Fit::Fits(converted) })
}

#[cfg(test)]
mod tests;
