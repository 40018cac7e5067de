//! DBCC SHRINKFILE of the log: what is free at its end goes, and the log's own end moves out of
//! the way.
//!
//! A log whose end lies in its last virtual log file is not cut there. So it goes on in one that
//! stays, and checkpoints free what it left: the first puts a block into the one in use (a log
//! goes on from its last block), the second no longer needs it. What a transaction, a reader of
//! the log, or a missing backup still needs stays, and so does the end of the file.

use crate::database::Database;
use crate::files::LOG_FILE;
use base::{Lsn, SqlError, SqlResult, messages};
use wal::{ShrinkStop, VlfState, VlfStatus};

/// Lengths of a log's file in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLengths {
    /// As it was made, as far as that can be told: up to the end of the virtual log files that
    /// were made with it.
    pub first: u64,
    /// Up to the end of the last virtual log file that is needed.
    pub needed: u64,
    /// What is in use.
    pub used: u64,
}

impl Database {
    /// Makes the log as short as that, as far as it is not needed, `moving` its end if that is in
    /// the way. Says what was in the way at last.
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
