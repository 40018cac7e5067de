//! `sys.trigger_events`: the statements that fire each trigger.

use crate::cell::{bit, int, text};
use crate::column::{Column, col, null, number};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{Events, SchemaId};
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const DESC: SqlType = SqlType::nvarchar(60);
const OF_OBJECTS: &str = "Triggers of databases and of the server are refused.";

const COLUMNS: [Column; 8] = [
    col("object_id", INT),
    col("type", INT),
    col("type_desc", DESC),
    col("is_first", BIT),
    col("is_last", BIT),
    null("event_group_type", INT, OF_OBJECTS),
    null("event_group_type_desc", DESC, OF_OBJECTS),
    number("is_trigger_event", BIT, 1, OF_OBJECTS),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "trigger_events",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

const EVENTS: [(Events, i32, &str); 3] =
    [(Events::INSERT, 1, "INSERT"), (Events::UPDATE, 2, "UPDATE"), (Events::DELETE, 3, "DELETE")];

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for module in tables::modules(system)? {
        let Some(t) = &module.trigger else { continue };
        for (event, number, name) in EVENTS.into_iter().filter(|e| t.events.has(e.0)) {
            let (first, last) = (bit(t.first.has(event)), bit(t.last.has(event)));
            rows.push(vec![int(module.object_id.0), int(number), text(name), first, last]);
        }
    }
    Ok(rows)
}
