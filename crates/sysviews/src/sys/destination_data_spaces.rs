//! `sys.destination_data_spaces`: where partitions of a scheme are; there are none.

use crate::column::{Column, col, no_rows};
use crate::reason::NO_PARTITIONS;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 3] = no_rows(
    [
        col("partition_scheme_id", SqlType::Int),
        col("destination_id", SqlType::Int),
        col("data_space_id", SqlType::Int),
    ],
    NO_PARTITIONS,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "destination_data_spaces",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
