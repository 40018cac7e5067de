//! `sys.all_objects`: `sys.objects` with system views and functions.

use super::object_list;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::Value;

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "all_objects",
    parameters: None,
    columns: &object_list::ANY,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    Ok(object_list::all(system)?.iter().map(|l| l.any()).collect())
}
