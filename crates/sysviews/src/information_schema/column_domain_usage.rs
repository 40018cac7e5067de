//! `INFORMATION_SCHEMA.COLUMN_DOMAIN_USAGE`: columns with a user type.

use super::columns::domain;
use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{ModuleKind, SchemaId};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 7] = [
    maybe("DOMAIN_CATALOG", NAME),
    maybe("DOMAIN_SCHEMA", NAME),
    col("DOMAIN_NAME", SqlType::SYSNAME),
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", SqlType::SYSNAME),
    maybe("COLUMN_NAME", SqlType::SYSNAME),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "COLUMN_DOMAIN_USAGE",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let view = system.view()?;
    let mut rows = Vec::new();
    let mut add = |schema: &str, name: &str, columns: &[catalog::view::Column]| {
        for c in columns.iter().filter(|c| view.user_type_by_id(c.user_type_id).is_some()) {
            let mut cells = domain(&view, c.user_type_id).to_vec();
            cells.extend([text(view.name()), text(schema), text(name), text(&c.name)]);
            rows.push(cells);
        }
    };
    for table in tables::own(system)? {
        add(&table.schema_name, &table.name, &table.columns);
    }
    for module in tables::modules(system)?.iter().filter(|m| m.kind == ModuleKind::View) {
        add(&module.schema_name, &module.name, &module.columns);
    }
    Ok(rows)
}
