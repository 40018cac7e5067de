//! Databases as a whole: CREATE, DROP, options, CHECKPOINT, CHECKDB.

use crate::checkdb::{self, KeptAway};
use crate::files;
use crate::host::{Seized, is_system};
use crate::instance::{Instance, Open, same_name};
use crate::list;
use crate::start::{MODEL, first_options, make};
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::DatabaseOption;
use database::{CheckOptions, DATA_FILE, Database, Files, LOG_FILE};
use ddl::{Check, NewDatabase};
use lock::Duration;
use types::Collation;
use work::{CommitMode, Work};

pub(crate) fn unsupported(feature: &str) -> SqlError {
    SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature])
}

fn list_error(e: &std::io::Error) -> SqlError {
    let what = format!("master' (list of databases: {e}), '");
    SqlError::new(messages::DATABASE_INACCESSIBLE, &[&what])
}

fn not_there(name: &str) -> SqlError {
    SqlError::new(messages::DROP_NOT_FOUND, &[&"drop", &"database", &name]).with_state(1)
}

impl Instance {
    fn list(&self) -> std::collections::BTreeMap<DatabaseId, String> {
        let open = self.databases.read();
        open.iter().map(|(id, o)| (*id, o.database.home().name())).collect()
    }

    fn write_list(&self, list: &std::collections::BTreeMap<DatabaseId, String>) -> SqlResult<()> {
        let path = self.dir.join(list::NAME);
        let failed = |e| SqlError::new(messages::EXPAND_FILE_FAILED, &[&e, &path.display()]);
        list::write(&*self.env.disk, &self.dir, list).map_err(failed)
    }
}

impl Instance {
    /// Removes a database that was made and that nobody knows of.
    fn unmake(&self, database: &Database) {
        // What stays is only space.
        let _ = database.close(Vec::new());
        for file in [DATA_FILE, LOG_FILE] {
            let _ = self.env.disk.remove(database.file_path(file));
        }
    }

    /// Closes a database that the list does not name any more and removes its files.
    fn end_dropped(&self, open: Open, seized: Seized<'_>) -> SqlResult<()> {
        let Files { data, log } = open.database.files().clone();
        open.database.close(open.workers)?;
        drop((open.database, seized));
        for path in [data, log] {
            // What stays is only space.
            let _ = self.env.disk.remove(&path);
        }
        Ok(())
    }
}

/// The name and number of a database that is being dropped are taken until its end, however that
/// comes.
struct Ending<'i> {
    instance: &'i Instance,
    id: DatabaseId,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.instance.creating.lock().remove(&self.id);
    }
}

impl Instance {
    pub(crate) fn create_database(&self, new: &NewDatabase) -> SqlResult<()> {
        let dropping = self.creating.lock();
        let name = &*new.name;
        if [&new.data, &new.log].into_iter().flatten().any(|f| f.path.is_some()) {
            return Err(unsupported("CREATE DATABASE ... FILENAME"));
        }
        if new.collation.is_some_and(|c| c != Collation::default()) {
            return Err(unsupported("CREATE DATABASE ... COLLATE"));
        }
        let mut names = self.list();
        // A database that could not be opened still has its name and number.
        let listed = list::read(&*self.env.disk, &self.dir).map_err(|e| list_error(&e))?;
        names.extend(listed);
        if names.values().chain(dropping.values()).any(|n| same_name(n, name)) {
            return Err(SqlError::new(messages::DATABASE_EXISTS, &[&name]).with_state(3));
        }
        let id = (5..u16::MAX)
            .map(DatabaseId)
            .find(|id| !names.contains_key(id) && !dropping.contains_key(id));
        let id = id.ok_or_else(|| SqlError::new(messages::CREATE_DATABASE_FAILED, &[]))?;
        let planned = files::plan(new, &self.options.sizing)?;
        let model = self.database(MODEL).map(|model| model.options());
        let facts = first_options(id, &self.options, model.as_ref());
        let database = make(&self.env, &self.dir, id, name, &planned.sizing, &facts, true)?;
        if let Err(e) = files::set_first(&database, &planned) {
            self.unmake(&database);
            return Err(e);
        }
        names.insert(id, name.to_owned());
        if let Err(e) = self.write_list(&names) {
            // Nobody knows of it; its files are replaced when the name comes again.
            let _ = database.close(Vec::new());
            return Err(e);
        }
        let workers = database.start_workers();
        self.databases.write().insert(id, Open { database, workers });
        self.definitions.moved();
        self.write_log("spid", &format!("Database '{name}' was made."));
        Ok(())
    }

    pub(crate) fn drop_database(&self, name: &str) -> SqlResult<()> {
        let mut dropping = self.creating.lock();
        if is_system(name) {
            let kind = "database";
            return Err(SqlError::new(messages::DROP_DATABASE_SYSTEM, &[&"drop", &kind, &name]));
        }
        let database = self.database_by_name(name).ok_or_else(|| not_there(name))?;
        let id = database.id();
        let in_use = || SqlError::new(messages::DROP_DATABASE_IN_USE, &[&name]).with_state(4);
        let seized = self.seize_database(id)?.ok_or_else(in_use)?;
        if database.home().active_count() > 0 {
            // A transaction that has only defined something there holds no lock on it.
            return Err(in_use());
        }
        // Where it cannot be read it is not replaced: it may name some that are not open.
        let mut list = list::read(&*self.env.disk, &self.dir).map_err(|e| list_error(&e))?;
        list.remove(&id);
        self.write_list(&list)?;
        let open = {
            let _cleaner = self.cleaning.lock();
            self.databases.write().remove(&id)
        };
        // Only the end of the instance takes them away without the lock.
        let open = open.ok_or_else(|| not_there(name))?;
        // Nobody comes to it any more: others go on while it is closed.
        let before = dropping.insert(id, name.to_owned());
        assert!(before.is_none(), "a database is dropped once");
        drop(dropping);
        let ending = Ending { instance: self, id };
        self.end_dropped(open, seized)?;
        drop(ending);
        self.definitions.moved();
        self.write_log("spid", &format!("Database '{name}' was dropped."));
        Ok(())
    }

    /// Writes an option, for now and for every start to come.
    pub(crate) fn write_option(
        &self,
        database: &Database,
        option: DatabaseOption,
    ) -> SqlResult<()> {
        let name = &*database.home().name();
        let mut work = database.system_work();
        work.begin(false, "ALTER DATABASE");
        match database.set_option(&mut work, option) {
            Ok(()) => {
                work.commit(CommitMode::Full).map_err(|e| e.into_sql(name))?;
                if option.decides_plans() {
                    self.programs.clear_database(database.id());
                }
                Ok(())
            }
            Err(e) => {
                work.roll_back().map_err(|e| e.into_sql(name))?;
                Err(e)
            }
        }
    }

    pub(crate) fn checkpoint_database(&self, database: DatabaseId) -> SqlResult<()> {
        match self.database(database) {
            Some(d) => d.checkpoint(false).map(|_| ()),
            None => Err(SqlError::new(messages::DATABASE_NOT_FOUND, &[&database])),
        }
    }

    pub(crate) fn check_database(
        &self,
        work: &mut Work,
        database: DatabaseId,
        check: &Check,
    ) -> SqlResult<Vec<SqlError>> {
        // It may be another than the session's own: nobody drops it meanwhile.
        let database = self.hold(work.owner(), work.timeout(), database, Duration::Short)?;
        let report = KeptAway::lock(work, &database, check.table).map(|kept| {
            let options = CheckOptions { table: check.table, no_index: check.no_index };
            let report = database.check_with(options, work.owner().waiter());
            // Stopped or not.
            kept.release(work);
            report
        });
        self.let_go(work.owner(), database.id());
        Ok(checkdb::answer(&database, check, &report??))
    }

    pub(crate) fn clear_statistics(name: &str) -> bool {
        match name.to_lowercase().as_str() {
            "sys.dm_os_wait_stats" => os::wait::clear_totals(),
            "sys.dm_os_latch_stats" => os::latch::clear_totals(),
            "sys.dm_os_spinlock_stats" => os::spin::clear_totals(),
            _ => return false,
        }
        true
    }
}
