//! `sys.server_triggers`: triggers of the server; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 11] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        col("object_id", SqlType::Int),
        col("parent_class", SqlType::TinyInt),
        maybe("parent_class_desc", SqlType::nvarchar(60)),
        col("parent_id", SqlType::Int),
        col("type", SqlType::Char(2)),
        maybe("type_desc", SqlType::nvarchar(60)),
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
        col("is_ms_shipped", SqlType::Bit),
        col("is_disabled", SqlType::Bit),
    ],
    "There are no triggers of the server.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "server_triggers",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
