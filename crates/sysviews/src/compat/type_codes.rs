//! Codes of types from before `sys.types`: `type` and `usertype` of systypes and syscolumns.
//!
//! They are from the rows of SQL Server's systypes. Later types have 0.

use crate::cell::int;
use types::{Family, SqlType, Value};

/// `type`: how values are stored.
pub(super) fn stored_as(t: SqlType, numeric: bool) -> Value {
    Value::TinyInt(match t {
        SqlType::Image => 34,
        SqlType::Text | SqlType::NText => 35,
        SqlType::UniqueIdentifier | SqlType::VarBinary(_) => 37,
        SqlType::VarChar(_) | SqlType::NVarChar(_) | SqlType::Variant => 39,
        SqlType::Binary(_) | SqlType::RowVersion => 45,
        SqlType::Char(_) | SqlType::NChar(_) => 47,
        SqlType::TinyInt => 48,
        SqlType::Bit => 50,
        SqlType::SmallInt => 52,
        SqlType::Decimal { .. } if !numeric => 55,
        SqlType::Int => 56,
        SqlType::SmallDateTime => 58,
        SqlType::Real => 59,
        SqlType::Money => 60,
        SqlType::DateTime => 61,
        SqlType::Float => 62,
        SqlType::Decimal { .. } | SqlType::BigInt => 63,
        SqlType::SmallMoney => 122,
        _ => 0,
    })
}

/// `usertype`: the number of a type's name; for a user type its `user_type_id`.
pub(super) fn user_type(t: SqlType, user_type_id: i32) -> Value {
    const SYSNAME: i32 = 256;
    Value::SmallInt(match (user_type_id, t) {
        (SYSNAME, _) => 18,
        (108, _) => 10,
        (SYSNAME.., _) => return small(user_type_id),
        (_, SqlType::Char(_)) => 1,
        (_, SqlType::VarChar(_)) => 2,
        (_, SqlType::Binary(_)) => 3,
        (_, SqlType::VarBinary(_)) => 4,
        (_, SqlType::TinyInt) => 5,
        (_, SqlType::SmallInt) => 6,
        (_, SqlType::Int) => 7,
        (_, SqlType::Float) => 8,
        (_, SqlType::Money) => 11,
        (_, SqlType::DateTime) => 12,
        (_, SqlType::Bit) => 16,
        (_, SqlType::Text) => 19,
        (_, SqlType::Image) => 20,
        (_, SqlType::SmallMoney) => 21,
        (_, SqlType::SmallDateTime) => 22,
        (_, SqlType::Real) => 23,
        (_, SqlType::Decimal { .. }) => 24,
        (_, SqlType::RowVersion) => 80,
        _ => 0,
    })
}

/// A smallint; NULL beyond its range, as the views say of ids.
pub(super) fn small(n: i32) -> Value {
    i16::try_from(n).map_or(Value::Null, Value::SmallInt)
}

/// `prec`: digits or characters; -1 for large values.
pub(super) fn precision(t: SqlType) -> Value {
    let bytes = t.max_length();
    Value::SmallInt(match (t.family(), t) {
        (_, SqlType::Text | SqlType::NText | SqlType::Image) => return Value::Null,
        (Family::Variant, _) => 0,
        (Family::Guid, _) => 16,
        (Family::Char | Family::Binary | Family::Xml, _) => bytes,
        (Family::NChar, _) if bytes > 0 => bytes / 2,
        (Family::NChar, _) => bytes,
        _ => i16::from(t.precision()),
    })
}

/// `scale`: NULL for a type without scale.
pub(super) fn scale(t: SqlType) -> Option<u8> {
    match t.family() {
        Family::Integer if t == SqlType::Bit => None,
        Family::Integer | Family::Decimal | Family::Money | Family::Temporal => Some(t.scale()),
        _ => None,
    }
}

/// A collation's name and number; NULL for a type without collation.
pub(super) fn collation(t: SqlType, collation: types::Collation) -> [Value; 2] {
    if !t.is_character() {
        return [Value::Null, Value::Null];
    }
    [int(collation.id()), Value::nvarchar(collation.name())]
}
