//! `sys.all_parameters`: `sys.parameters` with those of the system's functions.

use super::parameters;
use crate::view::{Rows, System, View};
use catalog::view::{Parameter, SchemaId};
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "all_parameters",
    parameters: None,
    columns: &parameters::COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let mut rows = (parameters::VIEW.rows)(system, arguments)?;
    let view = system.view()?;
    for function in view.system().iter() {
        for (id, p) in (1..).zip(function.parameters.iter().flatten()) {
            let parameter = Parameter {
                id,
                name: p.name.clone(),
                sql_type: p.sql_type,
                user_type_id: p.sql_type.user_type_id(),
                output: false,
                has_default: false,
                read_only: false,
                cursor: false,
            };
            rows.push(parameters::cells(function.object_id.0, &parameter));
        }
    }
    Ok(rows)
}
