//! `SqlType`: a SQL data type with its length, precision or scale; small and `Copy`.
//!
//! `decimal` and `numeric` are one type here, as they are in SQL Server in all but name; a
//! catalog keeps which word the user wrote as the user type id. Collation and nullability belong
//! to an expression or column, not to the type.

use std::fmt;

/// The length of a variable-length type, in characters of the type (bytes for binary).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Length {
    /// At most so many.
    N(u16),
    /// `max`: up to 2^31 - 1 bytes.
    Max,
}

impl Length {
    /// The longest result of joining two strings when neither may exceed `limit` in line.
    pub fn sum(self, other: Length, limit: u16) -> Length {
        match (self, other) {
            (Length::N(a), Length::N(b)) => Length::N(a.saturating_add(b).min(limit)),
            _ => Length::Max,
        }
    }

    /// As a count, `max` being the largest that memory admits.
    pub fn limit(self) -> usize {
        match self {
            Length::N(n) => n as usize,
            Length::Max => i32::MAX as usize,
        }
    }
}

/// A SQL data type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SqlType {
    /// `bit`
    Bit,
    /// `tinyint`, 0 to 255
    TinyInt,
    /// `smallint`
    SmallInt,
    /// `int`
    Int,
    /// `bigint`
    BigInt,
    /// `decimal(p,s)`, also `numeric(p,s)`: precision 1 to 38, scale 0 to precision
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// `money`: a bigint of ten-thousandths
    Money,
    /// `smallmoney`: an int of ten-thousandths
    SmallMoney,
    /// `real`
    Real,
    /// `float`
    Float,
    /// `date`
    Date,
    /// `time(s)`
    Time(u8),
    /// `datetime`, in 1/300 s
    DateTime,
    /// `smalldatetime`, in minutes
    SmallDateTime,
    /// `datetime2(s)`
    DateTime2(u8),
    /// `datetimeoffset(s)`
    DateTimeOffset(u8),
    /// `char(n)`
    Char(u16),
    /// `varchar(n)`
    VarChar(Length),
    /// `nchar(n)`
    NChar(u16),
    /// `nvarchar(n)`
    NVarChar(Length),
    /// `binary(n)`
    Binary(u16),
    /// `varbinary(n)`
    VarBinary(Length),
    /// `uniqueidentifier`
    UniqueIdentifier,
    /// `rowversion`, which catalogs call `timestamp`: eight bytes that count a database's changes
    RowVersion,
    /// `text`: an older `varchar(max)` that does not compare
    Text,
    /// `ntext`: the same of `nvarchar(max)`
    NText,
    /// `image`: the same of `varbinary(max)`
    Image,
    /// `sql_variant`: a value of most other types, which it brings along
    Variant,
    /// `xml`, without a schema collection
    Xml,
}

const _: () = assert!(size_of::<SqlType>() <= 8);

/// What a type is one of when only its behaviour counts: conversion, comparison, arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// bit, tinyint, smallint, int, bigint
    Integer,
    /// decimal
    Decimal,
    /// money, smallmoney
    Money,
    /// real, float
    Float,
    /// date, time, datetime, smalldatetime, datetime2, datetimeoffset
    Temporal,
    /// char, varchar, text
    Char,
    /// nchar, nvarchar, ntext
    NChar,
    /// binary, varbinary, rowversion, image
    Binary,
    /// uniqueidentifier
    Guid,
    /// sql_variant
    Variant,
    /// xml: converts to and from characters and bytes, and compares with nothing
    Xml,
}

/// One type of each kind, in the order of `sys.types` by system type id.
pub const ALL_TYPES: &[SqlType] = &[
    SqlType::Image,
    SqlType::Text,
    SqlType::UniqueIdentifier,
    SqlType::Date,
    SqlType::Time(7),
    SqlType::DateTime2(7),
    SqlType::DateTimeOffset(7),
    SqlType::TinyInt,
    SqlType::SmallInt,
    SqlType::Int,
    SqlType::SmallDateTime,
    SqlType::Real,
    SqlType::Money,
    SqlType::DateTime,
    SqlType::Float,
    SqlType::Variant,
    SqlType::NText,
    SqlType::Bit,
    SqlType::Decimal { precision: 38, scale: 38 },
    SqlType::SmallMoney,
    SqlType::BigInt,
    SqlType::VarBinary(Length::N(8000)),
    SqlType::VarChar(Length::N(8000)),
    SqlType::Binary(8000),
    SqlType::Char(8000),
    SqlType::RowVersion,
    SqlType::NVarChar(Length::N(4000)),
    SqlType::NChar(4000),
    SqlType::Xml,
];

impl SqlType {
    /// `varchar(max)`.
    pub const VARCHAR_MAX: SqlType = SqlType::VarChar(Length::Max);
    /// `nvarchar(max)`.
    pub const NVARCHAR_MAX: SqlType = SqlType::NVarChar(Length::Max);
    /// `varbinary(max)`.
    pub const VARBINARY_MAX: SqlType = SqlType::VarBinary(Length::Max);
    /// `sysname`: `nvarchar(128)`.
    pub const SYSNAME: SqlType = SqlType::NVarChar(Length::N(128));

    /// `varchar(n)`.
    pub const fn varchar(n: u16) -> SqlType {
        SqlType::VarChar(Length::N(n))
    }

    /// `nvarchar(n)`.
    pub const fn nvarchar(n: u16) -> SqlType {
        SqlType::NVarChar(Length::N(n))
    }

    /// `varbinary(n)`.
    pub const fn varbinary(n: u16) -> SqlType {
        SqlType::VarBinary(Length::N(n))
    }

    /// `decimal(p,s)`.
    pub const fn decimal(precision: u8, scale: u8) -> SqlType {
        assert!(precision >= 1 && precision <= 38 && scale <= precision);
        SqlType::Decimal { precision, scale }
    }

    /// The bare name: `int`, `decimal`, `varchar`.
    pub const fn name(self) -> &'static str {
        match self {
            SqlType::Bit => "bit",
            SqlType::TinyInt => "tinyint",
            SqlType::SmallInt => "smallint",
            SqlType::Int => "int",
            SqlType::BigInt => "bigint",
            SqlType::Decimal { .. } => "decimal",
            SqlType::Money => "money",
            SqlType::SmallMoney => "smallmoney",
            SqlType::Real => "real",
            SqlType::Float => "float",
            SqlType::Date => "date",
            SqlType::Time(_) => "time",
            SqlType::DateTime => "datetime",
            SqlType::SmallDateTime => "smalldatetime",
            SqlType::DateTime2(_) => "datetime2",
            SqlType::DateTimeOffset(_) => "datetimeoffset",
            SqlType::Char(_) => "char",
            SqlType::VarChar(_) => "varchar",
            SqlType::NChar(_) => "nchar",
            SqlType::NVarChar(_) => "nvarchar",
            SqlType::Binary(_) => "binary",
            SqlType::VarBinary(_) => "varbinary",
            SqlType::UniqueIdentifier => "uniqueidentifier",
            SqlType::RowVersion => "timestamp",
            SqlType::Text => "text",
            SqlType::NText => "ntext",
            SqlType::Image => "image",
            SqlType::Variant => "sql_variant",
            SqlType::Xml => "xml",
        }
    }

    /// The name that error texts use: `numeric` for decimals, and `varchar(max)` whole.
    pub const fn error_name(self) -> &'static str {
        match self {
            SqlType::Decimal { .. } => "numeric",
            SqlType::VarChar(Length::Max) => "varchar(max)",
            SqlType::NVarChar(Length::Max) => "nvarchar(max)",
            SqlType::VarBinary(Length::Max) => "varbinary(max)",
            other => other.name(),
        }
    }

    /// Which family it belongs to.
    pub const fn family(self) -> Family {
        match self {
            SqlType::Bit
            | SqlType::TinyInt
            | SqlType::SmallInt
            | SqlType::Int
            | SqlType::BigInt => Family::Integer,
            SqlType::Decimal { .. } => Family::Decimal,
            SqlType::Money | SqlType::SmallMoney => Family::Money,
            SqlType::Real | SqlType::Float => Family::Float,
            SqlType::Date
            | SqlType::Time(_)
            | SqlType::DateTime
            | SqlType::SmallDateTime
            | SqlType::DateTime2(_)
            | SqlType::DateTimeOffset(_) => Family::Temporal,
            SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text => Family::Char,
            SqlType::NChar(_) | SqlType::NVarChar(_) | SqlType::NText => Family::NChar,
            SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::RowVersion | SqlType::Image => {
                Family::Binary
            }
            SqlType::UniqueIdentifier => Family::Guid,
            SqlType::Variant => Family::Variant,
            SqlType::Xml => Family::Xml,
        }
    }

    /// char, varchar, nchar, nvarchar, text or ntext: carries a collation.
    pub const fn is_character(self) -> bool {
        matches!(self.family(), Family::Char | Family::NChar)
    }

    /// Integers, decimal, money and floats.
    pub const fn is_number(self) -> bool {
        matches!(self.family(), Family::Integer | Family::Decimal | Family::Money | Family::Float)
    }

    /// A date or a time.
    pub const fn is_temporal(self) -> bool {
        matches!(self.family(), Family::Temporal)
    }

    /// A `max` type, an older one in its place, or xml: up to 2 GB.
    pub const fn is_max(self) -> bool {
        matches!(
            self,
            SqlType::VarChar(Length::Max)
                | SqlType::NVarChar(Length::Max)
                | SqlType::VarBinary(Length::Max)
                | SqlType::Xml
        ) || self.is_text_image()
    }

    /// text, ntext or image: neither compared nor sorted, and no variable's type.
    pub const fn is_text_image(self) -> bool {
        matches!(self, SqlType::Text | SqlType::NText | SqlType::Image)
    }

    /// The type that took the place of text, ntext or image; others are their own.
    pub const fn modern(self) -> SqlType {
        match self {
            SqlType::Text => SqlType::VARCHAR_MAX,
            SqlType::NText => SqlType::NVARCHAR_MAX,
            SqlType::Image => SqlType::VARBINARY_MAX,
            other => other,
        }
    }

    /// Its place in SQL Server's order of data types: the operand of lower rank is converted to
    /// the type of the higher.
    pub const fn precedence(self) -> u8 {
        match self {
            SqlType::Binary(_) => 1,
            SqlType::VarBinary(_) => 2,
            SqlType::Char(_) => 3,
            SqlType::VarChar(_) => 4,
            SqlType::NChar(_) => 5,
            SqlType::NVarChar(_) => 6,
            SqlType::UniqueIdentifier => 7,
            SqlType::RowVersion => 8,
            SqlType::Image => 9,
            SqlType::Text => 10,
            SqlType::NText => 11,
            SqlType::Bit => 12,
            SqlType::TinyInt => 13,
            SqlType::SmallInt => 14,
            SqlType::Int => 15,
            SqlType::BigInt => 16,
            SqlType::SmallMoney => 17,
            SqlType::Money => 18,
            SqlType::Decimal { .. } => 19,
            SqlType::Real => 20,
            SqlType::Float => 21,
            SqlType::Time(_) => 22,
            SqlType::Date => 23,
            SqlType::SmallDateTime => 24,
            SqlType::DateTime => 25,
            SqlType::DateTime2(_) => 26,
            SqlType::DateTimeOffset(_) => 27,
            SqlType::Xml => 28,
            SqlType::Variant => 29,
        }
    }

    /// `sys.types.system_type_id`; decimal answers 106, whose twin numeric is 108.
    pub const fn system_type_id(self) -> u8 {
        match self {
            SqlType::Image => 34,
            SqlType::Text => 35,
            SqlType::UniqueIdentifier => 36,
            SqlType::Date => 40,
            SqlType::Time(_) => 41,
            SqlType::DateTime2(_) => 42,
            SqlType::DateTimeOffset(_) => 43,
            SqlType::TinyInt => 48,
            SqlType::SmallInt => 52,
            SqlType::Int => 56,
            SqlType::SmallDateTime => 58,
            SqlType::Real => 59,
            SqlType::Money => 60,
            SqlType::DateTime => 61,
            SqlType::Float => 62,
            SqlType::Variant => 98,
            SqlType::NText => 99,
            SqlType::Bit => 104,
            SqlType::Decimal { .. } => 106,
            SqlType::SmallMoney => 122,
            SqlType::BigInt => 127,
            SqlType::VarBinary(_) => 165,
            SqlType::VarChar(_) => 167,
            SqlType::Binary(_) => 173,
            SqlType::Char(_) => 175,
            SqlType::RowVersion => 189,
            SqlType::NVarChar(_) => 231,
            SqlType::NChar(_) => 239,
            SqlType::Xml => 241,
        }
    }

    /// `sys.types.user_type_id` of the system type: the same number.
    pub const fn user_type_id(self) -> i32 {
        self.system_type_id() as i32
    }

    /// `sys.columns.max_length`: bytes, -1 for `max`.
    pub const fn max_length(self) -> i16 {
        match self {
            SqlType::VarChar(Length::N(n)) | SqlType::VarBinary(Length::N(n)) => n as i16,
            SqlType::NVarChar(Length::N(n)) => (n as i16) * 2,
            SqlType::VarChar(Length::Max)
            | SqlType::NVarChar(Length::Max)
            | SqlType::VarBinary(Length::Max)
            | SqlType::Xml => -1,
            SqlType::Char(n) | SqlType::Binary(n) => n as i16,
            SqlType::NChar(n) => (n as i16) * 2,
            // A pointer's.
            SqlType::Text | SqlType::NText | SqlType::Image => 16,
            SqlType::Variant => crate::variant::BYTES_MAX as i16,
            fixed => match crate::storage::fixed_width(fixed) {
                Some(n) => n as i16,
                None => 1,
            },
        }
    }

    /// `sys.columns.precision`: digits, 0 for strings.
    pub const fn precision(self) -> u8 {
        match self {
            SqlType::Bit => 1,
            SqlType::TinyInt => 3,
            SqlType::SmallInt => 5,
            SqlType::Int => 10,
            SqlType::BigInt => 19,
            SqlType::Decimal { precision, .. } => precision,
            SqlType::Money => 19,
            SqlType::SmallMoney => 10,
            SqlType::Real => 24,
            SqlType::Float => 53,
            SqlType::Date => 10,
            SqlType::Time(s) => fraction_precision(8, s),
            SqlType::DateTime => 23,
            SqlType::SmallDateTime => 16,
            SqlType::DateTime2(s) => fraction_precision(19, s),
            SqlType::DateTimeOffset(s) => fraction_precision(26, s),
            SqlType::Char(_)
            | SqlType::VarChar(_)
            | SqlType::NChar(_)
            | SqlType::NVarChar(_)
            | SqlType::Binary(_)
            | SqlType::VarBinary(_)
            | SqlType::UniqueIdentifier
            | SqlType::RowVersion
            | SqlType::Text
            | SqlType::NText
            | SqlType::Image
            | SqlType::Variant
            | SqlType::Xml => 0,
        }
    }

    /// `sys.columns.scale`: digits after the point.
    pub const fn scale(self) -> u8 {
        match self {
            SqlType::Decimal { scale, .. } => scale,
            SqlType::Money | SqlType::SmallMoney => 4,
            SqlType::Time(s) | SqlType::DateTime2(s) | SqlType::DateTimeOffset(s) => s,
            SqlType::DateTime => 3,
            _ => 0,
        }
    }

    /// The type that a bare name means: `datetime2` is `datetime2(7)`, `char` is `char(1)`, and a
    /// length in CAST or CONVERT defaults to 30 elsewhere (`length_default`).
    pub fn by_name(name: &str, length_default: u16) -> Option<SqlType> {
        let n = Length::N(length_default);
        let known = [
            ("bit", SqlType::Bit),
            ("tinyint", SqlType::TinyInt),
            ("smallint", SqlType::SmallInt),
            ("int", SqlType::Int),
            ("integer", SqlType::Int),
            ("bigint", SqlType::BigInt),
            ("decimal", SqlType::decimal(18, 0)),
            ("dec", SqlType::decimal(18, 0)),
            ("numeric", SqlType::decimal(18, 0)),
            ("money", SqlType::Money),
            ("smallmoney", SqlType::SmallMoney),
            ("real", SqlType::Real),
            ("float", SqlType::Float),
            ("date", SqlType::Date),
            ("time", SqlType::Time(7)),
            ("datetime", SqlType::DateTime),
            ("smalldatetime", SqlType::SmallDateTime),
            ("datetime2", SqlType::DateTime2(7)),
            ("datetimeoffset", SqlType::DateTimeOffset(7)),
            ("char", SqlType::Char(length_default)),
            ("character", SqlType::Char(length_default)),
            ("varchar", SqlType::VarChar(n)),
            ("nchar", SqlType::NChar(length_default)),
            ("nvarchar", SqlType::NVarChar(n)),
            ("binary", SqlType::Binary(length_default)),
            ("varbinary", SqlType::VarBinary(n)),
            ("uniqueidentifier", SqlType::UniqueIdentifier),
            ("timestamp", SqlType::RowVersion),
            ("rowversion", SqlType::RowVersion),
            ("sysname", SqlType::SYSNAME),
            ("text", SqlType::Text),
            ("ntext", SqlType::NText),
            ("image", SqlType::Image),
            ("sql_variant", SqlType::Variant),
            ("xml", SqlType::Xml),
        ];
        known.iter().find(|(k, _)| k.eq_ignore_ascii_case(name)).map(|&(_, t)| t)
    }
}

const fn fraction_precision(whole: u8, scale: u8) -> u8 {
    if scale == 0 { whole } else { whole + 1 + scale }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match *self {
            SqlType::Decimal { precision, scale } => write!(f, "({precision},{scale})"),
            SqlType::Time(n) | SqlType::DateTime2(n) | SqlType::DateTimeOffset(n) => {
                write!(f, "({n})")
            }
            SqlType::Char(n) | SqlType::NChar(n) | SqlType::Binary(n) => write!(f, "({n})"),
            SqlType::VarChar(l) | SqlType::NVarChar(l) | SqlType::VarBinary(l) => match l {
                Length::N(n) => write!(f, "({n})"),
                Length::Max => f.write_str("(max)"),
            },
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_spell_and_measure_as_sys_columns_shows_them() {
        let cases: &[(SqlType, &str, i16, u8, u8)] = &[
            (SqlType::Int, "int", 4, 10, 0),
            (SqlType::Bit, "bit", 1, 1, 0),
            (SqlType::decimal(12, 2), "decimal(12,2)", 9, 12, 2),
            (SqlType::decimal(38, 0), "decimal(38,0)", 17, 38, 0),
            (SqlType::VARCHAR_MAX, "varchar(max)", -1, 0, 0),
            (SqlType::nvarchar(50), "nvarchar(50)", 100, 0, 0),
            (SqlType::NChar(10), "nchar(10)", 20, 0, 0),
            (SqlType::Time(0), "time(0)", 3, 8, 0),
            (SqlType::Time(7), "time(7)", 5, 16, 7),
            (SqlType::DateTime2(7), "datetime2(7)", 8, 27, 7),
            (SqlType::DateTime2(0), "datetime2(0)", 6, 19, 0),
            (SqlType::DateTimeOffset(7), "datetimeoffset(7)", 10, 34, 7),
            (SqlType::DateTime, "datetime", 8, 23, 3),
            (SqlType::SmallDateTime, "smalldatetime", 4, 16, 0),
            (SqlType::Money, "money", 8, 19, 4),
            (SqlType::UniqueIdentifier, "uniqueidentifier", 16, 0, 0),
            (SqlType::RowVersion, "timestamp", 8, 0, 0),
            (SqlType::NText, "ntext", 16, 0, 0),
            (SqlType::Variant, "sql_variant", 8016, 0, 0),
            (SqlType::Xml, "xml", -1, 0, 0),
        ];
        for &(t, name, length, precision, scale) in cases {
            assert_eq!(t.to_string(), name);
            assert_eq!(
                (t.max_length(), t.precision(), t.scale()),
                (length, precision, scale),
                "{t}"
            );
        }
    }

    #[test]
    fn precedence_is_a_strict_order() {
        let mut ranks: Vec<u8> = ALL_TYPES.iter().map(|t| t.precedence()).collect();
        ranks.sort_unstable();
        assert_eq!(ranks, (1..=29).collect::<Vec<u8>>());
    }
}
