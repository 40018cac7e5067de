//! `sys.event_notifications`: event notifications; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_BROKER;
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
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
        maybe("service_name", SqlType::nvarchar(256)),
        maybe("broker_instance", SqlType::nvarchar(128)),
        maybe("creator_sid", SqlType::varbinary(85)),
        maybe("principal_id", SqlType::Int),
    ],
    NO_BROKER,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "event_notifications",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
