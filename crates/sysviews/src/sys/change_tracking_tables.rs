//! `sys.change_tracking_tables`: tables with change tracking; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_TRACKING;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 5] = no_rows(
    [
        col("object_id", SqlType::Int),
        col("is_track_columns_updated_on", SqlType::Bit),
        maybe("min_valid_version", SqlType::BigInt),
        maybe("begin_version", SqlType::BigInt),
        maybe("cleanup_version", SqlType::BigInt),
    ],
    NO_TRACKING,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "change_tracking_tables",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
