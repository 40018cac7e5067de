//! Prepared statements by handle: sp_prepare, sp_execute, sp_prepexec, sp_unprepare; and prepared
//! calls, sp_prepexecrpc, which ODBC uses for `{call p(?)}`. A prepared call runs the procedure
//! that has the name at that time.

use super::executesql::statement;
use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::procedures::call::Call;
use crate::procedures::prepared::PreparedStatement;
use crate::program::programs::types_hold;
use crate::session::Session;
use base::{SqlError, messages};
use types::{SqlType, Value};

/// `sp_prepare @handle OUTPUT, @params, @stmt [, @options]`
pub(crate) fn prepare(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    keep(session, call, out)?;
    Ok(0)
}

/// `sp_prepexec @handle OUTPUT, @params, @stmt [, values …]`
pub(crate) fn prepare_and_execute(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let handle = keep(session, call, out)?;
    let mut rest = call.rest(3);
    let result = run(session, handle, &mut rest, out);
    call.arguments.append(&mut rest.arguments);
    result
}

/// `sp_prepexecrpc @handle OUTPUT, @procedure [, values …]`: the status is the procedure's.
pub(crate) fn prepare_call(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = statement(call, 1)?;
    let handle = give_handle(session, call, PreparedStatement::Call(name));
    let mut rest = call.rest(2);
    let result = run(session, handle, &mut rest, out);
    call.arguments.append(&mut rest.arguments);
    result
}

/// `sp_execute @handle [, values …]`
pub(crate) fn execute(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let handle = handle_of(call)?;
    let mut rest = call.rest(1);
    let result = run(session, handle, &mut rest, out);
    call.arguments.append(&mut rest.arguments);
    result
}

/// `sp_unprepare @handle`
pub(crate) fn unprepare(
    session: &mut Session,
    call: &mut Call,
    _: &mut Output<'_>,
) -> Result<i32, Failure> {
    let handle = handle_of(call)?;
    match session.handles.prepared.remove(&handle) {
        Some(_) => Ok(0),
        None => Err(SqlError::new(messages::PREPARED_HANDLE_UNKNOWN, &[&handle]).into()),
    }
}

fn handle_of(call: &Call) -> Result<i32, Failure> {
    let handle = call.number("@handle", 0).and_then(|n| i32::try_from(n).ok());
    let facts: [&dyn std::fmt::Display; 2] = [&"@handle", &"int"];
    handle.ok_or_else(|| SqlError::new(messages::PARAMETER_TYPE_INVALID, &facts).into())
}

/// Compiles the statement and puts its handle into the first argument.
fn keep(session: &mut Session, call: &mut Call, out: &mut Output<'_>) -> Result<i32, Failure> {
    os::values::keep()?;
    let text = statement(call, 2)?;
    let parameters = call.arguments[1].value.as_text().unwrap_or_default();
    let entry = match session.prepared_program(&parameters, &text) {
        Ok(entry) => entry,
        Err(errors) => return Err(session.tell_all(errors, DoneScope::InProcedure, out)),
    };
    Ok(give_handle(session, call, PreparedStatement::Text { parameters, text, entry }))
}

/// Puts a new handle into the first argument.
fn give_handle(session: &mut Session, call: &mut Call, prepared: PreparedStatement) -> i32 {
    // A handle that the client passes is that of a statement which the client no longer needs.
    if let Ok(old) = handle_of(call) {
        session.handles.prepared.remove(&old);
    }
    let handle = session.handles.next();
    session.handles.prepared.insert(handle, prepared);
    let argument = &mut call.arguments[0];
    argument.value = Value::Int(handle);
    argument.sql_type = SqlType::Int;
    handle
}

fn run(
    session: &mut Session,
    handle: i32,
    values: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let Some(prepared) = session.handles.prepared.get(&handle) else {
        return Err(SqlError::new(messages::PREPARED_HANDLE_UNKNOWN, &[&handle]).into());
    };
    let (parameters, text, entry) = match prepared.clone() {
        PreparedStatement::Text { parameters, text, entry } => (parameters, text, entry),
        PreparedStatement::Call(name) => return session.call_named_text(&name, values, out),
    };
    let current = session.state.database.id;
    let (host, id) = (&*session.state.host, session.state.id());
    let program = &entry.value;
    match program.database == current && !entry.is_gone() && types_hold(host, id, program) {
        true => session.run_prepared(&entry, values, out),
        false => session.execute_text(&parameters, &text, values, out),
    }
}
