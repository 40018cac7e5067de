//! What a request yields, in the order of TDS.
//!
//! A DONE is held until it is known whether something follows: so MORE is right, and the last one
//! of a request says there is no more.

use crate::answer::failure::Failure;
use crate::answer::result_sets::Shape;
use crate::answer::sink::{
    ColumnOrigin, Command, Completion, DoneScope, EnvironmentChange, ResultColumn, ResultSink,
};
use crate::answer::text_size::TextSize;
use base::{SqlError, SqlResult, messages};
use exec::RowSink;
use types::{SqlType, Value};

/// The sink of a request with the DONE that is held back.
pub(crate) struct Output<'s> {
    sink: &'s mut dyn ResultSink,
    held: Option<Completion>,
    /// What the request is, where that is no text.
    command: Option<Command>,
    closed: bool,
    /// What comes tells of a commit that is owed.
    pub(crate) holds: bool,
    /// Rows of the result set that has no DONE yet.
    open_rows: Option<u64>,
    /// WITH RESULT SETS of the EXECUTEs that run, outermost first.
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
        // Triggers may answer before their statement has ended: its rows are all there.
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

    /// Where the columns of a cursor come from.
    pub(crate) fn origins(&mut self, tables: &[Vec<String>], columns: &[ColumnOrigin]) {
        if !self.closed {
            self.sink.origins(tables, columns);
        }
    }

    /// Rows of a result set whose statement has not ended.
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

    /// The same, of the statement whose DONE is held back: it stands before that.
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

    /// Nothing is sent any more before the request has ended.
    pub(crate) fn hold(&mut self) {
        self.holds = true;
        self.sink.hold();
    }

    /// A statement or procedure ended.
    pub(crate) fn done(&mut self, done: Completion) {
        self.release();
        self.open_rows = None;
        self.held = Some(done);
    }

    /// What the request's own DONE tells of it.
    pub(crate) fn is_for(&mut self, command: Command) {
        self.command = Some(command);
    }

    /// The request ended: its last DONE.
    pub(crate) fn finish(&mut self, last: Completion) {
        let last = Completion { command: self.command.unwrap_or(last.command), ..last };
        // A batch's last statement has its own DONE; a procedure's follows those of its statements.
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

/// A DONE of nothing in particular.
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

/// Rows of a query on their way out, as many as SET ROWCOUNT lets through.
pub(crate) struct Rows<'o, 's> {
    pub(crate) out: &'o mut Output<'s>,
    /// What SET TEXTSIZE cuts, if anything.
    pub(crate) text: Option<TextSize>,
    /// 0 for all.
    pub(crate) limit: u64,
    pub(crate) sent: u64,
    /// The limit was reached: the error that ended the query is none.
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
