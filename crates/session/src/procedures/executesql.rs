//! `sp_executesql @stmt [, @params, @p1 = …]`

use super::Call;
use crate::failure::Failure;
use crate::output::Output;
use crate::session::Session;
use base::{SqlError, messages};

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let text = statement(call, 0)?;
    let parameters = match call.arguments.get(1) {
        None => String::new(),
        Some(p) => p.value.as_text().unwrap_or_default(),
    };
    let mut rest = call.rest(2);
    let result = session.execute_text(&parameters, &text, &mut rest, out);
    call.arguments.append(&mut rest.arguments);
    result
}

/// The text of a statement, which must be nvarchar or varchar: 214.
pub(super) fn statement(call: &Call, position: usize) -> Result<String, Failure> {
    let argument = call.arguments.get(position);
    let text = argument.filter(|a| a.sql_type.is_character()).and_then(|a| a.value.as_text());
    let facts: [&dyn std::fmt::Display; 2] = [&"@statement", &"ntext/nchar/nvarchar"];
    text.ok_or_else(|| SqlError::new(messages::PARAMETER_TYPE_INVALID, &facts).into())
}
