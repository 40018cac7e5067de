//! `sys.dm_exec_query_plan_stats(plan)`: the plans and figures of the last runs of a program's
//! statements. They are kept while LAST_QUERY_PLAN_STATS of the database is ON.

use super::exec_query_plan::COLUMNS;
use super::plan_list::{self, HANDLE};
use crate::cell::{document, int};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_query_plan_stats",
    parameters: Some(&[("@handle", HANDLE)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let Some(entry) = plan_list::by_plan(system, arguments.first()) else { return Ok(Vec::new()) };
    let plans = session::last_plan_document(&entry, system, system.version);
    let module = plan_list::module(&entry);
    Ok(vec![vec![
        Value::SmallInt(entry.key().database.0 as i16),
        module.map_or(Value::Null, |(_, object)| int(object)),
        module.map_or(Value::Null, |_| Value::SmallInt(1)),
        plans.as_deref().map_or(Value::Null, document),
    ]])
}
