//! Databases as a whole, as a session's statement asks for them.

use crate::instance::Instance;
use crate::log_reports;
use crate::unsupported::unsupported;
use base::{DatabaseId, SqlError, SqlResult};
use catalog::DatabaseOption;
use ddl::{
    Check, Databases, FileChange, FileReference, NewDatabase, ResultSet, ShrinkOutcome,
    ShrinkRequest, WaitLimit, WantedState,
};
use lock::{Owner, Timeout};
use std::sync::Arc;
use work::Work;

/// A session that asks.
pub(crate) struct Asker<'a> {
    pub(crate) instance: &'a Instance,
    /// Holds S on the database that the session is in.
    pub(crate) workspace: Arc<Owner>,
    /// LOCK_TIMEOUT
    pub(crate) timeout: Timeout,
}

impl<'a> Asker<'a> {
    /// A statement of a unit of work that asks for none of them.
    pub(crate) fn none(instance: &'a Instance, work: &Work) -> Asker<'a> {
        Asker { instance, workspace: Arc::clone(work.owner()), timeout: work.timeout() }
    }
}

impl Databases for Asker<'_> {
    fn create(&self, new: &NewDatabase) -> SqlResult<()> {
        self.instance.create_database(new)
    }

    fn drop(&self, name: &str) -> SqlResult<()> {
        self.instance.drop_database(name)
    }

    fn rename(&self, _name: &str, _new_name: &str) -> SqlResult<()> {
        Err(unsupported("ALTER DATABASE ... MODIFY NAME"))
    }

    fn set_option(
        &self,
        name: &str,
        option: DatabaseOption,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        self.alter(name, option, waiting)
    }

    fn set_state(&self, name: &str, asked: WantedState, waiting: WaitLimit) -> SqlResult<bool> {
        self.change_state(name, asked, waiting)
    }

    fn modify_file(&self, name: &str, change: &FileChange) -> SqlResult<()> {
        self.change_file(name, change)
    }

    fn checkpoint(&self, database: DatabaseId) -> SqlResult<()> {
        self.instance.checkpoint_database(database)
    }

    fn check(
        &self,
        work: &mut Work,
        database: DatabaseId,
        check: &Check,
    ) -> SqlResult<Vec<SqlError>> {
        self.instance.check_database(work, database, check)
    }

    fn clear_statistics(&self, name: &str) -> bool {
        Instance::clear_statistics(name)
    }

    fn name_of(&self, database: DatabaseId) -> SqlResult<String> {
        self.instance.found(database).map(|d| d.home().name().to_string())
    }

    fn log_info(&self, database: DatabaseId) -> SqlResult<ResultSet> {
        self.instance.found(database).map(|d| log_reports::log_info(&d))
    }

    fn shrink_file(
        &self,
        database: DatabaseId,
        file: &FileReference,
        asked: ShrinkRequest,
    ) -> SqlResult<ShrinkOutcome> {
        self.shrink(database, file, asked)
    }

    fn log_space(&self) -> ResultSet {
        self.instance.log_space()
    }
}
