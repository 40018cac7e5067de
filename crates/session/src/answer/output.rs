//! The output of a request, in the order of TDS.
//!
//! A DONE token is held back until the session knows whether something follows. So the MORE bit of
//! each token is right, and the last token of a request says that no more follows.

use crate::answer::failure::Failure;
use crate::answer::result_sets::Shape;
use crate::answer::sink::{
    ColumnOrigin, Command, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use crate::answer::text_size::TextSize;
use base::{SqlError, SqlResult, messages};
use exec::RowSink;
use types::{SqlType, Value};

/// The sink of a request, with the DONE token that is held back.
pub(crate) struct Output<'s> {
    sink: &'s mut dyn ResultSink,
    held: Option<Completion>,
    /// What the request is, if it is not text.
    command: Option<Command>,
    closed: bool,
    /// Whether everything from here on reveals a commit that is owed.
    pub(crate) holds: bool,
    /// The number of rows of the result set that has no DONE yet.
    open_rows: Option<u64>,
    /// The WITH RESULT SETS clauses of the EXECUTEs that run, outermost first.
    pub(crate) shapes: Vec<Shape>,
}

impl<'s> Output<'s> {
    pub(crate) fn new(sink: &'s mut dyn ResultSink) -> Output<'s> {
        Output {
            sink,
            held: None,
            command: None,
            closed: false,
            holds: false,
            open_rows: None,
            shapes: Vec::new(),
        }
    }

    fn release(&mut self) {
        if let Some(done) = self.held.take() {
            self.sink.done(Completion { more: true, ..done });
        }
    }

    pub(crate) fn columns(&mut self, columns: &[ResultColumn]) -> Result<(), Failure> {
        let mut shaped = None;
        for shape in self.shapes.iter_mut().rev() {
            shaped = Some(shape.columns(shaped.as_deref().unwrap_or(columns))?);
        }
        let columns = shaped.as_deref().unwrap_or(columns);
        self.release();
        // A trigger may send results before its statement has ended. All rows of the statement have
        // been sent by then.
        if self.open_rows.take().is_some() {
            self.sink.done(Completion { more: true, ..plain_done(DoneScope::InProcedure) });
        }
        if self.closed || self.sink.columns(columns).is_err() {
            self.closed = true;
            return Err(Failure::cancelled());
        }
        self.open_rows = Some(0);
        Ok(())
    }

    /// Reports where the columns of a cursor come from.
    pub(crate) fn origins(&mut self, tables: &[Vec<String>], columns: &[ColumnOrigin]) {
        if !self.closed {
            self.sink.origins(tables, columns);
        }
    }

    /// The number of rows of a result set whose statement has not ended.
    pub(crate) fn open_rows(&self) -> Option<u64> {
        self.open_rows
    }

    pub(crate) fn row(&mut self, values: &[Value]) -> SqlResult<()> {
        let mut values = values;
        for shape in self.shapes.iter_mut().rev() {
            values = shape.row(values)?;
        }
        if self.closed || self.sink.row(values).is_err() {
            self.closed = true;
            return Err(SqlError::new(messages::ATTENTION, &[]));
        }
        self.open_rows = self.open_rows.map(|n| n + 1);
        Ok(())
    }

    pub(crate) fn message(&mut self, message: &SqlError) {
        message.earlier().iter().for_each(|first| self.message(first));
        self.release();
        self.sink.message(message);
    }

    pub(crate) fn environment(&mut self, change: &EnvironmentChange) {
        self.release();
        self.sink.environment(change);
    }

    /// The same for the statement whose DONE is held back: the change goes before that DONE.
    pub(crate) fn environment_within(&mut self, change: &EnvironmentChange) {
        self.sink.environment(change);
    }

    pub(crate) fn return_status(&mut self, status: i32) {
        self.release();
        self.sink.return_status(status);
    }

    pub(crate) fn return_value(&mut self, name: &str, sql_type: SqlType, value: &Value) {
        self.release();
        self.sink.return_value(name, sql_type, value);
    }

    /// From now on nothing is sent before the request has ended.
    pub(crate) fn hold(&mut self) {
        self.holds = true;
        self.sink.hold();
    }

    /// A statement or procedure has ended.
    pub(crate) fn done(&mut self, done: Completion) {
        self.release();
        self.open_rows = None;
        self.held = Some(done);
    }

    /// Sets the command that the request's own DONE reports.
    pub(crate) fn is_for(&mut self, command: Command) {
        self.command = Some(command);
    }

    /// The request has ended: sends its last DONE.
    pub(crate) fn finish(&mut self, last: Completion) {
        let last = Completion { command: self.command.unwrap_or(last.command), ..last };
        // The last statement of a batch has its own DONE. The DONE of a procedure follows those of
        // its statements.
        let held = match (self.held.take(), last.scope) {
            (Some(held), DoneScope::Statement) if held.scope != DoneScope::InProcedure => {
                Completion { in_transaction: last.in_transaction, more: last.more, ..held }
            }
            (held, _) => {
                self.held = held;
                self.release();
                last
            }
        };
        self.sink.done(held);
    }
}

/// A DONE without a command or a count.
pub(crate) fn plain_done(scope: DoneScope) -> Completion {
    Completion {
        scope,
        command: Command::Other,
        rows: None,
        more: false,
        error: false,
        in_transaction: false,
    }
}

/// The rows of a query on their way to the client, at most as many as SET ROWCOUNT allows.
pub(crate) struct Rows<'o, 's> {
    pub(crate) out: &'o mut Output<'s>,
    /// What SET TEXTSIZE cuts; `None` if nothing.
    pub(crate) text: Option<TextSize>,
    /// The most rows to send; 0 for all.
    pub(crate) limit: u64,
    pub(crate) sent: u64,
    /// Whether the limit was reached. The error that then ended the query is not a failure.
    pub(crate) enough: bool,
}

impl RowSink for Rows<'_, '_> {
    fn row(&mut self, values: &[Value]) -> SqlResult<()> {
        if self.limit != 0 && self.sent == self.limit {
            self.enough = true;
            return Err(SqlError::new(messages::ATTENTION, &[]));
        }
        self.sent += 1;
        match &mut self.text {
            Some(text) => self.out.row(text.cut(values)),
            None => self.out.row(values),
        }
    }
}
