//! `sys.dm_exec_query_plan(plan)`: the plans of a program as a document.

use super::plan_list::{self, HANDLE};
use crate::cell::{document, int};
use crate::column::{Column, maybe, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use plancache::Entry;
use session::Program;
use types::{SqlType, Value};

pub(crate) const COLUMNS: [Column; 5] = [
    maybe("dbid", SqlType::SmallInt),
    maybe("objectid", SqlType::Int),
    maybe("number", SqlType::SmallInt),
    zero("encrypted", SqlType::Bit, "WITH ENCRYPTION does not exist."),
    maybe("query_plan", SqlType::Xml),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_query_plan",
    parameters: Some(&[("@handle", HANDLE)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let found = plan_list::by_plan(system, arguments.first());
    Ok(found.map(|entry| row(system, &entry, None, document)).into_iter().collect())
}

/// The plans of a program, or that of the statement with these offsets, in one of the forms.
pub(crate) fn row(
    system: &System<'_>,
    entry: &Entry<Program>,
    statement: Option<(i32, i32)>,
    form: fn(&str) -> Value,
) -> Vec<Value> {
    let document = session::plan_document(entry, system, system.version, statement);
    let module = plan_list::module(entry);
    vec![
        Value::SmallInt(entry.key().database.0 as i16),
        module.map_or(Value::Null, |(_, object)| int(object)),
        module.map_or(Value::Null, |_| Value::SmallInt(1)),
        document.as_deref().map_or(Value::Null, form),
    ]
}
