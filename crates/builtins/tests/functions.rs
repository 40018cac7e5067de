//! Functions through the registry, as SQL Server documents them.

use base::SqlResult;
use builtins::{Call, Fact, Function, Question, SessionFacts, datepart_argument, global, lookup};
use types::datetime::{Dialect, Moment};
use types::{Collation, Decimal, SqlType, Value, convert};

/// A session that answers the same every time.
struct FixedSession;

impl SessionFacts for FixedSession {
    fn fact(&self, fact: Fact) -> SqlResult<Value> {
        Ok(match fact {
            Fact::DateFirst => Value::TinyInt(7),
            Fact::CurrentDatabaseName => Value::nvarchar("master"),
            Fact::CurrentDatabaseId => Value::Int(1),
            Fact::ScopeIdentity => Value::BigInt(12),
            Fact::RowCount => Value::Int(3),
            _ => Value::Null,
        })
    }

    fn resolve(&self, question: Question, arguments: &[Value]) -> SqlResult<Value> {
        Ok(match question {
            Question::ObjectId => Value::Int(arguments.len() as i32 * 100),
            _ => Value::Null,
        })
    }

    fn clock(&self) -> Moment {
        Moment { offset: 60, ..Moment::from_civil(2026, 11, 21, 468_000_000_000).expect("a day") }
    }

    fn dialect(&self) -> Dialect {
        Dialect::default()
    }

    fn random(&self) -> u64 {
        u64::MAX
    }
}

fn type_of(v: &Value) -> SqlType {
    match v {
        Value::Int(_) | Value::Null => SqlType::Int,
        Value::TinyInt(_) => SqlType::TinyInt,
        Value::SmallInt(_) => SqlType::SmallInt,
        Value::Float(_) => SqlType::Float,
        Value::Money(_) => SqlType::Money,
        Value::Decimal(d) => SqlType::decimal(10, d.scale()),
        Value::Char(_) => SqlType::varchar(40),
        Value::NChar(_) => SqlType::nvarchar(40),
        Value::Binary(_) => SqlType::varbinary(40),
        Value::Date(_) => SqlType::Date,
        Value::Time(_) => SqlType::Time(7),
        Value::DateTime(_) => SqlType::DateTime,
        Value::DateTime2(_) => SqlType::DateTime2(7),
        Value::DateTimeOffset(_) => SqlType::DateTimeOffset(0),
        other => panic!("no sample of {other:?}"),
    }
}

fn run(f: &Function, args: &[Value]) -> SqlResult<(Value, SqlType)> {
    f.check_count(args.len())?;
    let arg_types: Vec<SqlType> = args.iter().map(type_of).collect();
    let result = (f.result)(&arg_types)?;
    let mut call = Call {
        facts: &FixedSession,
        arg_types: &arg_types,
        result,
        collation: Collation::default(),
    };
    f.call(&mut call, args).map(|v| (v, result))
}

/// The result as text, or the error's text.
fn shown(name: &str, args: &[Value]) -> String {
    let f = lookup(name).unwrap_or_else(|| panic!("no function {name}"));
    match run(f, args) {
        Ok((Value::Null, _)) => "NULL".to_owned(),
        Ok((v, t)) => {
            let text = convert(&v, t, SqlType::nvarchar(4000), 0).expect("text of any value");
            text.as_text().expect("a character value")
        }
        Err(e) => e.text().to_owned(),
    }
}

fn s(text: &str) -> Value {
    Value::varchar(text)
}

fn n(text: &str) -> Value {
    Value::nvarchar(text)
}

fn i(n: i32) -> Value {
    Value::Int(n)
}

fn d(text: &str) -> Value {
    Value::Decimal(Decimal::parse(text).expect("a decimal"))
}

fn t(text: &str, t: SqlType) -> Value {
    convert(&s(text), SqlType::varchar(40), t, 0).expect("a value of the type")
}

fn table(cases: &[(&str, &[Value], &str)]) {
    for (name, args, expected) in cases {
        assert_eq!(shown(name, args), *expected, "{name}({args:?})");
    }
}

#[test]
fn strings_are_built_and_cut() {
    table(&[
        ("left", &[s("abcdef"), i(3)], "abc"),
        ("LEFT", &[s("ab"), i(9)], "ab"),
        (
            "LEFT",
            &[s("ab"), i(-1)],
            "Invalid length parameter passed to the LEFT or SUBSTRING function.",
        ),
        ("RIGHT", &[n("añb"), i(2)], "ñb"),
        ("RIGHT", &[s("ab"), i(-1)], "Invalid length parameter passed to the RIGHT function."),
        ("SUBSTRING", &[s("abcdef"), i(2), i(3)], "bcd"),
        ("SUBSTRING", &[s("abcdef"), i(-1), i(4)], "ab"),
        ("SUBSTRING", &[s("abc"), i(5), i(2)], ""),
        (
            "SUBSTRING",
            &[s("abc"), i(1), i(-1)],
            "Invalid length parameter passed to the LEFT or SUBSTRING function.",
        ),
        ("UPPER", &[s("aé1")], "AÉ1"),
        ("LOWER", &[n("ÀЖ")], "àж"),
        ("LTRIM", &[s("  a ")], "a "),
        ("RTRIM", &[s(" a  ")], " a"),
        ("TRIM", &[s("  a  ")], "a"),
        ("TRIM", &[s("..a!."), s(".!")], "a"),
        ("REPLACE", &[s("aXbx"), s("x"), s("--")], "a--b--"),
        ("REPLACE", &[s("abc"), s(""), s("z")], "abc"),
        ("REPLICATE", &[s("ab"), i(3)], "ababab"),
        ("REPLICATE", &[s("ab"), i(-1)], "NULL"),
        ("REVERSE", &[s("abc")], "cba"),
        ("SPACE", &[i(3)], "   "),
        ("STUFF", &[s("abcdef"), i(2), i(3), s("ijklmn")], "aijklmnef"),
        ("STUFF", &[s("abc"), i(9), i(1), s("x")], "NULL"),
        ("CONCAT", &[s("a"), Value::Null, i(5), n("ж")], "a5ж"),
        ("CONCAT_WS", &[s(", "), s("a"), Value::Null, s("b")], "a, b"),
        ("QUOTENAME", &[n("a]b")], "[a]]b]"),
        ("QUOTENAME", &[n("a'b"), s("'")], "'a''b'"),
        ("PARSENAME", &[n("srv.[d b].dbo.t"), i(1)], "t"),
        ("PARSENAME", &[n("srv.[d b].dbo.t"), i(3)], "d b"),
        ("PARSENAME", &[n("t"), i(2)], "NULL"),
        ("TRANSLATE", &[s("2*[3+4]"), s("[]"), s("()")], "2*(3+4)"),
        (
            "TRANSLATE",
            &[s("a"), s("ab"), s("c")],
            "The second and third arguments of the TRANSLATE built-in function must contain an equal number of characters.",
        ),
        ("STR", &[Value::Float(123.45), i(6), i(1)], " 123.5"),
        ("STR", &[Value::Float(123.45), i(2), i(2)], "**"),
        ("STR", &[Value::Float(3.147), i(5), i(3)], "3.147"),
        ("STRING_ESCAPE", &[n("a\"/\n"), s("json")], "a\\\"\\/\\n"),
        ("CHAR", &[i(65)], "A"),
        ("CHAR", &[i(256)], "NULL"),
        ("NCHAR", &[i(0x416)], "Ж"),
    ]);
}

#[test]
fn strings_are_searched_and_measured() {
    table(&[
        ("ASCII", &[s("A")], "65"),
        ("ASCII", &[s("")], "NULL"),
        ("UNICODE", &[n("Ж")], "1046"),
        ("LEN", &[s("ab  ")], "2"),
        ("LEN", &[Value::Null], "NULL"),
        ("LEN", &[i(1234)], "4"),
        ("DATALENGTH", &[n("ab ")], "6"),
        ("DATALENGTH", &[i(7)], "4"),
        ("CHARINDEX", &[s("B"), s("abcb")], "2"),
        ("CHARINDEX", &[s("b"), s("abcb"), i(3)], "4"),
        ("CHARINDEX", &[s("z"), s("abc")], "0"),
        ("PATINDEX", &[s("%ter%"), s("interesting data")], "3"),
        ("PATINDEX", &[s("%[^0-9]%"), s("12a")], "3"),
        ("SOUNDEX", &[s("Smith")], "S530"),
        ("SOUNDEX", &[s("Smythe")], "S530"),
        ("DIFFERENCE", &[s("Smithers"), s("Smythers")], "4"),
    ]);
}

#[test]
fn numbers() {
    let f = Value::Float;
    table(&[
        ("ABS", &[i(-5)], "5"),
        (
            "ABS",
            &[i(i32::MIN)],
            "Arithmetic overflow error converting expression to data type int.",
        ),
        ("ABS", &[d("-1.50")], "1.50"),
        ("SIGN", &[f(-0.5)], "-1"),
        ("CEILING", &[d("123.45")], "124"),
        ("CEILING", &[d("-123.45")], "-123"),
        ("CEILING", &[Value::Money(-5)], "0.00"),
        ("FLOOR", &[d("-123.45")], "-124"),
        ("FLOOR", &[Value::Money(12_345)], "1.00"),
        ("FLOOR", &[f(1.9)], "1"),
        ("ROUND", &[d("123.4545"), i(2)], "123.4500"),
        ("ROUND", &[d("123.9994"), i(3)], "123.9990"),
        ("ROUND", &[d("150.75"), i(0), i(1)], "150.00"),
        ("ROUND", &[i(748), i(-2)], "700"),
        ("ROUND", &[i(748), i(-4)], "0"),
        ("ROUND", &[f(2.675), i(2)], "2.68"),
        ("ROUND", &[f(1250.0), i(-2)], "1300"),
        ("POWER", &[i(2), i(10)], "1024"),
        (
            "POWER",
            &[i(2), i(31)],
            "Arithmetic overflow error converting expression to data type int.",
        ),
        ("POWER", &[d("1.5"), i(2)], "2.3"),
        ("SQRT", &[i(-1)], "An invalid floating point operation occurred."),
        ("SQRT", &[i(16)], "4"),
        ("SQUARE", &[f(1.5)], "2.25"),
        ("LOG", &[i(8), i(2)], "3"),
        ("LOG", &[i(0)], "An invalid floating point operation occurred."),
        ("LOG10", &[i(1000)], "3"),
        ("EXP", &[i(0)], "1"),
        ("ATN2", &[f(1.0), f(1.0)], "0.785398"),
        ("PI", &[], "3.14159"),
        ("RADIANS", &[f(180.0)], "3.14159"),
        ("DEGREES", &[i(3)], "171"),
        ("RAND", &[i(1)], "0.713592"),
        ("ISNUMERIC", &[s("1e5")], "1"),
        ("ISNUMERIC", &[s("$12")], "1"),
        ("ISNUMERIC", &[s("abc")], "0"),
        ("ISNUMERIC", &[s("")], "0"),
        (
            "ABS",
            &[t("2026-01-01", SqlType::Date)],
            "Argument data type date is invalid for argument 1 of abs function.",
        ),
    ]);
    let Ok((Value::Float(x), _)) = run(lookup("RAND").unwrap(), &[i(100)]) else {
        panic!("a float")
    };
    assert!((x - 0.715436657367485).abs() < 1e-15);
}

#[test]
fn dates() {
    let part = |name: &str| datepart_argument(name, "DATEADD").unwrap();
    let dt = SqlType::DateTime;
    let dt2 = SqlType::DateTime2(7);
    table(&[
        ("GETDATE", &[], "Nov 21 2026  1:00PM"),
        ("GETUTCDATE", &[], "Nov 21 2026 12:00PM"),
        ("SYSDATETIMEOFFSET", &[], "2026-11-21 13:00:00.0000000 +01:00"),
        ("DATEADD", &[part("month"), i(1), t("2006-08-31", SqlType::Date)], "2006-09-30"),
        ("DATEADD", &[part("ms"), i(3), t("2000-01-01", dt)], "Jan  1 2000 12:00AM"),
        (
            "DATEADD",
            &[part("hh"), i(1), t("2000-01-01", SqlType::Date)],
            "The datepart hour is not supported by date function dateadd for data type date.",
        ),
        (
            "DATEADD",
            &[part("yy"), i(9999), t("2000-01-01", dt)],
            "Adding a value to a 'datetime' column caused an overflow.",
        ),
        ("DATEADD", &[part("hh"), i(25), t("01:00", SqlType::Time(7))], "02:00:00.0000000"),
        ("DATEADD", &[part("dd"), i(1), s("2000-12-31")], "Jan  1 2001 12:00AM"),
        ("DATEDIFF", &[part("dd"), s("2000-01-01"), t("2000-03-01", dt2)], "60"),
        (
            "DATEDIFF",
            &[part("ss"), s("1900-01-01"), s("2000-01-01")],
            "The datediff function resulted in an overflow. The number of dateparts separating two date/time instances is too large. Try to use datediff with a less precise datepart.",
        ),
        ("DATEDIFF_BIG", &[part("ss"), s("1900-01-01"), s("2000-01-01")], "3155673600"),
        ("DATENAME", &[part("weekday"), t("2026-11-21", dt)], "Saturday"),
        ("DATENAME", &[part("month"), t("2026-11-21", dt)], "November"),
        ("DATEPART", &[part("dw"), t("2026-11-21", dt)], "7"),
        ("DATEPART", &[part("isowk"), t("2027-01-01", dt)], "53"),
    ]);
    let e = datepart_argument("fortnight", "DATEADD").expect_err("no such part");
    assert_eq!(e.text(), "'fortnight' is not a recognized dateadd option.");
}

#[test]
fn dates_are_taken_apart_and_put_together() {
    let dt2 = SqlType::DateTime2(7);
    let ns = datepart_argument("ns", "DATEPART").unwrap();
    table(&[
        ("YEAR", &[s("2026-11-21")], "2026"),
        ("DATEPART", &[ns, s("2007-10-30 12:15:32.1234567 +05:10")], "123456700"),
        ("MONTH", &[i(0)], "1"),
        ("DAY", &[t("2026-11-21", SqlType::Date)], "21"),
        ("EOMONTH", &[s("2024-02-10")], "2024-02-29"),
        ("EOMONTH", &[s("2024-01-31"), i(1)], "2024-02-29"),
        ("DATEFROMPARTS", &[i(2024), i(2), i(29)], "2024-02-29"),
        (
            "DATEFROMPARTS",
            &[i(2023), i(2), i(29)],
            "Cannot construct data type date, some of the arguments have values which are not valid.",
        ),
        (
            "DATETIMEFROMPARTS",
            &[i(2024), i(1), i(2), i(3), i(4), i(5), i(6)],
            "Jan  2 2024  3:04AM",
        ),
        (
            "DATETIME2FROMPARTS",
            &[i(2024), i(1), i(2), i(3), i(4), i(5), i(6), i(1)],
            "2024-01-02 03:04:05.6000000",
        ),
        ("TIMEFROMPARTS", &[i(23), i(59), i(59), i(0), i(0)], "23:59:59.0000000"),
        ("ISDATE", &[s("2026-02-29")], "0"),
        ("ISDATE", &[s("20260228")], "1"),
        (
            "SWITCHOFFSET",
            &[t("2026-01-01 10:00 +02:00", SqlType::DateTimeOffset(0)), s("-03:00")],
            "2026-01-01 05:00:00 -03:00",
        ),
        (
            "TODATETIMEOFFSET",
            &[t("2026-01-01 10:00", dt2), i(60)],
            "2026-01-01 10:00:00.0000000 +01:00",
        ),
    ]);
}

#[test]
fn the_session_is_asked() {
    table(&[
        ("DB_NAME", &[], "master"),
        ("DB_ID", &[], "1"),
        ("OBJECT_ID", &[n("dbo.t"), n("U")], "200"),
        ("OBJECT_NAME", &[i(5)], "NULL"),
        ("SCOPE_IDENTITY", &[], "12"),
        ("ROWCOUNT_BIG", &[], "3"),
        ("ISNULL", &[Value::Null, s("7")], "7"),
        ("CHOOSE", &[i(2), s("a"), s("b")], "b"),
        ("CHOOSE", &[i(3), s("a"), s("b")], "NULL"),
        ("NEWID", &[], "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF"),
        ("FORMAT", &[Value::Float(0.13590239), n("N4")], "0.1359"),
        ("FORMAT", &[t("2026-11-21", SqlType::Date), n("yyyy/MM")], "2026/11"),
    ]);
    assert_eq!(global("@@spid"), Some((Fact::Spid, SqlType::SmallInt)));
}

#[test]
fn wrong_numbers_of_arguments_are_told() {
    table(&[
        ("LEFT", &[s("a")], "The left function requires 2 argument(s)."),
        ("ROUND", &[i(1)], "The round function requires 2 to 3 arguments."),
    ]);
}

/// However long the arguments, an answer is no longer than the function's type says: a longer one
/// would be refused at the client's door, row and all.
#[test]
fn no_answer_is_longer_than_its_type() {
    let long = |n: usize| {
        let text = "d".repeat(n);
        [s(&text), n_text(&text), Value::varbinary(text.as_bytes())]
    };
    let mut samples: Vec<Value> = [129, 3000].into_iter().flat_map(long).collect();
    samples.extend([i(1), i(7), i(4000), n("json"), n("N'a.b'"), d("1.5"), Value::Null]);
    for f in builtins::families() {
        let few = f.min_args.max(1).min(f.max_args);
        for count in few..=f.max_args.min(5) {
            for first in &samples {
                for second in &samples {
                    // A long one first, a long one last, others between.
                    let mut args = vec![second.clone(); count];
                    if let Some(place) = args.first_mut() {
                        *place = first.clone();
                    }
                    if f.date_part {
                        args[0] = Value::TinyInt(4);
                    }
                    let Ok((value, t)) = run(f, &args) else { continue };
                    let bytes = value.as_bytes().map_or(0, <[u8]>::len);
                    let most = usize::try_from(t.max_length()).unwrap_or(usize::MAX);
                    let fits = t.is_max() || bytes <= most;
                    assert!(fits, "{f:?} gave {bytes} bytes of a {t:?}");
                }
            }
        }
    }
}

fn n_text(text: &str) -> Value {
    Value::nvarchar(text)
}

/// Whatever the arguments, a function answers a value of its type or an error.
#[test]
fn no_arguments_make_a_function_panic() {
    let samples = [
        Value::Null,
        i(-1),
        i(0),
        i(i32::MAX),
        i(i32::MIN),
        s(""),
        s("x%["),
        n("1"),
        Value::Float(-1e300),
        d("99.5"),
        Value::Money(i64::MIN),
        Value::varbinary(&[1, 2]),
        t("9999-12-31 23:59:59.997", SqlType::DateTime),
        t("0001-01-01", SqlType::Date),
        t("9999-12-31 23:59:59.9999999", SqlType::DateTime2(7)),
        t("00:00", SqlType::Time(7)),
    ];
    let mut seed = 7_usize;
    for f in builtins::families() {
        for round in 0..400 {
            let most = f.max_args.min(f.min_args + 2);
            let count = f.min_args + round % (most - f.min_args + 1);
            let mut args: Vec<Value> = (0..count)
                .map(|_| {
                    seed = seed
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1_442_695_040_888_963_407);
                    samples[(seed >> 33) % samples.len()].clone()
                })
                .collect();
            if f.date_part {
                args[0] = Value::TinyInt((round % 15) as u8);
            }
            if let Ok((v, result)) = run(f, &args)
                && !v.is_null()
            {
                // The value is of the type's kind: it stores.
                types::encode_storage(&v, result, &mut Vec::new());
            }
        }
    }
}

/// A name finds one function, and every function has room for its fewest arguments.
#[test]
fn names_are_unique() {
    let mut names: Vec<&str> = builtins::families().map(|f| f.name).collect();
    assert!(builtins::families().all(|f| f.min_args <= f.max_args));
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all);
    assert!(all > 140, "{all}");
}

/// A request that is to end ends in the midst of one value, however long its work.
#[test]
fn who_compares_many_characters_looks_whether_it_is_to_end() {
    let long = Value::varchar(&"a".repeat(100_000));
    let set = Value::varchar(&("b".repeat(3_000) + "a"));
    let many = [
        ("TRIM", vec![long.clone(), set.clone()]),
        ("LTRIM", vec![long.clone(), set.clone()]),
        ("RTRIM", vec![long.clone(), set.clone()]),
        ("TRANSLATE", vec![long.clone(), set.clone(), set]),
        ("CHARINDEX", vec![Value::varchar(&("a".repeat(3_000) + "b")), long.clone()]),
        ("REPLACE", vec![long, Value::varchar(&("a".repeat(3_000) + "b")), Value::varchar("c")]),
    ];
    let waiter = std::sync::Arc::new(os::wait::Waiter::new());
    let _attended = os::values::attend(std::sync::Arc::clone(&waiter), 0);
    waiter.cancel(os::wait::CancelReason::Attention);
    for (name, args) in many {
        assert!(run(lookup(name).expect(name), &args).is_err(), "{name} goes on");
    }
}
