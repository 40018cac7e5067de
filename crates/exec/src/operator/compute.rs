//! Compute: further columns of each row.

use super::{Node, Operator};
use crate::expr::Expr;
use crate::join::JoinFilter;
use crate::run::Run;
use base::SqlResult;
use plan::{Scalar, Slot};

/// Computes columns from left to right.
pub(crate) struct Compute {
    input: Node,
    columns: Vec<(Slot, Expr)>,
}

impl Compute {
    pub(crate) fn new(input: Node, columns: &[(Slot, Scalar)]) -> SqlResult<Compute> {
        let column = |(slot, x): &(Slot, Scalar)| Ok((*slot, Expr::new(x)?));
        Ok(Compute { input, columns: columns.iter().map(column).collect::<SqlResult<_>>()? })
    }
}

impl Operator for Compute {
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.input.open(run)
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        if !self.input.next(run)? {
            return Ok(false);
        }
        for (slot, x) in &self.columns {
            let value = x.eval(run)?;
            run.set(*slot, value);
        }
        Ok(true)
    }

    fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        self.input.set_filter(join, filter)
    }

    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.input.rewind(run)
    }

    fn close(&mut self) {
        self.input.close();
    }

    fn known_rows(&self) -> Option<u64> {
        self.input.known_rows()
    }
}
