//! `sp_executesql @stmt [, @params, @p1 = …]`
//!
//! It returns the value of @@ERROR at the end of the text: 0 if the last statement succeeded. (From
//! the reference: "0 (success) or nonzero (failure)"; which number is from published articles.)

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use types::{Family, SqlType};

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let text = statement(call, 0)?;
    let parameters = match call.arguments.get(1) {
        None => String::new(),
        Some(p) if !is_unicode(p.sql_type) => return Err(not_unicode("@params", 3)),
        Some(p) => p.value.as_text().unwrap_or_default(),
    };
    let mut rest = call.rest(2);
    let result = session.execute_text(&parameters, &text, &mut rest, out);
    call.arguments.append(&mut rest.arguments);
    call.tells_error = true;
    result.map(|_| session.state.last.error)
}

/// The text of a statement, which must be nvarchar, nchar or ntext (214). The states are from a
/// public project's recorded probes.
pub(super) fn statement(call: &Call, position: usize) -> Result<String, Failure> {
    let argument = call.arguments.get(position);
    let text = argument.filter(|a| is_unicode(a.sql_type));
    let text = text.map(|a| a.value.long_text()).transpose()?.flatten();
    text.ok_or_else(|| not_unicode("@statement", 2))
}

fn is_unicode(sql_type: SqlType) -> bool {
    sql_type.family() == Family::NChar
}

fn not_unicode(parameter: &str, state: u8) -> Failure {
    let facts: [&dyn std::fmt::Display; 2] = [&parameter, &"ntext/nchar/nvarchar"];
    SqlError::new(messages::PARAMETER_TYPE_INVALID, &facts).with_state(state).into()
}
