//! An instance on a folder, and what it says to batches.

use base::SqlError;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use session::{
    Connection, Done, EnvironmentChange, Login, Request, ResultColumn, ResultSink, SinkClosed,
};
use std::path::Path;
use std::sync::Arc;
use types::{SqlType, Value};

/// The database that is damaged.
pub(crate) const DATABASE: &str = "damaged";

/// What a batch was answered.
#[derive(Default)]
pub(crate) struct Answer {
    /// Rows as text.
    pub(crate) rows: Vec<String>,
    pub(crate) messages: Vec<SqlError>,
    pub(crate) goes_on: bool,
}

impl Answer {
    pub(crate) fn errors(&self) -> impl Iterator<Item = &SqlError> {
        self.messages.iter().filter(|m| m.severity() > 10)
    }
}

impl ResultSink for Answer {
    fn columns(&mut self, _: &[ResultColumn]) -> Result<(), SinkClosed> {
        Ok(())
    }

    fn row(&mut self, values: &[Value]) -> Result<(), SinkClosed> {
        let cells: Vec<String> = values.iter().map(Value::to_string).collect();
        self.rows.push(cells.join("|"));
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

/// A running instance and one session of it.
pub(crate) struct Server {
    pub(crate) instance: Arc<Instance>,
    session: Option<session::Session>,
}

impl Server {
    pub(crate) fn open(dir: &Path) -> Server {
        let mut options =
            InstanceOptions { max_memory_bytes: 64 << 20, ..InstanceOptions::default() };
        options.sizing.data_growth.pages = 256;
        let instance = Instance::open(Arc::new(RealDisk), dir, options).unwrap();
        Server { instance, session: None }
    }

    fn connect(&self, database: &str) -> Result<session::Session, SqlError> {
        let login = Login {
            user: "sa".to_owned(),
            database: database.to_owned(),
            odbc_defaults: true,
            ..Login::default()
        };
        self.instance.connect(login)
    }

    /// Runs a batch; in a new session where the last one was ended by an error.
    pub(crate) fn ask(&mut self, database: &str, batch: &str) -> Answer {
        let mut answer = Answer::default();
        if self.session.is_none() {
            match self.connect(database) {
                Ok(session) => self.session = Some(session),
                Err(e) => {
                    answer.messages.push(e);
                    return answer;
                }
            }
        }
        let session = self.session.as_mut().unwrap();
        answer.goes_on = session.run(Request::Batch(batch.to_owned()), &mut answer);
        if !answer.goes_on {
            self.session = None;
        }
        answer
    }

    /// Ends the session.
    pub(crate) fn leave(&mut self) {
        self.session = None;
    }

    /// What must succeed.
    pub(crate) fn must(&mut self, database: &str, batch: &str) -> Answer {
        let answer = self.ask(database, batch);
        let errors: Vec<&SqlError> = answer.errors().collect();
        assert!(errors.is_empty(), "{batch}: {errors:?}");
        answer
    }

    /// Leaves the session, and stops the instance in order.
    pub(crate) fn stop(mut self) -> Result<(), SqlError> {
        self.session = None;
        self.instance.stop()
    }
}
