//! Aggregates: documented results, and merging that equals stepping.

use super::*;

fn dec(s: &str) -> Value {
    Value::Decimal(Decimal::parse(s).unwrap())
}

fn run(a: Aggregate, t: SqlType, values: &[Value]) -> SqlResult<Value> {
    let start = || a.start(t, Collation::default(), Value::varchar(","));
    let mut whole = start();
    for v in values {
        whole.step(v)?;
    }
    // In two halves the result is the same.
    let (mut left, mut right) = (start(), start());
    let (first, second) = values.split_at(values.len() / 2);
    for v in first {
        left.step(v)?;
    }
    for v in second {
        right.step(v)?;
    }
    left.merge(&right)?;
    assert_eq!(whole.saw_null(), left.saw_null());
    let (whole, merged) = (whole.finish()?, left.finish()?);
    match (&whole, &merged) {
        (Value::Float(x), Value::Float(y)) => assert!((x - y).abs() < 1e-9),
        _ => assert_eq!(whole, merged),
    }
    Ok(whole)
}

#[test]
fn results() {
    use Aggregate::*;
    let ints = [Value::Int(1), Value::Null, Value::Int(2), Value::Int(2)];
    let int = SqlType::Int;
    let d = SqlType::decimal(10, 2);
    let cases: Vec<(Aggregate, SqlType, &[Value], Value)> = vec![
        (Count, int, &ints, Value::Int(3)),
        (CountBig, int, &[], Value::BigInt(0)),
        (Sum, int, &ints, Value::Int(5)),
        (Sum, int, &[], Value::Null),
        (Sum, int, &[Value::Null], Value::Null),
        (Avg, int, &ints, Value::Int(1)),
        (Min, int, &ints, Value::Int(1)),
        (Max, int, &ints, Value::Int(2)),
        (ChecksumAgg, int, &ints, Value::Int(1)),
    ];
    for (a, t, values, expected) in cases {
        assert_eq!(run(a, t, values), Ok(expected), "{a:?}");
    }
    let decimals = [dec("1.10"), dec("2.25"), dec("0.00")];
    assert_eq!(run(Sum, d, &decimals).unwrap().to_string(), "3.35");
    assert_eq!(run(Avg, d, &decimals).unwrap().to_string(), "1.116666");
    let floats = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].map(Value::Float);
    assert_eq!(run(StdevP, SqlType::Float, &floats), Ok(Value::Float(2.0)));
    assert_eq!(run(VarP, SqlType::Float, &floats), Ok(Value::Float(4.0)));
    assert_eq!(run(Var, SqlType::Float, &floats[..1]), Ok(Value::Null));
    let texts = [Value::varchar("b"), Value::varchar("A"), Value::varchar("C")];
    assert_eq!(run(Max, SqlType::varchar(3), &texts), Ok(Value::varchar("C")));
    assert_eq!(run(StringAgg, SqlType::varchar(3), &texts), Ok(Value::varchar("b,A,C")));
    let money = [Value::Money(10_000), Value::Money(5)];
    assert_eq!(run(Sum, SqlType::SmallMoney, &money), Ok(Value::Money(10_005)));
}

/// ANY is what came first, also where that is NULL: states of other columns have theirs of the
/// same row. It is no name of the language, and meets no NULLs that a warning would tell of.
#[test]
fn any_is_of_the_first_row() {
    let (one, two) = (Value::Int(1), Value::Int(2));
    let cases = [
        (vec![one.clone(), two.clone(), Value::Null], one.clone()),
        (vec![Value::Null, one.clone(), two.clone()], Value::Null),
        (vec![Value::Null, Value::Null, two], Value::Null),
        (Vec::new(), Value::Null),
    ];
    for (values, expected) in cases {
        assert_eq!(run(Aggregate::Any, SqlType::Int, &values), Ok(expected), "{values:?}");
    }
    let start = || Aggregate::Any.start(SqlType::Int, Collation::default(), Value::Null);
    let mut first = start();
    first.step(&Value::Null).unwrap();
    assert!(!first.saw_null());
    let mut saved = Vec::new();
    first.save(&mut |v| saved.push(v.clone()));
    let (mut saved, mut loaded) = (saved.into_iter(), start());
    loaded.load(&mut || Ok(saved.next().unwrap())).unwrap();
    loaded.step(&one).unwrap();
    assert_eq!(loaded.finish(), Ok(Value::Null));
    assert_eq!(Aggregate::by_name("ANY"), None);
    assert_eq!(Aggregate::Any.result_type(SqlType::Xml), Ok(SqlType::Xml));
}

#[test]
fn types_and_overflow() {
    let result = |a: Aggregate, t| a.result_type(t);
    assert_eq!(result(Aggregate::Sum, SqlType::TinyInt), Ok(SqlType::Int));
    assert_eq!(result(Aggregate::Avg, SqlType::decimal(5, 2)), Ok(SqlType::decimal(38, 6)));
    assert_eq!(result(Aggregate::Sum, SqlType::decimal(5, 2)), Ok(SqlType::decimal(38, 2)));
    let e = result(Aggregate::Sum, SqlType::varchar(5)).expect_err("text has no sum");
    assert_eq!(e.text(), "Operand data type varchar is invalid for sum operator.");
    let large = [Value::Int(i32::MAX), Value::Int(1)];
    let e = run(Aggregate::Sum, SqlType::Int, &large).expect_err("the sum is no int");
    assert_eq!(e.text(), "Arithmetic overflow error converting expression to data type int.");
    // What comes back into range is no error, whatever the order.
    let back = [Value::Int(i32::MAX), Value::Int(1), Value::Int(-5)];
    assert_eq!(run(Aggregate::Sum, SqlType::Int, &back), Ok(Value::Int(i32::MAX - 4)));
}
