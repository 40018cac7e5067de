//! `sys.partition_range_values`: boundaries of partition functions; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_PARTITIONS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 4] = no_rows(
    [
        col("function_id", SqlType::Int),
        col("boundary_id", SqlType::Int),
        col("parameter_id", SqlType::Int),
        maybe("value", SqlType::Variant),
    ],
    NO_PARTITIONS,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "partition_range_values",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
