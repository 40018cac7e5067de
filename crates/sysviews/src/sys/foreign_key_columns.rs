//! `sys.foreign_key_columns`.

use crate::cell::int;
use crate::column::{Column, col};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;

const COLUMNS: [Column; 6] = [
    col("constraint_object_id", INT),
    col("constraint_column_id", INT),
    col("parent_object_id", INT),
    col("parent_column_id", INT),
    col("referenced_object_id", INT),
    col("referenced_column_id", INT),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "foreign_key_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        for key in &table.foreign_keys {
            for (n, c) in key.columns.iter().enumerate() {
                rows.push(vec![
                    int(key.object_id.0),
                    int(n + 1),
                    int(table.object_id.0),
                    int(table.columns[c.column].column_id),
                    int(key.referenced.0),
                    int(c.referenced),
                ]);
            }
        }
    }
    Ok(rows)
}
