//! A type as it is written: `varchar(max)`, `decimal(12, 2)`, `float(24)`.

use crate::{Length, SqlType};
use base::{SqlError, SqlResult, messages};

/// A number, or `max`, between the brackets after a type's name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeSize {
    /// A number.
    N(u32),
    /// `max`
    Max,
}

/// The type that a system type's name and its sizes mean. `length_default` is the length of a
/// string type without one: 1 in a declaration, 30 in CAST and CONVERT.
///
/// # Errors
/// 243 for a name that is no system type, 2716 for a size that the type does not take, 131, 1001,
/// 1002, 2750 or 2751 for a size out of range.
pub fn declare(name: &str, sizes: &[TypeSize], length_default: u16) -> SqlResult<SqlType> {
    let bare = SqlType::by_name(name, length_default)
        .ok_or_else(|| SqlError::new(messages::TYPE_UNKNOWN, &[&name]))?;
    let no_width = || SqlError::new(messages::COLUMN_TYPE_NO_WIDTH, &[&1, &name]);
    let (Some(&first), second) = (sizes.first(), sizes.get(1)) else { return Ok(bare) };
    if sizes.len() > 2 || (second.is_some() && !matches!(bare, SqlType::Decimal { .. })) {
        return Err(no_width());
    }
    match bare {
        // sysname stands for a whole type.
        _ if bare == SqlType::SYSNAME && name.eq_ignore_ascii_case("sysname") => Err(no_width()),
        SqlType::Decimal { .. } => decimal(first, second.copied()),
        SqlType::Float => match first {
            TypeSize::N(1..=24) => Ok(SqlType::Real),
            TypeSize::N(25..=53) => Ok(SqlType::Float),
            TypeSize::N(n) => Err(invalid_length(n)),
            TypeSize::Max => Err(no_width()),
        },
        SqlType::Time(_) => scale(first).map(SqlType::Time),
        SqlType::DateTime2(_) => scale(first).map(SqlType::DateTime2),
        SqlType::DateTimeOffset(_) => scale(first).map(SqlType::DateTimeOffset),
        SqlType::Char(_) => length(name, first, 8000).and_then(|l| bounded(l, SqlType::Char)),
        SqlType::NChar(_) => length(name, first, 4000).and_then(|l| bounded(l, SqlType::NChar)),
        SqlType::Binary(_) => length(name, first, 8000).and_then(|l| bounded(l, SqlType::Binary)),
        SqlType::VarChar(_) => length(name, first, 8000).map(SqlType::VarChar),
        SqlType::NVarChar(_) => length(name, first, 4000).map(SqlType::NVarChar),
        SqlType::VarBinary(_) => length(name, first, 8000).map(SqlType::VarBinary),
        _ => Err(no_width()),
    }
}

fn invalid_length(n: u32) -> SqlError {
    SqlError::new(messages::TYPE_LENGTH_INVALID, &[&1, &n])
}

fn length(name: &str, size: TypeSize, limit: u16) -> SqlResult<Length> {
    match size {
        TypeSize::Max => Ok(Length::Max),
        TypeSize::N(0) => Err(invalid_length(0)),
        TypeSize::N(n) if n > limit as u32 => {
            let args: [&dyn std::fmt::Display; 4] = [&n, &"type", &name, &limit];
            Err(SqlError::new(messages::SIZE_EXCEEDS_MAX, &args).with_state(3))
        }
        TypeSize::N(n) => Ok(Length::N(n as u16)),
    }
}

fn bounded(l: Length, make: fn(u16) -> SqlType) -> SqlResult<SqlType> {
    match l {
        Length::N(n) => Ok(make(n)),
        Length::Max => Err(SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"max"])),
    }
}

fn scale(size: TypeSize) -> SqlResult<u8> {
    match size {
        TypeSize::N(n @ 0..=7) => Ok(n as u8),
        TypeSize::N(n) => Err(SqlError::new(messages::SCALE_INVALID, &[&1, &n])),
        TypeSize::Max => Err(SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"max"])),
    }
}

fn decimal(precision: TypeSize, scale: Option<TypeSize>) -> SqlResult<SqlType> {
    let (TypeSize::N(p), TypeSize::N(s)) = (precision, scale.unwrap_or(TypeSize::N(0))) else {
        return Err(SqlError::new(messages::SYNTAX_NEAR_KEYWORD, &[&"max"]));
    };
    if p == 0 {
        return Err(invalid_length(0));
    }
    if p > 38 {
        return Err(SqlError::new(messages::PRECISION_EXCEEDS, &[&1, &p, &38]));
    }
    if s > p {
        return Err(SqlError::new(messages::SCALE_EXCEEDS, &[&1, &s, &p]));
    }
    Ok(SqlType::decimal(p as u8, s as u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use TypeSize::{Max, N};

    #[test]
    fn written_types_mean_what_they_say() {
        for (name, sizes, t) in [
            ("INT", &[][..], "int"),
            ("decimal", &[], "decimal(18,0)"),
            ("numeric", &[N(12), N(2)], "decimal(12,2)"),
            ("float", &[N(24)], "real"),
            ("float", &[N(53)], "float"),
            ("varchar", &[], "varchar(1)"),
            ("varchar", &[Max], "varchar(max)"),
            ("NVARCHAR", &[N(4000)], "nvarchar(4000)"),
            ("datetime2", &[N(3)], "datetime2(3)"),
            ("time", &[], "time(7)"),
            ("sysname", &[], "nvarchar(128)"),
        ] {
            assert_eq!(declare(name, sizes, 1).map(|t| t.to_string()), Ok(t.to_owned()), "{name}");
        }
        for (name, sizes, number) in [
            ("foo", &[][..], 243),
            ("int", &[N(4)], 2716),
            ("varchar", &[N(8001)], 131),
            ("nchar", &[N(4001)], 131),
            ("char", &[N(0)], 1001),
            ("time", &[N(8)], 1002),
            ("decimal", &[N(39)], 2750),
            ("decimal", &[N(5), N(6)], 2751),
            ("varchar", &[N(5), N(6)], 2716),
        ] {
            assert_eq!(declare(name, sizes, 1).map_err(|e| e.number()), Err(number), "{name}");
        }
    }
}
