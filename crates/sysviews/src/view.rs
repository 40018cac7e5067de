//! What a view is, and what it looks at.

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

/// The open databases, as views ask for them.
pub trait Databases: Send + Sync {
    /// All that are open, by id.
    fn all(&self) -> Vec<Arc<Database>>;
    /// Those that are not, by id.
    fn closed(&self) -> Vec<ClosedDatabase>;
    /// One of those that are open.
    fn get(&self, id: DatabaseId) -> Option<Arc<Database>>;
    /// The same for whoever reads its pages: nobody drops it before the view has answered. None
    /// where it is being dropped.
    ///
    /// # Errors
    /// No memory for a lock.
    fn hold(&self, id: DatabaseId) -> SqlResult<Option<Arc<Database>>>;
    /// The definitions of a database as whoever asks sees them: with those of its transaction.
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
    /// Whether it may be written when it is open.
    pub read_only: bool,
    /// Where its files are, or were.
    pub files: Files,
}

/// What the views look at.
pub struct System<'a> {
    /// The open databases.
    pub databases: &'a dyn Databases,
    /// The sessions.
    pub sessions: &'a Arc<Registry>,
    /// Options of the server.
    pub configuration: &'a session::Configuration,
    /// Memory of queries.
    pub semaphores: &'a ResourceSemaphores,
    /// Threads of parallel plans.
    pub workers: &'a Workers,
    /// Compiled programs and their plans.
    pub programs: &'a plancache::Cache<session::Program>,
    /// Who has reserved how much memory.
    pub memory: &'a os::memory::Memory,
    /// What happened that is kept for views.
    pub events: &'a EventSession,
    /// `@@SERVERNAME`
    pub server: &'a str,
    /// Of the product, as plans as documents tell it.
    pub version: &'a str,
    /// Locks and transactions.
    pub engine: &'a Arc<work::Engine>,
    /// In whose context the view answers.
    pub current: DatabaseId,
    /// Of whoever asks: what reads pages looks at it.
    pub waiter: &'a Waiter,
    /// The open transaction of whoever asks.
    pub transaction: Option<TransactionId>,
}

impl System<'_> {
    /// The database in whose context the view answers.
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

/// What a view's code gives.
pub(crate) type Rows = SqlResult<Vec<Vec<Value>>>;

/// A view or function: everything about it stands in one file.
pub(crate) struct View {
    pub(crate) schema: SchemaId,
    pub(crate) name: &'static str,
    pub(crate) parameters: Option<&'static [(&'static str, SqlType)]>,
    pub(crate) columns: &'static [Column],
    /// The cells of written columns, row by row; constants are put between them.
    pub(crate) rows: fn(&System<'_>, &[Value]) -> Rows,
}
