//! DBCC SHRINKFILE of the log: removes the free space at its end, and moves the log's own end out
//! of the way.
//!
//! A log whose end is in its last virtual log file cannot be cut there. So the log continues in
//! another virtual log file, and checkpoints free the one that it left: the first puts a block into
//! the new one (a log continues from its last block), after the second the old one is not needed.
//! Log that a transaction, a reader of the log or a missing backup still needs stays, and with it
//! the end of the file.

use crate::database::Database;
use crate::files::LOG_FILE;
use base::{Lsn, SqlError, SqlResult, messages};
use wal::{ShrinkStop, VlfState, VlfStatus};

/// Lengths of a log's file in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLengths {
    /// Its initial length, as far as it is known: up to the end of the virtual log files that were
    /// made with it.
    pub first: u64,
    /// Up to the end of the last virtual log file that is needed.
    pub needed: u64,
    /// The bytes in use.
    pub used: u64,
}

impl Database {
    /// Makes the log as short as `to`, as far as it is not needed. `moving`: moves the log's end if
    /// that is in the way. Returns what stopped the shrinking.
    ///
    /// # Errors
    /// The disk's; the log is no longer than before.
    pub fn shrink_log(&self, to: u64, moving: bool) -> SqlResult<ShrinkStop> {
        let failed = |e: std::io::Error| {
            let told = format!("{}: {e}", self.file_setting(LOG_FILE).name);
            SqlError::new(messages::FILE_NOT_ADJUSTED, &[&told])
        };
        let stop = self.log.shrink(to).map_err(failed)?;
        if !moving || stop != ShrinkStop::InUse {
            return Ok(stop);
        }
        self.checkpoint(false)?;
        if self.log.leave_vlf(to) {
            self.checkpoint(false)?;
        }
        self.log.shrink(to).map_err(failed)
    }

    /// Lengths of the log's file.
    pub fn log_lengths(&self) -> LogLengths {
        let vlfs = self.log.vlfs();
        let end = |v: &VlfState| v.offset + v.bytes;
        let needed = |v: &&VlfState| v.status == VlfStatus::Active;
        LogLengths {
            first: vlfs.iter().rfind(|v| v.create_lsn == Lsn::ZERO).map_or(0, end),
            needed: vlfs.iter().rfind(needed).map_or(0, end),
            used: self.log.usage().used_bytes,
        }
    }
}
