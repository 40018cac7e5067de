//! `sys.dm_db_stats_histogram(object, statistics)`: one row for each step.

use super::db_stats_properties::{PARAMETERS, asked};
use crate::cell::{int, variant_of};
use crate::column::{Column, col, maybe};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 8] = [
    col("object_id", SqlType::Int),
    col("stats_id", SqlType::Int),
    col("step_number", SqlType::Int),
    maybe("range_high_key", SqlType::Variant),
    maybe("range_rows", SqlType::Real),
    maybe("equal_rows", SqlType::Real),
    maybe("distinct_range_rows", SqlType::BigInt),
    maybe("average_range_rows", SqlType::Real),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_stats_histogram",
    parameters: Some(PARAMETERS),
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let Some(asked) = asked(system, arguments)? else { return Ok(Vec::new()) };
    let column = &asked.table.columns[asked.first];
    let (sql_type, collation) = (column.sql_type, column.collation);
    let steps = asked.found.as_deref().map_or(&[][..], |d| &d.steps);
    let mut rows = Vec::with_capacity(steps.len());
    for (n, step) in steps.iter().enumerate() {
        let key = step.key_value(sql_type);
        rows.push(vec![
            int(asked.table.object_id.0),
            int(asked.stats_id),
            int(n + 1),
            variant_of(key, sql_type, collation),
            Value::Real(step.range_rows as f32),
            Value::Real(step.equal_rows as f32),
            Value::BigInt(step.distinct_range_rows.round() as i64),
            Value::Real(step.average_range_rows() as f32),
        ]);
    }
    Ok(rows)
}
