//! `INFORMATION_SCHEMA.TABLE_PRIVILEGES`: permissions that were granted on tables and views.

use crate::column::{Column, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 7] = no_rows(
    [
        maybe("GRANTOR", NAME),
        maybe("GRANTEE", NAME),
        maybe("TABLE_CATALOG", NAME),
        maybe("TABLE_SCHEMA", NAME),
        maybe("TABLE_NAME", SqlType::SYSNAME),
        maybe("PRIVILEGE_TYPE", SqlType::varchar(10)),
        maybe("IS_GRANTABLE", SqlType::varchar(3)),
    ],
    "GRANT is refused yet.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "TABLE_PRIVILEGES",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
