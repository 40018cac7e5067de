//! `sys.sp_flush_log`: makes the log of the current database durable, delayed commits included.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;

pub(crate) fn run(session: &mut Session, _: &mut Call, _: &mut Output<'_>) -> Result<i32, Failure> {
    if let Some(home) = session.host.home(session.state.database.id) {
        home.log().flush_all();
    }
    Ok(0)
}
