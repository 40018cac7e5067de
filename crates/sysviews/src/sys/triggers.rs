//! `sys.triggers`: AFTER and INSTEAD OF triggers.

use super::object_list;
use crate::cell::{bit, int, text};
use crate::column::{Column, col, number, word, zero};
use crate::reason::OF_THIS_VIEW;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const DESC: SqlType = SqlType::nvarchar(60);
const OF_OBJECTS: &str = "Triggers of databases and of the server are refused.";

const COLUMNS: [Column; 13] = [
    col("name", SqlType::SYSNAME),
    col("object_id", SqlType::Int),
    number("parent_class", SqlType::TinyInt, 1, OF_OBJECTS),
    word("parent_class_desc", DESC, "OBJECT_OR_COLUMN", OF_OBJECTS),
    col("parent_id", SqlType::Int),
    word("type", SqlType::Char(2), "TR", OF_THIS_VIEW),
    word("type_desc", DESC, "SQL_TRIGGER", OF_THIS_VIEW),
    col("create_date", SqlType::DateTime),
    col("modify_date", SqlType::DateTime),
    zero("is_ms_shipped", BIT, "The system has none."),
    col("is_disabled", BIT),
    col("is_not_for_replication", BIT),
    col("is_instead_of_trigger", BIT),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "triggers", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let modules = tables::modules(system)?;
    let mut rows = Vec::new();
    for listed in object_list::own_of(system, "TR")? {
        let module = modules.iter().find(|m| m.object_id == listed.id);
        let Some(t) = module.and_then(|m| m.trigger.as_ref()) else { continue };
        rows.push(vec![
            text(&listed.name),
            int(listed.id.0),
            int(t.parent.0),
            listed.created.clone(),
            listed.modified.clone(),
            bit(t.disabled),
            bit(t.not_for_replication),
            bit(t.instead_of),
        ]);
    }
    Ok(rows)
}
