//! `sp_updatestats [@resample]`: UPDATE STATISTICS for every table of the current database.
//!
//! SQL Server passes by what has not changed; changes are not counted yet, so everything is made
//! anew. What had NORECOMPUTE keeps it.

use super::Call;
use crate::failure::Failure;
use crate::output::Output;
use crate::session::Session;
use base::{SqlError, messages};
use catalog::view::{Object, Table};

pub(crate) fn run(
    session: &mut Session,
    call: &mut Call,
    out: &mut Output<'_>,
) -> Result<i32, Failure> {
    let wanted = call.text("@resample", 0).unwrap_or_default();
    let resample = wanted.eq_ignore_ascii_case("resample");
    if !resample && !matches!(&*wanted.to_ascii_uppercase(), "" | "NO") {
        return Err(SqlError::new(messages::SYNTAX_NEAR, &[&wanted]).into());
    }
    let Some(view) = session.state.view(session.state.database) else { return Ok(1) };
    for object in view.objects() {
        let Object::Table(table) = object else { continue };
        if table.is_temp || table.all_statistics().is_empty() {
            continue;
        }
        let name = format!("{}.{}", quoted(&table.schema_name), quoted(&table.name));
        out.message(&SqlError::new(messages::STATISTICS_UPDATING, &[&name]).at_line(1));
        for text in statements(table, &name, resample) {
            session.execute_text("", &text, &mut Call::default(), out)?;
        }
    }
    out.message(&SqlError::new(messages::STATISTICS_UPDATED, &[]).at_line(1));
    Ok(0)
}

/// One statement for those that say NORECOMPUTE, and one for the others.
fn statements(table: &Table, name: &str, resample: bool) -> Vec<String> {
    let mut texts = Vec::new();
    for kept in [false, true] {
        let all = table.all_statistics();
        let these = all.iter().filter(|s| s.gathered.no_recompute == kept);
        let names: Vec<String> = these.map(|s| quoted(s.name)).collect();
        let options = match (resample, kept) {
            (false, false) => "",
            (true, false) => " with resample",
            (false, true) => " with norecompute",
            (true, true) => " with resample, norecompute",
        };
        if !names.is_empty() {
            texts.push(format!("update statistics {name} ({}){options}", names.join(", ")));
        }
    }
    texts
}

/// A name in brackets.
fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}
