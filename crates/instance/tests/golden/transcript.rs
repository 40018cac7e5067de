//! What a client gets, as the text of a golden script.

use base::SqlError;
use session::{ClosedSink, Command, Completion, EnvironmentChange, ResultColumn, ResultSink};
use std::fmt::Write as _;
use types::datetime::print_style;
use types::{Decimal, SqlType, Value, float_text, text};

/// What a client gets, as text.
#[derive(Default)]
pub(crate) struct Transcript {
    pub(crate) text: String,
    columns: Vec<SqlType>,
    rows: u64,
    ended: bool,
}

impl ResultSink for Transcript {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        assert!(!columns.is_empty(), "a result set has columns");
        self.columns = columns.iter().map(|c| c.sql_type).collect();
        self.rows = 0;
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        assert_eq!(values.len(), self.columns.len(), "a value for each column");
        let cells: Vec<String> =
            values.iter().zip(&self.columns).map(|(v, t)| cell(v, *t)).collect();
        let _ = writeln!(self.text, "{}", cells.join(" | "));
        self.rows += 1;
        Ok(())
    }

    fn message(&mut self, message: &SqlError) {
        if message.severity() <= 10 {
            let _ = writeln!(self.text, "{}", steady(message.text()));
            return;
        }
        let (number, severity, state) = (message.number(), message.severity(), message.state());
        let _ = write!(self.text, "Msg {number}, Level {severity}, State {state}, ");
        if let Some(procedure) = message.procedure() {
            let _ = write!(self.text, "Procedure {procedure}, ");
        }
        let _ = writeln!(self.text, "Line {}\n{}", message.line(), message.text());
    }

    fn done(&mut self, done: Completion) {
        assert!(!self.ended, "nothing follows the last DONE");
        self.ended = !done.more;
        let selected = !self.columns.is_empty();
        self.columns.clear();
        match done.rows {
            Some(n) if selected => assert_eq!(n, self.rows, "the count of the rows that came"),
            Some(_) if done.command == Command::Select => {}
            Some(1) => self.text.push_str("(1 row affected)\n"),
            Some(n) => {
                let _ = writeln!(self.text, "({n} rows affected)");
            }
            None => {}
        }
        if selected && self.rows == 0 && !done.error {
            self.text.push_str("(no rows)\n");
        }
    }

    fn return_status(&mut self, _status: i32) {}

    fn return_value(&mut self, name: &str, sql_type: SqlType, value: &Value) {
        let _ = writeln!(self.text, "{name} = {}", cell(value, sql_type));
    }

    fn environment(&mut self, _change: &EnvironmentChange) {}
}

/// What DBCC PAGE says of addresses, of the log and of when the page was last written, which is not
/// the same from run to run.
const UNSTEADY: [&str; 6] =
    ["@0x", "bpage = ", "bstat = ", "bDirtyContext = ", "m_lsn = ", "m_tornBits = "];

/// A message without what differs from run to run; what stands behind it stays where it is.
fn steady(text: &str) -> String {
    let mut steady = text.to_owned();
    for label in UNSTEADY {
        let Some(at) = steady.find(label).map(|at| at + label.len()) else { continue };
        let value = steady[at..].find(' ').unwrap_or(steady.len() - at);
        let gap = steady[at + value..].find(|c| c != ' ').unwrap_or(steady.len() - at - value);
        let blanks = " ".repeat((value + gap).saturating_sub(1));
        steady.replace_range(at..at + value + gap, &format!("~{blanks}"));
    }
    steady
}

/// A value as a client program shows it.
fn cell(value: &Value, sql_type: SqlType) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Bit(b) => u8::from(*b).to_string(),
        Value::Money(m) => Decimal::new(i128::from(*m), 4).unwrap_or(Decimal::ZERO).to_string(),
        Value::Real(x) => float_text(f64::from(*x), 7),
        Value::Float(x) => float_text(*x, 15),
        Value::Char(bytes) => text::decode_1252(bytes).to_string(),
        Value::Binary(bytes) => bytes.iter().fold("0x".to_owned(), |s, b| format!("{s}{b:02X}")),
        Value::Date(_) => print_style(value, sql_type, 23).unwrap_or_default(),
        Value::SmallDateTime(_) => print_style(value, sql_type, 120).unwrap_or_default(),
        Value::Time(_) | Value::DateTime(_) | Value::DateTime2(_) | Value::DateTimeOffset(_) => {
            print_style(value, sql_type, 121).unwrap_or_default()
        }
        other => other.to_string(),
    }
}
