//! `sys.dm_exec_query_statistics_xml(session)`: the plan of a running statement with its figures so
//! far.

use super::plan_list::{plan_handle, text_handle};
use crate::cell::{document, int_argument};
use crate::column::{Column, col, maybe, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const HANDLE: SqlType = SqlType::varbinary(64);

const COLUMNS: [Column; 5] = [
    col("session_id", SqlType::SmallInt),
    zero("request_id", SqlType::Int, "A session runs one request at a time."),
    maybe("sql_handle", HANDLE),
    maybe("plan_handle", HANDLE),
    maybe("query_plan", SqlType::Xml),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_query_statistics_xml",
    parameters: Some(&[("@session_id", SqlType::SmallInt)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let wanted = int_argument(arguments.first());
    let sessions = system.sessions.list();
    let session = sessions.iter().find(|s| wanted == Some(i64::from(s.session_id.0)));
    // The outermost statement: functions and triggers run within it.
    let Some(running) = session.and_then(|s| s.statements.first()) else { return Ok(Vec::new()) };
    let Some(plan) = running.document(system, system.version) else { return Ok(Vec::new()) };
    Ok(vec![vec![
        session.map_or(Value::Null, |s| Value::SmallInt(s.session_id.0)),
        text_handle(running.program()),
        plan_handle(running.program()),
        document(&plan),
    ]])
}
