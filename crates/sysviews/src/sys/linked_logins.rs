//! `sys.linked_logins`: logins at linked servers; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 5] = no_rows(
    [
        col("server_id", SqlType::Int),
        maybe("local_principal_id", SqlType::Int),
        col("uses_self_credential", SqlType::Bit),
        maybe("remote_name", SqlType::SYSNAME),
        col("modify_date", SqlType::DateTime),
    ],
    "There are no linked servers.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "linked_logins",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
