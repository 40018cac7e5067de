//! `sp_set_session_context @key, @value [, @read_only]`

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::procedures::call::CallArgument;
use crate::session::Session;
use base::{SqlError, messages};

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    _: &mut Output<'_>,
) -> Result<i32, Failure> {
    let Some(key) = call.text("@key", 0) else {
        let facts: [&dyn std::fmt::Display; 2] = [&"@key", &"sysname"];
        return Err(SqlError::new(messages::PARAMETER_TYPE_INVALID, &facts).into());
    };
    let read_only = call.number("@read_only", 2) == Some(1);
    let value = call.get("@value", 1).map_or(Ok(types::Value::Null), CallArgument::variant)?;
    if session.state.context.values.get(&key).is_some_and(|c| c.1) {
        return Err(SqlError::new(messages::SESSION_CONTEXT_READ_ONLY, &[&key]).into());
    }
    session.state.context.values.insert(key, (value, read_only));
    Ok(0)
}
