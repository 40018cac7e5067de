//! An instance on a folder, and what it says to batches.

use crate::heard::Response;
use base::SqlError;
use instance::{Instance, InstanceOptions};
use os::disk::RealDisk;
use session::Login;
use std::path::Path;
use std::sync::Arc;

/// The database that is damaged.
pub(crate) const DATABASE: &str = "damaged";

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
    pub(crate) fn ask(&mut self, database: &str, batch: &str) -> Response {
        if self.session.is_none() {
            match self.connect(database) {
                Ok(session) => self.session = Some(session),
                Err(e) => return Response { messages: vec![e], ..Response::default() },
            }
        }
        let session = self.session.as_mut().unwrap();
        let answer = Response::ask(session, batch);
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
    pub(crate) fn must(&mut self, database: &str, batch: &str) -> Response {
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
