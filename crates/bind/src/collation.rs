//! Which collation an expression has, and what happens where two meet.
//!
//! An explicit one (COLLATE) beats a column's, which beats the database's. Two columns of
//! different collations make a value without one: it can be kept but not compared (468).

use base::{SqlError, SqlResult, messages};
use plan::{Coercibility, Scalar, ScalarType};
use types::Collation;

/// The collation of a result of two operands, of which either may be no text.
pub(crate) fn combined(a: &Scalar, b: &Scalar) -> (Collation, Coercibility) {
    match (a.ty.sql_type.is_character(), b.ty.sql_type.is_character()) {
        (true, false) => (a.ty.collation, a.ty.coercibility),
        (false, true) => (b.ty.collation, b.ty.coercibility),
        _ => meet(a.ty, b.ty),
    }
}

fn meet(a: ScalarType, b: ScalarType) -> (Collation, Coercibility) {
    match a.coercibility.cmp(&b.coercibility) {
        std::cmp::Ordering::Greater => (a.collation, a.coercibility),
        std::cmp::Ordering::Less => (b.collation, b.coercibility),
        std::cmp::Ordering::Equal if a.collation == b.collation => (a.collation, a.coercibility),
        std::cmp::Ordering::Equal => (a.collation, Coercibility::Conflict),
    }
}

/// The collation of a comparison.
///
/// # Errors
/// 468 when both sides insist on their own.
pub(crate) fn of_comparison(a: &Scalar, b: &Scalar, operation: &str) -> SqlResult<Collation> {
    if !(a.ty.sql_type.is_character() && b.ty.sql_type.is_character()) {
        return Ok(combined(a, b).0);
    }
    match combined(a, b) {
        (_, Coercibility::Conflict) => {
            let names: [&dyn std::fmt::Display; 3] =
                [&b.ty.collation.name(), &a.ty.collation.name(), &operation];
            Err(SqlError::new(messages::INCONSISTENT_COLLATION, &names))
        }
        (collation, _) => Ok(collation),
    }
}
