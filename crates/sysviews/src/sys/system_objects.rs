//! `sys.system_objects`: system views and functions, the same in every database.

use super::object_list;
use crate::column::{Column, number, zero};
use crate::reason::OF_THIS_VIEW;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 12] = {
    let mut columns = object_list::ANY;
    columns[4] = zero("parent_object_id", SqlType::Int, "These have no parent.");
    columns[9] = number("is_ms_shipped", SqlType::Bit, 1, OF_THIS_VIEW);
    object_list::of_release(columns)
};

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "system_objects",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let cells = |l: object_list::ListedObject| {
        let mut cells = l.any();
        // Without the dates, the parent and is_ms_shipped.
        cells.truncate(6);
        cells.remove(3);
        cells
    };
    Ok(object_list::system_objects(system)?.into_iter().map(cells).collect())
}
