//! The sink of a batch: prints what comes, and tallies what the exit code needs.

use super::format::Format;
use super::outputs::Outputs;
use super::table::Table;
use super::{value, wrap};
use base::SqlError;
use session::{
    ClosedSink, Command, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use std::fmt::Write as _;
use types::{CodePage, SqlType, Value};

/// The state of an error that makes sqlcmd exit with the error's number.
const EXIT_STATE: u8 = 127;

/// The first value of the last result set, for `EXIT(query)`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum FirstCell {
    /// There was no row.
    #[default]
    None,
    /// Its text.
    Text(String),
}

/// What a batch amounted to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// The highest severity of its messages.
    pub(crate) worst: u8,
    /// The number of an error of state 127.
    pub(crate) exit: Option<i32>,
    /// See there.
    pub(crate) first_cell: FirstCell,
}

/// Prints one batch's results.
pub(crate) struct Printer<'a> {
    format: &'a Format,
    outputs: &'a mut Outputs,
    server: &'a str,
    table: Option<Table>,
    /// What is next to be written, kept for its room.
    text: String,
    wants_first_cell: bool,
    first_type: SqlType,
    first_page: CodePage,
    tally: Tally,
}

impl<'a> Printer<'a> {
    pub(crate) fn new(format: &'a Format, outputs: &'a mut Outputs, server: &'a str) -> Self {
        Printer {
            format,
            outputs,
            server,
            table: None,
            text: String::new(),
            wants_first_cell: false,
            first_type: SqlType::Int,
            first_page: CodePage::default(),
            tally: Tally::default(),
        }
    }

    /// What it amounted to.
    pub(crate) fn finish(self) -> Tally {
        self.tally
    }

    fn put(&mut self) -> Result<(), ClosedSink> {
        self.outputs.result(&self.text);
        self.text.clear();
        if self.outputs.is_closed() { Err(ClosedSink) } else { Ok(()) }
    }

    fn keep_first_cell(&mut self, values: &[Value]) {
        self.wants_first_cell = false;
        let mut cell = String::new();
        if let Some(v) = values.first() {
            value::append(v, self.first_type, self.first_page, &mut cell);
        }
        self.tally.first_cell = FirstCell::Text(cell);
    }
}

impl ResultSink for Printer<'_> {
    fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), ClosedSink> {
        let mut table = Table::new(columns, self.format);
        if self.format.has_headers() {
            table.header(self.format, &mut self.text);
        }
        self.table = Some(table);
        self.wants_first_cell = true;
        self.first_type = columns.first().map_or(SqlType::Int, |c| c.sql_type);
        self.first_page =
            columns.first().map_or_else(Default::default, |c| c.collation.code_page());
        self.tally.first_cell = FirstCell::None;
        self.put()
    }

    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        if self.wants_first_cell {
            self.keep_first_cell(values);
        }
        if let Some(table) = &mut self.table {
            table.row(values, self.format, &mut self.text);
        }
        self.put()
    }

    fn message(&mut self, message: &SqlError) {
        let severity = message.severity();
        self.tally.worst = self.tally.worst.max(severity);
        if severity > 10 && message.state() == EXIT_STATE {
            self.tally.exit = Some(message.number());
        }
        let level = self.format.error_level;
        if severity > 10 && level > 0 && i32::from(severity) < level {
            return;
        }
        let text = message_text(message, self.server, severity > 10 || level == -1);
        self.text.clear();
        wrap::append(&text, self.format.screen_width, &mut self.text);
        self.outputs.message(severity, &self.text);
        self.text.clear();
    }

    fn done(&mut self, done: Completion) {
        let selected = self.table.take().is_some();
        // A SELECT that assigns counts rows that do not come.
        if done.scope == DoneScope::Procedure || (done.command == Command::Select && !selected) {
            return;
        }
        if let Some(rows) = done.rows {
            self.text.clear();
            // Writing to a String cannot fail.
            let _ = write!(self.text, "\n({rows} rows affected)\n");
            // That nobody reads any more is told by the next row, and after the batch.
            let _ = self.put();
        }
    }

    fn return_status(&mut self, _status: i32) {}

    fn return_value(&mut self, _name: &str, _sql_type: SqlType, _value: &Value) {}

    fn environment(&mut self, _change: &EnvironmentChange) {}
}

/// A message as sqlcmd prints it, with the line that tells number and place or without.
fn message_text(message: &SqlError, server: &str, header: bool) -> String {
    if !header {
        return format!("{}\n", message.text());
    }
    let procedure = message.procedure().map_or(String::new(), |p| format!("Procedure {p}, "));
    format!(
        "Msg {}, Level {}, State {}, Server {server}, {procedure}Line {}\n{}\n",
        message.number(),
        message.severity(),
        message.state(),
        message.line(),
        message.text()
    )
}
