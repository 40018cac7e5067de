//! What a database's files say once it has had accelerated recovery: a version on the boot page
//! that earlier builds refuse.

use crate::boot;
use crate::database::Database;
use base::SqlResult;
use wal::LogReservation;

impl Database {
    /// Records that the database has accelerated recovery from now on. When this returns the record
    /// is in the data file, where earlier builds look before they read the log.
    ///
    /// # Errors
    /// A full log, the disk's.
    pub fn note_accelerated(&self) -> SqlResult<()> {
        let mut log = LogReservation::none(&self.log);
        log.grow(512).map_err(|e| e.into_sql(&self.home.name()))?;
        if boot::note_accelerated(&self.pages)? {
            self.checkpoint(false)?;
        }
        Ok(())
    }
}
