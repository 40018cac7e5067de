//! `INFORMATION_SCHEMA.TABLE_CONSTRAINTS`: keys, foreign keys and checks.

use crate::cell::{code, text};
use crate::column::{Column, col, maybe, word};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);
const IMMEDIATE: &str = "Constraints are checked by each statement.";

const COLUMNS: [Column; 9] = [
    maybe("CONSTRAINT_CATALOG", NAME),
    maybe("CONSTRAINT_SCHEMA", NAME),
    col("CONSTRAINT_NAME", SqlType::SYSNAME),
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    maybe("TABLE_NAME", SqlType::SYSNAME),
    maybe("CONSTRAINT_TYPE", SqlType::varchar(11)),
    word("IS_DEFERRABLE", SqlType::varchar(2), "NO", IMMEDIATE),
    word("INITIALLY_DEFERRED", SqlType::varchar(2), "NO", IMMEDIATE),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "TABLE_CONSTRAINTS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let catalog = text(system.view()?.name());
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        let schema = text(&table.schema_name);
        let mut add = |name: &str, kind: &str| {
            let (of, at) = (catalog.clone(), schema.clone());
            let place = [of.clone(), at.clone(), text(name), of, at];
            let mut cells = place.to_vec();
            cells.extend([text(&table.name), code(kind)]);
            rows.push(cells);
        };
        for index in table.indexes.iter().filter(|i| i.constraint_id.is_some()) {
            add(&index.name, if index.primary_key { "PRIMARY KEY" } else { "UNIQUE" });
        }
        for key in &table.foreign_keys {
            add(&key.name, "FOREIGN KEY");
        }
        for check in &table.checks {
            add(&check.name, "CHECK");
        }
    }
    Ok(rows)
}
