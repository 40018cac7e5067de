//! `INFORMATION_SCHEMA.CONSTRAINT_TABLE_USAGE`: the tables of constraints.

use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 6] = [
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", SqlType::SYSNAME),
    maybe("CONSTRAINT_CATALOG", NAME),
    maybe("CONSTRAINT_SCHEMA", NAME),
    col("CONSTRAINT_NAME", SqlType::SYSNAME),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "CONSTRAINT_TABLE_USAGE",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let catalog = text(system.view()?.name());
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        let schema = text(&table.schema_name);
        let indexes = table.indexes.iter().filter(|i| i.constraint_id.is_some());
        let foreign = table.foreign_keys.iter().map(|k| &k.name);
        let checks = table.checks.iter().map(|c| &c.name);
        for name in indexes.map(|i| &i.name).chain(foreign).chain(checks) {
            let (of, at) = (catalog.clone(), schema.clone());
            rows.push(vec![of.clone(), at.clone(), text(&table.name), of, at, text(name)]);
        }
    }
    Ok(rows)
}
