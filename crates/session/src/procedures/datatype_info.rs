//! `sp_datatype_info_100 [@data_type, @ODBCVer]`: what ODBC's SQLGetTypeInfo shows.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use types::{SqlType, Value};

/// A row: name, ODBC type, precision, prefix, suffix, parameters, case, searchable, unsigned,
/// money, identity, scales, verbose type, its sub code, radix, user type.
struct Type {
    name: &'static str,
    code: i16,
    precision: i32,
    quotes: Option<(&'static str, &'static str)>,
    parameters: Option<&'static str>,
    case: i16,
    searchable: i16,
    unsigned: Option<i16>,
    money: i16,
    identity: Option<i16>,
    scales: Option<(i16, i16)>,
    verbose: i16,
    sub: Option<i16>,
    radix: Option<i32>,
    user_type: i16,
}

const fn plain(name: &'static str, code: i16, precision: i32, user_type: i16) -> Type {
    Type {
        name,
        code,
        precision,
        quotes: None,
        parameters: None,
        case: 0,
        searchable: 2,
        unsigned: None,
        money: 0,
        identity: None,
        scales: None,
        verbose: code,
        sub: None,
        radix: None,
        user_type,
    }
}

const fn exact(
    name: &'static str,
    code: i16,
    precision: i32,
    user_type: i16,
    unsigned: i16,
) -> Type {
    Type {
        unsigned: Some(unsigned),
        identity: Some(0),
        scales: Some((0, 0)),
        radix: Some(10),
        ..plain(name, code, precision, user_type)
    }
}

const fn text(name: &'static str, code: i16, n: i32, user_type: i16, wide: bool) -> Type {
    let quotes = if wide { ("N'", "'") } else { ("'", "'") };
    Type {
        quotes: Some(quotes),
        parameters: Some("length"),
        case: 0,
        searchable: 3,
        ..plain(name, code, n, user_type)
    }
}

const fn bytes(name: &'static str, code: i16, n: i32, user_type: i16) -> Type {
    let quotes = Some(("0x", ""));
    Type { quotes, parameters: Some("length"), ..plain(name, code, n, user_type) }
}

const fn moment(name: &'static str, code: i16, n: i32, scale: (i16, i16), sub: i16) -> Type {
    Type {
        quotes: Some(("'", "'")),
        searchable: 3,
        scales: Some(scale),
        verbose: 9,
        sub: Some(sub),
        ..plain(name, code, n, 0)
    }
}

const TYPES: &[Type] = &[
    Type {
        searchable: 3,
        verbose: -155,
        scales: Some((0, 7)),
        ..moment("datetimeoffset", -155, 34, (0, 7), 0)
    },
    Type { scales: Some((0, 7)), ..moment("time", -154, 16, (0, 7), 0) },
    Type { searchable: 2, ..plain("sql_variant", -150, 8000, 0) },
    Type { parameters: None, searchable: 1, ..text("ntext", -10, 1_073_741_823, 0, true) },
    exact("bit", -7, 1, 16, 1),
    exact("tinyint", -6, 3, 5, 1),
    Type { identity: Some(1), ..exact("tinyint identity", -6, 3, 5, 1) },
    exact("bigint", -5, 19, 0, 0),
    Type { identity: Some(1), ..exact("bigint identity", -5, 19, 0, 0) },
    Type { parameters: None, searchable: 0, ..bytes("image", -4, i32::MAX, 20) },
    bytes("varbinary", -3, 8000, 4),
    bytes("binary", -2, 8000, 3),
    Type { parameters: None, searchable: 1, ..text("text", -1, i32::MAX, 19, false) },
    text("nvarchar", -9, 4000, 0, true),
    Type { parameters: None, ..text("sysname", -9, 128, 18, true) },
    text("nchar", -8, 4000, 0, true),
    Type { quotes: Some(("'", "'")), ..plain("uniqueidentifier", -11, 36, 0) },
    text("char", 1, 8000, 1, false),
    Type {
        parameters: Some("precision,scale"),
        scales: Some((0, 38)),
        ..exact("numeric", 2, 38, 10, 0)
    },
    Type {
        parameters: Some("precision"),
        identity: Some(1),
        ..exact("numeric() identity", 2, 38, 10, 0)
    },
    Type {
        parameters: Some("precision,scale"),
        scales: Some((0, 38)),
        ..exact("decimal", 3, 38, 24, 0)
    },
    Type {
        parameters: Some("precision"),
        identity: Some(1),
        ..exact("decimal() identity", 3, 38, 24, 0)
    },
    Type {
        quotes: Some(("$", "")),
        money: 1,
        scales: Some((4, 4)),
        ..exact("money", 3, 19, 11, 0)
    },
    Type {
        quotes: Some(("$", "")),
        money: 1,
        scales: Some((4, 4)),
        ..exact("smallmoney", 3, 10, 21, 0)
    },
    exact("int", 4, 10, 7, 0),
    Type { identity: Some(1), ..exact("int identity", 4, 10, 7, 0) },
    exact("smallint", 5, 5, 6, 0),
    Type { identity: Some(1), ..exact("smallint identity", 5, 5, 6, 0) },
    Type { scales: None, radix: Some(2), ..exact("float", 6, 53, 8, 0) },
    Type { scales: None, radix: Some(2), ..exact("real", 7, 24, 23, 0) },
    text("varchar", 12, 8000, 2, false),
    moment("date", 91, 10, (0, 0), 1),
    moment("datetime2", 93, 27, (0, 7), 3),
    moment("datetime", 93, 23, (3, 3), 3),
    moment("smalldatetime", 93, 16, (0, 0), 3),
];

/// The codes of dates and times in ODBC 2.
fn code_of(t: &Type, odbc: i64) -> i16 {
    match t.code {
        91..=93 if odbc < 3 => t.code - 82,
        code => code,
    }
}

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let wanted = call.number("@data_type", 0).unwrap_or(0);
    let odbc = call.number("@ODBCVer", 1).unwrap_or(2);
    let mut types: Vec<&Type> = TYPES.iter().collect();
    types.retain(|t| wanted == 0 || i64::from(code_of(t, odbc)) == wanted);
    types.sort_by_key(|t| code_of(t, odbc));
    let rows = types.into_iter().map(|t| row(t, odbc)).collect();
    session.send_rowset(&Rowset { columns: columns(), rows }, out, DoneScope::InProcedure)?;
    Ok(0)
}

fn columns() -> Vec<(String, SqlType, bool)> {
    let (name, small, text) = (SqlType::SYSNAME, SqlType::SmallInt, SqlType::varchar(32));
    [
        ("TYPE_NAME", name, false),
        ("DATA_TYPE", small, false),
        ("PRECISION", SqlType::Int, true),
        ("LITERAL_PREFIX", text, true),
        ("LITERAL_SUFFIX", text, true),
        ("CREATE_PARAMS", text, true),
        ("NULLABLE", small, false),
        ("CASE_SENSITIVE", small, false),
        ("SEARCHABLE", small, false),
        ("UNSIGNED_ATTRIBUTE", small, true),
        ("MONEY", small, false),
        ("AUTO_INCREMENT", small, true),
        ("LOCAL_TYPE_NAME", name, true),
        ("MINIMUM_SCALE", small, true),
        ("MAXIMUM_SCALE", small, true),
        ("SQL_DATA_TYPE", small, false),
        ("SQL_DATETIME_SUB", small, true),
        ("NUM_PREC_RADIX", SqlType::Int, true),
        ("INTERVAL_PRECISION", small, true),
        ("USERTYPE", small, true),
    ]
    .map(|(name, sql_type, nullable)| (name.to_owned(), sql_type, nullable))
    .to_vec()
}

fn row(t: &Type, odbc: i64) -> Vec<Value> {
    let small = |n: i16| Value::SmallInt(n);
    let text = |s: Option<&str>| s.map_or(Value::Null, Value::varchar);
    vec![
        Value::nvarchar(t.name),
        small(code_of(t, odbc)),
        Value::Int(t.precision),
        text(t.quotes.map(|q| q.0)),
        text(t.quotes.map(|q| q.1)),
        text(t.parameters),
        small(i16::from(!t.name.ends_with("identity"))),
        small(t.case),
        small(t.searchable),
        t.unsigned.into(),
        small(t.money),
        t.identity.into(),
        Value::nvarchar(t.name),
        t.scales.map(|s| s.0).into(),
        t.scales.map(|s| s.1).into(),
        small(t.verbose),
        t.sub.filter(|&s| s != 0).into(),
        t.radix.into(),
        Value::Null,
        small(t.user_type),
    ]
}
