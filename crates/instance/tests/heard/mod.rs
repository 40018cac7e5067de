//! What a session answers to a batch.

use base::SqlError;
use session::{
    Connection, Done, EnvironmentChange, Request, ResultColumn, ResultSink, Session, SinkClosed,
};
use types::{SqlType, Value};

/// Above this a message is an error.
const NOTICE_MAX: u8 = 10;

/// An answer.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) rows: Vec<Vec<Value>>,
    pub(crate) messages: Vec<SqlError>,
    /// The session goes on.
    pub(crate) goes_on: bool,
}

impl Heard {
    pub(crate) fn ask(session: &mut Session, text: &str) -> Heard {
        let mut heard = Heard::default();
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

impl ResultSink for Heard {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<(), SinkClosed> {
        Ok(())
    }
    fn row(&mut self, values: &[Value]) -> Result<(), SinkClosed> {
        self.rows.push(values.to_vec());
        Ok(())
    }
    fn message(&mut self, message: &SqlError) {
        self.messages.push(message.clone());
    }
    fn done(&mut self, _: Done) {}
    fn return_status(&mut self, _: i32) {}
    fn return_value(&mut self, _: &str, _: SqlType, _: &Value) {}
    fn environment(&mut self, _: &EnvironmentChange) {}
}
