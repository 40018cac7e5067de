//! Batch scan: all rows of one hobt by batches, those selected that its tests are true of.
//!
//! Which rows are there, and what is locked, is the source's business: it reads by the same lock
//! plan as a scan of row mode. A row that fails a test keeps the lock that its level gives it.

use super::operator::BatchOperator;
use super::test::BatchTest;
use crate::run::Run;
use access::{BatchColumn, ScanRange};
use base::SqlResult;
use plan::LockHints;
use vector::Batch;

/// A scan of one hobt, with its filter.
pub(super) struct BatchScan {
    pub(super) id: usize,
    pub(super) hobt: usize,
    /// The number of its cursor in the run.
    pub(super) cursor: usize,
    pub(super) columns: Vec<BatchColumn>,
    /// All must be true.
    pub(super) tests: Vec<BatchTest>,
    pub(super) backward: bool,
    pub(super) locks: LockHints,
}

impl BatchScan {
    /// Selects the rows that pass all tests.
    fn filter(&self, batch: &mut Batch) {
        for test in &self.tests {
            if batch.selection().is_empty() {
                return;
            }
            let truth = test.decide(batch, batch.selection());
            batch.filter(&truth);
        }
    }
}

impl BatchOperator for BatchScan {
    fn batch(&self) -> Batch {
        BatchColumn::batch(&self.columns)
    }

    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let range = ScanRange { backward: self.backward, ..ScanRange::default() };
        if let Some(open) = run.cursors.batches_at(self.cursor) {
            return open.rewind(run.work, &range);
        }
        let locks = run.lock_plan(&self.locks);
        let hobts = run.hobts;
        let opened = hobts[self.hobt].batches(run.work, &range, &locks, &self.columns)?;
        run.cursors.put_batches(self.cursor, opened);
        Ok(())
    }

    fn next(&mut self, run: &mut Run<'_>, batch: &mut Batch) -> SqlResult<bool> {
        let Some(cursor) = run.cursors.batches_at(self.cursor) else { return Ok(false) };
        if !cursor.next(run.work, batch)? {
            return Ok(false);
        }
        self.filter(batch);
        let refused = batch.rows() - batch.selection().count();
        run.counts.of(self.id).refused_rows(refused as u64);
        run.tick_by(batch.rows() as u32)?;
        Ok(true)
    }

    fn close(&mut self) {}
}
