//! `sys.columns`: the columns of the database's tables, system tables included, of views and of
//! table-valued functions.

use super::column_list::{self, BACK, FRONT, MIDDLE};
use crate::cell::bit;
use crate::column::{Column, col, join};
use crate::tables;
use crate::view::{Rows, System, View};
use base::ObjectId;
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COMPUTED: [Column; 14] = join(FRONT, [col("is_computed", SqlType::Bit)]);
const STORED: [Column; 23] = join(COMPUTED, MIDDLE);
pub(crate) const COLUMNS: [Column; 40] = join(STORED, BACK);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "columns", parameters: None, columns: &COLUMNS, rows };

/// The written cells of a row.
pub(crate) fn cells(object: ObjectId, c: &catalog::view::Column) -> Vec<Value> {
    let mut cells = column_list::front(object, c);
    cells.push(bit(c.computed.is_some()));
    cells.push(column_list::middle(c));
    cells
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all_and_types(system)? {
        rows.extend(table.columns.iter().map(|c| cells(table.object_id, c)));
    }
    for module in tables::modules(system)? {
        rows.extend(module.columns.iter().map(|c| cells(module.object_id, c)));
    }
    Ok(rows)
}
