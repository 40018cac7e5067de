//! What a client gets, as text.

use base::SqlError;
use session::{ClosedSink, Completion, EnvironmentChange, ResultColumn, ResultSink};
use std::fmt::Write as _;
use types::{SqlType, Value};

/// What a client gets, as text.
#[derive(Default)]
pub(crate) struct Transcript {
    pub(crate) text: String,
    pub(crate) ended: bool,
    /// Every DONE is shown, with what it says of its statement.
    pub(crate) shows_all: bool,
}

impl ResultSink for Transcript {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        let names: Vec<&str> = columns.iter().map(|c| &*c.name).collect();
        let _ = writeln!(self.text, "[{}]", names.join(", "));
        Ok(())
    }
    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        let values: Vec<String> = values.iter().map(ToString::to_string).collect();
        let _ = writeln!(self.text, "{}", values.join(", "));
        Ok(())
    }
    fn message(&mut self, message: &SqlError) {
        if message.severity() <= 10 && message.number() == 0 {
            let _ = writeln!(self.text, "{}", message.text());
        } else {
            let _ = writeln!(self.text, "{message}");
        }
    }
    fn done(&mut self, done: Completion) {
        assert!(!self.ended, "nothing follows the last DONE");
        self.ended = !done.more;
        let scope = format!("{:?}", done.scope);
        let rows = done.rows.map_or(String::new(), |n| format!(" {n} rows"));
        let error = if done.error { " error" } else { "" };
        let open = if done.in_transaction { " in transaction" } else { "" };
        if self.shows_all {
            let more = if done.more { "" } else { ", the last" };
            let _ = writeln!(self.text, "({scope} {:?}{rows}{error}{open}{more})", done.command);
            return;
        }
        if !rows.is_empty() || done.error || done.scope == session::DoneScope::Procedure {
            let _ = writeln!(self.text, "({scope}{rows}{error}{open})");
        }
    }
    fn return_status(&mut self, status: i32) {
        let _ = writeln!(self.text, "status {status}");
    }
    fn return_value(&mut self, name: &str, sql_type: SqlType, value: &Value) {
        let _ = writeln!(self.text, "{name} {sql_type} = {value}");
    }
    fn environment(&mut self, change: &EnvironmentChange) {
        let text = match change {
            EnvironmentChange::Begin(_) => "transaction began".to_owned(),
            EnvironmentChange::Commit(_) => "transaction committed".to_owned(),
            EnvironmentChange::Rollback(_) => "transaction rolled back".to_owned(),
            EnvironmentChange::Database { new, .. } => format!("database {new}"),
            other => format!("{other:?}"),
        };
        let _ = writeln!(self.text, "{text}");
    }
}
