//! `sp_configure` shows and configures options of the server. RECONFIGURE installs them.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::DoneScope;
use crate::host::configuration::{SERVER_OPTIONS, ServerOption, Setting};
use crate::host::rowset::Rowset;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use types::{SqlType, Value};

pub(super) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    if session.state.transaction.count > 0 && call.number("@configvalue", 1).is_some() {
        let e = SqlError::new(messages::PROCEDURE_IN_TRANSACTION, &[&"sys.sp_configure"]);
        return Err(e.into());
    }
    let configuration = session.host.configuration();
    let advanced = configuration.in_use(Setting::ShowAdvanced) != 0;
    let mut shown: Vec<&ServerOption> =
        SERVER_OPTIONS.iter().filter(|o| advanced || !o.advanced).collect();
    shown.sort_by_key(|o| o.name.to_lowercase());
    let Some(name) = call.text("@configname", 0) else {
        return show(session, &shown, out);
    };
    let option = match find(&shown, &name) {
        Ok(option) => option,
        Err((e, several)) => {
            if !several.is_empty() {
                show(session, &several, out)?;
            }
            return Err(e.into());
        }
    };
    match call.number("@configvalue", 1) {
        None => show(session, &[option], out),
        Some(value) => configure(session, option, value, out),
    }
}

/// The option with this name, or the only one whose name begins with it.
fn find<'o>(
    shown: &[&'o ServerOption],
    name: &str,
) -> Result<&'o ServerOption, (SqlError, Vec<&'o ServerOption>)> {
    let wanted = name.trim().to_lowercase();
    let begins = |o: &&&ServerOption| o.name.to_lowercase().starts_with(&wanted);
    let found: Vec<&ServerOption> = shown.iter().filter(begins).copied().collect();
    let exact = found.iter().find(|o| o.name.to_lowercase() == wanted);
    match (exact, found.as_slice()) {
        (Some(one), _) | (None, [one]) => Ok(one),
        (None, []) => Err((SqlError::new(messages::OPTION_NOT_FOUND, &[&name]), Vec::new())),
        (None, _) => Err((SqlError::new(messages::OPTION_NOT_UNIQUE, &[&name]), found)),
    }
}

fn configure(
    session: &mut Session,
    option: &ServerOption,
    value: i64,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let (from, to) = option.range;
    let within = i32::try_from(value).ok().filter(|v| (from..=to).contains(v));
    let wrong = || SqlError::new(messages::OPTION_VALUE, &[&value, &option.name]);
    let value = within.ok_or_else(wrong)?;
    let configuration = session.host.configuration();
    if !option.changes && value != configuration.configured(option) {
        return Err(Failure::unsupported(&format!("sp_configure '{}'", option.name)));
    }
    let before = configuration.configure(option, value);
    session.host.keep_configuration()?;
    let facts: [&dyn std::fmt::Display; 3] = [&option.name, &before, &value];
    out.message(&SqlError::new(messages::OPTION_CHANGED, &facts));
    Ok(0)
}

fn show(
    session: &mut Session,
    options: &[&ServerOption],
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let configuration = session.host.configuration();
    let row = |o: &&ServerOption| {
        let numbers = [o.range.0, o.range.1, configuration.configured(o), configuration.of(o)];
        let name = std::iter::once(Value::nvarchar(o.name));
        name.chain(numbers.map(Value::Int)).collect()
    };
    let rows = options.iter().map(row).collect();
    let numbers = ["minimum", "maximum", "config_value", "run_value"];
    let mut columns = vec![("name".to_owned(), SqlType::nvarchar(35), false)];
    columns.extend(numbers.map(|n| (n.to_owned(), SqlType::Int, n.ends_with("value"))));
    session.send_rowset(&Rowset { columns, rows }, out, DoneScope::InProcedure)?;
    Ok(0)
}
