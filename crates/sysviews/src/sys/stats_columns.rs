//! `sys.stats_columns`: the columns that statistics were declared on.

use crate::cell::int;
use crate::column::{Column, col};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 4] = [
    col("object_id", SqlType::Int),
    col("stats_id", SqlType::Int),
    col("stats_column_id", SqlType::Int),
    col("column_id", SqlType::Int),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "stats_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all(system)? {
        for s in table.all_statistics() {
            for (n, &column) in s.columns.iter().enumerate() {
                rows.push(vec![
                    int(table.object_id.0),
                    int(s.stats_id.0),
                    int(n + 1),
                    int(table.columns[column].column_id),
                ]);
            }
        }
    }
    Ok(rows)
}
