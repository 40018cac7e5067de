//! `sp_updatestats [@resample]`: UPDATE STATISTICS for every table of the current database.
//!
//! Statistics whose table has not changed since are skipped. Statistics that have NORECOMPUTE keep
//! it.

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::procedures::call::Call;
use crate::session::Session;
use base::{SqlError, messages};
use catalog::Modifications;
use catalog::view::{AnyStatistics, Object, Table};

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
    let database = session.state.database.id;
    let Some(view) = session.state.view(database) else { return Ok(1) };
    let Some(terms) = session.host.statistics_terms(database) else { return Ok(1) };
    for object in view.objects() {
        let Object::Table(table) = object else { continue };
        if table.is_temp || table.all_statistics().is_empty() {
            continue;
        }
        let name = format!("{}.{}", quoted(&table.schema_name), quoted(&table.name));
        out.message(&SqlError::new(messages::STATISTICS_UPDATING, &[&name]).at_line(1));
        for text in statements(table, &name, resample, &terms.modifications) {
            session.execute_text("", &text, &mut Call::default(), out)?;
        }
    }
    out.message(&SqlError::new(messages::STATISTICS_UPDATED, &[]).at_line(1));
    Ok(0)
}

/// One statement for statistics with NORECOMPUTE, and one for the others.
fn statements(table: &Table, name: &str, resample: bool, counters: &Modifications) -> Vec<String> {
    let mut texts = Vec::new();
    for kept in [false, true] {
        let all = table.all_statistics();
        let changed = |s: &&AnyStatistics<'_>| has_changed(table, s, counters);
        let these = all.iter().filter(|s| s.gathered.no_recompute == kept).filter(changed);
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

/// Whether rows have changed since the statistics were made, or the statistics were never made.
fn has_changed(table: &Table, known: &AnyStatistics<'_>, counters: &Modifications) -> bool {
    let first = known.columns.first().and_then(|&n| table.columns.get(n));
    let now = first.map_or(0, |c| counters.of(table.object_id, c.column_id));
    known.gathered.distribution.as_ref().is_none_or(|d| now > d.modified)
}

/// A name in brackets.
fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}
