//! Conversions of varchar in other code pages than 1252.
//!
//! Characters become others only where the pages differ; what is cut to a length is cut between
//! characters.

use super::sized::{limits, not_allowed, sized};
use super::{convert_dated, explicit_allowed, from_text, xml};
use crate::collation::{trim_char, trim_nchar};
use crate::datetime::Dialect;
use crate::{Bytes, CodePage, Collation, Family, SqlType, Value, within_longest};
use base::{SqlError, SqlResult, messages};

/// Converts a value whose characters are in the first collation's page, or become some in the
/// second one's.
pub(super) fn convert(
    value: &Value,
    from: SqlType,
    to: SqlType,
    style: i32,
    dialect: Dialect,
    collations: (Collation, Collation),
) -> SqlResult<Value> {
    if (from.is_text_image() || to.is_text_image()) && from != to && !explicit_allowed(from, to) {
        return Err(not_allowed(from, to));
    }
    let (page, wanted) = (collations.0.code_page(), collations.1.code_page());
    match (value, to.family()) {
        (Value::Variant(v), _) => {
            let own = v.collation().unwrap_or(collations.0);
            convert(v.value(), v.sql_type(), to, style, dialect, (own, collations.1))
        }
        (Value::Char(b), Family::Char) => {
            room(b.len(), page, wanted)?;
            let bytes = if page == wanted { b.clone() } else { page.recode(b, wanted).into() };
            Ok(Value::Char(sized_in(&bytes, to, wanted)?))
        }
        (Value::Char(b), Family::NChar) => {
            os::values::room(2 * b.len())?;
            Ok(Value::NChar(sized(&page.widen(b).into(), to, b" \0")?))
        }
        (Value::NChar(b), Family::Char) => {
            os::values::room(2 * b.len())?;
            Ok(Value::Char(sized_in(&wanted.narrow(b).into(), to, wanted)?))
        }
        (Value::Char(b), family) if family != Family::Binary && !b.is_ascii() => {
            os::values::room(3 * b.len())?;
            match to {
                // The bytes are in the encoding that the document names, else in the page.
                SqlType::Xml if ::xml::names_encoding(b) => xml::of(value, from, style),
                SqlType::Xml => {
                    let wide = Value::NChar(page.widen(b).into());
                    xml::of(&wide, SqlType::NVARCHAR_MAX, style)
                }
                _ => from_text::convert(&page.decode(b), from, to, style, dialect),
            }
        }
        (Value::Xml(_), Family::Char) => {
            let wide = convert_dated(value, from, SqlType::NVARCHAR_MAX, style, dialect)?;
            let whole = wide.as_bytes().unwrap_or_default();
            let kept = wanted.narrow(whole);
            if wanted.widen(&kept) != whole {
                return Err(SqlError::new(messages::XML_COLLATION, &[]));
            }
            if kept.len() > limits(to).0 && !to.is_max() {
                return Err(SqlError::new(messages::XML_TARGET_SHORT, &[]));
            }
            Ok(Value::Char(sized_in(&kept.into(), to, wanted)?))
        }
        _ => convert_dated(value, from, to, style, dialect),
    }
}

fn room(bytes: usize, page: CodePage, wanted: CodePage) -> SqlResult<()> {
    if page == wanted { Ok(()) } else { os::values::room(4 * bytes) }
}

/// Text in a page cut to a type's length between characters, and filled where its length is fixed.
fn sized_in(bytes: &Bytes, to: SqlType, page: CodePage) -> SqlResult<Bytes> {
    let (limit, _) = limits(to);
    if bytes.len() <= limit || page.is_single_byte() {
        return sized(bytes, to, b" ");
    }
    if to.is_max() {
        return within_longest(bytes.len()).map(|()| bytes.clone());
    }
    sized(&Bytes::new(&bytes[..page.floor(bytes, limit)]), to, b" ")
}

/// Whether text has lost more than blanks at its end.
pub(super) fn is_cut(value: &Value, converted: &Value, collations: (Collation, Collation)) -> bool {
    let (page, wanted) = (collations.0.code_page(), collations.1.code_page());
    match (value, converted) {
        (Value::Char(all), Value::Char(kept)) if page == wanted => {
            trim_char(all).len() > kept.len()
        }
        (Value::Char(all), Value::Char(kept)) => {
            trim_char(&page.recode(all, wanted)).len() > kept.len()
        }
        (Value::NChar(all), Value::NChar(kept)) => trim_nchar(all).len() > kept.len(),
        (Value::Char(all), Value::NChar(kept)) => trim_nchar(&page.widen(all)).len() > kept.len(),
        (Value::NChar(all), Value::Char(kept)) => trim_char(&wanted.narrow(all)).len() > kept.len(),
        _ => false,
    }
}
