//! `sys.all_sql_modules`: `sys.sql_modules`; system objects have no text.

use super::sql_modules;
use crate::view::View;
use catalog::view::SchemaId;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "all_sql_modules",
    parameters: None,
    columns: &sql_modules::COLUMNS,
    rows: sql_modules::VIEW.rows,
};
