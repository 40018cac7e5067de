//! The engine within this process, driven through the interface that the server drives.

use crate::backend::{Backend, BackendError, Cancel, Connector};
use base::SqlResult;
use os::wait::{CancelReason, Waiter};
use session::{Connection, Login, Request, ResultSink};
use std::path::Path;
use std::sync::Arc;

/// An engine on a folder, as the shell needs it.
pub trait Engine {
    /// `@@SERVERNAME`.
    fn server_name(&self) -> String;

    /// A new connection; an embedded login has no password and is `sa`.
    ///
    /// # Errors
    /// What SQL Server says to a failed login (4060, 18456).
    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>>;

    /// Checkpoint and stop. All connections are gone.
    ///
    /// # Errors
    /// What could not be made durable.
    fn stop(self: Box<Self>) -> SqlResult<()>;
}

/// What the command line says of an engine, embedded or behind the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Bytes that it may use; without it a quarter of the machine's memory, at most 4 GB.
    pub max_memory: Option<u64>,
    /// Trace flags that are on from the start.
    pub trace_flags: Vec<u16>,
}

/// Opens an engine on a folder, made when it is not there.
pub type OpenEngine = fn(&Path, EngineOptions) -> SqlResult<Box<dyn Engine>>;

/// Connects to an engine of this process.
pub(crate) struct EmbeddedConnector<'e> {
    pub(crate) engine: &'e dyn Engine,
}

impl Connector for EmbeddedConnector<'_> {
    fn connect(&self, login: &Login) -> Result<Box<dyn Backend>, BackendError> {
        let connection = self.engine.connect(login.clone())?;
        let waiter = connection.waiter();
        Ok(Box::new(EmbeddedConnection { connection, waiter, server: self.engine.server_name() }))
    }
}

struct EmbeddedConnection {
    connection: Box<dyn Connection>,
    waiter: Arc<Waiter>,
    server: String,
}

struct Attention(Arc<Waiter>);

impl Cancel for Attention {
    fn cancel(&self) {
        self.0.cancel(CancelReason::Attention);
    }
}

impl Backend for EmbeddedConnection {
    fn server_name(&self) -> &str {
        &self.server
    }

    fn run(&mut self, batch: &str, sink: &mut dyn ResultSink) -> Result<(), BackendError> {
        self.waiter.reset();
        match self.connection.run(Request::Batch(batch.to_owned()), sink) {
            true => Ok(()),
            false => Err(BackendError::Closed),
        }
    }

    fn cancel_handle(&self) -> Arc<dyn Cancel> {
        Arc::new(Attention(Arc::clone(&self.waiter)))
    }
}
