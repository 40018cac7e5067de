//! `sys.check_constraints`.

use super::object_list;
use crate::cell::{bit, int, text};
use crate::column::{Column, col, join, maybe, number};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;

const COLUMNS: [Column; 19] = join(
    object_list::of_constraint("C", "CHECK_CONSTRAINT"),
    [
        col("is_disabled", BIT),
        col("is_not_for_replication", BIT),
        col("is_not_trusted", BIT),
        col("parent_column_id", SqlType::Int),
        maybe("definition", SqlType::NVARCHAR_MAX),
        number("uses_database_collation", BIT, 1, "Conditions are bound anew at each use."),
        col("is_system_named", BIT),
    ],
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "check_constraints",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let listed = object_list::own(system)?;
    let mut rows = Vec::new();
    for table in tables::own_and_types(system)? {
        for check in &table.checks {
            let Some(found) = listed.iter().find(|l| l.id == check.object_id) else { continue };
            let column = check.column.map_or(0, |at| table.columns[at].column_id);
            let mut cells = found.constraint_cells();
            cells.extend([
                bit(check.disabled),
                bit(check.not_for_replication),
                bit(check.not_trusted),
                int(column),
                text(&check.text),
                bit(check.system_named),
            ]);
            rows.push(cells);
        }
    }
    Ok(rows)
}
