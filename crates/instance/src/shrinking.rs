//! DBCC SHRINKFILE, as a session asks for it.

use crate::asker::Asker;
use crate::unsupported::unsupported;
use base::{DatabaseId, SqlError, SqlResult, messages};
use database::{DATA_FILE, Database, LOG_FILE};
use ddl::{FileReference, LogShrinkStop, ShrinkOutcome, ShrinkRequest};
use std::fmt::Display;
use wal::{ShrinkStop, VLFS_MIN};

impl Asker<'_> {
    /// One change of files at a time, as with MODIFY FILE.
    pub(crate) fn shrink(
        &self,
        database: DatabaseId,
        file: &FileReference,
        asked: ShrinkRequest,
    ) -> SqlResult<ShrinkOutcome> {
        let database = self.instance.found(database)?;
        self.with_database(&database, || {
            let _one = self.instance.filing.lock();
            shrink(&database, file, asked)
        })
    }
}

fn shrink(
    database: &Database,
    file: &FileReference,
    asked: ShrinkRequest,
) -> SqlResult<ShrinkOutcome> {
    let (found, named): (_, &dyn Display) = match file {
        FileReference::Id(id) => (Some(*id), &id.0),
        FileReference::Name(name) => (database.file_by_name(name), name),
    };
    match found {
        Some(LOG_FILE) => shrink_log(database, asked),
        Some(DATA_FILE) => Err(unsupported("DBCC SHRINKFILE of a data file")),
        _ => {
            let which: [&dyn Display; 2] = [named, &database.home().name()];
            Err(SqlError::new(messages::FILE_NOT_LOCATED, &which))
        }
    }
}

fn shrink_log(database: &Database, asked: ShrinkRequest) -> SqlResult<ShrinkOutcome> {
    if database.options().read_only {
        return Err(SqlError::new(messages::SHRINK_READ_ONLY, &[&database.home().name()]));
    }
    let first = database.log_lengths().first;
    let before = database.file_bytes(LOG_FILE);
    let stop = database.shrink_log(asked.bytes.unwrap_or(first), asked.moving)?;
    let lengths = database.log_lengths();
    Ok(ShrinkOutcome {
        file: LOG_FILE,
        name: database.file_setting(LOG_FILE).name,
        before,
        bytes: database.file_bytes(LOG_FILE),
        first_bytes: first,
        used_bytes: lengths.used,
        needed_bytes: lengths.needed,
        stop: match stop {
            ShrinkStop::Done => LogShrinkStop::Whole,
            ShrinkStop::InUse => LogShrinkStop::InUse,
            ShrinkStop::FewestVlfs => LogShrinkStop::Fewest(VLFS_MIN),
            ShrinkStop::Promised => LogShrinkStop::Promised,
        },
    })
}
