//! `sys.sp_persistent_version_cleanup [@dbname] [, @scanallpages] [, @clean_option]`: sweeps the
//! versions of a database, of the current one without a name, and returns when that is done.
//!
//! It runs where accelerated recovery is off, too. SQL Server's does, and its page on turning the
//! option off says to call it then. `@clean_option`: 0 sweeps everything, 1 and 2 the store alone,
//! 3 rows alone; 4 is for SQL Server's own use. SQL Server's 1 drops pages of the store unread.
//! Here each page is read, so 1 is the same as 2.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use database::SweepRequest;

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    _out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let database = match call.text("@dbname", 0) {
        Some(name) => {
            let found = session.host.database_id(&name);
            found.ok_or_else(|| SqlError::new(messages::DATABASE_NOT_THERE, &[&name]))?
        }
        None => session.state.database.id,
    };
    let every_page = call.whole_number("@scanallpages", 1)?.unwrap_or(0) != 0;
    let all = SweepRequest { every_page, ..SweepRequest::ALL };
    let asked = match call.whole_number("@clean_option", 2)?.unwrap_or(0) {
        0 => all,
        1 | 2 => SweepRequest { rows: false, in_row: false, ..all },
        3 => SweepRequest { store: false, ..all },
        _ => {
            let procedure = "sys.sp_persistent_version_cleanup";
            return Err(SqlError::new(messages::SYSTEM_PROCEDURE_ARGUMENT, &[&procedure]).into());
        }
    };
    session.host.sweep_versions(&session.work, database, asked)?;
    Ok(0)
}
