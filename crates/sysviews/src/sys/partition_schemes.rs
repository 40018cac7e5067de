//! `sys.partition_schemes`: partition schemes; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_PARTITIONS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 7] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        col("data_space_id", SqlType::Int),
        col("type", SqlType::Char(2)),
        maybe("type_desc", SqlType::nvarchar(60)),
        maybe("is_default", SqlType::Bit),
        maybe("is_system", SqlType::Bit),
        col("function_id", SqlType::Int),
    ],
    NO_PARTITIONS,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "partition_schemes",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
