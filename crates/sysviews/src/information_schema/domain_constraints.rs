//! `INFORMATION_SCHEMA.DOMAIN_CONSTRAINTS`: rules that are bound to user types.

use crate::column::{Column, maybe, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const NAME: SqlType = SqlType::nvarchar(128);

const COLUMNS: [Column; 8] = no_rows(
    [
        maybe("CONSTRAINT_CATALOG", NAME),
        maybe("CONSTRAINT_SCHEMA", NAME),
        maybe("CONSTRAINT_NAME", SqlType::SYSNAME),
        maybe("DOMAIN_CATALOG", NAME),
        maybe("DOMAIN_SCHEMA", NAME),
        maybe("DOMAIN_NAME", SqlType::SYSNAME),
        maybe("IS_DEFERRABLE", SqlType::varchar(2)),
        maybe("INITIALLY_DEFERRED", SqlType::varchar(2)),
    ],
    "CREATE RULE is refused.",
);

pub(crate) const VIEW: View = View {
    schema: SchemaId::INFORMATION_SCHEMA,
    name: "DOMAIN_CONSTRAINTS",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
