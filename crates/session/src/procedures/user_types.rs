//! `sp_addtype @typename, @phystype [, @nulltype [, @owner]]` and `sp_droptype @typename`: the old
//! form of CREATE TYPE and DROP TYPE. Rules and bound defaults, which were used with such types,
//! are refused by name.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use crate::session::settings::Switches;
use base::{SqlError, messages};

pub(crate) fn add(s: &mut Session, call: &mut Call, out: &mut Output<'_>) -> Result<i32, Failure> {
    let name = required(call, "@typename", 0, "sp_addtype")?;
    let base = required(call, "@phystype", 1, "sp_addtype")?;
    let settings = &s.state.settings;
    let usual = match () {
        () if settings.is_on(Switches::ANSI_NULL_DFLT_ON) => "NULL",
        () if settings.is_on(Switches::ANSI_NULL_DFLT_OFF) => "NOT NULL",
        () => "",
    };
    let nullable = match call.text("@nulltype", 2) {
        None => usual,
        Some(said) => match &*said.trim().to_ascii_uppercase() {
            "NULL" => "NULL",
            "NOT NULL" | "NOTNULL" | "NONULL" => "NOT NULL",
            _ => return Err(SqlError::new(messages::SYNTAX_NEAR, &[&said]).into()),
        },
    };
    // The base must be a type and nothing more.
    tsql::parse_type(&base)?;
    let owner = call.text("@owner", 3).map_or(String::new(), |o| format!("{}.", bracketed(&o)));
    let text = format!("CREATE TYPE {owner}{} FROM {base} {nullable}", bracketed(&name));
    s.execute_text("", &text, &mut Call::default(), out)
}

pub(crate) fn remove(
    s: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let name = required(call, "@typename", 0, "sp_droptype")?;
    let text = format!("DROP TYPE {}", bracketed(&name));
    s.execute_text("", &text, &mut Call::default(), out)
}

/// Procedures about rules and defaults as objects, which are not built.
pub(crate) fn unbuilt(procedure: &str) -> Result<i32, Failure> {
    Err(SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&procedure]).into())
}

fn required(call: &Call, name: &str, at: usize, procedure: &str) -> Result<String, Failure> {
    call.text(name, at).filter(|text| !text.is_empty()).ok_or_else(|| {
        let args: [&dyn std::fmt::Display; 2] = [&procedure, &name];
        SqlError::new(messages::EXECUTE_ARGUMENT_COUNT, &args).into()
    })
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}
