//! `sp_clean_db_free_space @dbname [, @cleaning_delay]` and `sp_clean_db_file_free_space @dbname,
//! @fileid [, @cleaning_delay]`: remove at once the ghosts that no transaction needs any more.
//!
//! SQL Server also overwrites the remains of removed rows in the free space of pages. Here they
//! stay, and the caller is told so (50005). In SQL Server members of db_owner may call these
//! procedures; here every login is an administrator.
//!
//! 15010 and 8985 are guesses: no recorded answer of SQL Server to an unknown database or file was
//! found.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{DatabaseId, FileId, SqlError, SqlResult, messages};
use std::fmt::Display;

pub(crate) fn database(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let asked = CleanRequest { call, procedure: "sp_clean_db_free_space" };
    let database = asked.database(session)?;
    let rest_ns = asked.rest_ns(1)?;
    session.host.clean_ghosts(&session.work, database, None, rest_ns)?;
    out.message(&SqlError::new(messages::FREE_SPACE_NOT_OVERWRITTEN, &[]));
    Ok(0)
}

pub(crate) fn file(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let asked = CleanRequest { call, procedure: "sp_clean_db_file_free_space" };
    let database = asked.database(session)?;
    let number = call.whole_number("@fileid", 1)?.ok_or_else(|| asked.missing("@fileid"))?;
    let rest_ns = asked.rest_ns(2)?;
    let unknown = || {
        let names = session.host.databases();
        let name = names.into_iter().find(|(id, _)| *id == database).map(|(_, name)| name);
        let which: [&dyn Display; 2] = [&number, &name.unwrap_or_default()];
        SqlError::new(messages::FILE_NOT_LOCATED, &which)
    };
    let file = u16::try_from(number).map(FileId).map_err(|_| unknown())?;
    session.host.clean_ghosts(&session.work, database, Some(file), rest_ns)?;
    out.message(&SqlError::new(messages::FREE_SPACE_NOT_OVERWRITTEN, &[]));
    Ok(0)
}

/// The arguments of a call.
struct CleanRequest<'c> {
    call: &'c Call,
    procedure: &'static str,
}

impl CleanRequest<'_> {
    fn missing(&self, parameter: &str) -> SqlError {
        SqlError::new(messages::EXECUTE_ARGUMENT_COUNT, &[&self.procedure, &parameter])
    }

    fn database(&self, session: &Session) -> SqlResult<DatabaseId> {
        if self.call.get("@dbname", 0).is_none() {
            return Err(self.missing("@dbname"));
        }
        let name = self.call.text("@dbname", 0).unwrap_or_else(|| "(null)".to_owned());
        let found = session.host.database_id(&name);
        found.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_THERE, &[&name]))
    }

    /// The delay in nanoseconds; the argument counts whole seconds.
    fn rest_ns(&self, position: usize) -> SqlResult<u64> {
        let seconds = self.call.whole_number("@cleaning_delay", position)?.unwrap_or(0);
        Ok(u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000_000))
    }
}
