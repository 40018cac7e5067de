//! The adapter from batch mode to row mode: the selected rows of batches, one after the other, in
//! the slots of the frame. A condition that no kernel decides is asked here, of each row.

use super::operator::BatchOperator;
use crate::expr::Cond;
use crate::operator::Operator;
use crate::run::Run;
use base::SqlResult;
use plan::Slot;
use vector::Batch;

/// A column of the batch and the slot into which its values go.
pub(super) type ColumnSlot = (usize, Slot);

/// A batch operator, read by row.
pub(super) struct RowsOfBatches {
    pub(super) id: usize,
    pub(super) source: Box<dyn BatchOperator>,
    /// What must be true of a row beyond the source's tests.
    pub(super) residual: Option<Cond>,
    /// Columns that the residual reads.
    pub(super) first: Vec<ColumnSlot>,
    /// All others that somebody above reads.
    pub(super) rest: Vec<ColumnSlot>,
    /// The batch being read; made when it is first opened.
    pub(super) batch: Option<Batch>,
    /// Where its next row may be.
    pub(super) next: usize,
}

impl RowsOfBatches {
    /// The next selected row of the batches; `None` after the last.
    fn next_row(&mut self, run: &mut Run<'_>) -> SqlResult<Option<usize>> {
        let Some(batch) = &mut self.batch else { return Ok(None) };
        loop {
            if let Some(row) = batch.selection().next_from(self.next) {
                self.next = row + 1;
                return Ok(Some(row));
            }
            self.next = 0;
            if !self.source.next(run, batch)? {
                return Ok(None);
            }
        }
    }

    fn give(&self, columns: &[ColumnSlot], row: usize, run: &mut Run<'_>) {
        let Some(batch) = &self.batch else { return };
        for &(column, slot) in columns {
            run.set(slot, batch.value(column, row));
        }
    }
}

impl Operator for RowsOfBatches {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.batch.get_or_insert_with(|| self.source.batch()).clear();
        self.next = 0;
        self.source.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        while let Some(row) = self.next_row(run)? {
            if let Some(residual) = &self.residual {
                self.give(&self.first, row, run);
                if !residual.holds(run)? {
                    run.counts.of(self.id).refused();
                    run.tick()?;
                    continue;
                }
            }
            self.give(&self.rest, row, run);
            return Ok(true);
        }
        Ok(false)
    }

    fn close(&mut self) {
        self.source.close();
        self.batch = None;
    }
}
