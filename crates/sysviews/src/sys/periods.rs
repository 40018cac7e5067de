//! `sys.periods`: periods of system-versioned tables; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_TEMPORAL;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 6] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        maybe("period_type", SqlType::TinyInt),
        maybe("period_type_desc", SqlType::nvarchar(60)),
        col("object_id", SqlType::Int),
        col("start_column_id", SqlType::Int),
        col("end_column_id", SqlType::Int),
    ],
    NO_TEMPORAL,
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "periods", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
