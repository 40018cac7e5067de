//! Assert: conditions that rows must meet, and the error of a row that does not.
//!
//! ```text
//! operator    the rows of a scalar subquery: there is one at most (512)
//! Assertion   a row of a change: its CHECK constraints before it is written (547, of a view WITH
//!             CHECK OPTION 550), its foreign keys once it is (547)
//! ```
//!
//! A change computes its new rows itself. So its assertions are not an operator over rows but a
//! stage of the change. Plans show both in the same way.

use crate::cond::Cond;
use crate::operator::{Node, Operator};
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use plan::{Predicate, Slot};
use types::Value;

/// Passes one row on; a second one is error 512.
pub(crate) struct Assert {
    pub(crate) input: Node,
    pub(crate) count: Slot,
    pub(crate) rows: i32,
}

impl Operator for Assert {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.rows = 0;
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if !self.input.next(run)? {
            return Ok(false);
        }
        self.rows += 1;
        run.set(self.count, Value::Int(self.rows));
        match self.rows {
            1 => Ok(true),
            _ => Err(SqlError::new(messages::SUBQUERY_MANY_ROWS, &[])),
        }
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.rows = 0;
        self.input.rewind(run)
    }

    fn close(&mut self) {
        self.rows = 0;
        self.input.close();
    }
}

/// A condition on the rows of a change.
pub(crate) struct Assertion {
    condition: Cond,
    /// Unknown is refused as false is.
    certain: bool,
}

impl Assertion {
    pub(crate) fn new(predicate: &Predicate, certain: bool) -> SqlResult<Assertion> {
        Ok(Assertion { condition: Cond::new(predicate)?, certain })
    }

    /// Whether the row at hand may pass.
    #[inline]
    pub(crate) fn passes(&self, run: &mut Run<'_>) -> SqlResult<bool> {
        let truth = self.condition.eval(run)?;
        Ok(truth.unwrap_or(!self.certain))
    }
}
