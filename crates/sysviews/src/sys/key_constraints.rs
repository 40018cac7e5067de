//! `sys.key_constraints`: PRIMARY KEY and UNIQUE constraints.

use super::object_list;
use crate::cell::{bit, int};
use crate::column::{Column, col, join, number, zero};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const FRONT: [Column; 12] = {
    let mut columns = object_list::ANY;
    columns[9] = zero("is_ms_shipped", SqlType::Bit, "System tables have no constraints.");
    columns
};
const COLUMNS: [Column; 15] = join(
    FRONT,
    [
        col("unique_index_id", SqlType::Int),
        col("is_system_named", SqlType::Bit),
        number("is_enforced", SqlType::Bit, 1, "Key constraints are always enforced."),
    ],
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "key_constraints",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let listed = object_list::own(system)?;
    let mut rows = Vec::new();
    for table in tables::own_and_types(system)? {
        for index in &table.indexes {
            let found = listed.iter().find(|l| Some(l.id) == index.constraint_id);
            let Some(found) = found else { continue };
            let mut cells = found.any();
            cells.pop();
            cells.push(int(index.index_id.0));
            cells.push(bit(index.system_named));
            rows.push(cells);
        }
    }
    Ok(rows)
}
