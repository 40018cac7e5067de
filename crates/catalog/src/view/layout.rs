//! The physical columns of a hobt: what a record of it holds, in which order, and its key.
//!
//! ```text
//! heap                 stored columns in the order in which they came, dropped ones with them
//! clustered, unique    the same
//! clustered            the same; behind those that were there when it was made, its uniquifier
//!                        (variable: 4 bytes or none)
//! nonclustered         declared key columns,
//!                      locator columns that are not among them: of a heap the RID (8 bytes),
//!                        else the clustered key columns and its uniquifier,
//!                      included columns that are not there yet
//! ```
//!
//! The key is what orders and what finds a row again: of a clustered index its key columns (and
//! uniquifier), of a unique nonclustered one its declared columns, of others declared columns and
//! locator. Locator columns keep the direction that the clustered index gives them.

use super::{Column, Index, IndexKind, Table};
use types::SqlType;

/// What a physical column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PhysicalColumn {
    /// A column of the table, by ordinal.
    Column(usize),
    /// What is left of a dropped one, by its position in [`RowHistory::dropped`].
    Dropped(usize),
    /// The hidden number that tells equal keys of a clustered index apart: 4 bytes or absent.
    Uniquifier,
    /// The address of a heap row: file, page, slot in 8 bytes.
    Rid,
}

/// A part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyField {
    /// Position among [`HobtLayout::columns`].
    pub field: usize,
    /// Greater first.
    pub descending: bool,
}

/// What records of a hobt consist of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HobtLayout {
    /// Physical columns in order.
    pub columns: Vec<PhysicalColumn>,
    /// The full unique key; empty for a heap.
    pub key: Vec<KeyField>,
    /// How many of `key` were declared: what uniqueness is about, and what messages show.
    pub declared_key: usize,
}

impl HobtLayout {
    /// The position of a table's column.
    pub fn position(&self, column: PhysicalColumn) -> Option<usize> {
        self.columns.iter().position(|&c| c == column)
    }

    fn add(&mut self, column: PhysicalColumn) -> usize {
        match self.position(column) {
            Some(at) => at,
            None => {
                self.columns.push(column);
                self.columns.len() - 1
            }
        }
    }
}

impl Table {
    /// The columns that rows store, by ordinal, in physical order.
    pub fn stored_columns(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, c)| c.physical.is_some())
    }

    /// The type and nullability of a physical column.
    pub fn physical_type(&self, column: PhysicalColumn) -> (SqlType, bool) {
        match column {
            PhysicalColumn::Column(n) => (self.columns[n].sql_type, self.columns[n].nullable),
            PhysicalColumn::Dropped(n) => (self.history.dropped[n].stand_in(), true),
            // Stored as 4 bytes; variable, because the first row of a key goes without.
            PhysicalColumn::Uniquifier => (SqlType::varbinary(4), true),
            PhysicalColumn::Rid => (SqlType::Binary(8), false),
        }
    }

    /// The physical columns and key of one of the table's indexes.
    pub fn hobt_layout(&self, index: &Index) -> HobtLayout {
        match index.kind {
            IndexKind::Nonclustered => self.entry_layout(index),
            IndexKind::Heap | IndexKind::Clustered => self.row_layout(index),
        }
    }

    fn row_layout(&self, index: &Index) -> HobtLayout {
        let unique = index.kind != IndexKind::Clustered || index.unique;
        let columns = self.row_columns(unique);
        let mut layout = HobtLayout { columns, key: Vec::new(), declared_key: index.key.len() };
        for part in &index.key {
            let field = layout.add(PhysicalColumn::Column(part.column));
            layout.key.push(KeyField { field, descending: part.descending });
        }
        if !unique {
            let field = layout.add(PhysicalColumn::Uniquifier);
            layout.key.push(KeyField { field, descending: false });
        }
        layout
    }

    /// What rows consist of. The uniquifier is before all columns that were added.
    fn row_columns(&self, unique: bool) -> Vec<PhysicalColumn> {
        let live = self.columns.iter().enumerate();
        let live = live.filter_map(|(n, c)| Some((c.physical?, PhysicalColumn::Column(n))));
        let dropped = self.history.dropped.iter().enumerate();
        let dropped = dropped.map(|(n, d)| (d.physical, PhysicalColumn::Dropped(n)));
        let mut all: Vec<_> = live.chain(dropped).collect();
        all.sort_by_key(|(place, _)| *place);
        if !unique {
            let first = self.history.added.first().map_or(u16::MAX, |a| a.physical);
            let at = all.iter().position(|(place, _)| *place >= first).unwrap_or(all.len());
            all.insert(at, (first, PhysicalColumn::Uniquifier));
        }
        all.into_iter().map(|(_, column)| column).collect()
    }

    fn entry_layout(&self, index: &Index) -> HobtLayout {
        let mut layout =
            HobtLayout { columns: Vec::new(), key: Vec::new(), declared_key: index.key.len() };
        for part in &index.key {
            let field = layout.add(PhysicalColumn::Column(part.column));
            layout.key.push(KeyField { field, descending: part.descending });
        }
        let mut locate = |column, descending| {
            let before = layout.columns.len();
            let field = layout.add(column);
            if field == before && !index.unique {
                layout.key.push(KeyField { field, descending });
            }
        };
        let base = self.base();
        match base.kind {
            IndexKind::Heap | IndexKind::Nonclustered => locate(PhysicalColumn::Rid, false),
            IndexKind::Clustered => {
                for part in &base.key {
                    locate(PhysicalColumn::Column(part.column), part.descending);
                }
                if !base.unique {
                    locate(PhysicalColumn::Uniquifier, false);
                }
            }
        }
        for &column in &index.included {
            layout.add(PhysicalColumn::Column(column));
        }
        layout
    }
}
