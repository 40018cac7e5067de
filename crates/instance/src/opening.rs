//! Opening the databases of the list: the system's first, then all others, each for itself.
//!
//! Without master and model there is no server. Any other database that cannot be opened is
//! closed, in a state that says why (`closed.rs`), and is in nobody's way.

use crate::closed::{ClosedEntry, say_closed};
use crate::error_log::ErrorLog;
use crate::files;
use crate::instance::{InstanceOptions, Open};
use crate::list::List;
use crate::list_text::{DesiredState, Entry};
use crate::start::{
    MASTER, MSDB, OpenDatabases, SYSTEM, TEMPDB, at_work, first_options, make, say_recovered,
};
use base::{DatabaseId, SqlError, SqlResult, messages};
use database::{
    Database, DatabaseState, Environment, Files, OpenError, identity_of, is_left_of_us,
};
use os::disk::Disk;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What says that the disk is full: nothing is wrong with a database.
const WITHOUT_SPACE: [base::Message; 4] = [
    messages::DATA_FILE_FULL,
    messages::LOG_FULL,
    messages::CREATE_FILE_FAILED,
    messages::EXPAND_FILE_FAILED,
];

/// What databases are opened with.
pub(crate) struct Opening<'a> {
    pub(crate) env: &'a Environment,
    pub(crate) dir: &'a Path,
    pub(crate) options: &'a InstanceOptions,
    pub(crate) log: &'a Arc<ErrorLog>,
}

impl Opening<'_> {
    /// Opens what is listed and makes what is missing; what came before a failure is in `open`.
    pub(crate) fn all(
        &self,
        list: &mut List,
        open: &mut OpenDatabases,
        closed: &mut BTreeMap<DatabaseId, ClosedEntry>,
    ) -> SqlResult<()> {
        for (id, name) in SYSTEM {
            let opened = match list.entries().get(&id).cloned() {
                _ if id == TEMPDB => self.tempdb(open)?,
                Some(entry) if entry.standing == DesiredState::Making => {
                    self.make_first(id, name)?
                }
                Some(entry) if id == MSDB => match self.listed(id, &entry) {
                    Ok(msdb) => msdb,
                    Err(why) => {
                        closed.insert(id, why);
                        continue;
                    }
                },
                Some(entry) => self.needed(id, &entry)?,
                None => unreachable!("what the system lacks was noted to be made"),
            };
            open.insert(id, opened);
        }
        let making = |entry: &Entry| entry.standing == DesiredState::Making;
        if list.entries().iter().any(|(id, entry)| id.0 <= 4 && making(entry)) {
            list.change(|entries| {
                let made = entries.iter_mut().filter(|(id, entry)| id.0 <= 4 && making(entry));
                made.for_each(|(_, entry)| entry.standing = DesiredState::Online);
            })?;
        }
        let unfinished =
            |entry: &Entry| matches!(entry.standing, DesiredState::Making | DesiredState::Dropping);
        for (id, entry) in list.entries().iter().filter(|(id, e)| id.0 > 4 && !unfinished(e)) {
            match self.listed(*id, entry) {
                Ok(opened) => drop(open.insert(*id, opened)),
                Err(why) => drop(closed.insert(*id, why)),
            }
        }
        Ok(())
    }

    fn make_first(&self, id: DatabaseId, name: &str) -> SqlResult<Open> {
        let facts = first_options(id, self.options, None);
        let made = make(self.env, self.dir, id, name, &self.options.sizing, &facts, true)?;
        Ok(at_work(made, self.log))
    }

    /// Tempdb is made anew at each start.
    fn tempdb(&self, open: &OpenDatabases) -> SqlResult<Open> {
        let master = &open.get(&MASTER).expect("master is opened before tempdb").database;
        remove_tempdb(&*self.env.disk, &Files::of(self.dir, "tempdb"))?;
        let sizing = files::sizing_of_tempdb(master, &self.options.sizing);
        let facts = first_options(TEMPDB, self.options, None);
        let tempdb = make(self.env, self.dir, TEMPDB, "tempdb", &sizing, &facts, false)?;
        files::restore_tempdb(master, &tempdb, self.log);
        Ok(at_work(tempdb, self.log))
    }

    fn needed(&self, id: DatabaseId, entry: &Entry) -> SqlResult<Open> {
        let files = Files::named(self.dir, &entry.stem);
        self.open(id, entry, &files).map_err(|(_, why)| {
            if WITHOUT_SPACE.iter().any(|m| m.number == why.number()) {
                return why;
            }
            let (name, first) = (&entry.name, why.clone().explanation());
            SqlError::new(messages::SYSTEM_DATABASE_NEEDED, &[name, &first.text()]).after(why)
        })
    }

    /// A database of the list, open, or why it is not.
    fn listed(&self, id: DatabaseId, entry: &Entry) -> Result<Open, ClosedEntry> {
        let files = Files::named(self.dir, &entry.stem);
        if entry.standing == DesiredState::Offline {
            return Err(ClosedEntry::new(entry, files, DatabaseState::Offline));
        }
        self.open(id, entry, &files).map_err(|(state, why)| {
            say_closed(self.log, (id, &entry.name), state, &why);
            ClosedEntry::new(entry, files.clone(), state)
        })
    }

    /// Opens a database as it is to be; else its state, and the error that says why.
    pub(crate) fn open(
        &self,
        id: DatabaseId,
        entry: &Entry,
        files: &Files,
    ) -> Result<Open, (DatabaseState, SqlError)> {
        let (env, sizing) = (self.env, &self.options.sizing);
        let open = match (entry.standing, entry.read_only) {
            (DesiredState::Emergency, _) => Database::open_emergency,
            (_, true) => Database::open_read_only,
            (_, false) => Database::open,
        };
        let (database, report) = open(env, id, &entry.name, files, sizing).map_err(failure)?;
        say_recovered(&database, &entry.name, &report, self.log);
        Ok(at_work(database, self.log))
    }
}

/// The state of a database that could not be opened, and why.
fn failure(e: OpenError) -> (DatabaseState, SqlError) {
    match e {
        OpenError::Pending(error) => (DatabaseState::RecoveryPending, error),
        OpenError::Suspect { error, why, .. } if why == error.text() => {
            (DatabaseState::Suspect, error)
        }
        OpenError::Suspect { error, why, .. } => {
            let told = SqlError::raw(error.number(), 10, error.state(), why);
            (DatabaseState::Suspect, error.after(told))
        }
    }
}

/// Removes what the last start left of tempdb, unless the files are something else's.
fn remove_tempdb(disk: &dyn Disk, files: &Files) -> SqlResult<()> {
    let is_other = identity_of(disk, files).is_some_and(|said| said.id != TEMPDB);
    if is_other || !is_left_of_us(disk, &files.data) {
        let path = files.data.display();
        let not_made = SqlError::new(messages::FILE_EXISTS, &[&path]);
        let needed =
            SqlError::new(messages::SYSTEM_DATABASE_NEEDED, &[&"tempdb", &not_made.text()]);
        return Err(needed.after(not_made));
    }
    for path in [&files.data, &files.log].into_iter().filter(|path| disk.exists(path)) {
        disk.remove(path)
            .map_err(|e| SqlError::new(messages::CREATE_FILE_FAILED, &[&e, &path.display()]))?;
    }
    Ok(())
}
