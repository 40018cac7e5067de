//! OUTPUT: a row for the client, for a table, or both, for each row that a change has changed.

use crate::context::RowSink;
use crate::expr::Expr;
use crate::insert::RowInsert;
use crate::run::Run;
use crate::target::Written;
use base::SqlResult;
use types::Value;

/// An OUTPUT ready to run.
pub(crate) struct Output {
    /// Values for the client.
    pub(crate) sent: Option<Vec<Expr>>,
    pub(crate) into: Option<RowInsert>,
    /// Reused by each row.
    pub(crate) row: Vec<Value>,
}

impl Output {
    /// The change at hand is done.
    pub(crate) fn row(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        if let Some(into) = &mut self.into {
            // The identity values of the statement are those of its own target.
            let identity = run.outcome.identity;
            let locks = into.target.locks(run);
            into.compute(run)?;
            if into.put(run, &locks)? != Written::Yes {
                run.outcome.duplicates_ignored = true;
            }
            run.outcome.identity = identity;
        }
        if let Some(sent) = &self.sent {
            self.row.clear();
            for value in sent {
                self.row.push(value.eval(run)?);
            }
            out.row(&self.row)?;
        }
        Ok(())
    }
}
