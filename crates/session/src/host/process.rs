//! The process and what all its sessions share: the list of sessions, programs, options of the
//! server.

use crate::host::configuration::Configuration;
use crate::program::steps::Program;
use crate::session::registry::Registry;
use base::{SessionId, SqlResult};
use plancache::Cache;
use std::sync::Arc;
use types::Value;

/// What exists once in a process.
pub trait Process: Send + Sync {
    /// The list of all sessions, for the DMVs.
    fn registry(&self) -> &Arc<Registry>;

    /// Compiled batches, prepared statements and procedures.
    fn programs(&self) -> &Cache<Program>;

    /// Options of the server.
    fn configuration(&self) -> &Configuration;

    /// Saves the configured values so that they survive a restart.
    ///
    /// # Errors
    /// The disk's.
    fn keep_configuration(&self) -> SqlResult<()>;

    /// RECONFIGURE: the configured values are in use from now on.
    fn reconfigure(&self);

    /// SERVERPROPERTY; NULL for an unknown name. `name` is in upper case.
    fn server_property(&self, name: &str) -> Value;

    /// KILL.
    ///
    /// # Errors
    /// 6104, 6106.
    fn kill(&self, by: SessionId, target: SessionId) -> SqlResult<()>;

    /// SHUTDOWN: begins to stop the server.
    ///
    /// # Errors
    /// Why the server must not stop now.
    fn shutdown(&self, nowait: bool) -> SqlResult<()>;
}
