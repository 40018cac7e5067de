//! Why a version could not be kept or found.

use base::{SqlError, messages};
use buffer::BufferError;
use page::VersionPtr;
use space::SpaceError;
use wal::WalError;

/// Why a version could not be kept or found.
#[derive(Debug)]
pub enum VersionError {
    /// The store has no room, and its database has none for it.
    Full,
    /// The maps of the store's database are damaged.
    Space(SpaceError),
    /// A page of the store could not be read.
    Buffer(BufferError),
    /// There is no such version at that place.
    Missing(VersionPtr),
}

impl VersionError {
    /// As the user sees it. `database` is the name of the one that has the store.
    pub fn into_sql(self, database: &str) -> SqlError {
        match self {
            VersionError::Full => SpaceError::Full.into_sql("the version store", database),
            VersionError::Space(e) => e.into_sql("the version store", database),
            VersionError::Buffer(e) => e.into(),
            VersionError::Missing(VersionPtr { page, slot, .. }) => {
                let what = format!("no version at ({page}:{})", slot.0);
                SqlError::new(messages::INTERNAL, &[&what])
            }
        }
    }
}

impl From<SpaceError> for VersionError {
    fn from(e: SpaceError) -> Self {
        match e {
            SpaceError::Full | SpaceError::Log(WalError::Full { .. }) => VersionError::Full,
            e => VersionError::Space(e),
        }
    }
}

impl From<BufferError> for VersionError {
    fn from(e: BufferError) -> Self {
        VersionError::Buffer(e)
    }
}
