//! `sys.security_predicates`: predicates of row-level security; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::reason::NO_ROW_SECURITY;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 8] = no_rows(
    [
        col("object_id", SqlType::Int),
        col("security_predicate_id", SqlType::Int),
        col("target_object_id", SqlType::Int),
        maybe("predicate_definition", SqlType::NVARCHAR_MAX),
        maybe("predicate_type", SqlType::Int),
        maybe("predicate_type_desc", SqlType::nvarchar(60)),
        maybe("operation", SqlType::Int),
        maybe("operation_desc", SqlType::nvarchar(60)),
    ],
    NO_ROW_SECURITY,
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "security_predicates",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
