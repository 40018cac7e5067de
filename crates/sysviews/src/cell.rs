//! Cells: from the engine's facts to values of columns.

use types::datetime::Moment;
use types::{Bytes, Collation, Decimal, SqlType, Value, Variant, convert};

/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = 719_162;
const DAY_NS: i64 = 86_400_000_000_000;
/// When system objects were made and last changed: 2026-11-21, in wall nanoseconds.
const RELEASED_NS: i64 = 20_778 * DAY_NS;

/// An nvarchar.
pub(crate) fn text(s: &str) -> Value {
    Value::nvarchar(s)
}

/// A document as xml. NULL if it nests deeper than an xml value may, as in SQL Server.
pub(crate) fn document(text: &str) -> Value {
    let options = xml::ParseOptions { preserve: false, dtd: false };
    let parsed = xml::Xml::parse(xml::Source::Wide(text), options);
    parsed.map_or(Value::Null, Value::Xml)
}

/// An nvarchar; NULL if it is empty.
pub(crate) fn text_or_null(s: &str) -> Value {
    if s.is_empty() { Value::Null } else { text(s) }
}

/// An int of any whole number; the largest int if it is out of range.
pub(crate) fn int(n: impl TryInto<i32>) -> Value {
    Value::Int(n.try_into().unwrap_or(i32::MAX))
}

/// A bigint of a count.
pub(crate) fn big(n: u64) -> Value {
    Value::BigInt(i64::try_from(n).unwrap_or(i64::MAX))
}

/// A bit.
pub(crate) fn bit(on: bool) -> Value {
    Value::Bit(on)
}

/// Whole milliseconds as an int.
pub(crate) fn int_ms(ns: u64) -> Value {
    int(ns / 1_000_000)
}

/// Whole milliseconds as a bigint.
pub(crate) fn big_ms(ns: u64) -> Value {
    big(ns / 1_000_000)
}

/// Kilobytes as a bigint, rounded up.
pub(crate) fn big_kb(bytes: usize) -> Value {
    big(bytes.div_ceil(1024) as u64)
}

/// The moment of a wall time in nanoseconds since 1970.
fn moment(ns: i64) -> Moment {
    Moment {
        days: (ns.div_euclid(DAY_NS) + UNIX_EPOCH_DAYS) as i32,
        ticks: (ns.rem_euclid(DAY_NS) / 100) as u64,
        offset: 0,
    }
}

/// A datetime of a wall time in nanoseconds since 1970; NULL for 0.
pub(crate) fn datetime(ns: i64) -> Value {
    if ns == 0 {
        return Value::Null;
    }
    moment(ns).to_value(SqlType::DateTime).unwrap_or(Value::Null)
}

/// A datetime2(7) of a wall time in nanoseconds since 1970.
pub(crate) fn datetime2(ns: i64) -> Value {
    moment(ns).to_value(SqlType::DateTime2(7)).unwrap_or(Value::Null)
}

/// A wall time to the millisecond, in the form of XML.
pub(crate) fn iso_ms(ns: i64) -> String {
    let told = moment(ns).to_value(SqlType::DateTime2(7)).map(|v| v.to_string());
    let told: String =
        told.unwrap_or_default().chars().take("2026-11-21 00:00:00.000".len()).collect();
    told.replacen(' ', "T", 1)
}

/// A wall time in the form of the error log: `2026/11/21 12:34:56:789`.
pub(crate) fn log_time(ns: i64) -> String {
    let mut told = iso_ms(ns).into_bytes();
    for (at, mark) in [(4, b'/'), (7, b'/'), (10, b' '), (19, b':')] {
        if let Some(byte) = told.get_mut(at) {
            *byte = mark;
        }
    }
    String::from_utf8(told).unwrap_or_default()
}

/// The date of system objects.
pub(crate) fn released() -> Value {
    datetime(RELEASED_NS)
}

/// A char or varchar.
pub(crate) fn code(s: &str) -> Value {
    Value::varchar(s)
}

/// An unsigned number as 8 bytes, the most significant first, as handles and addresses are shown.
pub(crate) fn eight_bytes(n: u64) -> Value {
    // Uses shifts, because byte order belongs to formats.
    let bytes: Vec<u8> = (0..8).map(|i| (n >> (56 - 8 * i)) as u8).collect();
    Value::Binary(Bytes::from(bytes))
}

/// A decimal(38,0).
pub(crate) fn whole(n: i128) -> Value {
    Decimal::new(n, 0).map_or(Value::Null, Value::Decimal)
}

/// A value as a sql_variant of a base type.
pub(crate) fn variant(value: Value, sql_type: SqlType) -> Value {
    variant_of(value, sql_type, Collation::default())
}

/// The same for text in the code page of a collation.
pub(crate) fn variant_of(value: Value, sql_type: SqlType, collation: Collation) -> Value {
    let variant = Variant::new(value, sql_type, collation);
    variant.map_or(Value::Null, |v| Value::Variant(v.into()))
}

/// A whole number as a sql_variant of an integer type.
pub(crate) fn counted(n: i128, sql_type: SqlType) -> Value {
    let value = convert(&whole(n), SqlType::decimal(38, 0), sql_type, 0);
    variant(value.unwrap_or(Value::Null), sql_type)
}

/// An int argument. Some functions accept NULL and 0 as wildcards.
pub(crate) fn int_argument(v: Option<&Value>) -> Option<i64> {
    v.and_then(Value::as_i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_objects_are_of_the_release() {
        assert_eq!(released().to_string(), "Nov 21 2026 12:00AM");
        assert!(datetime(0).is_null());
        assert_eq!(iso_ms(RELEASED_NS + 1_999_999_999), "2026-11-21T00:00:01.999");
        assert_eq!(eight_bytes(258), Value::varbinary(&[0, 0, 0, 0, 0, 0, 1, 2]));
        assert_eq!(int(u64::MAX), Value::Int(i32::MAX));
    }
}
