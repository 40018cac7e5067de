//! `sys.dm_exec_input_buffer(session, request)`: what a session asked for last.

use crate::cell::{int_argument, text};
use crate::column::{Column, maybe, word, zero};
use crate::view::{Rows, System, View};
use base::SessionId;
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BATCH: &str = "Texts are those of batches.";

const COLUMNS: [Column; 3] = [
    word("event_type", SqlType::nvarchar(256), "Language Event", BATCH),
    zero("parameters", SqlType::SmallInt, BATCH),
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
    let sessions = system.sessions.list();
    let found = sessions.iter().find(|s| Some(s.session_id) == wanted.map(SessionId));
    let row = |s: &session::SessionRow| vec![s.text.as_deref().map_or(Value::Null, text)];
    Ok(found.map(row).into_iter().collect())
}
