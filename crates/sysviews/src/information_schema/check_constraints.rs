//! `INFORMATION_SCHEMA.CHECK_CONSTRAINTS`.

use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 4] = [
    maybe("CONSTRAINT_CATALOG", NAME),
    maybe("CONSTRAINT_SCHEMA", NAME),
    col("CONSTRAINT_NAME", SqlType::SYSNAME),
    maybe("CHECK_CLAUSE", SqlType::nvarchar(4000)),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "CHECK_CONSTRAINTS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let catalog = text(system.view()?.name());
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        for check in &table.checks {
            let schema = text(&table.schema_name);
            // A longer condition is cut off here, as in SQL Server.
            let start: String = check.text.chars().take(4000).collect();
            rows.push(vec![catalog.clone(), schema, text(&check.name), text(&start)]);
        }
    }
    Ok(rows)
}
