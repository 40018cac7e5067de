//! Databases that are listed and not open: each in a state that says why, none forgotten.
//!
//! Their files are as they were found. They can be asked for (`sys.databases`, DB_ID), dropped,
//! and tried again (ALTER DATABASE … SET ONLINE); whoever wants in is told the state.

use crate::error_log::ErrorLog;
use crate::instance::{Instance, same_name};
use crate::list_text::Entry;
use base::{DatabaseId, SqlError, messages};
use database::{DatabaseState, Files};

/// A database that is not open.
#[derive(Clone)]
pub(crate) struct ClosedEntry {
    pub(crate) name: String,
    pub(crate) files: Files,
    pub(crate) state: DatabaseState,
    pub(crate) read_only: bool,
}

impl ClosedEntry {
    pub(crate) fn new(entry: &Entry, files: Files, state: DatabaseState) -> ClosedEntry {
        ClosedEntry { name: entry.name.clone(), files, state, read_only: entry.read_only }
    }

    /// What whoever wants in is told.
    pub(crate) fn refusal(&self) -> SqlError {
        refusal(self.state, &self.name)
    }
}

pub(crate) fn refusal(state: DatabaseState, name: &str) -> SqlError {
    match state {
        DatabaseState::Suspect => SqlError::new(messages::DATABASE_SUSPECT, &[&name]),
        DatabaseState::Offline => SqlError::new(messages::DATABASE_OFFLINE, &[&name]).with_state(4),
        DatabaseState::Recovering => SqlError::new(messages::DATABASE_CANNOT_OPEN_YET, &[&name]),
        _ => SqlError::new(messages::DATABASE_INACCESSIBLE, &[&name]).with_state(2),
    }
}

impl Instance {
    /// A database that is not open, by name, in any case.
    pub(crate) fn closed_by_name(&self, name: &str) -> Option<(DatabaseId, ClosedEntry)> {
        let closed = self.closed.read();
        let found = closed.iter().find(|(_, c)| same_name(&c.name, name));
        found.map(|(id, closed)| (*id, closed.clone()))
    }

    /// What whoever asks for a database by a name is told when it is not open: its state, or that
    /// there is none.
    pub(crate) fn not_open(&self, name: &str) -> SqlError {
        match self.closed_by_name(name) {
            Some((_, closed)) => closed.refusal(),
            None => SqlError::new(messages::DATABASE_NOT_FOUND, &[&name]),
        }
    }
}

/// Tells the error log why a database stays closed.
pub(crate) fn say_closed(
    log: &ErrorLog,
    (id, name): (DatabaseId, &str),
    state: DatabaseState,
    why: &SqlError,
) {
    log.error("spid5s", why);
    match state {
        DatabaseState::Suspect => {
            let failed = SqlError::new(messages::RECOVERY_FAILED, &[&name, &id]).with_state(2);
            log.error("spid5s", &failed);
        }
        _ if why.number() != messages::DATABASE_INACCESSIBLE.number => {
            log.error("spid5s", &refusal(state, name));
        }
        _ => {}
    }
    let line = format!("Database '{name}' is {}. No more is written to its files.", state.name());
    log.line("spid5s", &line);
}
