//! The error log of the server.

use base::SqlResult;
use std::sync::Arc;

/// The error log.
pub trait ErrorLog: Send + Sync {
    /// Writes a line to the error log.
    fn log(&self, line: &str);

    /// A file of the error log and its present end: 0 is the current file, 1 the one before. `None`
    /// if there is no such file.
    ///
    /// # Errors
    /// The operating system's.
    fn error_log(&self, number: u32) -> std::io::Result<Option<(Arc<dyn os::disk::File>, u64)>>;

    /// Begins a new error log. As many old files are kept as before.
    ///
    /// # Errors
    /// 17049
    fn cycle_error_log(&self) -> SqlResult<()>;
}
