//! `sys.table_types`: the table types of `sys.types`, with the objects of their columns.

use super::types;
use crate::cell::int;
use crate::column::{Column, col, join, zero};
use crate::reason::NO_MEMORY_TABLES;
use crate::view::{Rows, System, View};
use ::types::{SqlType, Value};
use catalog::view::SchemaId;

const COLUMNS: [Column; 17] = join(
    types::COLUMNS,
    [
        col("type_table_object_id", SqlType::Int),
        zero("is_memory_optimized", SqlType::Bit, NO_MEMORY_TABLES),
    ],
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "table_types", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let tables = view.types().filter(|t| t.table().is_some());
    let row = |t: &std::sync::Arc<catalog::view::UserType>| {
        let mut cells = types::cells_of(t, view.collation());
        cells.push(int(t.object_id.0));
        cells
    };
    Ok(tables.map(row).collect())
}
