//! Spilling: where operators put what exceeds their memory grant.

use base::SqlResult;

/// Makes spill files in tempdb.
pub trait Spill: Send + Sync {
    /// An empty file, gone when dropped.
    ///
    /// # Errors
    /// No space in tempdb (1105).
    fn create(&self) -> SqlResult<Box<dyn SpillFile>>;
}

/// Byte strings in the order they were written.
pub trait SpillFile: Send {
    /// Adds a byte string of any length.
    ///
    /// # Errors
    /// No space in tempdb (1105).
    fn append(&mut self, bytes: &[u8]) -> SqlResult<()>;

    /// Ends writing; reading begins at the first.
    ///
    /// # Errors
    /// The disk's.
    fn rewind(&mut self) -> SqlResult<()>;

    /// Puts the next one into `out` (cleared first); false after the last.
    ///
    /// # Errors
    /// The disk's, or damage (824).
    fn read(&mut self, out: &mut Vec<u8>) -> SqlResult<bool>;

    /// Bytes written so far.
    fn bytes(&self) -> u64;
}
