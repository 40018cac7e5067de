//! `sys.dm_exec_sql_text(handle)`: the text of a handle. A prepared text has its parameters in
//! front.

use super::plan_list::{self, HANDLE, Text};
use crate::cell::{int, text};
use crate::column::{Column, maybe, zero};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 5] = [
    maybe("dbid", SqlType::SmallInt),
    maybe("objectid", SqlType::Int),
    maybe("number", SqlType::SmallInt),
    zero("encrypted", SqlType::Bit, "WITH ENCRYPTION does not exist."),
    maybe("text", SqlType::NVARCHAR_MAX),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_sql_text",
    parameters: Some(&[("@handle", HANDLE)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let Some(found) = plan_list::by_text(system, arguments.first()) else { return Ok(Vec::new()) };
    let (module, own) = match &found {
        Text::Program(entry) => (plan_list::module(entry), session::cached_text(entry)),
        Text::Batch(batch) => (None, batch.to_string()),
    };
    let of_module = |value: fn((base::DatabaseId, i32)) -> Value| module.map_or(Value::Null, value);
    Ok(vec![vec![
        of_module(|(database, _)| Value::SmallInt(database.0 as i16)),
        of_module(|(_, object)| int(object)),
        of_module(|_| Value::SmallInt(1)),
        text(&own),
    ]])
}
