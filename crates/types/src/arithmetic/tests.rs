//! Operators as SQL Server documents them, in tables.

use super::*;
use crate::{Decimal, Value, convert};
use BinaryOp::*;

const INT: SqlType = SqlType::Int;
const VC: SqlType = SqlType::varchar(10);

fn d(p: u8, s: u8) -> SqlType {
    SqlType::decimal(p, s)
}

#[test]
fn result_types() {
    for (op, l, r, result) in [
        (Add, INT, SqlType::TinyInt, INT),
        (Div, SqlType::SmallInt, SqlType::BigInt, SqlType::BigInt),
        (Add, SqlType::Bit, INT, INT),
        (Add, d(10, 2), d(5, 4), d(13, 4)),
        (Sub, d(38, 10), d(38, 2), d(38, 2)),
        (Mul, d(10, 2), d(5, 4), d(16, 6)),
        (Mul, d(38, 20), d(38, 20), d(38, 6)),
        (Div, d(10, 2), d(5, 4), d(20, 8)),
        (Div, d(38, 0), d(38, 0), d(38, 6)),
        (Div, INT, d(10, 0), d(21, 11)),
        (Modulo, d(10, 2), d(5, 4), d(5, 4)),
        (Add, SqlType::Money, INT, SqlType::Money),
        (Mul, SqlType::Money, d(5, 2), d(25, 6)),
        (Add, SqlType::Real, d(38, 0), SqlType::Real),
        (Add, SqlType::Real, SqlType::Float, SqlType::Float),
        (Add, VC, INT, INT),
        (Add, VC, VC, SqlType::varchar(20)),
        (Add, VC, SqlType::nvarchar(5), SqlType::nvarchar(15)),
        (Add, SqlType::varchar(8000), VC, SqlType::varchar(8000)),
        (Add, SqlType::VARCHAR_MAX, SqlType::nvarchar(1), SqlType::NVARCHAR_MAX),
        (Add, SqlType::Char(2), SqlType::Char(3), SqlType::Char(5)),
        (Add, SqlType::DateTime, INT, SqlType::DateTime),
        (Sub, SqlType::DateTime, SqlType::SmallDateTime, SqlType::DateTime),
        (BitAnd, INT, SqlType::varbinary(4), INT),
        (BitOr, SqlType::Bit, SqlType::Bit, SqlType::Bit),
    ] {
        assert_eq!(operation(op, l, r).map(|o| o.result), Ok(result), "{op:?} {l} {r}");
    }
}

/// No operand is given a type that there isn't: an nvarchar of more than 4,000.
#[test]
fn strings_that_become_nvarchar_are_as_short() {
    let wide = SqlType::nvarchar(4000);
    for narrow in [SqlType::varchar(8000), SqlType::Char(8000), SqlType::varchar(4001)] {
        for other in [SqlType::nvarchar(1), SqlType::NChar(4000)] {
            let right = operation(Add, narrow, other).unwrap();
            assert_eq!((right.left, right.right, right.result), (wide, other, wide), "{narrow:?}");
            let left = operation(Add, other, narrow).unwrap();
            assert_eq!((left.left, left.right, left.result), (other, wide, wide), "{narrow:?}");
        }
    }
    let long = operation(Add, SqlType::VARCHAR_MAX, SqlType::nvarchar(1)).unwrap();
    assert_eq!(long.left, SqlType::NVARCHAR_MAX);
    for narrow in [SqlType::varchar(8000), SqlType::Char(4001)] {
        let long = operation(Add, narrow, SqlType::NVARCHAR_MAX).unwrap();
        assert_eq!((long.left, long.result), (SqlType::NVARCHAR_MAX, SqlType::NVARCHAR_MAX));
    }
}

#[test]
fn operators_without_meaning() {
    for (op, l, r, text) in [
        (Sub, VC, VC, "Operand data type varchar is invalid for subtract operator."),
        (
            Mul,
            SqlType::DateTime,
            INT,
            "Operand data type datetime is invalid for multiply operator.",
        ),
        (Add, SqlType::Date, INT, "Operand type clash: date is incompatible with int"),
        (
            Add,
            SqlType::Bit,
            SqlType::Bit,
            "The data types bit and bit are incompatible in the add operator.",
        ),
        (
            Modulo,
            SqlType::Float,
            INT,
            "The data types float and int are incompatible in the modulo operator.",
        ),
        (
            BitAnd,
            SqlType::Float,
            INT,
            "The data types float and int are incompatible in the '&' operator.",
        ),
        (
            Add,
            VC,
            SqlType::varbinary(2),
            "The data types varchar and varbinary are incompatible in the add operator.",
        ),
        (
            Add,
            SqlType::UniqueIdentifier,
            INT,
            "Operand data type uniqueidentifier is invalid for add operator.",
        ),
    ] {
        let e = operation(op, l, r).expect_err("no such operator");
        assert_eq!(e.text(), text);
    }
}

/// Computes `a op b` from texts converted to the two types.
fn calc(op: BinaryOp, a: (&str, SqlType), b: (&str, SqlType)) -> String {
    let value = |(text, t): (&str, SqlType)| {
        convert(&Value::varchar(text), SqlType::varchar(60), t, 0).unwrap()
    };
    let o = operation(op, a.1, b.1).unwrap();
    let left = convert(&value(a), a.1, o.left, 0).unwrap();
    let right = convert(&value(b), b.1, o.right, 0).unwrap();
    match apply(op, &left, &right, o.result) {
        Ok(v) => v.to_string(),
        Err(e) => e.text().to_owned(),
    }
}

#[test]
fn values() {
    let m = SqlType::Money;
    for (op, a, b, out) in [
        (Div, ("7", INT), ("2", INT), "3"),
        (Div, ("-7", INT), ("2", INT), "-3"),
        (Modulo, ("-7", INT), ("2", INT), "-1"),
        (Div, ("1", INT), ("3", d(1, 0)), "0.333333"),
        (Div, ("2", d(10, 2)), ("3", d(10, 2)), "0.6666666666666"),
        (Mul, ("1.5", d(10, 2)), ("1.25", d(5, 2)), "1.8750"),
        (Add, ("0.1", d(38, 37)), ("9", d(38, 0)), "9"),
        (Add, ("5", VC), ("6", INT), "11"),
        (Mul, ("1.00", m), ("0.00005", m), "0.00"),
        (Div, ("10", m), ("3", m), "3.33"),
        (Add, ("ab", VC), ("c", VC), "abc"),
        (Add, ("2026-11-21", SqlType::DateTime), ("1", INT), "Nov 22 2026 12:00AM"),
        (Div, ("1", INT), ("0", INT), "Divide by zero error encountered."),
        (
            Add,
            ("2147483647", INT),
            ("1", INT),
            "Arithmetic overflow error converting expression to data type int.",
        ),
        (
            Div,
            ("-2147483648", INT),
            ("-1", INT),
            "Arithmetic overflow error converting expression to data type int.",
        ),
        (Modulo, ("-2147483648", INT), ("-1", INT), "0"),
        (
            Sub,
            ("1", SqlType::TinyInt),
            ("2", SqlType::TinyInt),
            "Arithmetic overflow error converting expression to data type tinyint.",
        ),
        (
            Mul,
            ("99999999999999999999", d(20, 0)),
            ("99999999999999999999", d(20, 0)),
            "Arithmetic overflow error converting expression to data type numeric.",
        ),
        (
            Mul,
            ("1e300", SqlType::Float),
            ("1e300", SqlType::Float),
            "Arithmetic overflow error converting expression to data type float.",
        ),
        (BitXor, ("6", INT), ("3", INT), "5"),
    ] {
        assert_eq!(calc(op, a, b), out, "{a:?} {op:?} {b:?}");
    }
    assert_eq!(apply(Add, &Value::Null, &Value::Int(1), INT), Ok(Value::Null));
    assert_eq!(negate(&Value::Int(i32::MIN), INT).map_err(|e| e.number()), Err(8115));
}

#[test]
fn a_decimal_agrees_with_whole_numbers() {
    for a in [-100_i64, -7, -1, 0, 1, 3, 99] {
        for b in [-9_i64, -1, 1, 2, 50] {
            let (x, y) = (Decimal::from_i64(a), Decimal::from_i64(b));
            let t = d(38, 0);
            let run = |op| apply(op, &Value::Decimal(x), &Value::Decimal(y), t).unwrap();
            let whole = |n: i64| Value::Decimal(Decimal::from_i64(n));
            assert_eq!(run(Add), whole(a + b));
            assert_eq!(run(Mul), whole(a * b));
            assert_eq!(run(Div), whole(a / b));
            assert_eq!(run(Modulo), whole(a % b));
        }
    }
}

#[test]
fn common_types() {
    for (l, r, t) in [
        (INT, d(5, 2), d(12, 2)),
        (d(38, 0), d(10, 5), d(38, 0)),
        (VC, SqlType::nvarchar(3), SqlType::nvarchar(10)),
        (VC, INT, INT),
        (SqlType::Char(3), VC, VC),
        (SqlType::NChar(3), VC, SqlType::nvarchar(10)),
        (SqlType::Date, SqlType::DateTime2(3), SqlType::DateTime2(3)),
        (SqlType::DateTime, SqlType::Time(5), SqlType::DateTime),
        (VC, SqlType::DateTime, SqlType::DateTime),
    ] {
        assert_eq!(common_type(l, r), Ok(t), "{l} {r}");
        assert_eq!(common_type(r, l), Ok(t), "{r} {l}");
    }
    assert_eq!(common_type(SqlType::Date, INT).map_err(|e| e.number()), Err(206));
    assert_eq!(comparison_type(SqlType::Date, SqlType::Time(0)).map_err(|e| e.number()), Err(402));
}
