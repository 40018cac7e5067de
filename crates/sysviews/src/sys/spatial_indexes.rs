//! `sys.spatial_indexes`: spatial indexes; there are none.

use crate::column::{Column, col, join, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 26] = no_rows(
    join(
        super::indexes::COLUMNS,
        [
            col("spatial_index_type", SqlType::TinyInt),
            maybe("spatial_index_type_desc", SqlType::nvarchar(60)),
            maybe("tessellation_scheme", SqlType::SYSNAME),
        ],
    ),
    "There are no spatial indexes.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "spatial_indexes",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
