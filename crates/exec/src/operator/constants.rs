//! Constants: rows that the plan contains.

use super::Operator;
use crate::expr::Expr;
use crate::run::Run;
use base::SqlResult;
use plan::Slot;

/// Rows of expressions over outer slots and variables.
pub(crate) struct Constants {
    rows: Vec<Vec<Expr>>,
    columns: Vec<Slot>,
    at: usize,
}

impl Constants {
    pub(crate) fn new(plan: &plan::Constants) -> SqlResult<Constants> {
        let rows = plan.rows.iter().map(|row| Expr::all(row)).collect::<SqlResult<_>>()?;
        Ok(Constants { rows, columns: plan.columns.clone(), at: 0 })
    }
}

impl Operator for Constants {
    fn open(&mut self, _: &mut Run<'_>) -> SqlResult<()> {
        self.at = 0;
        Ok(())
    }

    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let Some(row) = self.rows.get(self.at) else { return Ok(false) };
        self.at += 1;
        for (slot, x) in self.columns.iter().zip(row) {
            let value = x.eval(run)?;
            run.set(*slot, value);
        }
        Ok(true)
    }

    fn close(&mut self) {}

    fn known_rows(&self) -> Option<u64> {
        Some(self.rows.len() as u64)
    }
}
