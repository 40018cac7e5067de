//! `sys.system_sql_modules`: texts of the system's modules; there are none.

use crate::column::{Column, no_rows};
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

const COLUMNS: [Column; 12] =
    no_rows(super::sql_modules::COLUMNS, "Views and functions of the system are no text.");

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "system_sql_modules",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(_: &System<'_>, _: &[Value]) -> Rows {
    Ok(Vec::new())
}
