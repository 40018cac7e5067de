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
    /// The disk's (823), or no space in tempdb (1105).
    fn rewind(&mut self) -> SqlResult<()>;

    /// The next one, valid until the next call; none after the last.
    ///
    /// # Errors
    /// The disk's (823), or damage (824).
    fn next(&mut self) -> SqlResult<Option<&[u8]>>;

    /// Puts the next one into `out` (cleared first); false after the last.
    ///
    /// # Errors
    /// As [`SpillFile::next`].
    fn read(&mut self, out: &mut Vec<u8>) -> SqlResult<bool> {
        out.clear();
        let next = self.next()?;
        out.extend_from_slice(next.unwrap_or_default());
        Ok(next.is_some())
    }

    /// Bytes written so far.
    fn bytes(&self) -> u64;

    /// While writing: where the next byte string will begin.
    fn position(&self) -> u64;

    /// While reading: goes on with the byte string that begins at a position.
    ///
    /// # Errors
    /// As [`SpillFile::next`].
    fn seek(&mut self, position: u64) -> SqlResult<()>;
}
