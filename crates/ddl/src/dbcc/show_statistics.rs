//! DBCC SHOW_STATISTICS: header, densities and histogram as result sets.

use crate::context::{DdlContext, ResultSet, unsupported};
use crate::dbcc::{argument, table_argument};
use crate::locate::{look_up, same_name};
use base::{SqlError, SqlResult, messages};
use catalog::statistics::{Distribution, Step};
use catalog::view::{Column, Object, Table};
use tsql::ast::{Dbcc, DbccArgument};
use types::datetime::Moment;
use types::{CodePage, Family, SqlType, Value, convert};

/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = 719_162;
const DAY_NS: i64 = 86_400_000_000_000;

/// The result sets that the statement asks for; all if it names none.
#[derive(Default)]
struct ResultChoice {
    header: bool,
    densities: bool,
    histogram: bool,
}

fn wanted(s: &Dbcc) -> SqlResult<ResultChoice> {
    let mut wanted = ResultChoice::default();
    for option in &s.options {
        match &*option.name {
            "NO_INFOMSGS" => {}
            "STAT_HEADER" => wanted.header = true,
            "DENSITY_VECTOR" => wanted.densities = true,
            "HISTOGRAM" => wanted.histogram = true,
            other => {
                let what = format!("DBCC SHOW_STATISTICS WITH {other}");
                return Err(unsupported(&what, option.span.line));
            }
        }
    }
    if !(wanted.header || wanted.densities || wanted.histogram) {
        wanted = ResultChoice { header: true, densities: true, histogram: true };
    }
    Ok(wanted)
}

/// DBCC SHOW_STATISTICS (table, name)
pub(crate) fn show(s: &Dbcc, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    let wanted = wanted(s)?;
    let [table, target] = &*s.arguments else {
        let what = "DBCC SHOW_STATISTICS without a table and a name";
        return Err(unsupported(what, 0));
    };
    let name = table_argument(table)?;
    let target = match target {
        DbccArgument::Name(name) => Some(name.object.to_string()),
        value @ DbccArgument::Value(_) => argument(value),
    };
    let target = target.ok_or_else(|| unsupported("variables as arguments of DBCC", 0))?;
    let named = look_up(cx, &name)?;
    let Some(Object::Table(table)) = named.object else {
        return Err(SqlError::new(messages::DBCC_NO_TABLE, &[&name]).with_state(45));
    };
    let all = table.all_statistics();
    let Some(known) = all.iter().find(|a| same_name(&named.place, a.name, &target)) else {
        return Err(SqlError::new(messages::STATISTICS_NOT_FOUND, &[&target]));
    };
    let found = known.gathered.distribution.as_deref();
    if wanted.header {
        cx.results.push(header(known.name, found));
    }
    if wanted.densities {
        cx.results.push(densities(&table, found));
    }
    if wanted.histogram {
        let first = known.columns.first().map(|&n| &table.columns[n]);
        let of_column = |c: &Column| (c.sql_type, c.collation.code_page());
        let (sql_type, page) = first.map_or((SqlType::Int, CodePage::Cp1252), of_column);
        cx.results.push(histogram(sql_type, page, found));
    }
    Ok(())
}

fn header(name: &str, found: Option<&Distribution>) -> ResultSet {
    let columns = vec![
        ("Name", SqlType::SYSNAME, false),
        ("Updated", SqlType::varchar(20), true),
        ("Rows", SqlType::BigInt, true),
        ("Rows Sampled", SqlType::BigInt, true),
        ("Steps", SqlType::SmallInt, true),
        ("Density", SqlType::Real, true),
        ("Average key length", SqlType::Real, true),
        ("String Index", SqlType::Char(3), true),
        ("Filter Expression", SqlType::NVARCHAR_MAX, true),
        ("Unfiltered Rows", SqlType::BigInt, true),
        ("Persisted Sample Percent", SqlType::Float, true),
    ];
    let known = |of: &dyn Fn(&Distribution) -> Value| found.map_or(Value::Null, of);
    let bytes = |d: &Distribution| d.prefixes.last().map_or(0.0, |p| p.average_bytes);
    let row = vec![
        Value::nvarchar(name),
        known(&|d| Value::varchar(&updated(d.updated_ns))),
        known(&|d| big(d.rows)),
        known(&|d| big(d.sampled)),
        known(&|d| Value::SmallInt(d.steps.len() as i16)),
        known(&|d| Value::Real(d.density() as f32)),
        known(&|d| Value::Real(bytes(d) as f32)),
        known(&|d| Value::varchar(if d.strings.is_empty() { "NO " } else { "YES" })),
        Value::Null,
        known(&|d| big(d.rows)),
        known(&|_| Value::Float(0.0)),
    ];
    ResultSet { columns, rows: vec![row] }
}

fn densities(table: &Table, found: Option<&Distribution>) -> ResultSet {
    let columns = vec![
        ("All density", SqlType::Real, true),
        ("Average Length", SqlType::Real, true),
        ("Columns", SqlType::NVARCHAR_MAX, true),
    ];
    let mut rows = Vec::new();
    let mut names = String::new();
    for p in found.map_or(&[][..], |d| &d.prefixes) {
        let column = table.columns.iter().find(|c| c.column_id == p.column_id);
        if !names.is_empty() {
            names.push_str(", ");
        }
        names.push_str(column.map_or("", |c| &c.name));
        rows.push(vec![
            Value::Real(p.density() as f32),
            Value::Real(p.average_bytes as f32),
            Value::nvarchar(&names),
        ]);
    }
    ResultSet { columns, rows }
}

/// The histogram as a result set. Keys of a code page other than 1252 are shown as Unicode text.
fn histogram(sql_type: SqlType, page: CodePage, found: Option<&Distribution>) -> ResultSet {
    let widened = sql_type.family() == Family::Char && page != CodePage::Cp1252;
    let columns = vec![
        ("RANGE_HI_KEY", if widened { SqlType::NVARCHAR_MAX } else { sql_type }, true),
        ("RANGE_ROWS", SqlType::Real, true),
        ("EQ_ROWS", SqlType::Real, true),
        ("DISTINCT_RANGE_ROWS", SqlType::BigInt, true),
        ("AVG_RANGE_ROWS", SqlType::Real, true),
    ];
    let row = |s: &Step| {
        vec![
            match s.key_value(sql_type) {
                Value::Char(key) if widened => Value::NChar(page.widen(&key).into()),
                key => key,
            },
            Value::Real(s.range_rows as f32),
            Value::Real(s.equal_rows as f32),
            Value::BigInt(s.distinct_range_rows.round() as i64),
            Value::Real(s.average_range_rows() as f32),
        ]
    };
    let rows = found.map_or(&[][..], |d| &d.steps).iter().map(row).collect();
    ResultSet { columns, rows }
}

fn big(n: u64) -> Value {
    Value::BigInt(i64::try_from(n).unwrap_or(i64::MAX))
}

/// `Nov 21 2026  7:51PM`
fn updated(ns: i64) -> String {
    let moment = Moment {
        days: (ns.div_euclid(DAY_NS) + UNIX_EPOCH_DAYS) as i32,
        ticks: (ns.rem_euclid(DAY_NS) / 100) as u64,
        offset: 0,
    };
    let text = |v: Value| convert(&v, SqlType::DateTime, SqlType::varchar(20), 0).ok();
    let value = moment.to_value(SqlType::DateTime).and_then(text);
    value.and_then(|v| v.as_text()).unwrap_or_default()
}
