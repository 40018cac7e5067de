//! The conversion matrix: which conversions a statement may ask for, with CAST or without.

use crate::{Family, SqlType, Variant};
use base::{SqlError, SqlResult, messages};

/// How far a conversion exists.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConversionMode {
    Implicitly,
    Explicitly,
    Never,
}

fn allowed(from: SqlType, to: SqlType) -> ConversionMode {
    use ConversionMode::{Explicitly, Implicitly, Never};
    if from.is_text_image() || to.is_text_image() {
        return if near(from, to) { Implicitly } else { Never };
    }
    let text = |f| matches!(f, Family::Char | Family::NChar);
    let old = |t| matches!(t, SqlType::DateTime | SqlType::SmallDateTime);
    match (from.family(), to.family()) {
        (Family::Xml, Family::Xml) => Implicitly,
        (Family::Xml, _) if to.is_text_image() => Never,
        (Family::Xml, Family::Binary) if to != SqlType::RowVersion => Explicitly,
        (Family::Xml, b) if text(b) => Explicitly,
        (Family::Binary, Family::Xml) => Implicitly,
        (a, Family::Xml) if text(a) => Implicitly,
        (Family::Xml, _) | (_, Family::Xml) => Never,
        (Family::Variant, Family::Variant) => Implicitly,
        (Family::Variant, _) if to != SqlType::RowVersion => Explicitly,
        (_, Family::Variant) if Variant::admits(from) => Implicitly,
        (Family::Variant, _) | (_, Family::Variant) => Never,
        (a, b) if text(a) && text(b) => Implicitly,
        // Money prints in more than one way.
        (Family::Money, b) if text(b) => Explicitly,
        (a, Family::Binary) if text(a) => Explicitly,
        (a, b) if text(a) || text(b) => Implicitly,
        (Family::Temporal, Family::Temporal) => match (from, to) {
            (SqlType::Date, SqlType::Time(_)) | (SqlType::Time(_), SqlType::Date) => Never,
            _ => Implicitly,
        },
        (Family::Temporal, Family::Binary) => Explicitly,
        (Family::Binary, Family::Temporal) if old(to) => Implicitly,
        (Family::Binary, Family::Temporal) => Explicitly,
        (Family::Temporal, b) if b != Family::Guid && old(from) => Explicitly,
        (a, Family::Temporal) if a != Family::Guid && old(to) => Implicitly,
        (Family::Temporal, _) | (_, Family::Temporal) => Never,
        (Family::Guid, Family::Guid | Family::Binary) | (Family::Binary, Family::Guid) => {
            Implicitly
        }
        (Family::Guid, _) | (_, Family::Guid) => Never,
        (Family::Binary, Family::Float) => Never,
        _ => Implicitly,
    }
}

/// Whether text, ntext or image and another type are near enough: characters and characters,
/// bytes and bytes, image also of varchar.
fn near(from: SqlType, to: SqlType) -> bool {
    match (from.family(), to.family()) {
        (Family::Binary, Family::Binary) => true,
        (Family::Char, Family::Binary) => from != SqlType::Text,
        _ => from.is_character() && to.is_character(),
    }
}

/// Whether a statement may convert without CAST.
pub fn implicit_allowed(from: SqlType, to: SqlType) -> bool {
    allowed(from, to) == ConversionMode::Implicitly
}

/// Whether CAST may convert.
pub fn explicit_allowed(from: SqlType, to: SqlType) -> bool {
    allowed(from, to) != ConversionMode::Never
}

/// The error of a conversion that may not happen implicitly.
///
/// # Errors
/// 257 when CAST would do, 206 when no conversion exists.
pub fn check_implicit(from: SqlType, to: SqlType) -> SqlResult<()> {
    let message = match allowed(from, to) {
        ConversionMode::Implicitly => return Ok(()),
        ConversionMode::Explicitly => messages::IMPLICIT_NOT_ALLOWED,
        ConversionMode::Never => messages::OPERAND_CLASH,
    };
    Err(SqlError::new(message, &[&from.error_name(), &to.error_name()]))
}

/// The error of a CAST that does not exist.
///
/// # Errors
/// 529.
pub fn check_explicit(from: SqlType, to: SqlType) -> SqlResult<()> {
    if explicit_allowed(from, to) { Ok(()) } else { Err(super::sized::not_allowed(from, to)) }
}

/// Whether a conversion gives the same for every session, as computed columns that are stored must.
/// `style` is CONVERT's, where there is one.
///
/// Microsoft's "Deterministic and nondeterministic functions" and "CAST and CONVERT": text to
/// dates and times, and datetime and smalldatetime to text, by a style above 100 but for 106, 107,
/// 109, 113 and 130, or by 20 and 21; variants never. Of the newer types to text the pages say
/// nothing: their form without a style is ISO's, and counts as deterministic.
pub fn conversion_is_deterministic(from: SqlType, to: SqlType, style: Option<i32>) -> bool {
    let old = |t| matches!(t, SqlType::DateTime | SqlType::SmallDateTime);
    let fixed = matches!(style, Some(20 | 21))
        || style.is_some_and(|s| s > 100 && !matches!(s, 106 | 107 | 109 | 113 | 130));
    match (from, to) {
        (SqlType::Variant, SqlType::Variant) => true,
        (SqlType::Variant, _) => false,
        _ if from.is_character() && to.is_temporal() => fixed,
        _ if old(from) && to.is_character() => fixed,
        _ if from.is_temporal() && to.is_character() => fixed || matches!(style, None | Some(0)),
        _ => true,
    }
}
