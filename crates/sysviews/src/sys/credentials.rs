//! `sys.credentials`: credentials; there are none.

use crate::column::{Column, col, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 7] = no_rows(
    [
        col("credential_id", SqlType::Int),
        col("name", SqlType::SYSNAME),
        maybe("credential_identity", SqlType::nvarchar(4000)),
        col("create_date", SqlType::DateTime),
        col("modify_date", SqlType::DateTime),
        maybe("target_type", SqlType::nvarchar(100)),
        maybe("target_id", SqlType::Int),
    ],
    "There are no credentials.",
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "credentials", parameters: None, columns: &COLUMNS, rows };

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
