//! Spool: reads its whole input before it gives the first row.
//!
//! Beside it `index_spool`, which is searched by a key, and `recursion`, a stack of rows.

mod index_spool;
mod recursion;

pub(crate) use index_spool::IndexSpool;
pub(crate) use recursion::Recursion;

use crate::memory::RowBuffer;
use crate::operator::{Node, Operator};
use crate::run::Run;
use base::SqlResult;
use plan::Slot;

/// All rows of the input, kept.
pub(crate) struct Spool {
    id: usize,
    input: Node,
    rows: RowBuffer,
    filled: bool,
}

impl Spool {
    /// Of an input whose rows have these slots.
    pub(crate) fn new(id: usize, input: Node, carried: &[Slot]) -> Spool {
        Spool { id, input, rows: RowBuffer::new(carried.to_vec()), filled: false }
    }
}

impl Operator for Spool {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.rows.clear(run);
        self.filled = false;
        self.input.open(run)?;
        while self.input.next(run)? {
            run.tick()?;
            self.rows.push(run)?;
        }
        run.counts.of(self.id).spilled(self.rows.spilled_bytes());
        self.filled = true;
        self.rows.rewind()
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        self.rows.next(run)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        if self.filled { self.rows.rewind() } else { self.open(run) }
    }

    fn close(&mut self) {
        self.filled = false;
        self.rows.drop_rows();
        self.input.close();
    }

    fn known_rows(&self) -> Option<u64> {
        Some(self.rows.total())
    }
}
