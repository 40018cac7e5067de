//! The error log of the server.

use base::SqlResult;
use std::sync::Arc;

/// The error log.
pub trait ErrorLog: Send + Sync {
    /// A line of the error log.
    fn log(&self, line: &str);

    /// A file of the error log and where it ends now: 0 is the one that is written, 1 the one
    /// before. `None` where there is none.
    ///
    /// # Errors
    /// The operating system's.
    fn error_log(&self, number: u32) -> std::io::Result<Option<(Arc<dyn os::disk::File>, u64)>>;

    /// Begins a new error log; those before are kept as far as they are now.
    ///
    /// # Errors
    /// 17049
    fn cycle_error_log(&self) -> SqlResult<()>;
}
