//! `sys.partition_functions`: partition functions; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_PARTITIONS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 9] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        col("function_id", SqlType::Int),
        col("type", SqlType::Char(2)),
        maybe("type_desc", SqlType::nvarchar(60)),
        col("fanout", SqlType::Int),
        col("boundary_value_on_right", SqlType::Bit),
        col("is_system", SqlType::Bit),
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
    ],
    NO_PARTITIONS,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "partition_functions",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
