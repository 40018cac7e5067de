//! Adds and drops columns without reading a row. `catalog::view::RowHistory` records these changes.

use crate::build::rebuild::{NewColumn, NewColumnValue};
use base::limits::RECORD_BYTES_MAX;
use catalog::view::{AddedColumn, Column, DroppedColumn, Table, stored_width};

/// A table with more dropped columns than this is copied. Each dropped column still costs space in
/// every row: a bit and its fixed width, or up to two bytes if its length was variable.
const DROPPED_MAX: usize = 256;

/// Records columns that were added behind all others. Returns false when the rows must be copied.
pub(crate) fn add(table: &mut Table, added: &[NewColumn]) -> bool {
    let columns = table.columns.iter();
    let stored = columns.filter_map(|c| {
        let (_, present) = added.iter().find(|(id, _)| *id == c.column_id)?;
        Some((c.physical?, present))
    });
    let mut notes = Vec::new();
    for (physical, present) in stored {
        let default = match present {
            NewColumnValue::Same(bytes) => bytes.clone(),
            NewColumnValue::Own => None,
            NewColumnValue::Counted(..) => return false,
        };
        notes.push(AddedColumn { physical, default });
    }
    table.history.added.extend(notes);
    let ascend = table.history.added.is_sorted_by(|a, b| a.physical < b.physical);
    assert!(ascend, "columns of table {} are added at places of their own", table.name);
    table.history.dropped.len() <= DROPPED_MAX && shortest_row(table) <= RECORD_BYTES_MAX
}

/// Records that a column was dropped.
pub(crate) fn drop(table: &mut Table, column: &Column) {
    if let Some(physical) = column.physical {
        let width = stored_width(column.sql_type);
        table.history.dropped.push(DroppedColumn { physical, width });
    }
}

/// The bytes of a row without its variable columns. Dropped columns of fixed width count.
fn shortest_row(table: &Table) -> usize {
    let live = table.stored_columns().map(|(_, c)| stored_width(c.sql_type));
    let widths = live.chain(table.history.dropped.iter().map(|d| d.width));
    // An added bit column has a byte of its own.
    let bytes = |w: Option<u16>| w.map_or(0, |w| usize::from(w.max(1)));
    let (columns, fixed) = widths.fold((0_usize, 0), |(n, sum), w| (n + 1, sum + bytes(w)));
    4 + 2 + columns.div_ceil(8) + fixed
}
