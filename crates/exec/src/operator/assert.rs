//! Assert: the rows of a scalar subquery. There is one at most (512).

use super::{Node, Operator};
use crate::run::Run;
use base::{SqlError, SqlResult, messages};
use plan::Slot;
use types::Value;

/// Passes one row on; a second one is error 512.
pub(crate) struct Assert {
    input: Node,
    count: Slot,
    rows: i32,
}

impl Assert {
    pub(crate) fn new(input: Node, count: Slot) -> Assert {
        Assert { input, count, rows: 0 }
    }
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
