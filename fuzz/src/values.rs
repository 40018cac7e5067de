//! Values for seeds: one of every SQL type, and the forms of types that only old clients send.

use types::{DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime, SqlType, Value};

/// A type and a value of it, every type once and more.
pub(crate) fn all() -> Vec<(SqlType, Value)> {
    let utc = DateTime2 { days: 700_000, ticks: 5_000_000 };
    vec![
        (SqlType::Bit, Value::Bit(true)),
        (SqlType::TinyInt, Value::TinyInt(1)),
        (SqlType::SmallInt, Value::SmallInt(1)),
        (SqlType::Int, Value::Int(1)),
        (SqlType::BigInt, Value::BigInt(1)),
        (SqlType::decimal(20, 4), Value::Decimal(Decimal::from_i64(1))),
        (SqlType::decimal(38, 0), Value::Decimal(Decimal::from_i64(-7))),
        (SqlType::Money, Value::Money(1)),
        (SqlType::SmallMoney, Value::Money(1)),
        (SqlType::Real, Value::Real(1.0)),
        (SqlType::Float, Value::Float(1.0)),
        (SqlType::Date, Value::Date(1)),
        (SqlType::Time(3), Value::Time(10_000)),
        (SqlType::DateTime, Value::DateTime(DateTime { days: 1, ticks: 1 })),
        (SqlType::SmallDateTime, Value::SmallDateTime(SmallDateTime { days: 1, minutes: 1 })),
        (SqlType::DateTime2(7), Value::DateTime2(utc)),
        (SqlType::DateTimeOffset(7), Value::DateTimeOffset(DateTimeOffset { utc, offset: 60 })),
        (SqlType::Char(2), Value::varchar("ab")),
        (SqlType::varchar(10), Value::varchar("ab")),
        (SqlType::NChar(2), Value::nvarchar("ab")),
        (SqlType::nvarchar(10), Value::nvarchar("ab")),
        (SqlType::Binary(2), Value::varbinary(b"ab")),
        (SqlType::varbinary(10), Value::varbinary(b"ab")),
        (SqlType::UniqueIdentifier, Value::Guid([1; 16])),
        (SqlType::VARCHAR_MAX, Value::varchar("large")),
        (SqlType::NVARCHAR_MAX, Value::nvarchar("large")),
        (SqlType::VARBINARY_MAX, Value::varbinary(b"large")),
        (SqlType::Int, Value::Null),
        (SqlType::VARCHAR_MAX, Value::Null),
        (SqlType::nvarchar(4000), Value::Null),
    ]
}

/// Types with their values as parameters of old clients have them.
pub(crate) fn legacy() -> &'static [&'static [u8]] {
    &[
        &[0x38, 1, 0, 0, 0],
        &[0x30, 255],
        &[0x34, 1, 0],
        &[0x7F, 1, 0, 0, 0, 0, 0, 0, 0],
        &[0x32, 1],
        &[0x1F],
        &[0x3A, 1, 0, 1, 0],
        &[0x3D, 1, 0, 0, 0, 1, 0, 0, 0],
        &[0x3B, 0, 0, 0x80, 0x3F],
        &[0x3E, 0, 0, 0, 0, 0, 0, 0xF0, 0x3F],
        &[0x3C, 0, 0, 0, 0, 1, 0, 0, 0],
        &[0x7A, 1, 0, 0, 0],
        &[0x37, 5, 5, 0, 5, 1, 1, 0, 0, 0],
        &[0x6C, 9, 10, 2, 5, 1, 1, 0, 0, 0],
        &[0x27, 5, 2, b'a', b'b'],
        &[0x2F, 5, 2, b'a', b'b'],
        &[0x25, 5, 2, 1, 2],
        &[0x2D, 5, 2, 1, 2],
        &[0x24, 16, 0],
        &[0x63, 0, 0, 0, 0x80, 9, 4, 0xD0, 0, 52, 2, 0, 0, 0, b'x', 0],
        &[0x23, 9, 0, 0, 0, 9, 4, 0xD0, 0, 52, 1, 0, 0, 0, b'x'],
        &[0x22, 9, 0, 0, 0, 255, 255, 255, 255],
        &[0xE7, 0, 0, 9, 4, 0xD0, 0, 52, 0, 0],
        &[0xF1, 0, 0, 0],
        &[0xF3, 0, 0, 0],
        &[0x62, 9, 0, 0, 0],
        &[0xF0, 0, 0, 0],
    ]
}
