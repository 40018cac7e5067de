//! `sys.default_constraints`.

use super::object_list;
use crate::cell::{bit, int, text};
use crate::column::{Column, col, join, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 15] = join(
    object_list::of_constraint("D", "DEFAULT_CONSTRAINT"),
    [
        col("parent_column_id", SqlType::Int),
        maybe("definition", SqlType::NVARCHAR_MAX),
        col("is_system_named", SqlType::Bit),
    ],
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "default_constraints",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let listed = object_list::own(system)?;
    let mut rows = Vec::new();
    for table in tables::own_and_types(system)? {
        for column in &table.columns {
            let Some(default) = &column.default else { continue };
            let Some(found) = listed.iter().find(|l| l.id == default.object_id) else { continue };
            let mut cells = found.constraint_cells();
            let named = bit(default.system_named);
            cells.extend([int(column.column_id), text(&default.text), named]);
            rows.push(cells);
        }
    }
    Ok(rows)
}
