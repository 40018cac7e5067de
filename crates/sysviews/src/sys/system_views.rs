//! `sys.system_views`: the views of schemas sys and INFORMATION_SCHEMA.

use super::object_list;
use crate::column::{Column, join, number, zero};
use crate::reason::*;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIT: SqlType = SqlType::Bit;
const FRONT: [Column; 12] = {
    let mut columns = object_list::of_kind("V", "VIEW");
    columns[9] = number("is_ms_shipped", BIT, 1, OF_THIS_VIEW);
    object_list::of_release(columns)
};
const COLUMNS: [Column; 18] = join(
    FRONT,
    [
        zero("is_replicated", BIT, NO_REPLICATION),
        zero("has_replication_filter", BIT, NO_REPLICATION),
        zero("has_opaque_metadata", BIT, OF_THIS_VIEW),
        zero("has_unchecked_assembly_data", BIT, NO_CLR),
        zero("with_check_option", BIT, OF_THIS_VIEW),
        zero("is_date_correlation_view", BIT, OF_THIS_VIEW),
    ],
);

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "system_views", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let listed = object_list::system_objects(system)?;
    let cells = |l: &object_list::ListedObject| {
        let mut cells = l.kind_cells();
        // Without the dates.
        cells.truncate(3);
        cells
    };
    Ok(listed.iter().filter(|l| l.kind == "V").map(cells).collect())
}
