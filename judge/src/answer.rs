//! What an engine answers to a statement, so that two answers compare.

use session::{ClosedSink, Completion, EnvironmentChange, ResultColumn, ResultSink};
use types::datetime::print_style;
use types::{SqlType, Value, text};

/// Errors that depend on the data, and on which rows a plan computes: no answer is wrong.
const OF_DATA: [i32; 3] = [220, 8115, 8134];
/// Forms that are refused by name, and hints that leave no plan.
const REFUSALS: [i32; 3] = [8622, 40510, 40517];

/// An answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Rows in no order: sorted. A change's rows are its count.
    Rows(Vec<String>),
    /// Arithmetic failed on some row.
    OfData(i32),
    /// The form, or the hint, is refused by name.
    Refused(String),
    /// It took longer than there is patience for.
    TooLong,
    /// Any other error.
    Failed(String),
}

impl Answer {
    /// Whether two answers may stand beside each other.
    pub(crate) fn agrees(&self, other: &Answer) -> bool {
        match (self, other) {
            (Answer::Failed(_), _) | (_, Answer::Failed(_)) => false,
            (Answer::Rows(a), Answer::Rows(b)) => a == b,
            _ => true,
        }
    }

    /// Rows of several answers together; `None` when one has none.
    pub(crate) fn together(parts: &[Answer]) -> Option<Answer> {
        let mut all = Vec::new();
        for part in parts {
            let Answer::Rows(rows) = part else { return None };
            all.extend(rows.iter().cloned());
        }
        all.sort_unstable();
        Some(Answer::Rows(all))
    }

    /// In a line or two.
    pub(crate) fn shown(&self) -> String {
        match self {
            Answer::Rows(rows) => {
                let some: Vec<&str> = rows.iter().take(12).map(String::as_str).collect();
                format!("{} rows: {}", rows.len(), some.join(" / "))
            }
            Answer::OfData(n) => format!("error {n}"),
            Answer::Refused(what) => format!("refused: {what}"),
            Answer::TooLong => "no answer in time".to_owned(),
            Answer::Failed(what) => format!("FAILED: {what}"),
        }
    }
}

/// Collects an answer.
#[derive(Default)]
pub(crate) struct Collector {
    columns: Vec<SqlType>,
    rows: Vec<String>,
    error: Option<Answer>,
}

impl Collector {
    pub(crate) fn answer(self) -> Answer {
        let mut rows = self.rows;
        self.error.unwrap_or_else(|| {
            rows.sort_unstable();
            Answer::Rows(rows)
        })
    }
}

impl ResultSink for Collector {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        self.columns = columns.iter().map(|c| c.sql_type).collect();
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        let cells: Vec<String> =
            values.iter().zip(&self.columns).map(|(v, t)| cell(v, *t)).collect();
        self.rows.push(cells.join("|"));
        Ok(())
    }

    fn message(&mut self, message: &base::SqlError) {
        if message.severity() <= 10 || self.error.is_some() {
            return;
        }
        let number = message.number();
        self.error = Some(if OF_DATA.contains(&number) {
            Answer::OfData(number)
        } else if REFUSALS.contains(&number) {
            Answer::Refused(message.text().to_owned())
        } else {
            Answer::Failed(format!("{number}: {}", message.text()))
        });
    }

    fn done(&mut self, done: Completion) {
        if self.columns.is_empty()
            && let Some(n) = done.rows
        {
            self.rows.push(format!("{n} changed"));
        }
        self.columns.clear();
    }

    fn return_status(&mut self, _status: i32) {}

    fn return_value(&mut self, _name: &str, _sql_type: SqlType, _value: &Value) {}

    fn environment(&mut self, _change: &EnvironmentChange) {}
}

fn cell(value: &Value, sql_type: SqlType) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Char(bytes) => text::decode_1252(bytes).trim_end().to_owned(),
        Value::Date(_) => print_style(value, sql_type, 23).unwrap_or_default(),
        other => other.to_string(),
    }
}
