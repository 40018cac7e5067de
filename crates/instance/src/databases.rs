//! Databases as a whole: CREATE, DROP, options, CHECKPOINT, CHECKDB.

use crate::checkdb::{self, LockedTables};
use crate::closed::ClosedEntry;
use crate::files;
use crate::host::{SeizedDatabase, is_system};
use crate::instance::{Instance, Open, same_name};
use crate::list_text::{DesiredState, Entry};
use crate::start::{MODEL, first_options, make};
use crate::unsupported::unsupported;
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::{DatabaseOption, DatabaseOptions};
use database::{CheckOptions, DATA_FILE, Database, DatabaseState, Files, LOG_FILE};
use ddl::{Check, NewDatabase};
use lock::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;
use work::{CommitMode, Work};

fn not_there(name: &str) -> SqlError {
    SqlError::new(messages::DROP_NOT_FOUND, &[&"drop", &"database", &name]).with_state(1)
}

/// Addresses that the pages of a new database take at once.
const FIRST_ADDRESSES: usize = 1 << 30;

impl Instance {
    /// A number for a database of that name, which nobody has.
    fn new_number(
        &self,
        name: &str,
        dropping: &BTreeMap<DatabaseId, String>,
    ) -> SqlResult<DatabaseId> {
        let list = self.list.lock();
        // A database that is not open has its name and number, too. Tempdb is in no list.
        let names = list.entries().values().map(|entry| &*entry.name);
        let mut names = names.chain(dropping.values().map(|n| &**n)).chain(["tempdb"]);
        if names.any(|n| same_name(n, name)) {
            return Err(SqlError::new(messages::DATABASE_EXISTS, &[&name]).with_state(3));
        }
        let is_free =
            |id: &DatabaseId| !list.entries().contains_key(id) && !dropping.contains_key(id);
        let id = (5..u16::MAX).map(DatabaseId).find(is_free);
        id.ok_or_else(|| SqlError::new(messages::CREATE_DATABASE_FAILED, &[]))
    }

    /// Nothing lies where the files of a new database are to be.
    fn files_are_new(&self, name: &str) -> SqlResult<()> {
        let Files { data, log } = Files::of(&self.dir, name);
        match [data, log].into_iter().find(|path| self.env.disk.exists(path)) {
            Some(path) => Err(SqlError::new(messages::FILE_EXISTS, &[&path.display()])),
            None => Ok(()),
        }
    }

    /// Makes a database: it is noted in the list before and behind that.
    fn make_listed(
        &self,
        id: DatabaseId,
        name: &str,
        planned: &files::FilePlan,
        facts: &DatabaseOptions,
    ) -> SqlResult<Arc<Database>> {
        let mut list = self.list.lock();
        let entry = Entry::new(name, DesiredState::Making);
        let online = Entry { standing: DesiredState::Online, ..entry.clone() };
        list.change(|entries| drop(entries.insert(id, entry)))?;
        let made = make(&self.env, &self.dir, id, name, &planned.sizing, facts, true);
        let made = made.and_then(|database| {
            let set = files::set_first(&database, planned);
            let listed = || list.change(|entries| drop(entries.insert(id, online)));
            match set.and_then(|()| listed()) {
                Ok(()) => Ok(database),
                Err(e) => {
                    self.unmake(&database);
                    Err(e)
                }
            }
        });
        if made.is_err() {
            list.forget(id);
        }
        made
    }

    /// Removes a database that was made and that nobody knows of.
    fn unmake(&self, database: &Database) {
        // What stays is only space.
        let _ = database.close(Vec::new());
        for file in [DATA_FILE, LOG_FILE] {
            let _ = self.env.disk.remove(database.file_path(file));
        }
    }

    /// Closes a database that the list does not name any more and removes its files.
    fn end_dropped(&self, open: Open, seized: SeizedDatabase<'_>) -> SqlResult<()> {
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
struct EndingDatabase<'i> {
    instance: &'i Instance,
    id: DatabaseId,
}

impl Drop for EndingDatabase<'_> {
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
        let id = self.new_number(name, &dropping)?;
        self.files_are_new(name)?;
        let planned = files::plan(new, &self.options.sizing)?;
        let model = self.database(MODEL).map(|model| model.options());
        let mut facts = first_options(id, &self.options, model.as_ref());
        if let Some(collation) = new.collation {
            facts.set(DatabaseOption::Collate(collation));
        }
        if !os::heap::has_addresses(FIRST_ADDRESSES) {
            return Err(os::values::exhausted());
        }
        let database = self.make_listed(id, name, &planned, &facts)?;
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
        let Some(database) = self.database_by_name(name) else {
            let (id, closed) = self.closed_by_name(name).ok_or_else(|| not_there(name))?;
            return self.drop_closed(id, &closed);
        };
        let id = database.id();
        let in_use = || SqlError::new(messages::DROP_DATABASE_IN_USE, &[&name]).with_state(4);
        let seized = self.seize_database(id)?.ok_or_else(in_use)?;
        if database.home().active_count() > 0 {
            // A transaction that has only defined something there holds no lock on it.
            return Err(in_use());
        }
        self.note_dropping(id)?;
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
        let ending = EndingDatabase { instance: self, id };
        self.end_dropped(open, seized)?;
        self.list.lock().forget(id);
        drop(ending);
        self.definitions.moved();
        self.write_log("spid", &format!("Database '{name}' was dropped."));
        Ok(())
    }

    /// From now on what is left of a database is removed, by this process or the next.
    fn note_dropping(&self, id: DatabaseId) -> SqlResult<()> {
        let dropping = |entry: &mut Entry| entry.standing = DesiredState::Dropping;
        self.list.lock().change(|entries| entries.get_mut(&id).into_iter().for_each(dropping))
    }

    /// DROP DATABASE of one that is not open; `creating` is locked. The files of one that is
    /// offline stay, as in SQL Server.
    fn drop_closed(&self, id: DatabaseId, closed: &ClosedEntry) -> SqlResult<()> {
        if closed.state == DatabaseState::Offline {
            self.list.lock().change(|entries| drop(entries.remove(&id)))?;
        } else {
            self.note_dropping(id)?;
            let Files { data, log } = &closed.files;
            for path in [data, log] {
                // It may be the file that is missing. What stays is only space.
                let _ = self.env.disk.remove(path);
            }
            self.list.lock().forget(id);
        }
        // It asks how no transaction ended any more.
        self.engine().decisions.release(|member| member.database == id);
        self.closed.write().remove(&id);
        self.definitions.moved();
        self.write_log("spid", &format!("Database '{}' was dropped.", closed.name));
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
            // There is nothing that it could bring home.
            Some(d) if d.options().read_only => Ok(()),
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
        let report = LockedTables::lock(work, &database, check.table).map(|kept| {
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
