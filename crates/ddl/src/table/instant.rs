//! Columns that come and go without a look at the rows: what `catalog::view::RowHistory` notes.

use crate::build::rebuild::{NewColumn, NewColumnValue};
use base::limits::RECORD_BYTES_MAX;
use catalog::view::{AddedColumn, Column, DroppedColumn, Table, stored_width};

/// A table that has left more places behind is copied: each costs its rows up to two bytes and a
/// bit.
const DROPPED_MAX: usize = 256;

/// Notes columns that were added at places of their own; false where the rows must be copied.
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

/// Notes that a column is gone.
pub(crate) fn drop(table: &mut Table, column: &Column) {
    if let Some(physical) = column.physical {
        let width = stored_width(column.sql_type);
        table.history.dropped.push(DroppedColumn { physical, width });
    }
}

/// Bytes of a row without variable columns, with what is left of dropped ones.
fn shortest_row(table: &Table) -> usize {
    let live = table.stored_columns().map(|(_, c)| stored_width(c.sql_type));
    let widths = live.chain(table.history.dropped.iter().map(|d| d.width));
    // A bit that was added has a byte of its own.
    let bytes = |w: Option<u16>| w.map_or(0, |w| usize::from(w.max(1)));
    let (columns, fixed) = widths.fold((0_usize, 0), |(n, sum), w| (n + 1, sum + bytes(w)));
    4 + 2 + columns.div_ceil(8) + fixed
}
