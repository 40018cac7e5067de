//! Databases by name and id, and the sessions that use them.

use base::{DatabaseId, SessionId, SqlError, SqlResult};
use catalog::DatabaseOptions;
use std::sync::Arc;
use types::Value;
use work::Work;

/// The databases of the process.
pub trait Databases: Send + Sync {
    /// Every database, open or not, by id.
    fn databases(&self) -> Vec<(DatabaseId, String)>;

    /// The id of a database by its name, in any case, open or not.
    fn database_id(&self, name: &str) -> Option<DatabaseId>;

    /// The error for a database that exists but is not open.
    fn refused_database(&self, name: &str) -> Option<SqlError> {
        let _ = name;
        None
    }

    /// Whether a session may use a database; `None` if there is no such database.
    fn has_access(&self, session: SessionId, name: &str) -> Option<bool> {
        let _ = session;
        self.database_id(name).map(|_| true)
    }

    /// Makes a database the session's current database, or changes to another one. `workspace`
    /// holds an S lock on the current database, so that nobody drops it.
    ///
    /// # Errors
    /// 911 for an unknown name, 924, 926, 942, 945, 1222, cancellation.
    fn enter_database(
        &self,
        workspace: &Arc<lock::Owner>,
        timeout: lock::Timeout,
        name: &str,
        leaves: Option<DatabaseId>,
    ) -> SqlResult<DatabaseId>;

    /// The session ends and leaves its database.
    fn leave_database(&self, workspace: &lock::Owner, database: DatabaseId);

    /// The transaction of a unit of work uses another database than the session's. It holds an S
    /// lock on that database until it ends.
    ///
    /// # Errors
    /// 1222, 1205, cancellation; 911 when it has been dropped.
    fn hold_database(&self, work: &Work, database: DatabaseId) -> SqlResult<()>;

    /// The options of a database; `None` if it is not open.
    fn database_options(&self, database: DatabaseId) -> Option<DatabaseOptions>;

    /// Whether READ_COMMITTED_SNAPSHOT is on in a database.
    fn reads_versions(&self, _database: DatabaseId) -> bool {
        false
    }

    /// DATABASEPROPERTYEX; NULL for an unknown name. `name` is in upper case.
    fn database_property(&self, database: DatabaseId, name: &str) -> Value;

    /// FILE_ID, FILE_NAME: number and logical name of each file.
    fn files(&self, database: DatabaseId) -> Vec<(u16, String)>;
}
