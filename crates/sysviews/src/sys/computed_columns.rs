//! `sys.computed_columns`: computed columns with their expressions.

use super::column_list::{self, BACK, FRONT, MIDDLE};
use crate::cell::{bit, text};
use crate::column::{Column, col, join, maybe, number, zero};
use crate::reason::OF_THIS_VIEW;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const OWN: [Column; 4] = [
    maybe("definition", SqlType::NVARCHAR_MAX),
    number("uses_database_collation", SqlType::Bit, 1, "Expressions are bound anew at each use."),
    col("is_persisted", SqlType::Bit),
    number("is_computed", SqlType::Bit, 1, OF_THIS_VIEW),
];
const LEFT: [Column; 22] = {
    let mut columns: [Column; 22] = join(FRONT, MIDDLE);
    columns[11] = zero("is_rowguidcol", SqlType::Bit, "A computed column is no ROWGUIDCOL.");
    columns[12] = zero("is_identity", SqlType::Bit, "A computed column is no identity column.");
    columns[20] = zero("default_object_id", SqlType::Int, "A computed column has no default.");
    columns
};
const MORE: [Column; 26] = join(LEFT, OWN);
const COLUMNS: [Column; 43] = join(MORE, BACK);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "computed_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::own_and_types(system)? {
        for column in &table.columns {
            let Some(computed) = &column.computed else { continue };
            let mut cells = column_list::front(table.object_id, column);
            // All but is_rowguidcol and is_identity.
            cells.truncate(11);
            cells.push(text(&computed.text));
            cells.push(bit(computed.persisted));
            rows.push(cells);
        }
    }
    Ok(rows)
}
