//! Why a version could not be kept or found.

use base::{PageId, SlotNo, SqlError, messages};
use buffer::BufferError;
use space::SpaceError;
use wal::WalError;

/// Why a version could not be kept or found.
#[derive(Debug)]
pub enum VersionError {
    /// The store has no room, and tempdb has none for it.
    Full,
    /// Tempdb's maps are damaged.
    Space(SpaceError),
    /// A page of the store could not be read.
    Buffer(BufferError),
    /// There is no such version at that place.
    Missing(PageId, SlotNo),
}

impl VersionError {
    /// As the user sees it. `tempdb` is that database's name.
    pub fn into_sql(self, tempdb: &str) -> SqlError {
        match self {
            VersionError::Full => SpaceError::Full.into_sql("the version store", tempdb),
            VersionError::Space(e) => e.into_sql("the version store", tempdb),
            VersionError::Buffer(e) => e.into(),
            VersionError::Missing(page, slot) => {
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
