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
    place: Place,
    number: usize,
    /// What all entries of an index have alike; `None` where each record says it.
    front: Option<Front>,
}

/// Where an entry has the parts behind its fixed columns.
#[derive(Clone, Copy, Debug)]
struct Front {
    /// The byte with the column's bit in the null bitmap, if there is one.
    nulls: usize,
    /// That bit, or 0.
    null: u8,
    variable: usize,
}

impl RowLayout {
    /// A column, to be read in many records.
    #[inline]
    pub fn column(&self, number: usize) -> Column {
        let front = self.common_fixed_end().map(|end| match self.has_null_bitmap() {
            true => Front {
                nulls: end + 2 + number / 8,
                null: 1 << (number % 8),
                variable: end + 2 + self.column_count().div_ceil(8),
            },
            false => Front { nulls: 0, null: 0, variable: end },
        });
        Column { place: self.place(number), number, front }
    }
}

impl Column {
    /// Where its bytes are, if they stand in the record and are not NULL.
    #[inline(always)]
    pub fn range(&self, record: &[u8]) -> Option<Range<usize>> {
        let Some(front) = &self.front else { return self.range_in_row(record) };
        if front.null != 0 && *record.get(front.nulls)? & front.null != 0 {
            return None;
        }
        match self.place {
            Place::Fixed { offset, bytes } => Some(span(offset, bytes)),
            Place::Variable { index } => variable(record, front.variable, usize::from(index)),
            Place::Bit { .. } => None,
        }
    }

    /// The same of a row, which may be older than its last columns.
    fn range_in_row(&self, record: &[u8]) -> Option<Range<usize>> {
        let end = fixed_end_of(record)?;
        let mut at = end;
        if *record.first()? & HAS_NULLS != 0 {
            let stored = usize::from(u16_at(record.get(end..end + 2)?, 0));
            let null = record.get(end + 2 + self.number / 8)? & (1 << (self.number % 8)) != 0;
            if self.number >= stored || null {
                return None;
            }
            at += 2 + stored.div_ceil(8);
        }
        match self.place {
            Place::Fixed { offset, bytes } => Some(span(offset, bytes)),
            Place::Variable { index } => variable(record, at, usize::from(index)),
            Place::Bit { .. } => None,
        }
    }
}

#[inline(always)]
fn span(offset: u16, bytes: u16) -> Range<usize> {
    usize::from(offset)..usize::from(offset) + usize::from(bytes)
}

#[inline(always)]
fn variable(record: &[u8], at: usize, index: usize) -> Option<Range<usize>> {
    let own = at + 2 + 2 * index;
    let front = record.get(at..own + 2)?;
    let count = usize::from(u16_at(front, 0));
    if record[0] & HAS_VARIABLE == 0 || index >= count {
        return None;
    }
    let end = usize::from(u16_at(front, own - at));
    let from = match index {
        0 => at + 2 + 2 * count,
        _ => usize::from(u16_at(front, own - at - 2) & !OFF_ROW),
    };
    // The end of what is off the row is beyond any record's.
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
