//! Style 3 of an index page: a result set with one row for each entry.
//!
//! ```text
//! above the leaves  FileId PageId Row Level ChildFileId ChildPageId
//!                   key columns  KeyHashValue Row Size
//! leaves            FileId PageId Row Level  all columns  KeyHashValue Row Size
//! ```
//!
//! An entry above the leaves is never locked and so has no KeyHashValue. The first entry of a level
//! leads to everything before the second entry; its stored key is shown all the same.

use super::columns::{name_of, uniquifier};
use super::read::{PageCopy, PageOwner};
use crate::cell::{int, text};
use crate::dm::locks;
use catalog::view::{HobtLayout, PhysicalColumn, Table};
use page::{Field, RowLayout};
use session::Rowset;
use types::{SqlType, Value, decode_storage};

/// The entries of an index page; `None` if its columns are unknown.
pub(super) fn entries(copy: &PageCopy, owner: &PageOwner) -> Option<Rowset> {
    if owner.is_of_pieces() {
        return None;
    }
    let (table, index) = (owner.table.as_deref()?, owner.index.as_ref()?);
    let columns = table.hobt_layout(index);
    let above = copy.view().level() > 0;
    let shown: Vec<(PhysicalColumn, bool)> = match above {
        true => columns.key.iter().map(|k| (columns.columns[k.field], true)).collect(),
        false => leaf_columns(&columns),
    };
    let layout = if above { owner.hobt.interior_layout()? } else { owner.hobt.layout() };
    let mut set = Rowset { columns: heads(table, &shown, above), rows: Vec::new() };
    for slot in 0..copy.view().slot_count() {
        let Some(record) = copy.view().record(slot) else { continue };
        set.rows.push(entry(copy, (slot, record), owner, (table, &shown, layout)));
    }
    Some(set)
}

/// All physical columns, and whether each belongs to the key.
fn leaf_columns(layout: &HobtLayout) -> Vec<(PhysicalColumn, bool)> {
    let is_key = |n: usize| layout.key.iter().any(|k| k.field == n);
    layout.columns.iter().enumerate().map(|(n, c)| (*c, is_key(n))).collect()
}

fn heads(
    table: &Table,
    shown: &[(PhysicalColumn, bool)],
    above: bool,
) -> Vec<(String, SqlType, bool)> {
    let number = |name: &str| (name.to_owned(), SqlType::Int, true);
    let mut heads: Vec<_> = ["FileId", "PageId", "Row", "Level"].map(number).into();
    if above {
        heads.extend(["ChildFileId", "ChildPageId"].map(number));
    }
    for (column, is_key) in shown {
        let name = name_of(table, *column);
        heads.push((
            if *is_key { format!("{name} (key)") } else { name },
            type_of(table, *column),
            true,
        ));
    }
    heads.push(("KeyHashValue".to_owned(), SqlType::nvarchar(20), true));
    heads.push(number("Row Size"));
    heads
}

fn type_of(table: &Table, column: PhysicalColumn) -> SqlType {
    match column {
        PhysicalColumn::Uniquifier => SqlType::Int,
        column => table.physical_type(column).0,
    }
}

fn entry(
    copy: &PageCopy,
    (slot, record): (u16, &[u8]),
    owner: &PageOwner,
    (table, shown, layout): (&Table, &[(PhysicalColumn, bool)], &RowLayout),
) -> Vec<Value> {
    let level = copy.view().level();
    let mut row = vec![int(copy.id.file.0), int(copy.id.page), int(slot), int(level)];
    if level > 0 {
        let child = owner.hobt.child_of(record);
        row.push(child.map_or(Value::Null, |c| int(c.file.0)));
        row.push(child.map_or(Value::Null, |c| int(c.page)));
    }
    for (at, (column, _)) in shown.iter().enumerate() {
        let field = layout.field(record, at);
        row.push(field.map_or(Value::Null, |f| value(*column, f, type_of(table, *column))));
    }
    let lock = if level == 0 { owner.hobt.key_lock(record) } else { None };
    row.push(lock.map_or(Value::Null, |l| text(&locks::description(&l))));
    row.push(int(record.len()));
    row
}

fn value(column: PhysicalColumn, field: Field<'_>, sql_type: SqlType) -> Value {
    if column == PhysicalColumn::Uniquifier {
        return Value::Int(uniquifier(field));
    }
    let bytes = field.inline();
    bytes.and_then(|b| decode_storage(b, sql_type).ok()).unwrap_or(Value::Null)
}
