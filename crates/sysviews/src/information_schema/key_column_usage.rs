//! `INFORMATION_SCHEMA.KEY_COLUMN_USAGE`: the columns of keys.

use crate::cell::{int, text};
use crate::column::{Column, col, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{SchemaId, Table};
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 8] = [
    maybe("CONSTRAINT_CATALOG", NAME),
    maybe("CONSTRAINT_SCHEMA", NAME),
    col("CONSTRAINT_NAME", NAME),
    maybe("TABLE_CATALOG", NAME),
    maybe("TABLE_SCHEMA", NAME),
    col("TABLE_NAME", NAME),
    maybe("COLUMN_NAME", NAME),
    col("ORDINAL_POSITION", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "KEY_COLUMN_USAGE",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// The keys of a table: their names and the ordinals of their columns.
pub(super) fn keys(table: &Table) -> impl Iterator<Item = (&str, Vec<usize>)> {
    let indexes = table.indexes.iter().filter(|i| i.constraint_id.is_some());
    let own = indexes.map(|i| (&*i.name, i.key.iter().map(|k| k.column).collect()));
    let foreign = table.foreign_keys.iter();
    own.chain(foreign.map(|k| (&*k.name, k.columns.iter().map(|c| c.column).collect())))
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let catalog = text(system.view()?.name());
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        let schema = text(&table.schema_name);
        for (name, columns) in keys(&table) {
            for (n, at) in columns.into_iter().enumerate() {
                rows.push(vec![
                    catalog.clone(),
                    schema.clone(),
                    text(name),
                    catalog.clone(),
                    schema.clone(),
                    text(&table.name),
                    text(&table.columns[at].name),
                    int(n + 1),
                ]);
            }
        }
    }
    Ok(rows)
}
