//! `Column`: where one column of a layout stands, prepared for reading it in many records.
//!
//! Records come as bytes that begin with the record and may go on behind it, as a page does. What
//! only the layout can tell (a column that was added later, a pointer off the row) is not answered
//! here: the layout is asked then.
//!
//! Cost of a read of an index entry: about 10 instructions for a number, 20 for a text.

use crate::header::u16_at;
use crate::layout::{Place, RowLayout, fixed_end_of};
use crate::record::{HAS_NULLS, HAS_VARIABLE, OFF_ROW};
use std::ops::Range;

/// A column of a layout.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    form: Form,
    /// The byte of an entry's null bitmap that has the column's bit, and the bit; 0 where there is
    /// no bitmap.
    nulls: u16,
    null: u8,
    number: u16,
}

/// How the column is found.
#[derive(Clone, Copy, Debug)]
enum Form {
    /// In an entry, between these bytes.
    Fixed(u16, u16),
    /// In an entry, as the n-th variable column; and where the variable part begins.
    Variable(u16, u16),
    /// In a row, which says where its parts begin: it may be older than its last columns.
    InRow(Place),
    /// Not here.
    Other,
}

impl RowLayout {
    /// A column, to be read in many records.
    pub fn column(&self, number: usize) -> Column {
        let (place, bitmap) = (self.place(number), self.column_count().div_ceil(8) as u16);
        let Some(end) = self.common_fixed_end() else {
            return Column { form: Form::InRow(place), nulls: 0, null: 0, number: number as u16 };
        };
        let (nulls, null, variable) = match self.has_null_bitmap() {
            true => (end + 2 + number as u16 / 8, 1 << (number % 8), end + 2 + bitmap),
            false => (0, 0, end),
        };
        let form = match place {
            Place::Fixed { offset, bytes } => Form::Fixed(offset, offset + bytes),
            Place::Variable { index } => Form::Variable(index, variable),
            Place::Bit { .. } => Form::Other,
        };
        Column { form, nulls, null, number: number as u16 }
    }
}

impl Column {
    /// Where its bytes are, if they stand in the record and are not NULL.
    #[inline(always)]
    pub fn range(&self, record: &[u8]) -> Option<Range<usize>> {
        if self.null != 0 && *record.get(usize::from(self.nulls))? & self.null != 0 {
            return None;
        }
        match self.form {
            Form::Variable(index, at) => variable(record, usize::from(at), usize::from(index)),
            Form::Fixed(from, to) => Some(usize::from(from)..usize::from(to)),
            Form::InRow(place) => self.range_in_row(place, record),
            Form::Other => None,
        }
    }

    fn range_in_row(&self, place: Place, record: &[u8]) -> Option<Range<usize>> {
        let (end, number) = (fixed_end_of(record)?, usize::from(self.number));
        let mut at = end;
        if *record.first()? & HAS_NULLS != 0 {
            let stored = usize::from(u16_at(record.get(end..end + 2)?, 0));
            let null = record.get(end + 2 + number / 8)? & (1 << (number % 8)) != 0;
            if number >= stored || null {
                return None;
            }
            at += 2 + stored.div_ceil(8);
        }
        match place {
            Place::Fixed { offset, bytes } => {
                Some(usize::from(offset)..usize::from(offset) + usize::from(bytes))
            }
            Place::Variable { index } => variable(record, at, usize::from(index)),
            Place::Bit { .. } => None,
        }
    }
}

#[inline(always)]
fn variable(record: &[u8], at: usize, index: usize) -> Option<Range<usize>> {
    if index > 0 {
        return further(record, at, index);
    }
    let [low, high, end_low, end_high] = *record.get(at..)?.first_chunk()?;
    let count = u16::from_le_bytes([low, high]);
    let end = usize::from(u16::from_le_bytes([end_low, end_high]));
    let from = at + 2 + 2 * usize::from(count);
    // The end of what is off the row is beyond any record's.
    let is_there = record[0] & HAS_VARIABLE != 0 && count > 0 && from <= end && end <= record.len();
    is_there.then_some(from..end)
}

/// The same of a variable column that is not the first: it begins where the one before ends.
fn further(record: &[u8], at: usize, index: usize) -> Option<Range<usize>> {
    let own = at + 2 + 2 * index;
    let front = record.get(at..own + 2)?;
    if record[0] & HAS_VARIABLE == 0 || index >= usize::from(u16_at(front, 0)) {
        return None;
    }
    let end = usize::from(u16_at(front, own - at));
    let from = usize::from(u16_at(front, own - at - 2) & !OFF_ROW);
    (from <= end && end <= record.len()).then_some(from..end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Field;
    use crate::record::RecordKind;
    use proptest::prelude::*;

    fn text() -> impl Strategy<Value = Option<Vec<u8>>> {
        prop::option::of(prop::collection::vec(any::<u8>(), 0..20))
    }

    proptest! {
        /// What it finds is what the layout finds; what it does not find the layout is asked for.
        #[test]
        fn a_column_is_where_its_layout_has_it(
            number in prop::option::of(any::<u32>()), texts in prop::collection::vec(text(), 3),
            entry in any::<bool>(), behind in prop::collection::vec(any::<u8>(), 0..30),
        ) {
            let widths = [None, Some(4), None, None];
            let layout = match entry {
                true => RowLayout::of_entries(&widths, true, 0),
                false => RowLayout::of_rows(&widths),
            };
            let number = number.map(u32::to_le_bytes);

            let texts: Vec<Option<&[u8]>> = texts.iter().map(Option::as_deref).collect();
            let number = number.as_ref().map(|b| &b[..]);
            let fields = [texts[0], number, texts[1], texts[2]]
                .map(|bytes| bytes.map_or(Field::Null, Field::Inline));
            let kind = if entry { RecordKind::Index } else { RecordKind::Primary };
            let mut record = Vec::new();
            layout.encode(kind, &fields, None, &mut record);
            record.extend(behind);
            for (column, field) in fields.iter().enumerate() {
                let found = layout.column(column).range(&record).map(|range| &record[range]);
                match (found, field.inline()) {
                    (Some(found), bytes) => prop_assert_eq!(Some(found), bytes),
                    (None, bytes) => prop_assert!(bytes.is_none_or(<[u8]>::is_empty)),
                }
            }
        }

        #[test]
        fn any_bytes_are_read_without_a_panic(
            record in prop::collection::vec(any::<u8>(), 0..60), entry in any::<bool>(),
        ) {
            let widths = [Some(4), None, None];
            let layout = match entry {
                true => RowLayout::of_entries(&widths, true, 6),
                false => RowLayout::of_rows(&widths),
            };
            for column in 0..3 {
                if let Some(range) = layout.column(column).range(&record) {
                    prop_assert!(column == 0 || record.get(range).is_some());
                }
            }
        }
    }
}
