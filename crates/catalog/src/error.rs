//! What can be wrong with the rows of the system tables.

use base::{SqlError, messages};
use std::fmt;

/// Why definitions could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CatalogError {
    /// A system row that makes no sense: damage, or our bug. The database cannot be opened.
    Corrupt {
        /// The system table.
        table: &'static str,
        /// What is wrong.
        what: String,
    },
    /// Indexes are in an order of text that this build has not. The database cannot be opened.
    OtherOrder {
        /// Their table.
        table: String,
        /// Their names.
        indexes: String,
    },
    /// A system row could not be written though its change is valid: our bug.
    NotWritten {
        /// The system table.
        table: &'static str,
        /// What the sink answered.
        why: String,
    },
}

impl CatalogError {
    pub(crate) fn corrupt(table: &'static str, what: impl Into<String>) -> CatalogError {
        CatalogError::Corrupt { table, what: what.into() }
    }
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogError::Corrupt { table, what } => {
                write!(f, "system table sys.{table} is damaged: {what}")
            }
            CatalogError::OtherOrder { table, indexes } => write!(
                f,
                "indexes of table {table} are in an order of text of another version of this \
                 program, which has to open the database: {indexes}"
            ),
            CatalogError::NotWritten { table, why } => {
                write!(f, "a row of system table sys.{table} was not written: {why}")
            }
        }
    }
}

impl std::error::Error for CatalogError {}

impl From<CatalogError> for SqlError {
    fn from(e: CatalogError) -> SqlError {
        SqlError::new(messages::INTERNAL, &[&e])
    }
}
