//! `sys.foreign_keys`.

use super::object_list;
use crate::cell::{bit, int, text};
use crate::column::{Column, col, join, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const INT: SqlType = SqlType::Int;
const DESC: SqlType = SqlType::nvarchar(60);

const COLUMNS: [Column; 22] = join(
    object_list::of_constraint("F", "FOREIGN_KEY_CONSTRAINT"),
    [
        maybe("referenced_object_id", INT),
        maybe("key_index_id", INT),
        col("is_disabled", BIT),
        col("is_not_for_replication", BIT),
        col("is_not_trusted", BIT),
        maybe("delete_referential_action", SqlType::TinyInt),
        maybe("delete_referential_action_desc", DESC),
        maybe("update_referential_action", SqlType::TinyInt),
        maybe("update_referential_action_desc", DESC),
        col("is_system_named", BIT),
    ],
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "foreign_keys", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let listed = object_list::own(system)?;
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        for key in &table.foreign_keys {
            let Some(found) = listed.iter().find(|l| l.id == key.object_id) else { continue };
            let mut cells = found.constraint_cells();
            cells.extend([
                int(key.referenced.0),
                int(key.key_index.0),
                bit(key.disabled),
                bit(key.not_for_replication),
                bit(key.not_trusted),
                Value::TinyInt(key.on_delete as u8),
                text(key.on_delete.name()),
                Value::TinyInt(key.on_update as u8),
                text(key.on_update.name()),
                bit(key.system_named),
            ]);
            rows.push(cells);
        }
    }
    Ok(rows)
}
