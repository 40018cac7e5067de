//! `KeyOrder`: the order of records, compared in place.
//!
//! A key column is a comparison of bytes, a direction, and the position of its bytes in a leaf
//! record. In an interior entry the key columns come first, in key order. NULL comes first (last
//! when descending). The tree knows nothing else of types.

use crate::key::KeyBuf;
use crate::target_key::PREPARED;
use page::{Column, Field, KeyColumn, Place, RecordKind, RowLayout};
use std::cmp::Ordering;

/// Columns a key may have: those of the index, the clustered key's behind it, a uniquifier.
pub const ORDER_COLUMNS_MAX: usize = 65;

/// The columns of a key, the most significant first. Together they are unique.
#[derive(Clone, Debug)]
pub struct KeyOrder {
    columns: Box<[KeyColumn]>,
}

/// Where in the tree a record stands, which decides where its key columns are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    Leaf,
    Interior,
}

impl KeyOrder {
    /// An order by these columns.
    ///
    /// # Panics
    /// Without a column, or with more than [`ORDER_COLUMNS_MAX`].
    pub fn new(columns: Vec<KeyColumn>) -> Self {
        assert!(!columns.is_empty() && columns.len() <= ORDER_COLUMNS_MAX);
        KeyOrder { columns: columns.into_boxed_slice() }
    }

    /// Its columns.
    pub fn columns(&self) -> &[KeyColumn] {
        &self.columns
    }

    /// Number of columns of a whole key.
    pub fn len(&self) -> usize {
        debug_assert!(!self.columns.is_empty(), "a key has a column");
        self.columns.len()
    }

    /// Never: a key has a column.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    #[inline]
    pub(crate) fn column_of(&self, part: Part, key_column: usize) -> usize {
        debug_assert!(key_column < self.columns.len(), "a column of the key");
        match part {
            Part::Leaf => self.columns[key_column].leaf_column,
            Part::Interior => key_column,
        }
    }

    /// A record against a key or the beginning of one, which is equal to all that begin with it.
    /// `None` when the record's bytes make no sense.
    #[inline]
    pub(crate) fn compare(
        &self,
        layout: &RowLayout,
        part: Part,
        record: &[u8],
        key: &[Field<'_>],
    ) -> Option<Ordering> {
        debug_assert!(key.len() <= self.columns.len(), "a key or the beginning of one");
        if key.is_empty() {
            return Some(Ordering::Equal);
        }
        let row = layout.view(record)?;
        for (i, (column, sought)) in self.columns.iter().zip(key).enumerate() {
            let stored = row.field(self.column_of(part, i))?;
            let order = compare_fields(column, stored, *sought)?;
            if order != Ordering::Equal {
                return Some(order);
            }
        }
        Some(Ordering::Equal)
    }

    /// Two whole keys.
    pub fn compare_keys(&self, a: &[Field<'_>], b: &[Field<'_>]) -> Option<Ordering> {
        debug_assert_eq!(a.len(), b.len(), "keys of one length compare");
        debug_assert!(a.len() <= self.columns.len(), "a key or the beginning of one");
        for ((column, a), b) in self.columns.iter().zip(a).zip(b) {
            let order = compare_fields(column, *a, *b)?;
            if order != Ordering::Equal {
                return Some(order);
            }
        }
        Some(Ordering::Equal)
    }

    /// The layout of interior entries: the key's columns and a tail of six bytes for the child.
    pub(crate) fn interior_layout(&self, leaf: &RowLayout, nullable: bool) -> RowLayout {
        let width = |c: &KeyColumn| match leaf.place(c.leaf_column) {
            Place::Fixed { bytes, .. } => Some(bytes),
            Place::Bit { .. } => Some(0),
            Place::Variable { .. } => None,
        };
        let widths: Vec<Option<u16>> = self.columns.iter().map(width).collect();
        let interior = RowLayout::of_entries(&widths, nullable, CHILD_BYTES);
        assert_eq!(interior.column_count(), self.columns.len(), "an entry has the key's columns");
        interior
    }
}

/// Page and file of a child, at the end of an interior entry's fixed part.
pub(crate) const CHILD_BYTES: u16 = 6;

#[inline]
pub(crate) fn compare_fields(column: &KeyColumn, a: Field<'_>, b: Field<'_>) -> Option<Ordering> {
    let order = match (a, b) {
        (Field::Inline(a), Field::Inline(b)) => (column.compare)(a, b, column.rule),
        (Field::Null, Field::Null) => Ordering::Equal,
        (Field::Null, Field::Inline(_)) => Ordering::Less,
        (Field::Inline(_), Field::Null) => Ordering::Greater,
        // A key column is never off the row.
        (Field::OffRow(_), _) | (_, Field::OffRow(_)) => return None,
    };
    Some(if column.descending { order.reverse() } else { order })
}

/// Where the records of a tree have their columns, and their order.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) order: KeyOrder,
    pub(crate) leaf: RowLayout,
    pub(crate) interior: RowLayout,
    /// The first columns of the key.
    pub(crate) places: Box<[KeyPlace]>,
}

/// A column of the key with where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyPlace {
    pub(crate) column: KeyColumn,
    pub(crate) leaf: Column,
    pub(crate) interior: Column,
}

impl Shape {
    pub(crate) fn new(order: KeyOrder, leaf: RowLayout, nullable_key: bool) -> Shape {
        let interior = order.interior_layout(&leaf, nullable_key);
        let place = |n: usize| KeyPlace {
            column: order.columns()[n],
            leaf: leaf.column(order.column_of(Part::Leaf, n)),
            interior: interior.column(order.column_of(Part::Interior, n)),
        };
        let places = (0..order.len().min(PREPARED)).map(place).collect();
        Shape { order, leaf, interior, places }
    }

    #[inline]
    pub(crate) fn layout(&self, part: Part) -> &RowLayout {
        match part {
            Part::Leaf => &self.leaf,
            Part::Interior => &self.interior,
        }
    }

    #[inline]
    pub(crate) fn compare(&self, part: Part, record: &[u8], key: &[Field<'_>]) -> Option<Ordering> {
        self.order.compare(self.layout(part), part, record, key)
    }

    /// Fills `fields` with a record's key; `None` when its bytes make no sense.
    pub(crate) fn key_of<'a>(
        &'a self,
        part: Part,
        record: &'a [u8],
        fields: &mut KeyFields<'a>,
    ) -> Option<()> {
        debug_assert_eq!(self.interior.column_count(), self.order.len(), "an entry is a key");
        fields.clear();
        let row = self.layout(part).view(record)?;
        for i in 0..self.order.len() {
            let field = row.field(self.order.column_of(part, i))?;
            if matches!(field, Field::OffRow(_)) {
                return None;
            }
            fields.push(field);
        }
        debug_assert_eq!(fields.as_slice().len(), self.order.len(), "a whole key");
        Some(())
    }

    /// Copies a record's key.
    pub(crate) fn copy_key(&self, part: Part, record: &[u8], to: &mut KeyBuf) -> Option<()> {
        to.clear();
        let row = self.layout(part).view(record)?;
        for i in 0..self.order.len() {
            let field = row.field(self.order.column_of(part, i))?;
            if matches!(field, Field::OffRow(_)) {
                return None;
            }
            to.push(field);
        }
        debug_assert!(to.bytes().len() >= self.order.len(), "a byte at least for each column");
        Some(())
    }

    /// Appends the interior entry of a key and a child to `out`.
    pub(crate) fn encode_entry(&self, key: &[Field<'_>], child: base::PageId, out: &mut Vec<u8>) {
        assert_eq!(key.len(), self.order.len(), "a separator is a whole key");
        let start = out.len();
        self.interior.encode(RecordKind::Index, key, None, out);
        self.put_child(&mut out[start..], child);
        debug_assert_eq!(self.child_of(&out[start..]), Some(child), "read as written");
        debug_assert_eq!(out.len() - start, self.entry_len(key), "as long as it was said");
    }

    /// Length of the interior entry of a key.
    pub(crate) fn entry_len(&self, key: &[Field<'_>]) -> usize {
        debug_assert_eq!(key.len(), self.order.len(), "a separator is a whole key");
        self.interior.encoded_len(key, false)
    }

    /// Lets an interior entry point to another child.
    pub(crate) fn put_child(&self, entry: &mut [u8], child: base::PageId) {
        debug_assert!(
            entry.len() >= usize::from(self.interior.min_len()),
            "an entry has its fixed part"
        );
        let at = self.interior.tail_offset(CHILD_BYTES);
        entry[at..at + 4].copy_from_slice(&child.page.to_le_bytes());
        entry[at + 4..at + 6].copy_from_slice(&child.file.0.to_le_bytes());
        debug_assert_eq!(self.child_of(entry), Some(child), "read as written");
    }

    /// The child that an interior entry points to.
    #[inline]
    pub(crate) fn child_of(&self, entry: &[u8]) -> Option<base::PageId> {
        let at = self.interior.tail_offset(CHILD_BYTES);
        let b = entry.get(at..at + usize::from(CHILD_BYTES))?;
        let page = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
        Some(base::PageId::new(u16::from_le_bytes([b[4], b[5]]), page))
    }
}

/// Most keys have no more columns.
const FEW_COLUMNS: usize = 8;

/// A key's fields; up to [`FEW_COLUMNS`] of them without an allocation.
pub struct KeyFields<'a> {
    few: [Field<'a>; FEW_COLUMNS],
    /// All of them, once they are more.
    many: Vec<Field<'a>>,
    count: usize,
}

impl Default for KeyFields<'_> {
    fn default() -> Self {
        KeyFields { few: [Field::Null; FEW_COLUMNS], many: Vec::new(), count: 0 }
    }
}

impl<'a> KeyFields<'a> {
    pub(crate) fn push(&mut self, field: Field<'a>) {
        debug_assert!(!matches!(field, Field::OffRow(_)), "a key column is in the row");
        assert!(self.count < ORDER_COLUMNS_MAX, "a key has a bounded number of columns");
        match self.few.get_mut(self.count) {
            Some(place) => *place = field,
            None => self.push_beyond(field),
        }
        self.count += 1;
    }

    #[cold]
    fn push_beyond(&mut self, field: Field<'a>) {
        if self.count == FEW_COLUMNS {
            self.many.reserve(2 * FEW_COLUMNS);
            self.many.extend_from_slice(&self.few);
        }
        self.many.push(field);
        debug_assert_eq!(self.many.len(), self.count + 1, "all in one place");
    }

    fn clear(&mut self) {
        self.count = 0;
        self.many.clear();
    }

    /// The fields, most significant first.
    pub fn as_slice(&self) -> &[Field<'a>] {
        debug_assert!(self.count <= ORDER_COLUMNS_MAX, "a bounded number of columns");
        self.few.get(..self.count).unwrap_or(&self.many)
    }
}
