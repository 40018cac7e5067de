//! What a view is, and the objects that it reads.

use crate::column::Column;
use crate::event_session::EventSession;
use base::{DatabaseId, SqlError, SqlResult, TransactionId, messages};
use catalog::view::{DatabaseView, SchemaId};
use database::{Database, DatabaseState, Files};
use exec::{ResourceSemaphores, Workers};
use os::wait::Waiter;
use session::Registry;
use std::sync::Arc;
use types::{SqlType, Value};

/// The databases, as views ask for them.
pub trait Databases: Send + Sync {
    /// All open databases, by id.
    fn all(&self) -> Vec<Arc<Database>>;
    /// All databases that are not open, by id.
    fn closed(&self) -> Vec<ClosedDatabase>;
    /// An open database.
    fn get(&self, id: DatabaseId) -> Option<Arc<Database>>;
    /// The same for a view that reads its pages: nobody drops the database before the view has
    /// returned its rows. `None` if it is being dropped.
    ///
    /// # Errors
    /// No memory for a lock.
    fn hold(&self, id: DatabaseId) -> SqlResult<Option<Arc<Database>>>;
    /// The definitions of a database as the caller sees them, with those of its transaction.
    fn view(&self, id: DatabaseId) -> Option<Arc<DatabaseView>>;
}

/// A database that is listed and not open.
pub struct ClosedDatabase {
    /// Its number.
    pub id: DatabaseId,
    /// Its name.
    pub name: String,
    /// Why it is closed.
    pub state: DatabaseState,
    /// Whether it is read-only when it is open.
    pub read_only: bool,
    /// The paths of its files, whether or not they exist.
    pub files: Files,
}

/// The objects that views read.
pub struct System<'a> {
    /// The open databases.
    pub databases: &'a dyn Databases,
    /// The sessions.
    pub sessions: &'a Arc<Registry>,
    /// Options of the server.
    pub configuration: &'a session::Configuration,
    /// The query memory.
    pub semaphores: &'a ResourceSemaphores,
    /// The threads of parallel plans.
    pub workers: &'a Workers,
    /// Compiled programs and their plans.
    pub programs: &'a plancache::Cache<session::Program>,
    /// The reservations of memory.
    pub memory: &'a os::memory::Memory,
    /// The events that are kept for views.
    pub events: &'a EventSession,
    /// `@@SERVERNAME`
    pub server: &'a str,
    /// The product's version, as plan documents show it.
    pub version: &'a str,
    /// Locks and transactions.
    pub engine: &'a Arc<work::Engine>,
    /// The database in whose context the view is read.
    pub current: DatabaseId,
    /// The caller's waiter: code that reads pages checks it.
    pub waiter: &'a Waiter,
    /// The caller's open transaction.
    pub transaction: Option<TransactionId>,
}

impl System<'_> {
    /// The database in whose context the view is read.
    pub(crate) fn here(&self) -> SqlResult<Arc<Database>> {
        self.databases
            .get(self.current)
            .ok_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&self.current]))
    }

    /// The same, held: the view reads its pages.
    pub(crate) fn hold(&self) -> SqlResult<Arc<Database>> {
        let held = self.databases.hold(self.current)?;
        held.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&self.current]))
    }

    /// Its definitions.
    pub(crate) fn view(&self) -> SqlResult<Arc<DatabaseView>> {
        let view = self.databases.view(self.current);
        view.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_FOUND, &[&self.current]))
    }

    /// The databases that an argument names: NULL and 0 name all of them.
    pub(crate) fn chosen(&self, argument: Option<&Value>) -> Vec<Arc<Database>> {
        match argument.and_then(Value::as_i64).filter(|&n| n != 0) {
            None => self.databases.all(),
            Some(n) => {
                let id = u16::try_from(n).ok().map(DatabaseId);
                id.and_then(|id| self.databases.get(id)).into_iter().collect()
            }
        }
    }
}

/// The rows that a view's code returns.
pub(crate) type Rows = SqlResult<Vec<Vec<Value>>>;

/// A view or function: everything about it is in one file.
pub(crate) struct View {
    pub(crate) schema: SchemaId,
    pub(crate) name: &'static str,
    pub(crate) parameters: Option<&'static [(&'static str, SqlType)]>,
    pub(crate) columns: &'static [Column],
    /// The cells of written columns, row by row; the frame inserts the constants.
    pub(crate) rows: fn(&System<'_>, &[Value]) -> Rows,
}
