//! `sys.all_views`: `sys.views` with those of the system.

use super::{object_list, views};
use crate::cell::bit;
use crate::column::{Column, col};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 23] = {
    let mut columns = views::COLUMNS;
    columns[9] = col("is_ms_shipped", SqlType::Bit);
    columns
};

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "all_views", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let modules = tables::modules(system)?;
    let row = |l: &object_list::ListedObject| {
        let module = modules.iter().find(|m| m.object_id == l.id);
        let mut cells = l.kind_cells();
        cells.push(bit(l.shipped));
        cells.push(bit(module.is_some_and(|m| m.options.check_option)));
        cells
    };
    let all = object_list::all(system)?;
    Ok(all.iter().filter(|l| l.kind == "V").map(row).collect())
}
