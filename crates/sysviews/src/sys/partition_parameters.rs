//! `sys.partition_parameters`: parameters of partition functions; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_PARTITIONS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 8] = no_rows(
    [
        col("function_id", SqlType::Int),
        col("parameter_id", SqlType::Int),
        col("system_type_id", SqlType::TinyInt),
        col("max_length", SqlType::SmallInt),
        col("precision", SqlType::TinyInt),
        col("scale", SqlType::TinyInt),
        maybe("collation_name", SqlType::SYSNAME),
        col("user_type_id", SqlType::Int),
    ],
    NO_PARTITIONS,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "partition_parameters",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
