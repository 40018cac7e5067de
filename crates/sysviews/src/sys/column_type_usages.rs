//! `sys.column_type_usages`: columns with a user type.

use crate::cell::int;
use crate::column::{Column, col};
use crate::tables;
use crate::view::{Rows, System, View};
use base::ObjectId;
use catalog::view::{Column as Defined, SchemaId};
use types::{SqlType, Value};

/// The last of the server's own types, sysname.
const LAST_OWN: i32 = 256;

const COLUMNS: [Column; 3] = [
    col("object_id", SqlType::Int),
    col("column_id", SqlType::Int),
    col("user_type_id", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "column_type_usages",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn cells(object: ObjectId, of: &Defined) -> Option<Vec<Value>> {
    let row = || vec![int(object.0), int(of.column_id), int(of.user_type_id)];
    (of.user_type_id > LAST_OWN).then(row)
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all_and_types(system)? {
        rows.extend(table.columns.iter().filter_map(|c| cells(table.object_id, c)));
    }
    for module in tables::modules(system)? {
        rows.extend(module.columns.iter().filter_map(|c| cells(module.object_id, c)));
    }
    Ok(rows)
}
