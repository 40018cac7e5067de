//! What can go wrong between a key and its record.

use base::SqlError;
use buffer::BufferError;
use space::SpaceError;

/// Why the tree could not do what was asked.
#[derive(Debug)]
pub enum BtreeError {
    /// A page could not be had, or its bytes make no sense: 823, 824 or 701.
    Page(BufferError),
    /// No page could be allocated: 1105 or 9002.
    Space(SpaceError),
}

/// The result of an operation on a tree.
pub type BtreeResult<T> = Result<T, BtreeError>;

impl From<BufferError> for BtreeError {
    fn from(e: BufferError) -> Self {
        BtreeError::Page(e)
    }
}

impl From<SpaceError> for BtreeError {
    fn from(e: SpaceError) -> Self {
        BtreeError::Space(e)
    }
}

impl BtreeError {
    /// As the user of a database sees it.
    pub fn into_sql(self, object: &str, database: &str) -> SqlError {
        match self {
            BtreeError::Page(e) => e.into(),
            BtreeError::Space(e) => e.into_sql(object, database),
        }
    }
}

impl std::fmt::Display for BtreeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BtreeError::Page(e) => e.fmt(f),
            BtreeError::Space(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for BtreeError {}
