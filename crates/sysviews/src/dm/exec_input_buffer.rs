//! `sys.dm_exec_input_buffer(session, request)`: the most recent request of a session's client.

use crate::cell::{int_argument, text};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use base::SessionId;
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 3] = [
    col("event_type", SqlType::nvarchar(256)),
    col("parameters", SqlType::SmallInt),
    maybe("event_info", SqlType::NVARCHAR_MAX),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_exec_input_buffer",
    parameters: Some(&[("@session_id", SqlType::SmallInt), ("@request_id", SqlType::Int)]),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let wanted = int_argument(arguments.first()).and_then(|n| i16::try_from(n).ok());
    // A session has one request at a time, number 0.
    if int_argument(arguments.get(1)).is_some_and(|n| n != 0) {
        return Ok(Vec::new());
    }
    let sessions = system.sessions.list();
    let found = sessions.iter().find(|s| Some(s.session_id) == wanted.map(SessionId));
    let row = |s: &session::SessionRow| {
        let input = &s.input;
        vec![
            text(if input.is_call { "RPC Event" } else { "Language Event" }),
            Value::SmallInt(i16::try_from(input.parameters).unwrap_or(i16::MAX)),
            input.text.as_deref().map_or(Value::Null, text),
        ]
    };
    Ok(found.map(row).into_iter().collect())
}
