//! `sys.database_files`: the files of the current database.

use super::file_list;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "database_files",
    parameters: None,
    columns: &file_list::COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(file_list::rows(&*system.here()?))
}
