//! `sys.external_tables`: external tables; there are none.

use crate::column::{Column, col, join, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 20] = no_rows(
    join(
        super::object_list::ANY,
        [
            col("max_column_id_used", SqlType::Int),
            maybe("uses_ansi_nulls", SqlType::Bit),
            col("data_source_id", SqlType::Int),
            maybe("file_format_id", SqlType::Int),
            maybe("location", SqlType::nvarchar(4000)),
            maybe("reject_type", SqlType::nvarchar(20)),
            maybe("reject_value", SqlType::Float),
            maybe("reject_sample_value", SqlType::Float),
        ],
    ),
    "There are no external tables.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "external_tables",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
