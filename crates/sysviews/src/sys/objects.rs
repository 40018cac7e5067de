//! `sys.objects`: tables, modules, constraints and system tables of the current database.

use super::object_list;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "objects",
    parameters: None,
    columns: &object_list::ANY,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let own = object_list::own(system)?;
    Ok(object_list::system_tables().chain(own).map(|l| l.any()).collect())
}
