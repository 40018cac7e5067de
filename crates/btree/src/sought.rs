//! `Sought`: a key that is compared with many records of one page.
//!
//! What does not change from record to record is found out once: where the first column of the key
//! stands, and its number where it is one. A comparison says how many columns were alike, so that
//! a search need not look at them again.
//!
//! Cost of a comparison that the first column decides: about 20 instructions for a number of index
//! entries without NULLs, about 80 else.

use crate::order::{Number, Part, Shape, compare_fields};
use page::{Field, Place};
use std::cmp::Ordering;

/// A key, or the beginning of one, and the records that it is compared with.
pub(crate) struct Sought<'s, 'k> {
    pub(crate) shape: &'s Shape,
    pub(crate) part: Part,
    pub(crate) key: &'k [Field<'k>],
    /// Its first column, if that is a number which every record has at the same place.
    first: Option<First>,
}

struct First {
    from: usize,
    to: usize,
    number: Number,
    sought: i64,
    descending: bool,
}

impl<'s, 'k> Sought<'s, 'k> {
    #[inline]
    pub(crate) fn new(shape: &'s Shape, part: Part, key: &'k [Field<'k>]) -> Sought<'s, 'k> {
        debug_assert!(key.len() <= shape.order.len(), "a key or the beginning of one");
        Sought { shape, part, key, first: First::of(shape, part, key) }
    }

    /// How a record compares with the key from a column on, those before being alike; and how many
    /// columns are alike then. `None` when the record's bytes make no sense.
    #[inline]
    pub(crate) fn compare(&self, record: &[u8], from: usize) -> Option<(Ordering, usize)> {
        debug_assert!(from <= self.key.len(), "columns of the key");
        let mut at = from;
        if at == 0
            && let Some(first) = &self.first
        {
            match first.compare(record)? {
                Ordering::Equal => at = 1,
                order => return Some((order, 0)),
            }
        }
        if at == self.key.len() {
            return Some((Ordering::Equal, at));
        }
        let row = self.shape.layout(self.part).view(record)?;
        while let Some(sought) = self.key.get(at) {
            let stored = row.field(self.shape.order.column_of(self.part, at))?;
            let order = compare_fields(&self.shape.order.columns()[at], stored, *sought)?;
            if order != Ordering::Equal {
                return Some((order, at));
            }
            at += 1;
        }
        Some((Ordering::Equal, at))
    }
}

impl First {
    fn of(shape: &Shape, part: Part, key: &[Field<'_>]) -> Option<First> {
        let column = &shape.order.columns()[0];
        let (number, layout) = (column.number?, shape.layout(part));
        let Place::Fixed { offset, bytes } = layout.place(shape.order.column_of(part, 0)) else {
            return None;
        };
        // A bitmap would have to be asked first.
        if layout.has_null_bitmap() {
            return None;
        }
        let sought = number.of(key.first()?.inline()?)?;
        let (from, to) = (usize::from(offset), usize::from(offset + bytes));
        Some(First { from, to, number, sought, descending: column.descending })
    }

    #[inline]
    fn compare(&self, record: &[u8]) -> Option<Ordering> {
        let order = self.number.of(record.get(self.from..self.to)?)?.cmp(&self.sought);
        Some(if self.descending { order.reverse() } else { order })
    }
}
