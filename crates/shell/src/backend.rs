//! What the shell drives: a connection that runs batches, whether embedded or remote.

use base::SqlError;
use session::{Login, ResultSink};
use std::fmt;
use std::sync::Arc;

/// Ends the statement that a [`Backend`] runs, from another task.
pub trait Cancel: Send + Sync {
    /// Asks the running batch to end. Without one nothing happens.
    fn cancel(&self);
}

/// Why no more can be done on a connection.
#[derive(Debug)]
pub enum BackendError {
    /// The engine or the server said why: a failed login, a database that does not open.
    Refused(SqlError),
    /// The way to the server: no such host, refused, broken, not understood.
    Lost(String),
    /// The connection was closed after an error that has been shown (severity 20 and up, KILL).
    Closed,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Whoever prints this ends the sentence.
            BackendError::Refused(e) => f.write_str(e.text().trim_end_matches('.')),
            BackendError::Lost(why) => f.write_str(why),
            BackendError::Closed => f.write_str("the connection was closed by the server"),
        }
    }
}

impl From<SqlError> for BackendError {
    fn from(e: SqlError) -> BackendError {
        BackendError::Refused(e)
    }
}

/// One connection.
pub trait Backend {
    /// The server's name, as messages show it.
    fn server_name(&self) -> &str;

    /// Runs a batch to its end; everything it yields goes into the sink.
    ///
    /// # Errors
    /// The connection is gone; errors of the batch are messages in the sink.
    fn run(&mut self, batch: &str, sink: &mut dyn ResultSink) -> Result<(), BackendError>;

    /// What cancels a running batch.
    fn cancel_handle(&self) -> Arc<dyn Cancel>;
}

/// Makes connections of one kind to one place.
pub trait Connector {
    /// A new connection of a login.
    ///
    /// # Errors
    /// There is no way, or the login was refused.
    fn connect(&self, login: &Login) -> Result<Box<dyn Backend>, BackendError>;
}
