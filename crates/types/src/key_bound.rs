//! Ends of ranges among stored values, for what is compared with them in another type.
//!
//! A comparison of two types converts the column. Where that keeps the order of its values, what
//! lies before or behind a value is a range of the column all the same: one that ends at the
//! stored form of the value, or, where it has none, at the least or greatest value of the type.
//! SQL Server's `GetRangeWithMismatchedTypes` and `GetRangeThroughConvert` do this.
//!
//! Invariants
//!  1. No value of the column lies between a value and its bound.
//!  2. A bound is NULL for NULL alone.

use crate::{Collation, Family, PRECISION_MAX, SqlType, Value, compare, convert};
use std::cmp::Ordering;

/// What a conversion of a column's values keeps of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPrecision {
    /// Every value, and the order.
    Values,
    /// The day.
    Days,
}

/// What a conversion keeps of which a range can be asked. `None` where it keeps no order, and where
/// it makes one value of several: what equals that begins and ends beside its bound.
pub fn kept(from: SqlType, to: SqlType) -> Option<KeyPrecision> {
    use SqlType as T;
    let when = |holds: bool| holds.then_some(KeyPrecision::Values);
    if from == to {
        return Some(KeyPrecision::Values);
    }
    match (from, to) {
        (T::Decimal { precision, scale }, T::Decimal { precision: p, scale: s }) => {
            when(s >= scale && p - s >= precision - scale)
        }
        (T::Money, T::Decimal { precision, scale }) => when(scale >= 4 && precision - scale >= 15),
        (T::SmallMoney, T::Decimal { precision, scale }) => {
            when(scale >= 4 && precision - scale >= 6)
        }
        (T::SmallMoney, T::Money) | (T::Real, T::Float) => Some(KeyPrecision::Values),
        (_, T::Decimal { precision, scale }) if from.family() == Family::Integer => {
            when(from.precision() + scale <= precision)
        }
        (T::TinyInt | T::SmallInt | T::Int, T::Float | T::Money) => Some(KeyPrecision::Values),
        _ if from.family() == Family::Integer && to.family() == Family::Integer => {
            when(from.precision() <= to.precision())
        }
        (T::Date | T::SmallDateTime, T::DateTime | T::DateTime2(_)) => Some(KeyPrecision::Values),
        (T::DateTime, T::DateTime2(digits)) => when(digits >= 3),
        (T::DateTime2(from), T::DateTime2(to)) => when(to >= from),
        (T::SmallDateTime | T::DateTime | T::DateTime2(_), T::Date) => Some(KeyPrecision::Days),
        _ => None,
    }
}

/// Whether values of a type have bounds among those of a column that is compared with them.
pub fn has_bounds(from: SqlType, column: SqlType) -> bool {
    from == column || kept(column, compared_as(from, column)).is_some()
}

/// The type in which a column is compared with a value: decimals have theirs in common.
fn compared_as(from: SqlType, column: SqlType) -> SqlType {
    match from {
        SqlType::Decimal { scale, .. } => {
            SqlType::Decimal { precision: PRECISION_MAX, scale: scale.max(column.scale()) }
        }
        other => other,
    }
}

/// The value of a column's type at which a range ends that ends at a value, and how it lies to
/// that value.
pub fn key_bound(value: &Value, from: SqlType, column: SqlType) -> (Value, Ordering) {
    if value.is_null() {
        return (Value::Null, Ordering::Equal);
    }
    let lies = |bound: &Value| {
        let back = convert(bound, column, compared_as(from, column), 0);
        back.map(|back| compare(&back, value, Collation::default()))
    };
    if let Ok(bound) = convert(value, from, column, 0)
        && let Ok(lies) = lies(&bound)
    {
        return (bound, lies);
    }
    let [least, greatest] = extremes(column);
    match lies(&least) {
        Ok(Ordering::Less) => (greatest, Ordering::Less),
        _ => (least, Ordering::Greater),
    }
}

/// The last value of a column's type on a day, or the first one behind it.
pub fn day_end(day: &Value, column: SqlType) -> Value {
    if day.is_null() {
        return Value::Null;
    }
    let last = || {
        let text = convert(day, SqlType::Date, SqlType::nvarchar(10), 23)?.as_text();
        let text = format!("{}T23:59:59.9999999", text.unwrap_or_default());
        convert(&Value::nvarchar(&text), SqlType::nvarchar(27), SqlType::DateTime2(7), 0)
    };
    match last() {
        Ok(last) => key_bound(&last, SqlType::DateTime2(7), column).0,
        Err(_) => Value::Null,
    }
}

/// The least and the greatest value of a type whose order conversions keep.
fn extremes(column: SqlType) -> [Value; 2] {
    let texts: [&str; 2] = match column {
        SqlType::TinyInt => ["0", "255"],
        SqlType::SmallInt => ["-32768", "32767"],
        SqlType::Int => ["-2147483648", "2147483647"],
        SqlType::BigInt => ["-9223372036854775808", "9223372036854775807"],
        SqlType::Bit => ["0", "1"],
        SqlType::SmallMoney => ["-214748.3648", "214748.3647"],
        SqlType::Money => ["-922337203685477.5808", "922337203685477.5807"],
        SqlType::Real => ["-3.4028235E38", "3.4028235E38"],
        SqlType::Float => ["-1.7976931348623157E308", "1.7976931348623157E308"],
        SqlType::Date => ["0001-01-01", "9999-12-31"],
        SqlType::SmallDateTime => ["1900-01-01T00:00:00", "2079-06-06T23:59:00"],
        SqlType::DateTime => ["1753-01-01T00:00:00", "9999-12-31T23:59:59.997"],
        SqlType::DateTime2(_) => ["0001-01-01T00:00:00", "9999-12-31T23:59:59"],
        SqlType::Decimal { precision, scale } => return decimals(precision, scale),
        _ => return [Value::Null, Value::Null],
    };
    texts.map(|text| of_text(text, column))
}

/// All nines, and the same below zero.
fn decimals(precision: u8, scale: u8) -> [Value; 2] {
    let mut nines = "9".repeat(usize::from(precision));
    nines.insert(usize::from(precision - scale), '.');
    let column = SqlType::Decimal { precision, scale };
    [of_text(&format!("-{nines}"), column), of_text(&nines, column)]
}

fn of_text(text: &str, column: SqlType) -> Value {
    convert(&Value::nvarchar(text), SqlType::nvarchar(80), column, 0).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Ordering::{Equal, Greater, Less};

    fn value(text: &str, t: SqlType) -> Value {
        let found = of_text(text, t);
        assert!(!found.is_null(), "{text} as {t:?}");
        found
    }

    #[test]
    fn bounds_lie_beside_their_values() {
        let decimal = SqlType::decimal(10, 2);
        let stamp = SqlType::DateTime2(7);
        for (text, from, column, bound, lies) in [
            ("2.7", decimal, SqlType::Int, "2", Less),
            ("-2.7", decimal, SqlType::Int, "-2", Greater),
            ("3", decimal, SqlType::Int, "3", Equal),
            ("2.5", SqlType::decimal(2, 1), SqlType::Int, "2", Less),
            ("3.14159", SqlType::decimal(6, 5), decimal, "3.14", Less),
            ("3.14159", SqlType::decimal(6, 5), SqlType::Money, "3.1416", Greater),
            ("300", SqlType::Int, SqlType::TinyInt, "255", Less),
            ("-1", SqlType::Int, SqlType::TinyInt, "0", Greater),
            ("99999999999", SqlType::BigInt, SqlType::Int, "2147483647", Less),
            ("1e300", SqlType::Float, SqlType::Int, "2147483647", Less),
            ("-2.5", SqlType::Float, SqlType::SmallInt, "-2", Greater),
            ("2020-01-01T00:00:00.0010000", stamp, SqlType::DateTime, "2020-01-01", Less),
            ("0001-01-01", stamp, SqlType::DateTime, "1753-01-01", Greater),
            ("2020-01-01T10:00:00", stamp, SqlType::Date, "2020-01-01", Less),
            ("9999-01-01", stamp, SqlType::SmallDateTime, "2079-06-06T23:59:00", Less),
            ("99999999999", SqlType::decimal(20, 4), decimal, "99999999.99", Less),
        ] {
            let found = key_bound(&value(text, from), from, column);
            assert_eq!(found, (value(bound, column), lies), "{text} among {column:?}");
        }
    }

    #[test]
    fn what_becomes_one_value_has_no_bound() {
        assert_eq!(kept(SqlType::BigInt, SqlType::Float), None);
        assert_eq!(kept(SqlType::DateTime, SqlType::DateTime2(0)), None);
        assert_eq!(kept(SqlType::DateTime, SqlType::DateTime2(3)), Some(KeyPrecision::Values));
        assert_eq!(kept(SqlType::DateTime2(7), SqlType::DateTime2(3)), None);
    }

    #[test]
    fn every_type_with_an_order_has_ends() {
        for &from in crate::ALL_TYPES {
            let any = crate::ALL_TYPES.iter().any(|to| *to != from && kept(from, *to).is_some());
            if any {
                assert!(extremes(from).iter().all(|v| !v.is_null()), "{from:?}");
            }
        }
    }

    #[test]
    fn days_end_at_their_last_moment_or_behind_it() {
        let day = value("2020-02-03", SqlType::Date);
        let end = |t| day_end(&day, t);
        assert_eq!(end(SqlType::DateTime), value("2020-02-04", SqlType::DateTime));
        let last = "2020-02-03T23:59:59.9999999";
        assert_eq!(end(SqlType::DateTime2(7)), value(last, SqlType::DateTime2(7)));
        let far = value("9999-12-31", SqlType::Date);
        let last = value("9999-12-31T23:59:59.997", SqlType::DateTime);
        assert_eq!(day_end(&far, SqlType::DateTime), last);
    }
}
