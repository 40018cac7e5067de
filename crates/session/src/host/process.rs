//! The process and what all its sessions share: the list of them, programs, options of the server.

use crate::host::configuration::Configuration;
use crate::program::steps::Program;
use crate::session::registry::Registry;
use base::{SessionId, SqlResult};
use plancache::Cache;
use std::sync::Arc;
use types::Value;

/// What there is once in a process.
pub trait Process: Send + Sync {
    /// All sessions, for the DMVs.
    fn registry(&self) -> &Arc<Registry>;

    /// Compiled batches, prepared statements and procedures.
    fn programs(&self) -> &Cache<Program>;

    /// Options of the server.
    fn configuration(&self) -> &Configuration;

    /// What was configured is to be there after a restart.
    ///
    /// # Errors
    /// The disk's.
    fn keep_configuration(&self) -> SqlResult<()>;

    /// RECONFIGURE: what was configured holds from now on.
    fn reconfigure(&self);

    /// SERVERPROPERTY; NULL for what it does not know. Name in upper case.
    fn server_property(&self, name: &str) -> Value;

    /// KILL.
    ///
    /// # Errors
    /// 6104, 6106.
    fn kill(&self, by: SessionId, target: SessionId) -> SqlResult<()>;

    /// SHUTDOWN: begins to stop the server.
    ///
    /// # Errors
    /// When it must not.
    fn shutdown(&self, nowait: bool) -> SqlResult<()>;
}
