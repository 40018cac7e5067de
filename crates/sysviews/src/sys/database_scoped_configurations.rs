//! `sys.database_scoped_configurations`: the configuration of the current database.

use crate::cell::{bit, int, text, variant};
use crate::column::{Column, col, null};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};
use work::GhostRule;

const COLUMNS: [Column; 5] = [
    col("configuration_id", SqlType::Int),
    col("name", SqlType::nvarchar(60)),
    col("value", SqlType::Variant),
    null("value_for_secondary", SqlType::Variant, "There are no secondaries."),
    col("is_value_default", SqlType::Bit),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "database_scoped_configurations",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let o = system.here()?.options();
    let all: [(i32, &str, i32, i32); 7] = [
        (1, "MAXDOP", i32::from(o.max_degree), 0),
        // Other values are refused.
        (2, "LEGACY_CARDINALITY_ESTIMATION", 0, 0),
        (3, "PARAMETER_SNIFFING", i32::from(o.parameter_sniffing), 1),
        (4, "QUERY_OPTIMIZER_HOTFIXES", 0, 0),
        (13, "OPTIMIZE_FOR_AD_HOC_WORKLOADS", 0, 0),
        (22, "LIGHTWEIGHT_QUERY_PROFILING", i32::from(o.lightweight_profiling), 1),
        (24, "LAST_QUERY_PLAN_STATS", i32::from(o.last_plan_statistics), 0),
    ];
    let row = |(id, name, value, default): (i32, &str, i32, i32)| {
        vec![int(id), text(name), variant(Value::Int(value), SqlType::Int), bit(value == default)]
    };
    let mut rows = all.map(row).to_vec();
    // Our own option, with a number that SQL Server does not use.
    let rule = o.ghost_cleanup_rule;
    let sql_type = SqlType::nvarchar(60);
    rows.push(vec![
        int(10_001),
        text("GHOST_CLEANUP_RULE"),
        variant(text(rule.name()), sql_type),
        bit(rule == GhostRule::Interval),
    ]);
    Ok(rows)
}
