//! The columns of a record, each with its position and its value.

use super::printout::Printout;
use super::read::PageOwner;
use super::slots::Slot;
use crate::dm::locks;
use access::HobtKind;
use base::PageId;
use catalog::view::{Index, PhysicalColumn, Table};
use page::{Field, Place, RecordKind, RowLayout, in_row_former, in_row_version};
use types::datetime::print_style;
use types::{Decimal, SqlType, Value, decode_storage};

/// SQL Server adds this number to the position of a dropped column.
const DROPPED: i32 = 0x0400_0000;

/// The columns of a record, and the lock hash of an index row.
pub(super) fn decoded(slot: &Slot<'_>, page: PageId, owner: &PageOwner, printed: &mut Printout) {
    let status = slot.record.first().copied().unwrap_or_default();
    let kind = RecordKind::of(status);
    // An entry above the leaves of a tree of pieces has no column names.
    if kind == RecordKind::ForwardingStub || kind.is_index() {
        return;
    }
    if owner.is_of_pieces() {
        return piece(slot, page, owner, printed);
    }
    let (Some(table), Some(index)) = (&owner.table, &owner.index) else { return };
    let (layout, physical) = (owner.hobt.layout(), table.hobt_layout(index).columns);
    for (at, column) in physical.iter().enumerate().take(layout.column_count()) {
        let Some(field) = layout.field(slot.record, at) else { continue };
        one(slot, (table, *column), (layout, at), field, printed);
    }
    key_hash(slot, owner, index, printed);
}

/// The columns that the in-row version of a record has otherwise.
pub(super) fn former(slot: &Slot<'_>, owner: &PageOwner, printed: &mut Printout) {
    let (Some(table), Some(index)) = (&owner.table, &owner.index) else { return };
    let mut row = Vec::new();
    let Some(version) = in_row_version(slot.record) else { return };
    let title = format!("Slot {} In-Row Version Length {}", slot.number, version.len());
    printed.object(&slot.title, title);
    if in_row_former(slot.record, &mut row).is_none() {
        return printed.field("Former Row", "[damaged]");
    }
    let (layout, physical) = (owner.hobt.layout(), table.hobt_layout(index).columns);
    for (at, column) in physical.iter().enumerate().take(layout.column_count()) {
        let (Some(then), now) = (layout.field(&row, at), layout.field(slot.record, at)) else {
            continue;
        };
        if Some(then) != now {
            let (sql_type, _) = table.physical_type(*column);
            printed.field(name_of(table, *column), shown(*column, then, sql_type));
        }
    }
}

fn one(
    slot: &Slot<'_>,
    (table, column): (&Table, PhysicalColumn),
    (layout, at): (&RowLayout, usize),
    field: Field<'_>,
    printed: &mut Printout,
) {
    let (offset, length, physical) = place_of(slot.record, layout.place(at), field);
    let bit = match layout.place(at) {
        Place::Bit { mask, .. } if physical > 0 => {
            format!("(Bit position {}) ", mask.trailing_zeros())
        }
        Place::Bit { .. } | Place::Fixed { .. } | Place::Variable { .. } => String::new(),
    };
    let number = number_of(table, column);
    let title = format!(
        "Slot {} Column {number} Offset {offset:#x} {bit}Length {length} Length (physical) {physical}",
        slot.number
    );
    printed.object(&slot.title, title);
    let (sql_type, _) = table.physical_type(column);
    printed.field(name_of(table, column), shown(column, field, sql_type));
}

/// The offset of a field in its record, the length of its value, and the bytes that it uses in the
/// record.
fn place_of(record: &[u8], place: Place, field: Field<'_>) -> (usize, usize, usize) {
    let bytes = match field {
        Field::Null => return (0, 0, 0),
        Field::Inline(bytes) | Field::OffRow(bytes) => bytes,
    };
    if let Place::Bit { offset, .. } = place {
        return (usize::from(offset), 1, 1);
    }
    let at = bytes.as_ptr().addr().wrapping_sub(record.as_ptr().addr());
    // The default of a column that was added later is not in the record.
    match at < record.len() && !bytes.is_empty() {
        true => (at, bytes.len(), bytes.len()),
        false => (0, bytes.len(), 0),
    }
}

/// The number of a column: its id; 0 for the uniquifier.
fn number_of(table: &Table, column: PhysicalColumn) -> i32 {
    match column {
        PhysicalColumn::Column(n) => table.columns[n].column_id,
        PhysicalColumn::Dropped(n) => DROPPED + i32::from(table.history.dropped[n].physical) + 1,
        PhysicalColumn::Uniquifier | PhysicalColumn::Rid => 0,
    }
}

/// The name of a physical column.
pub(super) fn name_of(table: &Table, column: PhysicalColumn) -> String {
    match column {
        PhysicalColumn::Column(n) => table.columns[n].name.to_string(),
        PhysicalColumn::Dropped(_) => "DROPPED".to_owned(),
        PhysicalColumn::Uniquifier => "UNIQUIFIER".to_owned(),
        PhysicalColumn::Rid => "HEAP RID".to_owned(),
    }
}

/// The number of a uniquifier; an absent one is 0.
pub(super) fn uniquifier(field: Field<'_>) -> i32 {
    let bytes = field.inline().unwrap_or_default();
    bytes.iter().rev().fold(0_u32, |n, b| n << 8 | u32::from(*b)).cast_signed()
}

fn shown(column: PhysicalColumn, field: Field<'_>, sql_type: SqlType) -> String {
    match (column, field) {
        (PhysicalColumn::Uniquifier, field) => uniquifier(field).to_string(),
        (_, Field::Null) => "[NULL]".to_owned(),
        (_, Field::OffRow(pointer)) => format!("[BLOB Inline Root] {}", hex(pointer)),
        (PhysicalColumn::Dropped(_), Field::Inline(bytes)) => hex(bytes),
        (_, Field::Inline(bytes)) => match decode_storage(bytes, sql_type) {
            Ok(value) => text_of(&value, sql_type),
            Err(_) => hex(bytes),
        },
    }
}

/// A value as DBCC PAGE shows it: dates in ODBC's form.
fn text_of(value: &Value, sql_type: SqlType) -> String {
    let style = match value {
        Value::Date(_) => 23,
        Value::SmallDateTime(_) => 120,
        Value::Time(_) | Value::DateTime(_) | Value::DateTime2(_) | Value::DateTimeOffset(_) => 121,
        Value::Bit(b) => return u8::from(*b).to_string(),
        Value::Binary(bytes) => return hex(bytes),
        Value::Money(m) => {
            let exact = Decimal::new(i128::from(*m), 4);
            return exact.map_or_else(|| value.to_string(), |d| d.to_string());
        }
        other => return other.to_string(),
    };
    print_style(value, sql_type, style).unwrap_or_else(|| value.to_string())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_owned(), |s, b| format!("{s}{b:02x}"))
}

/// The lock hash of the row, if it has a key.
fn key_hash(slot: &Slot<'_>, owner: &PageOwner, index: &Index, printed: &mut Printout) {
    let is_tree = owner.hobt.spec().kind != HobtKind::Heap;
    debug_assert_eq!(is_tree, !index.key.is_empty() || index.index_id.0 != 0, "a heap has no key");
    let Some(lock) = owner.hobt.key_lock(slot.record) else { return };
    let number = slot.number;
    let title = format!("Slot {number} Offset 0x0 Length 0 Length (physical) 0");
    printed.object(&slot.title, title);
    printed.field("KeyHashValue", locks::description(&lock));
}

/// A piece of a large value.
fn piece(slot: &Slot<'_>, page: PageId, owner: &PageOwner, printed: &mut Printout) {
    let layout = owner.hobt.layout();
    let bytes = |at| layout.field(slot.record, at).and_then(Field::inline).unwrap_or_default();
    let (key, content) = (bytes(0), bytes(1));
    let Some((value, part)) = key.split_first_chunk::<8>() else { return };
    let number = |b: &[u8]| b.iter().fold(0_u64, |n, x| n << 8 | u64::from(*x));
    let length = content.len();
    let title =
        format!("Blob row at: Page {page} Slot {} Length: {length} Type: 3 (DATA)", slot.number);
    printed.object(&slot.title, title);
    printed.field("Blob Id", number(value));
    printed.field("Piece", number(part));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uniquifier_counts_from_the_row_that_has_none() {
        assert_eq!(uniquifier(Field::Null), 0);
        assert_eq!(uniquifier(Field::Inline(&[])), 0);
        assert_eq!(uniquifier(Field::Inline(&[2, 1, 0, 0])), 258);
    }

    #[test]
    fn what_is_not_in_the_record_has_no_place_in_it() {
        let record = [0_u8; 12];
        let fixed = Place::Fixed { offset: 4, bytes: 4 };
        assert_eq!(place_of(&record, fixed, Field::Inline(&record[4..8])), (4, 4, 4));
        assert_eq!(place_of(&record, fixed, Field::Null), (0, 0, 0));
        let default = vec![7_u8; 4];
        assert_eq!(place_of(&record, fixed, Field::Inline(&default)), (0, 4, 0));
    }
}
