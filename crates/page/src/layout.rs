//! `RowLayout`: where each physical column of a record stands, and how to build one.
//!
//! A layout knows widths, not types. Physical columns are apart from logical ones: a dropped
//! column keeps its place, an added one may be absent in old records and then reads as its
//! default bytes.
//!
//! Invariants
//!  1. `encode` then `field` gives back every field (tested).
//!  2. Trailing variable columns that are empty or NULL are not stored.
//!  3. A record may have only the first so many columns: whoever wrote it knew no more. It then is
//!     byte for byte what a layout of those columns builds.
//!  4. A data record always has a null bitmap; an index record only when a column may be NULL.

use crate::header::u16_at;
use crate::record::{HAS_NULLS, HAS_TAG, HAS_VARIABLE, OFF_ROW, RecordKind, VersionTag};
use base::limits::VERSION_TAG_BYTES;

/// Where a column stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the fixed part.
    Fixed {
        /// From the record's start.
        offset: u16,
        /// Width.
        bytes: u16,
    },
    /// One bit of a byte in the fixed part.
    Bit {
        /// From the record's start.
        offset: u16,
        /// The bit.
        mask: u8,
    },
    /// The n-th variable column.
    Variable {
        /// From 0.
        index: u16,
    },
}

/// A column's bytes in a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Field<'a> {
    /// NULL.
    Null,
    /// The value's bytes. A bit column has one byte, 0 or 1.
    Inline(&'a [u8]),
    /// A pointer to bytes off the row.
    OffRow(&'a [u8]),
}

impl<'a> Field<'a> {
    /// The bytes of an in-row value.
    pub fn inline(self) -> Option<&'a [u8]> {
        match self {
            Field::Inline(b) => Some(b),
            Field::Null | Field::OffRow(_) => None,
        }
    }
}

/// The physical columns of a record, as plain data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowLayout {
    index_record: bool,
    places: Vec<Place>,
    /// Bytes a column has in records from before it was added.
    defaults: Vec<Option<Box<[u8]>>>,
    fixed_end: u16,
    /// `fixed_end` before columns were added: no record's fixed part is shorter.
    min_len: u16,
    null_bitmap: bool,
    variable_count: u16,
}

/// What a column asks of a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    Fixed(u16),
    Bit,
    Variable,
}

impl RowLayout {
    /// A layout of rows (heap, clustered leaf). A width of `None` is variable; `Some(0)` a bit.
    pub fn of_rows(widths: &[Option<u16>]) -> RowLayout {
        Self::build(false, widths, true, 0)
    }

    /// A layout of index entries. `nullable` tells whether any column may be NULL; `tail` bytes
    /// (the child pointer of interior pages: 6) follow the fixed columns.
    pub fn of_entries(widths: &[Option<u16>], nullable: bool, tail: u16) -> RowLayout {
        Self::build(true, widths, nullable, tail)
    }

    fn build(index: bool, widths: &[Option<u16>], null_bitmap: bool, tail: u16) -> RowLayout {
        let mut at: u16 = if index { 1 } else { 4 };
        let mut bit: Option<(u16, u8)> = None;
        let mut variable_count = 0;
        let mut places = Vec::with_capacity(widths.len());
        for &w in widths {
            let width = match w {
                None => Width::Variable,
                Some(0) => Width::Bit,
                Some(n) => Width::Fixed(n),
            };
            places.push(match width {
                Width::Variable => {
                    variable_count += 1;
                    Place::Variable { index: variable_count - 1 }
                }
                Width::Fixed(bytes) => {
                    at += bytes;
                    Place::Fixed { offset: at - bytes, bytes }
                }
                Width::Bit => {
                    let (offset, mask) = match bit {
                        Some((offset, mask)) if mask != 0x80 => (offset, mask << 1),
                        _ => {
                            at += 1;
                            (at - 1, 1)
                        }
                    };
                    bit = Some((offset, mask));
                    Place::Bit { offset, mask }
                }
            });
        }
        RowLayout {
            index_record: index,
            defaults: vec![None; places.len()],
            places,
            fixed_end: at + tail,
            min_len: at + tail,
            null_bitmap,
            variable_count,
        }
    }

    /// Adds a column that is absent from records written so far and reads as `default` there.
    pub fn add_column(&mut self, width: Option<u16>, default: Option<&[u8]>) {
        assert!(!self.index_record, "entries are rebuilt when their columns change");
        let place = match width {
            None => {
                self.variable_count += 1;
                Place::Variable { index: self.variable_count - 1 }
            }
            Some(0) => {
                self.fixed_end += 1;
                Place::Bit { offset: self.fixed_end - 1, mask: 1 }
            }
            Some(bytes) => {
                self.fixed_end += bytes;
                Place::Fixed { offset: self.fixed_end - bytes, bytes }
            }
        };
        self.places.push(place);
        self.defaults.push(default.map(Box::from));
    }

    /// Number of physical columns.
    pub fn column_count(&self) -> usize {
        self.places.len()
    }

    /// Where a column stands.
    #[inline]
    pub fn place(&self, column: usize) -> Place {
        self.places[column]
    }

    /// What goes into the page header as pminlen: the same for all pages of a hobt.
    pub fn min_len(&self) -> u16 {
        self.min_len
    }

    /// Where the fixed part of a record of the first so many columns ends.
    pub(crate) fn fixed_end_of(&self, columns: usize) -> usize {
        if columns == self.places.len() {
            return usize::from(self.fixed_end);
        }
        let end = |place: &Place| match *place {
            Place::Fixed { offset, bytes } => usize::from(offset + bytes),
            Place::Bit { offset, .. } => usize::from(offset) + 1,
            Place::Variable { .. } => 4,
        };
        self.places.iter().take(columns).map(end).max().unwrap_or(4)
    }

    /// Where the fixed part of every record ends, if each has the same.
    #[inline]
    pub(crate) fn common_fixed_end(&self) -> Option<u16> {
        self.index_record.then_some(self.fixed_end)
    }

    pub(crate) fn is_of_entries(&self) -> bool {
        self.index_record
    }

    /// Whether records of the layout have a null bitmap.
    #[inline]
    pub fn has_null_bitmap(&self) -> bool {
        self.null_bitmap
    }

    /// The child pointer's offset in an interior entry with a tail of 6.
    pub fn tail_offset(&self, tail: u16) -> usize {
        usize::from(self.fixed_end - tail)
    }

    /// A column of a record; `None` when the record's bytes make no sense.
    #[inline]
    pub fn field<'a>(&'a self, record: &'a [u8], column: usize) -> Option<Field<'a>> {
        self.view(record)?.field(column)
    }

    /// A record whose columns are to be read, several of them; `None` when its bytes make no sense.
    #[inline]
    pub fn view<'a>(&'a self, record: &'a [u8]) -> Option<RowView<'a>> {
        let status = *record.first()?;
        let fixed_end =
            if self.index_record { usize::from(self.fixed_end) } else { fixed_end_of(record)? };
        let mut view = RowView {
            layout: self,
            record,
            status,
            stored: usize::MAX,
            nulls: fixed_end,
            variable: fixed_end,
        };
        if status & HAS_NULLS != 0 {
            view.stored = usize::from(u16_at(record.get(fixed_end..fixed_end + 2)?, 0));
            view.nulls = fixed_end + 2;
            view.variable = view.nulls + view.stored.div_ceil(8);
        }
        Some(view)
    }

    /// Length of the record that [`RowLayout::encode`] would build.
    pub fn encoded_len(&self, fields: &[Field<'_>], tagged: bool) -> usize {
        let stored = self.stored_variable_count(fields);
        let variable = if stored == 0 { 0 } else { 2 + 2 * stored };
        let data: usize = self.variable_fields(fields).map(|(_, b, _)| b.len()).sum();
        self.front_len(fields.len()) + variable + data + if tagged { VERSION_TAG_BYTES } else { 0 }
    }

    /// Appends a record of these fields, one per column, to `out`. Rows may end before columns
    /// that were added (invariant 3).
    ///
    /// `kind` is [`RecordKind::Primary`] or [`RecordKind::Index`], or a ghost of them.
    pub fn encode(
        &self,
        kind: RecordKind,
        fields: &[Field<'_>],
        tag: Option<VersionTag>,
        out: &mut Vec<u8>,
    ) {
        let all = fields.len() == self.places.len();
        assert!(all || !self.index_record, "one field per physical column");
        assert!(fields.len() <= self.places.len(), "no field without a column");
        assert_eq!(kind.is_index(), self.index_record, "a layout builds its own kind of record");
        let base = out.len();
        out.resize(base + self.front_len(fields.len()), 0);
        self.encode_front(kind, fields, &mut out[base..]);
        let stored = self.stored_variable_count(fields);
        if stored > 0 {
            out[base] |= HAS_VARIABLE;
            self.encode_variable(fields, stored, base, out);
        }
        if let Some(tag) = tag {
            out[base] |= HAS_TAG;
            out.extend_from_slice(&tag.bytes());
        }
    }

    fn front_len(&self, columns: usize) -> usize {
        let nulls = if self.null_bitmap { 2 + columns.div_ceil(8) } else { 0 };
        self.fixed_end_of(columns) + nulls
    }

    fn encode_front(&self, kind: RecordKind, fields: &[Field<'_>], front: &mut [u8]) {
        front[0] = kind.bits();
        let nulls_at = self.fixed_end_of(fields.len());
        if !self.index_record {
            front[2..4].copy_from_slice(&(nulls_at as u16).to_le_bytes());
        }
        if self.null_bitmap {
            front[0] |= HAS_NULLS;
            let n = fields.len() as u16;
            front[nulls_at..nulls_at + 2].copy_from_slice(&n.to_le_bytes());
        }
        for (column, (place, field)) in self.places.iter().zip(fields).enumerate() {
            match (*field, *place) {
                (Field::Null, _) => {
                    assert!(self.null_bitmap, "a NULL needs a null bitmap");
                    front[nulls_at + 2 + column / 8] |= 1 << (column % 8);
                }
                (Field::Inline(b), Place::Fixed { offset, bytes }) => {
                    assert_eq!(b.len(), usize::from(bytes), "a fixed column has its width");
                    let from = usize::from(offset);
                    front[from..from + b.len()].copy_from_slice(b);
                }
                (Field::Inline(b), Place::Bit { offset, mask }) => {
                    if b[0] != 0 {
                        front[usize::from(offset)] |= mask;
                    }
                }
                (Field::Inline(_) | Field::OffRow(_), Place::Variable { .. }) => {}
                (Field::OffRow(_), _) => unreachable!("only a variable column is off-row"),
            }
        }
    }

    fn variable_fields<'a>(
        &'a self,
        fields: &'a [Field<'a>],
    ) -> impl Iterator<Item = (u16, &'a [u8], bool)> + 'a {
        self.places.iter().zip(fields).filter_map(|(place, field)| match *place {
            Place::Variable { index } => Some(match *field {
                Field::Null => (index, &[][..], false),
                Field::Inline(b) => (index, b, false),
                Field::OffRow(b) => (index, b, true),
            }),
            Place::Fixed { .. } | Place::Bit { .. } => None,
        })
    }

    /// Rule 2: up to the last variable column that has bytes.
    fn stored_variable_count(&self, fields: &[Field<'_>]) -> usize {
        if self.variable_count == 0 {
            return 0;
        }
        let fields = &fields[..fields.len().min(self.places.len())];
        for (place, field) in self.places[..fields.len()].iter().zip(fields).rev() {
            let (Place::Variable { index }, Field::Inline(b) | Field::OffRow(b)) = (place, field)
            else {
                continue;
            };
            if !b.is_empty() {
                return usize::from(*index) + 1;
            }
        }
        0
    }

    fn encode_variable(&self, fields: &[Field<'_>], stored: usize, base: usize, out: &mut Vec<u8>) {
        out.extend_from_slice(&(stored as u16).to_le_bytes());
        let offsets = out.len();
        out.resize(offsets + 2 * stored, 0);
        // Places are numbered in column order, so this is the order of the indexes too.
        for (index, bytes, off_row) in self.variable_fields(fields).take(stored) {
            out.extend_from_slice(bytes);
            let end = out.len() - base;
            assert!(end < usize::from(OFF_ROW), "a record is shorter than 32 KB");
            let end = end as u16 | if off_row { OFF_ROW } else { 0 };
            let at = offsets + 2 * usize::from(index);
            out[at..at + 2].copy_from_slice(&end.to_le_bytes());
        }
    }
}

/// A record with what its front says of its columns: read once for all of them.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    layout: &'a RowLayout,
    record: &'a [u8],
    status: u8,
    /// Columns that the record has; all, where it has no bitmap.
    stored: usize,
    /// Where the bitmap's bits begin.
    nulls: usize,
    /// Where the variable columns begin.
    variable: usize,
}

impl<'a> RowView<'a> {
    /// Whether some column's bytes are off the row; bytes that make no sense have none.
    #[inline]
    pub fn has_off_row(&self) -> bool {
        if self.status & HAS_VARIABLE == 0 {
            return false;
        }
        let count = self.record.get(self.variable..self.variable + 2).map_or(0, |b| u16_at(b, 0));
        let from = self.variable + 2;
        let ends = self.record.get(from..from + 2 * usize::from(count)).unwrap_or_default();
        ends.as_chunks::<2>().0.iter().any(|&end| u16::from_le_bytes(end) & OFF_ROW != 0)
    }

    /// A column; `None` when the record's bytes make no sense.
    #[inline]
    pub fn field(&self, column: usize) -> Option<Field<'a>> {
        if self.status & HAS_NULLS != 0 {
            if column >= self.stored {
                return Some(match &self.layout.defaults.get(column)? {
                    Some(bytes) => Field::Inline(bytes),
                    None => Field::Null,
                });
            }
            if self.record.get(self.nulls + column / 8)? & (1 << (column % 8)) != 0 {
                return Some(Field::Null);
            }
        }
        match *self.layout.places.get(column)? {
            Place::Fixed { offset, bytes } => {
                let from = usize::from(offset);
                Some(Field::Inline(self.record.get(from..from + usize::from(bytes))?))
            }
            Place::Bit { offset, mask } => {
                let set = self.record.get(usize::from(offset))? & mask != 0;
                Some(Field::Inline(if set { &[1] } else { &[0] }))
            }
            Place::Variable { index } => variable(self.record, self.status, self.variable, index),
        }
    }
}

#[inline]
pub(crate) fn fixed_end_of(record: &[u8]) -> Option<usize> {
    Some(usize::from(u16_at(record.get(..4)?, 2)))
}

#[inline]
fn variable(record: &[u8], status: u8, at: usize, index: u16) -> Option<Field<'_>> {
    if status & HAS_VARIABLE == 0 {
        return Some(Field::Inline(&[]));
    }
    let count = usize::from(u16_at(record.get(at..at + 2)?, 0));
    let index = usize::from(index);
    if index >= count {
        return Some(Field::Inline(&[]));
    }
    let ends = record.get(at + 2..at + 2 + 2 * count)?;
    let end = u16_at(ends, 2 * index);
    let from = match index {
        0 => at + 2 + 2 * count,
        n => usize::from(u16_at(ends, 2 * (n - 1)) & !OFF_ROW),
    };
    let bytes = record.get(from..usize::from(end & !OFF_ROW))?;
    Some(if end & OFF_ROW != 0 { Field::OffRow(bytes) } else { Field::Inline(bytes) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::length;
    use base::Xsn;
    use proptest::prelude::*;

    #[test]
    fn the_one_row_table_has_records_of_11_and_25_bytes() {
        let row = RowLayout::of_rows(&[Some(4)]);
        let mut out = Vec::new();
        row.encode(RecordKind::Primary, &[Field::Inline(&[1, 0, 0, 0])], None, &mut out);
        assert_eq!(out, [0x10, 0, 8, 0, 1, 0, 0, 0, 1, 0, 0]);
        let tag = VersionTag { previous: Default::default(), writer: Xsn(49) };
        out.clear();
        row.encode(RecordKind::Primary, &[Field::Inline(&[1, 0, 0, 0])], Some(tag), &mut out);
        assert_eq!((out.len(), length(&out, 0)), (25, Some(25)));
        let entry = RowLayout::of_entries(&[Some(4)], false, 6);
        assert_eq!((entry.min_len(), entry.tail_offset(6)), (11, 5));
    }

    #[test]
    fn a_published_dump_is_built_byte_for_byte() {
        let row = RowLayout::of_rows(&[Some(4), None, None, Some(0)]);
        // PSI's row: int 2, NULL, ten b's, NULL; here the fourth column is a bit.
        let fields =
            [Field::Inline(&[2, 0, 0, 0]), Field::Null, Field::Inline(b"bbbbbbbbbb"), Field::Null];
        let mut out = Vec::new();
        row.encode(RecordKind::Primary, &fields, None, &mut out);
        let mut want = vec![0x30, 0, 9, 0, 2, 0, 0, 0, 0, 4, 0, 0x0A, 2, 0, 18, 0, 28, 0];
        want.extend(b"bbbbbbbbbb");
        assert_eq!(out, want);
    }

    #[test]
    fn a_column_added_later_reads_as_its_default_in_old_records() {
        let mut row = RowLayout::of_rows(&[Some(4)]);
        let mut old = Vec::new();
        row.encode(RecordKind::Primary, &[Field::Inline(&[7; 4])], None, &mut old);
        row.add_column(Some(2), Some(&[5, 0]));
        row.add_column(None, None);
        assert_eq!(row.field(&old, 1), Some(Field::Inline(&[5, 0])));
        assert_eq!(row.field(&old, 2), Some(Field::Null));
        let fields = [Field::Inline(&[7; 4]), Field::Null, Field::Inline(b"x")];
        let mut new = Vec::new();
        row.encode(RecordKind::Primary, &fields, None, &mut new);
        assert_eq!(row.field(&new, 1), Some(Field::Null));
        assert_eq!(row.min_len(), RowLayout::of_rows(&[Some(4)]).min_len());
        assert_eq!(row.field(&new, 2), Some(Field::Inline(b"x")));
    }

    #[test]
    fn a_row_that_ends_before_added_columns_is_that_of_a_layout_without_them() {
        let mut row = RowLayout::of_rows(&[Some(4), Some(0), None]);
        let narrow = row.clone();
        row.add_column(Some(8), Some(&[1; 8]));
        row.add_column(Some(0), None);
        row.add_column(None, None);
        let fields = [Field::Inline(&[7; 4]), Field::Inline(&[1]), Field::Inline(b"abc")];
        let (mut wide, mut old) = (Vec::new(), Vec::new());
        row.encode(RecordKind::Primary, &fields, None, &mut wide);
        narrow.encode(RecordKind::Primary, &fields, None, &mut old);
        assert_eq!(wide, old);
        assert_eq!(row.encoded_len(&fields, false), wide.len());
        assert_eq!(row.field(&wide, 3), Some(Field::Inline(&[1; 8])));
        assert_eq!((row.check(&wide), narrow.check(&wide)), (Ok(()), Ok(())));
    }

    fn column() -> impl Strategy<Value = (Option<u16>, Option<Vec<u8>>, bool)> {
        let width = prop_oneof![Just(None), Just(Some(0)), (1..20_u16).prop_map(Some)];
        (width, any::<bool>(), prop::collection::vec(any::<u8>(), 0..40), any::<bool>()).prop_map(
            |(w, null, mut bytes, off)| {
                match w {
                    Some(0) => bytes = vec![bytes.len() as u8 & 1],
                    Some(n) => bytes.resize(usize::from(n), 3),
                    None => {}
                }
                let off = off && w.is_none() && !bytes.is_empty();
                (w, (!null).then_some(bytes), off)
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_read_back(
            columns in prop::collection::vec(column(), 1..40),
            index in any::<bool>(),
            tagged in any::<bool>(),
        ) {
            let widths: Vec<_> = columns.iter().map(|c| c.0).collect();
            let fields: Vec<Field<'_>> = columns.iter().map(|c| match (&c.1, c.2) {
                (None, _) => Field::Null,
                (Some(b), false) => Field::Inline(b),
                (Some(b), true) => Field::OffRow(b),
            }).collect();
            let (layout, kind) = if index {
                (RowLayout::of_entries(&widths, true, 0), RecordKind::Index)
            } else {
                (RowLayout::of_rows(&widths), RecordKind::Primary)
            };
            let tag = tagged.then_some(VersionTag { previous: Default::default(), writer: Xsn(9) });
            let mut out = vec![0xAA; 3];
            layout.encode(kind, &fields, tag, &mut out);
            let record = &out[3..];
            prop_assert_eq!(record.len(), layout.encoded_len(&fields, tagged));
            prop_assert_eq!(length(record, layout.min_len()), Some(record.len()));
            for (i, f) in fields.iter().enumerate() {
                prop_assert_eq!(layout.field(record, i), Some(*f));
            }
            for cut in 0..record.len() {
                for i in 0..fields.len() {
                    let _ = layout.field(&record[..cut], i);
                }
            }
        }
    }
}
