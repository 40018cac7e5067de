//! Databases by name and id, and who is in one.

use base::{DatabaseId, SessionId, SqlError, SqlResult};
use catalog::DatabaseOptions;
use std::sync::Arc;
use types::Value;
use work::Work;

/// The databases of the process.
pub trait Databases: Send + Sync {
    /// Every database, open or not, by id.
    fn databases(&self) -> Vec<(DatabaseId, String)>;

    /// A database by name in any case, open or not.
    fn database_id(&self, name: &str) -> Option<DatabaseId>;

    /// What whoever asks for a database is told when it is there and not open.
    fn refused_database(&self, name: &str) -> Option<SqlError> {
        let _ = name;
        None
    }

    /// Whether a session could use a database; `None` when there is none.
    fn has_access(&self, session: SessionId, name: &str) -> Option<bool> {
        let _ = session;
        self.database_id(name).map(|_| true)
    }

    /// A session makes a database its own, or leaves it for another: `workspace` holds S on the
    /// one it is in, so that it is not dropped.
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

    /// The session ends: it leaves its database.
    fn leave_database(&self, workspace: &lock::Owner, database: DatabaseId);

    /// The transaction of a unit of work uses another database than its session's: it holds S on
    /// it to its end.
    ///
    /// # Errors
    /// 1222, 1205, cancellation; 911 when it has been dropped.
    fn hold_database(&self, work: &Work, database: DatabaseId) -> SqlResult<()>;

    /// The options of a database; `None` when it is not open.
    fn database_options(&self, database: DatabaseId) -> Option<DatabaseOptions>;

    /// Whether READ_COMMITTED_SNAPSHOT is on in a database.
    fn reads_versions(&self, _database: DatabaseId) -> bool {
        false
    }

    /// DATABASEPROPERTYEX; NULL for what it does not know. Name in upper case.
    fn database_property(&self, database: DatabaseId, name: &str) -> Value;

    /// FILE_ID, FILE_NAME: number and logical name of each file.
    fn files(&self, database: DatabaseId) -> Vec<(u16, String)>;
}
