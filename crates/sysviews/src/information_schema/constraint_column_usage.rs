//! `INFORMATION_SCHEMA.CONSTRAINT_COLUMN_USAGE`: the columns of constraints. For a foreign key
//! these are the referring columns, as in SQL Server; for a check the column behind which it was
//! written.

use super::key_column_usage::keys;
use crate::cell::text;
use crate::column::{Column, col, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 7] = [
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", NAME),
    maybe("COLUMN_NAME", NAME),
    maybe("CONSTRAINT_CATALOG", NAME),
    maybe("CONSTRAINT_SCHEMA", NAME),
    col("CONSTRAINT_NAME", NAME),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "CONSTRAINT_COLUMN_USAGE",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let catalog = text(system.view()?.name());
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        let schema = text(&table.schema_name);
        let checks = table.checks.iter();
        let checks = checks.filter_map(|c| Some((&*c.name, vec![c.column?])));
        for (name, columns) in keys(&table).chain(checks) {
            for at in columns {
                rows.push(vec![
                    catalog.clone(),
                    schema.clone(),
                    text(&table.name),
                    text(&table.columns[at].name),
                    catalog.clone(),
                    schema.clone(),
                    text(name),
                ]);
            }
        }
    }
    Ok(rows)
}
