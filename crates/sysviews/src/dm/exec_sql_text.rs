//! `sys.dm_exec_sql_text(handle)`: the text that a session runs or ran last.

use super::session_list;
use crate::cell::text;
use crate::column::{Column, maybe, null, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BATCH: &str = "Texts are those of batches.";

const COLUMNS: [Column; 5] = [
    null("dbid", SqlType::SmallInt, BATCH),
    null("objectid", SqlType::Int, BATCH),
    null("number", SqlType::SmallInt, BATCH),
    zero("encrypted", SqlType::Bit, "WITH ENCRYPTION does not exist."),
    maybe("text", SqlType::NVARCHAR_MAX),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_sql_text",
    parameters: Some(&[("@handle", SqlType::varbinary(64))]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let Some(wanted) = arguments.first().filter(|v| !v.is_null()) else { return Ok(Vec::new()) };
    let sessions = system.sessions.list();
    let found = sessions.iter().find(|s| session_list::sql_handle(s) == *wanted);
    let text = found.and_then(|s| s.text.as_deref()).map(text);
    Ok(text.map(|t| vec![t]).into_iter().collect())
}
