//! Golden texts: what a result looks like for every option.

use super::*;
use base::SqlError;
use session::{Command, Completion, DoneScope, ResultColumn, ResultSink};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use types::datetime::Moment;
use types::{Collation, Decimal, SqlType, Value};

/// What was written, to be looked at.
#[derive(Clone, Default)]
pub(crate) struct SharedOutput(Rc<RefCell<Vec<u8>>>);

impl Write for SharedOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl SharedOutput {
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

pub(crate) fn column(name: &str, sql_type: SqlType) -> ResultColumn {
    ResultColumn {
        name: name.to_owned(),
        sql_type,
        collation: Collation::default(),
        nullable: true,
        identity: false,
        computed: false,
        untyped: false,
    }
}

pub(crate) fn done(rows: Option<u64>) -> Completion {
    Completion {
        scope: DoneScope::Statement,
        command: Command::Select,
        rows,
        more: false,
        error: false,
        in_transaction: false,
    }
}

/// What a batch prints: results' stream, the other stream, and its tally.
fn printed(
    format: &Format,
    redirect: Redirect,
    batch: impl FnOnce(&mut Printer<'_>),
) -> (String, String, Tally) {
    let (results, errors) = (SharedOutput::default(), SharedOutput::default());
    let mut outputs = Outputs::new(Box::new(results.clone()), Box::new(errors.clone()), redirect);
    let mut printer = Printer::new(format, &mut outputs, "SRV");
    batch(&mut printer);
    let tally = printer.finish();
    outputs.flush();
    (results.text(), errors.text(), tally)
}

fn table(format: &Format, columns: &[(&str, SqlType)], rows: &[&[Value]]) -> String {
    let columns: Vec<ResultColumn> = columns.iter().map(|(n, t)| column(n, *t)).collect();
    let (text, _, _) = printed(format, Redirect::None, |p| {
        p.columns(&columns).unwrap();
        rows.iter().for_each(|row| p.row(row).unwrap());
        p.done(done(Some(rows.len() as u64)));
    });
    text
}

fn int(n: i32) -> Value {
    Value::Int(n)
}

/// The one-row story's table and the plain case.
#[test]
fn a_table_has_names_rules_rows_and_a_count() {
    let f = Format::default();
    let columns = [("id", SqlType::Int), ("name", SqlType::varchar(6)), ("", SqlType::Bit)];
    let rows: [&[Value]; 2] =
        [&[int(1), Value::varchar("one"), Value::Bit(true)], &[int(-20), Value::Null, Value::Null]];
    assert_eq!(
        table(&f, &columns, &rows),
        "id          name    \n\
         ----------- ------ -\n\
         \u{20}         1 one    1\n\
         \u{20}       -20 NULL   NULL\n\
         \n\
         (2 rows affected)\n"
    );
}

#[test]
fn every_type_stands_on_its_side() {
    let m = Moment::from_civil(2006, 4, 25, 570_599_970_000).unwrap();
    let decimal = Value::Decimal(Decimal::parse("0.50").unwrap());
    let at = |t: SqlType| m.to_value(t).unwrap();
    let cases: Vec<(SqlType, Value, String)> = vec![
        (SqlType::Bit, Value::Bit(true), "1".into()),
        (SqlType::TinyInt, Value::TinyInt(7), "  7".into()),
        (SqlType::SmallInt, Value::SmallInt(7), "     7".into()),
        (SqlType::BigInt, Value::BigInt(7), format!("{:>20}", 7)),
        (SqlType::decimal(5, 2), decimal, "    .50".into()),
        (SqlType::Money, Value::Money(10_000), format!("{:>21}", "1.0000")),
        (SqlType::SmallMoney, Value::Money(10_000), format!("{:>12}", "1.0000")),
        (SqlType::Real, Value::Real(0.5), format!("{:>14}", "0.5")),
        (SqlType::Float, Value::Float(0.5), format!("{:>24}", "0.5")),
        (SqlType::Date, at(SqlType::Date), format!("{:>16}", "2006-04-25")),
        (SqlType::Time(3), at(SqlType::Time(3)), format!("{:>16}", "15:50:59.997")),
        (SqlType::DateTime, at(SqlType::DateTime), "2006-04-25 15:50:59.997".into()),
        (SqlType::SmallDateTime, at(SqlType::SmallDateTime), "2006-04-25 15:51:00".into()),
        (
            SqlType::DateTime2(7),
            at(SqlType::DateTime2(7)),
            format!("{:>38}", "2006-04-25 15:50:59.9970000"),
        ),
        (
            SqlType::DateTimeOffset(0),
            at(SqlType::DateTimeOffset(0)),
            format!("{:>45}", "2006-04-25 15:51:00 +00:00"),
        ),
        (SqlType::Char(4), Value::varchar("ab  "), "ab  ".into()),
        (SqlType::NChar(4), Value::nvarchar("日本  "), "日本  ".into()),
        (SqlType::nvarchar(4), Value::nvarchar("é"), "é   ".into()),
        (SqlType::Binary(2), Value::varbinary(&[1, 0xFF]), "0x01FF".into()),
        (SqlType::varbinary(3), Value::varbinary(&[1]), "0x01    ".into()),
        (SqlType::VARCHAR_MAX, Value::varchar(&"x".repeat(300)), "x".repeat(256)),
        (
            SqlType::UniqueIdentifier,
            Value::Guid([0; 16]),
            "00000000-0000-0000-0000-000000000000".into(),
        ),
    ];
    for (sql_type, value, cell) in cases {
        let text = table(&Format::default(), &[("", sql_type)], &[&[value]]);
        let width = cell.chars().count();
        let expected =
            format!("{}\n{}\n{cell}\n\n(1 rows affected)\n", " ".repeat(width), "-".repeat(width));
        assert_eq!(text, expected, "{sql_type}");
    }
}

#[test]
fn options_change_the_table() {
    let columns = [("id", SqlType::Int), ("", SqlType::varchar(9)), ("v", SqlType::VARCHAR_MAX)];
    let rows: [&[Value]; 3] = [
        &[int(1), Value::varchar("a  "), Value::varchar("long text")],
        &[int(2), Value::varchar("bcdefg"), Value::varchar("")],
        &[int(3), Value::Null, Value::Null],
    ];
    let f = Format { variable_width: 4, ..Format::default() };
    let cases = [
        (
            Format { trim: true, separator: ",".into(), ..f.clone() },
            "id,,v\n--,-,-\n1,a,long\n2,bcdefg,\n3,NULL,NULL\n",
        ),
        (
            Format { headers: -1, separator: "|".into(), fixed_width: 3, ..f.clone() },
            "          1|a  |long\n          2|bcd|    \n          3|NUL|NULL\n",
        ),
        (
            Format { headers: 2, fixed_width: 3, ..f.clone() },
            "id              v   \n----------- --- ----\n\
             \u{20}         1 a   long\n          2 bcd     \n\n\
             id              v   \n----------- --- ----\n\
             \u{20}         3 NUL NULL\n",
        ),
        (
            Format { variable_width: 0, ..Format::default() },
            "1 a   long text\n2 bcdefg \n3 NULL NULL\n",
        ),
        (
            Format { headers: -1, screen_width: 12, ..f.clone() },
            "          1 \na         lo\nng\n          2 \nbcdefg      \n  \n\
             \u{20}         3 \nNULL      NU\nLL\n",
        ),
    ];
    for (format, expected) in cases {
        let text = table(&format, &columns, &rows);
        assert_eq!(text, format!("{expected}\n(3 rows affected)\n"), "{format:?}");
    }
}

#[test]
fn results_follow_each_other_and_counts_only_where_there_is_one() {
    let (text, _, tally) = printed(&Format::default(), Redirect::None, |p| {
        p.columns(&[column("a", SqlType::TinyInt)]).unwrap();
        p.row(&[Value::TinyInt(1)]).unwrap();
        p.done(done(None));
        p.columns(&[column("b", SqlType::TinyInt)]).unwrap();
        p.done(done(Some(0)));
        let update = |rows| Completion { command: Command::Update, ..done(rows) };
        p.done(update(Some(12)));
        p.done(done(Some(7)));
        p.done(Completion { scope: DoneScope::InProcedure, ..update(Some(2)) });
        p.done(Completion { scope: DoneScope::Procedure, ..done(Some(99)) });
    });
    assert_eq!(
        text,
        "a  \n---\n  1\nb  \n---\n\n(0 rows affected)\n\n(12 rows affected)\n\n(2 rows affected)\n"
    );
    assert_eq!(tally.first_cell, FirstCell::None);
}

fn error(severity: u8, state: u8) -> SqlError {
    SqlError::raw(208, severity, state, "Invalid object name 'x'.".to_owned()).at_line(3)
}

#[test]
fn errors_have_a_header_and_messages_have_none() {
    let batch = |p: &mut Printer<'_>| {
        p.message(&SqlError::raw(0, 0, 1, "printed".to_owned()));
        p.message(&SqlError::raw(50000, 10, 1, "told".to_owned()));
        p.message(&error(16, 1));
        p.message(&error(11, 1).in_procedure("dbo.p"));
    };
    let header = "Msg 208, Level 16, State 1, Server SRV, Line 3\nInvalid object name 'x'.\n";
    let within = "Msg 208, Level 11, State 1, Server SRV, Procedure dbo.p, Line 3\n\
                  Invalid object name 'x'.\n";
    let plain = "printed\ntold\n";
    let f = Format::default();
    let (text, errors, tally) = printed(&f, Redirect::None, batch);
    assert_eq!((text, errors), (format!("{plain}{header}{within}"), String::new()));
    assert_eq!((tally.worst, tally.exit), (16, None));
    let (text, errors, _) = printed(&f, Redirect::Errors, batch);
    assert_eq!((text, errors), (plain.to_owned(), format!("{header}{within}")));
    let (text, errors, _) = printed(&f, Redirect::All, batch);
    assert_eq!((text, errors), (String::new(), format!("{plain}{header}{within}")));
    let high = Format { error_level: 14, ..Format::default() };
    let (text, _, tally) = printed(&high, Redirect::None, batch);
    assert_eq!((text, tally.worst), (format!("{plain}{header}"), 16));
    let all = Format { error_level: -1, ..Format::default() };
    let (text, _, _) = printed(&all, Redirect::None, batch);
    assert!(text.starts_with("Msg 0, Level 0, State 1, Server SRV, Line 0\nprinted\nMsg 50000"));
}

#[test]
fn state_127_asks_to_exit_with_the_number() {
    let (_, _, tally) = printed(&Format::default(), Redirect::None, |p| {
        p.message(&error(10, 127));
        p.message(&error(16, 127));
    });
    assert_eq!(tally.exit, Some(208));
}

/// A reader that goes away ends the batch without a word.
#[test]
fn a_closed_pipe_stops_the_rows() {
    struct ClosedOutput;
    impl Write for ClosedOutput {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let errors = SharedOutput::default();
    let mut outputs =
        Outputs::new(Box::new(ClosedOutput), Box::new(errors.clone()), Redirect::None);
    let format = Format::default();
    let mut printer = Printer::new(&format, &mut outputs, "SRV");
    printer.columns(&[column("a", SqlType::varchar(8000))]).unwrap();
    let rows = (0..100).take_while(|_| printer.row(&[Value::varchar("x")]).is_ok()).count();
    assert!(rows < 20, "{rows} rows for nobody");
    printer.finish();
    assert!(outputs.is_closed() && outputs.failure().is_none());
    assert_eq!(errors.text(), "");
}
