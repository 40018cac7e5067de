//! `sys.parameter_type_usages`: parameters of modules with a user type.

use crate::cell::int;
use crate::column::{Column, col};
use crate::tables;
use crate::view::{Rows, System, View};
use base::ObjectId;
use catalog::view::{Parameter, SchemaId};
use types::{SqlType, Value};

/// The last of the server's own types, sysname.
const LAST_OWN: i32 = 256;

const COLUMNS: [Column; 3] = [
    col("object_id", SqlType::Int),
    col("parameter_id", SqlType::Int),
    col("user_type_id", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "parameter_type_usages",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn cells(object: ObjectId, of: &Parameter) -> Option<Vec<Value>> {
    let row = || vec![int(object.0), int(of.id), int(of.user_type_id)];
    (of.user_type_id > LAST_OWN).then(row)
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for module in tables::modules(system)? {
        rows.extend(module.parameters.iter().filter_map(|p| cells(module.object_id, p)));
    }
    Ok(rows)
}
