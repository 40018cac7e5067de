//! The state of a database, as SQL Server names and numbers it.

use crate::database::Database;

/// The state of a database.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DatabaseState {
    /// It can be used.
    Online = 0,
    /// It is being recovered; also while it is opened again.
    Recovering = 2,
    /// Its files are missing or cannot be read: recovery has not begun.
    RecoveryPending = 3,
    /// Recovery has begun and failed.
    Suspect = 4,
    /// It is open for reading in an emergency.
    Emergency = 5,
    /// A user has closed it.
    Offline = 6,
}

impl DatabaseState {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            DatabaseState::Online => "ONLINE",
            DatabaseState::Recovering => "RECOVERING",
            DatabaseState::RecoveryPending => "RECOVERY_PENDING",
            DatabaseState::Suspect => "SUSPECT",
            DatabaseState::Emergency => "EMERGENCY",
            DatabaseState::Offline => "OFFLINE",
        }
    }
}

impl Database {
    /// The state of an open database.
    pub fn state(&self) -> DatabaseState {
        match self.is_emergency() {
            true => DatabaseState::Emergency,
            false => DatabaseState::Online,
        }
    }
}
