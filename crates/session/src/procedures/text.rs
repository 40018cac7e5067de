//! System procedures that are written in T-SQL: queries of the catalog views, run like the text of
//! sp_executesql.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};

/// A procedure that is a T-SQL text.
pub(crate) struct TextProcedure {
    pub(crate) parameters: &'static str,
    pub(crate) text: &'static str,
}

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
    procedure: &TextProcedure,
) -> Result<i32, Failure> {
    session.execute_text(procedure.parameters, procedure.text, call, out)
}

/// The same for a procedure about an object, which must exist (15009).
pub(crate) fn of_object(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
    procedure: &TextProcedure,
) -> Result<i32, Failure> {
    let named = if procedure.parameters.starts_with("@tabname") { "@tabname" } else { "@objname" };
    if let Some(name) = call.text(named, 0) {
        let parsed = tsql::parse_object_name(&name)?;
        if session.find_object(&parsed, session.state.database.id).is_none() {
            let database = session.state.database.name.clone();
            return Err(SqlError::new(messages::HELP_NOT_FOUND, &[&name, &database]).into());
        }
    }
    run(session, call, out, procedure)
}
