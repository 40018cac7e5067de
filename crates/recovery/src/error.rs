//! Why a database could not be recovered.

use base::SqlError;
use buffer::BufferError;
use wal::WalError;

/// Why a database could not be recovered. It stays closed; its files are as they were, as far as
/// redo went, and recovery can be tried again.
#[derive(Debug)]
pub enum RecoveryError {
    /// A page could not be read, or does not fit its log.
    Buffer(BufferError),
    /// The log could not be read.
    Log(WalError),
}

impl RecoveryError {
    /// As whoever opens the database sees it.
    pub fn into_sql(self, database: &str) -> SqlError {
        match self {
            RecoveryError::Buffer(e) => e.into(),
            RecoveryError::Log(e) => e.into_sql(database),
        }
    }
}

impl From<BufferError> for RecoveryError {
    fn from(e: BufferError) -> Self {
        RecoveryError::Buffer(e)
    }
}

impl From<WalError> for RecoveryError {
    fn from(e: WalError) -> Self {
        RecoveryError::Log(e)
    }
}

impl std::fmt::Display for RecoveryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RecoveryError::Buffer(e) => write!(f, "{e}"),
            RecoveryError::Log(e) => write!(f, "{e}"),
        }
    }
}

impl std::error::Error for RecoveryError {}
