//! What the server asks of the engine.

use base::SqlResult;
use os::memory::Memory;
use session::{Connection, Login};
use std::sync::Arc;

/// The engine behind the door: `instance` through an adapter, or a test's fake.
///
/// All calls come from worker threads and may block, except `server_name` and `log`.
pub trait Engine: Send + Sync {
    /// Whether the password is the login's. The door spaces out attempts by account; what is to
    /// be done here is one comparison, see [`crate::password::verify`].
    ///
    /// # Errors
    /// 18456 for a wrong password and for an unknown login alike, 18470 when it is disabled.
    fn authenticate(&self, user: &str, password: &str) -> SqlResult<()>;

    /// A session for an authenticated login.
    ///
    /// # Errors
    /// 4060 when the database cannot be opened, 17809 when there are too many.
    fn connect(&self, login: Login) -> SqlResult<Box<dyn Connection>>;

    /// What long requests are charged to; none where nobody counts. Asked once, at the start.
    fn memory(&self) -> Option<Arc<Memory>> {
        None
    }

    /// `@@SERVERNAME`: stands in every message.
    fn server_name(&self) -> &str;

    /// A line of the error log. Must not block for long.
    fn log(&self, line: &str);
}
