//! `sys.security_policies`: policies of row-level security; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_ROW_SECURITY;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 14] = no_rows(
    [
        col("name", SqlType::SYSNAME),
        col("object_id", SqlType::Int),
        maybe("principal_id", SqlType::Int),
        col("schema_id", SqlType::Int),
        col("parent_object_id", SqlType::Int),
        col("type", SqlType::varchar(2)),
        maybe("type_desc", SqlType::nvarchar(60)),
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
        col("is_ms_shipped", SqlType::Bit),
        col("is_enabled", SqlType::Bit),
        col("is_not_for_replication", SqlType::Bit),
        maybe("uses_database_collation", SqlType::Bit),
        col("is_schema_bound", SqlType::Bit),
    ],
    NO_ROW_SECURITY,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "security_policies",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
