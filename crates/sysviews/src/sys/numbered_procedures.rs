//! `sys.numbered_procedures`: procedures of a group after the first; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 3] = no_rows(
    [
        col("object_id", SqlType::Int),
        col("procedure_number", SqlType::SmallInt),
        maybe("definition", SqlType::NVARCHAR_MAX),
    ],
    "Procedures are not numbered.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "numbered_procedures",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
