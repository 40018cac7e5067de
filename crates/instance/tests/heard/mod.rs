//! What a session answers to a batch.

use base::SqlError;
use session::{
    ClosedSink, Completion, Connection, EnvironmentChange, Request, ResultColumn, ResultSink,
    Session,
};
use types::{SqlType, Value};

/// Above this a message is an error.
const NOTICE_MAX: u8 = 10;

/// An answer.
#[derive(Default)]
pub(crate) struct Response {
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) messages: Vec<SqlError>,
    /// The session goes on.
    pub(crate) goes_on: bool,
}

impl Response {
    pub(crate) fn ask(session: &mut Session, text: &str) -> Response {
        let mut heard = Response::default();
        heard.goes_on = session.run(Request::Batch(text.to_owned()), &mut heard);
        heard
    }

    pub(crate) fn errors(&self) -> impl Iterator<Item = &SqlError> {
        self.messages.iter().filter(|m| m.severity() > NOTICE_MAX)
    }

    /// The first error.
    pub(crate) fn error(&self) -> Option<&SqlError> {
        self.errors().next()
    }
}

impl ResultSink for Response {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<(), ClosedSink> {
        Ok(())
    }
    fn row(&mut self, values: &[Value]) -> Result<(), ClosedSink> {
        self.rows.push(values.to_vec());
        Ok(())
    }
    fn message(&mut self, message: &SqlError) {
        self.messages.push(message.clone());
    }
    fn done(&mut self, _: Completion) {}
    fn return_status(&mut self, _: i32) {}
    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}
    fn environment(&mut self, _: &EnvironmentChange) {}
}
