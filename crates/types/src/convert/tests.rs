//! Conversions as SQL Server documents them, in tables.

use super::*;
use crate::{DateTime, Decimal};

fn vc(s: &str) -> Value {
    Value::varchar(s)
}

fn dec(s: &str) -> Value {
    Value::Decimal(Decimal::parse(s).unwrap())
}

const VC: SqlType = SqlType::varchar(30);
const NUM: SqlType = SqlType::decimal(10, 2);

/// Each value, from one type to another in a style, gives another value.
fn convert_all(cases: Vec<(Value, SqlType, SqlType, i32, Value)>) {
    for (value, from, to, style, expected) in cases {
        let got = convert(&value, from, to, style);
        assert_eq!(got.as_ref().ok(), Some(&expected), "{value} {from} -> {to}: {got:?}");
    }
}

#[test]
fn numbers_and_text_convert() {
    convert_all(vec![
        (vc(" 42 "), VC, SqlType::Int, 0, Value::Int(42)),
        (vc(""), VC, SqlType::Int, 0, Value::Int(0)),
        (vc("-7"), VC, SqlType::SmallInt, 0, Value::SmallInt(-7)),
        (vc("true"), VC, SqlType::Bit, 0, Value::Bit(true)),
        (vc("2"), VC, SqlType::Bit, 0, Value::Bit(true)),
        (vc("1.005"), VC, NUM, 0, dec("1.01")),
        (vc("1e3"), VC, SqlType::Float, 0, Value::Float(1000.0)),
        (vc("$1,234.56789"), VC, SqlType::Money, 0, Value::Money(12_345_679)),
        (vc("-$5"), VC, SqlType::Money, 0, Value::Money(-50_000)),
        (dec("1.99"), NUM, SqlType::Int, 0, Value::Int(1)),
        (Value::Money(15_000), SqlType::Money, SqlType::Int, 0, Value::Int(2)),
        (Value::Float(-2.9), SqlType::Float, SqlType::Int, 0, Value::Int(-2)),
        (Value::Int(5), SqlType::Int, NUM, 0, dec("5.00")),
        (Value::Int(1_000_000), SqlType::Int, SqlType::varchar(3), 0, vc("*")),
        (Value::Int(5), SqlType::Int, SqlType::Char(3), 0, vc("5  ")),
        (Value::Float(1_234_567.0), SqlType::Float, VC, 0, vc("1.23457e+006")),
        (Value::Float(0.1), SqlType::Float, VC, 0, vc("0.1")),
        (Value::Float(123_456.0), SqlType::Float, VC, 0, vc("123456")),
        (Value::Float(0.00001), SqlType::Float, VC, 0, vc("1e-005")),
        (Value::Float(0.1), SqlType::Float, VC, 3, vc("0.10000000000000001")),
        (Value::Float(1.5), SqlType::Float, VC, 1, vc("1.5000000e+000")),
        (Value::Money(12_345_678), SqlType::Money, VC, 0, vc("1234.57")),
        (Value::Money(12_345_678), SqlType::Money, VC, 1, vc("1,234.57")),
        (Value::Money(-12_345_678), SqlType::Money, VC, 2, vc("-1234.5678")),
        (vc("hello"), VC, SqlType::varchar(3), 0, vc("hel")),
        (vc("hé"), VC, SqlType::nvarchar(10), 0, Value::nvarchar("hé")),
        (Value::nvarchar("Łx"), SqlType::nvarchar(5), SqlType::Char(3), 0, vc("Lx ")),
        (
            Value::Int(1),
            SqlType::Int,
            SqlType::Binary(8),
            0,
            Value::varbinary(&[0, 0, 0, 0, 0, 0, 0, 1]),
        ),
        (
            Value::Int(0x1234_5678),
            SqlType::Int,
            SqlType::Binary(2),
            0,
            Value::varbinary(&[0x56, 0x78]),
        ),
        (Value::varbinary(&[1, 0]), SqlType::varbinary(8), SqlType::Int, 0, Value::Int(256)),
        (vc("0x0aFF"), VC, SqlType::varbinary(8), 1, Value::varbinary(&[10, 255])),
        (Value::varbinary(&[10, 255]), SqlType::varbinary(8), VC, 1, vc("0x0AFF")),
        (Value::varbinary(&[10, 255]), SqlType::varbinary(8), VC, 2, vc("0AFF")),
        (Value::varbinary(b"AB"), SqlType::varbinary(8), VC, 0, vc("AB")),
        (
            dec("1.5"),
            SqlType::decimal(2, 1),
            SqlType::varbinary(30),
            0,
            Value::varbinary(&[2, 1, 0, 1, 15, 0, 0, 0]),
        ),
    ]);
}

#[test]
fn bytes_and_dates_convert() {
    convert_all(vec![
        (
            vc("1900-01-02"),
            VC,
            SqlType::DateTime,
            0,
            Value::DateTime(DateTime { days: 1, ticks: 0 }),
        ),
        (
            Value::Float(1.5),
            SqlType::Float,
            SqlType::DateTime,
            0,
            Value::DateTime(DateTime { days: 1, ticks: 12_960_000 }),
        ),
        (
            Value::DateTime(DateTime { days: 1, ticks: 12_960_000 }),
            SqlType::DateTime,
            SqlType::Int,
            0,
            Value::Int(2),
        ),
        (
            Value::DateTime(DateTime { days: -1, ticks: 0 }),
            SqlType::DateTime,
            SqlType::Char(10),
            120,
            vc("1899-12-31"),
        ),
    ]);
}

#[test]
fn a_uniqueidentifier_keeps_its_text() {
    let text = "6F9619FF-8B86-D011-B42D-00C04FC964FF";
    let v = convert(&vc(text), VC, SqlType::UniqueIdentifier, 0).unwrap();
    assert_eq!(
        v,
        Value::Guid([
            0xFF, 0x19, 0x96, 0x6F, 0x86, 0x8B, 0x11, 0xD0, 0xB4, 0x2D, 0, 0xC0, 0x4F, 0xC9, 0x64,
            0xFF
        ])
    );
    assert_eq!(convert(&v, SqlType::UniqueIdentifier, SqlType::Char(36), 0).unwrap(), vc(text));
    let braced = vc(&format!("{{{text}}}"));
    assert_eq!(convert(&braced, VC, SqlType::UniqueIdentifier, 0).unwrap(), v);
}

const NV: SqlType = SqlType::nvarchar(30);

/// Each value, from one type to another, gives an error of a number and a text.
fn fail_all(cases: Vec<(Value, SqlType, SqlType, i32, &str)>) {
    for (value, from, to, number, text) in cases {
        match convert(&value, from, to, 0) {
            Ok(v) => panic!("{value} {from} -> {to} gave {v}"),
            Err(e) => assert_eq!((e.number(), e.text()), (number, text)),
        }
    }
}

#[test]
fn text_that_is_no_number() {
    fail_all(vec![
        (
            vc("abc"),
            VC,
            SqlType::Int,
            245,
            "Conversion failed when converting the varchar value 'abc' to data type int.",
        ),
        (
            Value::nvarchar("1.5"),
            NV,
            SqlType::Int,
            245,
            "Conversion failed when converting the nvarchar value '1.5' to data type int.",
        ),
        (
            vc("3000000000"),
            VC,
            SqlType::Int,
            248,
            "The conversion of the varchar value '3000000000' overflowed an int column.",
        ),
        (
            vc("70000"),
            VC,
            SqlType::SmallInt,
            244,
            "The conversion of the varchar value '70000' overflowed an INT2 column. Use a larger integer column.",
        ),
        (vc("x"), VC, SqlType::BigInt, 8114, "Error converting data type varchar to bigint."),
        (vc("x"), VC, NUM, 8114, "Error converting data type varchar to numeric."),
        (vc(""), VC, NUM, 8114, "Error converting data type varchar to numeric."),
        (
            vc("123456789.1"),
            VC,
            NUM,
            8115,
            "Arithmetic overflow error converting varchar to data type numeric.",
        ),
        (vc("nan"), VC, SqlType::Float, 8114, "Error converting data type varchar to float."),
        (
            vc("1.2.3"),
            VC,
            SqlType::Money,
            235,
            "Cannot convert a char value to money. The char value has incorrect syntax.",
        ),
        (
            vc("x"),
            VC,
            SqlType::DateTime,
            241,
            "Conversion failed when converting date and/or time from character string.",
        ),
        (
            vc("2026-13-01"),
            VC,
            SqlType::DateTime,
            242,
            "The conversion of a varchar data type to a datetime data type resulted in an out-of-range value.",
        ),
    ]);
}

#[test]
fn text_that_is_no_date_and_numbers_too_large() {
    fail_all(vec![
        (
            vc("x"),
            VC,
            SqlType::SmallDateTime,
            295,
            "Conversion failed when converting character string to smalldatetime data type.",
        ),
        (
            vc("2026-13-01"),
            VC,
            SqlType::Date,
            241,
            "Conversion failed when converting date and/or time from character string.",
        ),
        (
            vc("x"),
            VC,
            SqlType::UniqueIdentifier,
            8169,
            "Conversion failed when converting from a character string to uniqueidentifier.",
        ),
        (
            Value::Int(256),
            SqlType::Int,
            SqlType::TinyInt,
            220,
            "Arithmetic overflow error for data type tinyint, value = 256.",
        ),
        (
            Value::BigInt(1 << 40),
            SqlType::BigInt,
            SqlType::Int,
            8115,
            "Arithmetic overflow error converting expression to data type int.",
        ),
        (
            Value::Float(3e9),
            SqlType::Float,
            SqlType::Int,
            232,
            "Arithmetic overflow error for type int, value = 3000000000.000000.",
        ),
        (
            Value::Int(123_456_789),
            SqlType::Int,
            NUM,
            8115,
            "Arithmetic overflow error converting int to data type numeric.",
        ),
        (
            Value::Int(1000),
            SqlType::Int,
            SqlType::nvarchar(3),
            8115,
            "Arithmetic overflow error converting expression to data type nvarchar.",
        ),
    ]);
}

#[test]
fn values_too_long_or_without_conversion() {
    fail_all(vec![
        (
            dec("123.45"),
            NUM,
            SqlType::varchar(3),
            8115,
            "Arithmetic overflow error converting numeric to data type varchar.",
        ),
        (
            Value::Money(1_234_500),
            SqlType::Money,
            SqlType::varchar(3),
            234,
            "There is insufficient result space to convert a money value to varchar.",
        ),
        (
            Value::Guid([0; 16]),
            SqlType::UniqueIdentifier,
            SqlType::varchar(30),
            8170,
            "Insufficient result space to convert uniqueidentifier value to char.",
        ),
        (
            Value::Int(1),
            SqlType::Int,
            SqlType::Date,
            529,
            "Explicit conversion from data type int to date is not allowed.",
        ),
        (
            Value::Date(0),
            SqlType::Date,
            SqlType::Time(0),
            529,
            "Explicit conversion from data type date to time is not allowed.",
        ),
        (
            Value::Date(0),
            SqlType::Date,
            SqlType::DateTime,
            242,
            "The conversion of a date data type to a datetime data type resulted in an out-of-range value.",
        ),
    ]);
}

#[test]
fn only_blanks_may_be_lost_on_the_way_into_a_column() {
    let to = SqlType::varchar(3);
    let fit = |v: &Value, from| {
        coerce_for_column(v, from, to, crate::datetime::Dialect::default(), Default::default())
            .unwrap()
    };
    assert_eq!(fit(&vc("abc   "), VC), Fit::Fits(vc("abc")));
    assert_eq!(fit(&vc("abcd"), VC), Fit::Truncated(vc("abc")));
    assert_eq!(fit(&Value::nvarchar("abcd"), SqlType::nvarchar(9)), Fit::Truncated(vc("abc")));
}

#[test]
fn every_pair_of_types_converts_or_answers_an_error() {
    let samples = [
        vc("1"),
        vc("x"),
        Value::nvarchar("2026-01-01"),
        Value::Int(7),
        dec("1.5"),
        Value::Float(2.5),
        Value::Money(1),
        Value::Date(700_000),
        Value::Time(1),
        Value::Guid([1; 16]),
        Value::varbinary(&[1, 2, 3]),
        Value::Bit(true),
    ];
    for v in &samples {
        let from = *crate::ALL_TYPES
            .iter()
            .find(|t| match v {
                Value::Char(_) => **t == SqlType::varchar(8000),
                Value::NChar(_) => **t == SqlType::nvarchar(4000),
                Value::Int(_) => **t == SqlType::Int,
                Value::Decimal(_) => matches!(t, SqlType::Decimal { .. }),
                Value::Float(_) => **t == SqlType::Float,
                Value::Money(_) => **t == SqlType::Money,
                Value::Date(_) => **t == SqlType::Date,
                Value::Time(_) => matches!(t, SqlType::Time(_)),
                Value::Guid(_) => **t == SqlType::UniqueIdentifier,
                Value::Binary(_) => **t == SqlType::varbinary(8000),
                _ => **t == SqlType::Bit,
            })
            .unwrap();
        // The samples are no values of decimal(38,38), which a variant would keep.
        let kept = |to| to == SqlType::Variant && matches!(v, Value::Decimal(_));
        for &to in crate::ALL_TYPES.iter().filter(|&&to| to != from && !kept(to)) {
            let got = convert(v, from, to, 0);
            if !explicit_allowed(from, to) {
                assert_eq!(got.map_err(|e| e.number()), Err(529), "{from} -> {to}");
            } else if let Ok(value) = got
                && !value.is_null()
            {
                // What converts also stores and reads back.
                let mut bytes = Vec::new();
                crate::encode_storage(&value, to, &mut bytes);
                let back = crate::decode_storage(&bytes, to).unwrap();
                let order = crate::compare(&back, &value, crate::Collation::default());
                assert!(order.is_eq(), "{value:?} as {to} came back as {back:?}");
            }
        }
    }
}
