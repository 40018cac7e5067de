//! One value as text, as the ODBC driver turns it into characters.
//!
//! This is neither PRINT's nor CONVERT's text: money has four digits, datetime milliseconds,
//! float all its digits, and a number below one has no zero before its point.

use types::datetime::print_style;
use types::{CodePage, Decimal, SqlType, Value, float_text, text};

/// Appends a value's text; varchar is in a code page.
pub(crate) fn append(value: &Value, sql_type: SqlType, page: CodePage, out: &mut String) {
    use std::fmt::Write as _;
    // Writing to a String cannot fail.
    let _ = match value {
        Value::Null => out.write_str("NULL"),
        Value::Bit(b) => out.write_str(if *b { "1" } else { "0" }),
        Value::TinyInt(n) => write!(out, "{n}"),
        Value::SmallInt(n) => write!(out, "{n}"),
        Value::Int(n) => write!(out, "{n}"),
        Value::BigInt(n) => write!(out, "{n}"),
        Value::Decimal(d) => out.write_str(&without_leading_zero(&d.to_string())),
        Value::Money(m) => {
            let d = Decimal::new(i128::from(*m), 4).unwrap_or(Decimal::ZERO);
            out.write_str(&without_leading_zero(&d.to_string()))
        }
        Value::Real(x) => out.write_str(&real_text(*x)),
        Value::Float(x) => out.write_str(&float_text(*x, 17)),
        Value::Xml(x) => out.write_str(&x.text()),
        Value::Date(_) => temporal(value, sql_type, 23, out),
        Value::SmallDateTime(_) => temporal(value, sql_type, 120, out),
        Value::Time(_) | Value::DateTime(_) | Value::DateTime2(_) | Value::DateTimeOffset(_) => {
            temporal(value, sql_type, 121, out)
        }
        Value::Char(bytes) => match std::str::from_utf8(bytes) {
            Ok(ascii) if ascii.is_ascii() => out.write_str(ascii),
            _ => out.write_str(&page.decode(bytes)),
        },
        Value::NChar(bytes) => {
            out.extend(char::decode_utf16(text::units(bytes)).map(|c| c.unwrap_or('\u{FFFD}')));
            Ok(())
        }
        Value::Binary(bytes) => {
            let _ = out.write_str("0x");
            bytes.iter().try_for_each(|b| write!(out, "{b:02X}"))
        }
        Value::Guid(_) => write!(out, "{value}"),
        Value::Variant(v) => {
            let own = v.collation().map_or(page, |collation| collation.code_page());
            append(v.value(), v.sql_type(), own, out);
            Ok(())
        }
    };
}

fn temporal(value: &Value, sql_type: SqlType, style: i32, out: &mut String) -> std::fmt::Result {
    match print_style(value, sql_type, style) {
        Some(text) => out.push_str(&text),
        // A value of another type than its column: shown as PRINT would.
        None => out.push_str(&value.to_string()),
    }
    Ok(())
}

/// `0.50` becomes `.50`, `-0.50` becomes `-.50`.
fn without_leading_zero(number: &str) -> String {
    match number.strip_prefix("0.") {
        Some(fraction) => format!(".{fraction}"),
        None => match number.strip_prefix("-0.") {
            Some(fraction) => format!("-.{fraction}"),
            None => number.to_owned(),
        },
    }
}

/// The fewest digits that give the same real again.
fn real_text(x: f32) -> String {
    let mantissa = format!("{x:e}");
    let digits = mantissa.bytes().take_while(|b| *b != b'e').filter(u8::is_ascii_digit).count();
    float_text(f64::from(x), digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::datetime::Moment;

    fn shown(value: Value, sql_type: SqlType) -> String {
        let mut out = String::new();
        append(&value, sql_type, CodePage::default(), &mut out);
        out
    }

    #[test]
    fn numbers() {
        let decimal = |s: &str| Value::Decimal(Decimal::parse(s).unwrap());
        let cases = [
            (Value::Bit(true), SqlType::Bit, "1"),
            (Value::TinyInt(255), SqlType::TinyInt, "255"),
            (Value::SmallInt(-32768), SqlType::SmallInt, "-32768"),
            (Value::Int(i32::MIN), SqlType::Int, "-2147483648"),
            (Value::BigInt(i64::MIN), SqlType::BigInt, "-9223372036854775808"),
            (decimal("12.50"), SqlType::decimal(9, 2), "12.50"),
            (decimal("0.50"), SqlType::decimal(9, 2), ".50"),
            (decimal("-0.5"), SqlType::decimal(9, 1), "-.5"),
            (decimal("0"), SqlType::decimal(9, 0), "0"),
            (decimal("10.05"), SqlType::decimal(9, 2), "10.05"),
            (Value::Money(12_345), SqlType::Money, "1.2345"),
            (Value::Money(-5_000), SqlType::SmallMoney, "-.5000"),
            (Value::Money(0), SqlType::Money, ".0000"),
            (Value::Money(i64::MIN), SqlType::Money, "-922337203685477.5808"),
            (Value::Real(0.1), SqlType::Real, "0.1"),
            (Value::Real(1.0 / 3.0), SqlType::Real, "0.33333334"),
            (Value::Real(3.4e38), SqlType::Real, "3.4e+038"),
            (Value::Real(0.0), SqlType::Real, "0"),
            (Value::Float(0.1), SqlType::Float, "0.10000000000000001"),
            (Value::Float(1.5), SqlType::Float, "1.5"),
            (Value::Float(-1e300), SqlType::Float, "-1.0000000000000001e+300"),
            (Value::Float(123_456.0), SqlType::Float, "123456"),
            (Value::Null, SqlType::Int, "NULL"),
        ];
        for (value, sql_type, text) in cases {
            assert_eq!(shown(value, sql_type), text, "{sql_type}");
        }
    }

    #[test]
    fn dates_and_times() {
        // 2006-04-25 15:50:59.997
        let m = Moment::from_civil(2006, 4, 25, 570_599_970_000).unwrap();
        let east = Moment { offset: 330, ..m };
        let cases = [
            (m, SqlType::Date, "2006-04-25"),
            (m, SqlType::Time(7), "15:50:59.9970000"),
            (m, SqlType::Time(0), "15:51:00"),
            (m, SqlType::DateTime, "2006-04-25 15:50:59.997"),
            (m, SqlType::SmallDateTime, "2006-04-25 15:51:00"),
            (m, SqlType::DateTime2(7), "2006-04-25 15:50:59.9970000"),
            (m, SqlType::DateTime2(3), "2006-04-25 15:50:59.997"),
            (m, SqlType::DateTime2(0), "2006-04-25 15:51:00"),
            (east, SqlType::DateTimeOffset(2), "2006-04-25 15:51:00.00 +05:30"),
        ];
        for (moment, sql_type, text) in cases {
            assert_eq!(shown(moment.to_value(sql_type).unwrap(), sql_type), text, "{sql_type}");
        }
    }

    #[test]
    fn strings_binaries_and_guids() {
        let guid = [0x33, 0x22, 0x11, 0, 0x55, 0x44, 0x77, 0x66, 8, 9, 10, 11, 12, 13, 14, 0xAF];
        let cases = [
            (Value::varchar("a\tb"), SqlType::varchar(9), "a\tb"),
            (Value::varchar("Łódź €"), SqlType::varchar(9), "Lódz €"),
            (Value::nvarchar("Łódź 日 \u{1F600}"), SqlType::nvarchar(9), "Łódź 日 \u{1F600}"),
            (Value::varchar(""), SqlType::varchar(9), ""),
            (Value::varbinary(&[0, 0xAB]), SqlType::varbinary(9), "0x00AB"),
            (Value::varbinary(&[]), SqlType::varbinary(9), "0x"),
            (Value::Guid(guid), SqlType::UniqueIdentifier, "00112233-4455-6677-0809-0A0B0C0D0EAF"),
        ];
        for (value, sql_type, text) in cases {
            assert_eq!(shown(value, sql_type), text, "{sql_type}");
        }
    }
}
