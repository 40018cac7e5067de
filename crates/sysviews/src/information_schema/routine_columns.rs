//! `INFORMATION_SCHEMA.ROUTINE_COLUMNS`: the columns of table-valued functions' results.

use super::columns::{COLUMNS, domain, row};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{ModuleKind, SchemaId};
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "ROUTINE_COLUMNS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows = Vec::new();
    for module in tables::modules(system)? {
        if !matches!(module.kind, ModuleKind::InlineFunction | ModuleKind::TableFunction) {
            continue;
        }
        for (at, column) in module.columns.iter().enumerate() {
            let mut cells = row([view.name(), &module.schema_name, &module.name], at, column);
            cells.extend(domain(&view, column.user_type_id));
            rows.push(cells);
        }
    }
    Ok(rows)
}
