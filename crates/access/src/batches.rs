//! Reading by batches: a source gives columns of up to 1,024 rows instead of one row.
//!
//! A source has rows or columns. Two adapters make the one of the other: [`RowBatches`] gives the
//! rows of any cursor as batches, and is what [`TableSource::batches`](crate::TableSource::batches)
//! does by default; [`BatchRows`] gives the rows of batches to whoever reads rows.
//!
//! Rows of a batch are copies. Nobody can give up the lock of one of them or look whether it is
//! still the same: batches are for plain reads, whose locks follow their level alone.

use crate::{PageHint, RowCursor, ScanRange, TableReads};
use base::{PageId, SqlError, SqlResult, limits, messages};
use page::Field;
use std::fmt::Display;
use std::ops::Range;
use types::SqlType;
use vector::{Batch, Vector};
use work::Work;

/// A column to be read by batches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BatchColumn {
    /// Position among the physical columns: the argument of [`RowCursor::field`].
    pub field: usize,
    /// What its stored bytes are read as.
    pub sql_type: SqlType,
}

impl BatchColumn {
    /// A batch for such columns, without rows.
    pub fn batch(columns: &[BatchColumn]) -> Batch {
        let types: Vec<SqlType> = columns.iter().map(|c| c.sql_type).collect();
        Batch::new(&types)
    }
}

/// A scan in progress that gives batches. It holds no latch between calls.
pub trait BatchCursor: Send {
    /// Replaces what is in a batch by the next rows, all of them selected; false after the last,
    /// with the batch empty. The batch has the columns that the scan was begun with.
    ///
    /// # Errors
    /// Those of [`RowCursor::next`] and [`RowCursor::field`].
    fn next(&mut self, work: &mut Work, batch: &mut Batch) -> SqlResult<bool>;

    /// Begins again with another range, keeping buffers.
    ///
    /// # Errors
    /// As [`TableSource::scan`](crate::TableSource::scan).
    fn rewind(&mut self, work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()>;

    /// What it has read since it was made.
    fn reads(&self) -> TableReads;
}

/// The rows of a cursor as batches.
///
/// Cost: a copy of each column's bytes a row; no allocation once the batch has its size.
pub struct RowBatches<'c> {
    rows: Box<dyn RowCursor + 'c>,
    columns: Box<[BatchColumn]>,
    /// The cursor has said that it has no more rows.
    ended: bool,
}

impl<'c> RowBatches<'c> {
    /// Batches of these columns, of a cursor that stands before its first row.
    pub fn new(rows: Box<dyn RowCursor + 'c>, columns: &[BatchColumn]) -> RowBatches<'c> {
        RowBatches { rows, columns: columns.into(), ended: false }
    }

    /// Puts the row that the cursor stands on behind those of a batch.
    fn put_row(&self, batch: &mut Batch) -> SqlResult<()> {
        let (rows, view) = (&*self.rows, self.rows.view());
        batch.push_row(|n, vector| {
            let column = self.columns[n].field;
            let field = match view.as_ref().and_then(|row| row.field(column)) {
                Some(field @ (Field::Null | Field::Inline(_))) => field,
                Some(Field::OffRow(_)) | None => rows.field(column)?,
            };
            let put = match field {
                Field::Null => vector.push_stored(None),
                Field::Inline(bytes) => vector.push_stored(Some(bytes)),
                Field::OffRow(_) => {
                    return Err(corrupt_value(&"a value off the row was not fetched", rows));
                }
            };
            put.map_err(|e| corrupt_value(&e, rows))
        })
    }
}

impl BatchCursor for RowBatches<'_> {
    fn next(&mut self, work: &mut Work, batch: &mut Batch) -> SqlResult<bool> {
        debug_assert!(
            self.columns
                .iter()
                .map(|c| c.sql_type)
                .eq(batch.columns().iter().map(Vector::sql_type)),
            "the batch has the columns of the scan"
        );
        batch.clear();
        while !self.ended && !batch.is_full() {
            match self.rows.next(work)? {
                true => self.put_row(batch)?,
                false => self.ended = true,
            }
        }
        Ok(batch.rows() > 0)
    }

    fn rewind(&mut self, work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()> {
        self.ended = false;
        self.rows.rewind(work, range)
    }

    fn reads(&self) -> TableReads {
        self.rows.reads()
    }
}

/// The selected rows of batches, one after the other: a source that has columns is read by row.
///
/// Cost: each column of each row is encoded as rows store it.
pub struct BatchRows<'c> {
    batches: Box<dyn BatchCursor + 'c>,
    batch: Batch,
    /// Where the next row may be in the batch.
    next: usize,
    /// The vector that has a physical column, by column.
    vectors: Vec<Option<usize>>,
    /// The stored bytes of the row it stands on, and where those of a vector are; `None` is NULL.
    bytes: Vec<u8>,
    fields: Vec<Option<Range<usize>>>,
}

impl<'c> BatchRows<'c> {
    /// Rows of a scan by batches that was begun with these columns.
    pub fn new(batches: Box<dyn BatchCursor + 'c>, columns: &[BatchColumn]) -> BatchRows<'c> {
        let last = columns.iter().map(|c| c.field).max();
        let vector = |field| columns.iter().position(|c| c.field == field);
        BatchRows {
            batches,
            batch: BatchColumn::batch(columns),
            next: 0,
            vectors: (0..last.map_or(0, |last| last + 1)).map(vector).collect(),
            bytes: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// Copies a row of the batch as rows store it.
    fn stand_on(&mut self, row: usize) {
        self.bytes.clear();
        self.fields.clear();
        for vector in self.batch.columns() {
            let from = self.bytes.len();
            let is_there = vector.append_stored(row, &mut self.bytes);
            self.fields.push(is_there.then_some(from..self.bytes.len()));
        }
        self.next = row + 1;
    }
}

impl RowCursor for BatchRows<'_> {
    fn next(&mut self, work: &mut Work) -> SqlResult<bool> {
        loop {
            if let Some(row) = self.batch.selection().next_from(self.next) {
                self.stand_on(row);
                return Ok(true);
            }
            self.next = 0;
            if !self.batches.next(work, &mut self.batch)? {
                return Ok(false);
            }
        }
    }

    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        let vector = self.vectors.get(column).copied().flatten();
        let field = vector.and_then(|vector| self.fields.get(vector)).ok_or_else(|| {
            SqlError::new(messages::INTERNAL, &[&"a column that the scan does not read"])
        })?;
        Ok(field.as_ref().map_or(Field::Null, |at| Field::Inline(&self.bytes[at.clone()])))
    }

    fn hint(&self) -> Option<PageHint> {
        None
    }

    fn rid(&self) -> Option<[u8; 8]> {
        None
    }

    fn release_row(&mut self, _work: &mut Work) {}

    fn rewind(&mut self, work: &mut Work, range: &ScanRange<'_>) -> SqlResult<()> {
        self.batch.clear();
        self.next = 0;
        self.batches.rewind(work, range)
    }

    fn reads(&self) -> TableReads {
        self.batches.reads()
    }
}

/// 824: stored bytes of the row that a cursor stands on are no values.
#[cold]
pub fn corrupt_value(what: &dyn Display, cursor: &dyn RowCursor) -> SqlError {
    let page = cursor.hint().map_or(PageId::NONE, |h| h.page);
    let offset = page.page as usize * limits::PAGE_BYTES;
    let file = format!("file {}", page.file);
    SqlError::new(messages::PAGE_CORRUPT, &[what, &"read", &page, &"-", &offset, &file])
}
