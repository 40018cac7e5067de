//! `sys.change_tracking_databases`: databases with change tracking; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_TRACKING;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 6] = no_rows(
    [
        col("database_id", SqlType::Int),
        maybe("is_auto_cleanup_on", SqlType::Bit),
        maybe("retention_period", SqlType::Int),
        maybe("retention_period_units", SqlType::TinyInt),
        maybe("retention_period_units_desc", SqlType::nvarchar(60)),
        maybe("max_cleanup_version", SqlType::BigInt),
    ],
    NO_TRACKING,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "change_tracking_databases",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
