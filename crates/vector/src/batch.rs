//! `Batch`: columns of the same rows, and which of the rows are selected.
//!
//! A batch is made once by whoever reads it and filled again and again: its buffers stay.
//!
//! Invariants
//!  1. All columns have `rows` rows.
//!  2. The selection has no row at or behind `rows`.

use crate::{ROWS_MAX, RowSet, Truth, Vector};
use types::{SqlType, Value};

/// A batch takes no more rows when its long strings have so many bytes. One row may go beyond it.
pub const TEXT_BYTES: usize = 256 * 1024;

/// Columns of the same rows.
#[derive(Clone, Debug)]
pub struct Batch {
    columns: Vec<Vector>,
    rows: usize,
    selection: RowSet,
}

impl Batch {
    /// A batch without rows, of flat columns.
    pub fn new(types: &[SqlType]) -> Batch {
        let columns = types.iter().map(|&sql_type| Vector::new(sql_type)).collect();
        Batch { columns, rows: 0, selection: RowSet::EMPTY }
    }

    /// A batch of columns that are there already, with all rows selected.
    ///
    /// # Panics
    /// When the columns have different numbers of rows, or there is no column.
    pub fn of(columns: Vec<Vector>) -> Batch {
        let rows = columns.first().expect("a batch of given columns has one").len();
        assert!(columns.iter().all(|c| c.len() == rows), "columns have the same rows");
        Batch { columns, rows, selection: RowSet::first(rows) }
    }

    /// Its columns.
    pub fn columns(&self) -> &[Vector] {
        &self.columns
    }

    /// How many rows it has, selected or not.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The selected rows.
    pub fn selection(&self) -> &RowSet {
        &self.selection
    }

    /// Keeps of the selected rows those that are in a set.
    pub fn select(&mut self, rows: &RowSet) {
        self.selection = self.selection.and(rows);
    }

    /// Keeps of the selected rows those of which a predicate is true.
    pub fn filter(&mut self, truth: &Truth) {
        self.select(&truth.yes);
    }

    /// The value of a row in a column.
    ///
    /// # Panics
    /// A column or row that it has not.
    pub fn value(&self, column: usize, row: usize) -> Value {
        self.columns[column].value(row)
    }

    /// Drops all rows; flat columns keep their buffers.
    pub fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vector::clear);
        (self.rows, self.selection) = (0, RowSet::EMPTY);
    }

    /// Whether it takes no more rows.
    pub fn is_full(&self) -> bool {
        let texts = || self.columns.iter().map(Vector::text_bytes).sum::<usize>();
        self.rows == ROWS_MAX || texts() >= TEXT_BYTES
    }

    /// Another row, selected: `put` is to push one value to each column.
    ///
    /// # Errors
    /// Those of `put`; the batch is as before.
    ///
    /// # Panics
    /// When there is no room for a row, a column is not flat, or `put` pushed nothing or more.
    pub fn push_row<E>(
        &mut self,
        mut put: impl FnMut(usize, &mut Vector) -> Result<(), E>,
    ) -> Result<(), E> {
        assert!(self.rows < ROWS_MAX, "the batch is full");
        for (n, column) in self.columns.iter_mut().enumerate() {
            if let Err(e) = put(n, column) {
                self.columns.iter_mut().for_each(|c| c.truncate(self.rows));
                return Err(e);
            }
            assert_eq!(column.len(), self.rows + 1, "a row has one value in each column");
        }
        self.selection.insert(self.rows);
        self.rows += 1;
        Ok(())
    }

    /// Keeps the selected rows only, and moves them together.
    pub fn compact(&mut self) {
        let kept = self.selection.count();
        if kept < self.rows {
            self.columns.iter_mut().for_each(|c| c.compact(&self.selection));
            (self.rows, self.selection) = (kept, RowSet::first(kept));
        }
    }

    /// Bytes that it takes: its own and those on the heap.
    pub fn memory_bytes(&self) -> usize {
        let columns = self.columns.capacity() * size_of::<Vector>();
        let heap: usize = self.columns.iter().map(Vector::heap_bytes).sum();
        size_of::<Batch>() + columns + heap
    }
}
