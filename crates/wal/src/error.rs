//! What can go wrong with the log, and what the user is told.

use crate::ReuseWait;
use base::{Lsn, SqlError, messages};

/// Why a log is not written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Seal {
    /// The database is open for emergencies.
    Emergency = 1,
    /// READ_ONLY
    ReadOnly = 2,
}

/// Why the log could not do what was asked.
#[derive(Debug)]
pub enum WalError {
    /// No VLF is free and the file may not or cannot grow. The caller ends its statement.
    Full {
        /// What `log_reuse_wait` says.
        because: ReuseWait,
    },
    /// The operating system failed a read, or a write before anything depended on it.
    Io(std::io::Error),
    /// The file is not a log, or not this database's.
    NotALog(&'static str),
    /// It is this log, and its structure is damaged: headers of its parts, or its length.
    Unsound(&'static str),
    /// A record that must be there is not: the file is shortened, damaged or stale.
    Missing(Lsn),
    /// The log ends where it is known to have been durable further on.
    Damaged {
        /// The end that is found: what comes there is damaged.
        at: Lsn,
        /// The least that was durable.
        durable: Lsn,
    },
    /// Nothing is logged.
    Sealed(Seal),
}

impl WalError {
    /// Where the log is damaged, as far as that is known; None when it is not, or not there.
    pub fn damaged_at(&self) -> Option<Lsn> {
        match self {
            WalError::Damaged { at, .. } => Some(*at),
            WalError::Missing(lsn) => Some(*lsn),
            WalError::Unsound(_) => Some(Lsn::ZERO),
            _ => None,
        }
    }

    /// As the user of a database sees it.
    pub fn into_sql(self, database: &str) -> SqlError {
        match self {
            WalError::Full { because } => {
                let e = SqlError::new(messages::LOG_FULL, &[&database, &because.name()]);
                e.with_state(because.state())
            }
            WalError::Io(_)
            | WalError::NotALog(_)
            | WalError::Unsound(_)
            | WalError::Damaged { .. } => SqlError::new(messages::LOG_CORRUPT, &[&database]),
            WalError::Sealed(Seal::Emergency) => SqlError::new(messages::EMERGENCY, &[&database]),
            WalError::Sealed(Seal::ReadOnly) => {
                SqlError::new(messages::DATABASE_READ_ONLY, &[&database]).with_state(2)
            }
            WalError::Missing(lsn) => SqlError::new(messages::LOG_FILE_MISSING, &[&lsn, &database]),
        }
    }
}

impl std::fmt::Display for WalError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            WalError::Full { because } => write!(f, "the log is full due to {}", because.name()),
            WalError::Io(e) => write!(f, "log file: {e}"),
            WalError::NotALog(what) => write!(f, "log file: {what}"),
            WalError::Unsound(what) => write!(f, "the log is damaged: {what}"),
            WalError::Damaged { at, durable } => {
                write!(f, "the log is damaged at LSN {at}: it was durable up to LSN {durable}")
            }
            WalError::Sealed(seal) => write!(f, "the log is not written: {seal:?}"),
            WalError::Missing(lsn) => write!(f, "log record {lsn} is missing or damaged"),
        }
    }
}

impl std::error::Error for WalError {}

impl From<std::io::Error> for WalError {
    fn from(e: std::io::Error) -> Self {
        WalError::Io(e)
    }
}
