//! Why space could not be had.

use base::{SqlError, messages};
use buffer::BufferError;
use os::wait::CancelReason;
use wal::WalError;

/// Why space could not be had.
#[derive(Debug)]
pub enum SpaceError {
    /// The files are full and may not or cannot grow: error 1105.
    Full,
    /// The operating system did not make a file longer that was to have a size: error 5149.
    Disk(std::io::Error),
    /// An allocation page could not be read.
    Buffer(BufferError),
    /// The log has no room for the change of the maps.
    Log(WalError),
    /// The request that reads the maps was cancelled.
    Cancelled(CancelReason),
}

impl SpaceError {
    /// As the user of a database sees it.
    pub fn into_sql(self, object: &str, database: &str) -> SqlError {
        match self {
            SpaceError::Full => {
                SqlError::new(messages::DATA_FILE_FULL, &[&object, &database, &"PRIMARY"])
                    .with_state(2)
            }
            SpaceError::Disk(e) => SqlError::new(messages::EXPAND_FILE_FAILED, &[&e, &object]),
            SpaceError::Buffer(e) => e.into(),
            SpaceError::Log(e) => e.into_sql(database),
            SpaceError::Cancelled(why) => why.into(),
        }
    }
}

impl From<BufferError> for SpaceError {
    fn from(e: BufferError) -> Self {
        SpaceError::Buffer(e)
    }
}

impl From<WalError> for SpaceError {
    fn from(e: WalError) -> Self {
        SpaceError::Log(e)
    }
}

impl From<CancelReason> for SpaceError {
    fn from(why: CancelReason) -> Self {
        SpaceError::Cancelled(why)
    }
}

impl std::fmt::Display for SpaceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SpaceError::Full => write!(f, "the data files are full"),
            SpaceError::Disk(e) => write!(f, "a data file cannot be longer: {e}"),
            SpaceError::Buffer(e) => write!(f, "{e}"),
            SpaceError::Log(e) => write!(f, "{e}"),
            SpaceError::Cancelled(why) => write!(f, "cancelled: {why:?}"),
        }
    }
}

impl std::error::Error for SpaceError {}
