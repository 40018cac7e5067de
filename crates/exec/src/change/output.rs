//! OUTPUT: a row for the client, for a table, or both, for each row that a statement has changed.

use super::row_insert::RowInsert;
use super::target::{Target, WriteOutcome};
use crate::expr::{Cond, Expr};
use crate::run::{RowSink, Run};
use base::SqlResult;
use plan::{Scalar, Slot};
use types::Value;

/// An OUTPUT ready to run.
pub(crate) struct Output {
    /// Values for the client.
    sent: Option<Vec<Expr>>,
    into: Option<RowInsert>,
    /// Which changed rows go into `into`, where the statement inserts rows of a change in FROM.
    nested: Option<NestedRows>,
    /// The buffer of a row for the client.
    row: Vec<Value>,
}

/// The rows of a change in FROM.
struct NestedRows {
    columns: Vec<(Slot, Expr)>,
    filter: Cond,
}

impl NestedRows {
    fn new(rows: &plan::NestedRows) -> SqlResult<NestedRows> {
        let column = |(slot, value): &(Slot, Scalar)| Ok((*slot, Expr::new(value)?));
        let columns = rows.columns.iter().map(column).collect::<SqlResult<_>>()?;
        Ok(NestedRows { columns, filter: Cond::new(&rows.filter)? })
    }

    /// Whether the statement inserts the row at hand.
    fn row(&self, run: &mut Run<'_>) -> SqlResult<bool> {
        for (slot, value) in &self.columns {
            let value = value.eval(run)?;
            run.set(*slot, value);
        }
        Ok(self.filter.eval(run)? == Some(true))
    }
}

impl Output {
    pub(crate) fn new(output: &plan::Output, into: Option<RowInsert>) -> SqlResult<Output> {
        let nested = output.into.as_ref().and_then(|i| i.nested.as_ref());
        let sent = output.sent.as_ref().map(|s| Expr::all(&s.values));
        Ok(Output {
            sent: sent.transpose()?,
            into,
            nested: nested.map(NestedRows::new).transpose()?,
            row: Vec::new(),
        })
    }

    /// Whether the statement counts the rows that OUTPUT inserts instead of the changed rows.
    pub(crate) fn counts(&self) -> bool {
        self.nested.is_some()
    }

    /// Sends and inserts the row of a change that was made.
    pub(crate) fn row(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        if let Some(nested) = &self.nested
            && !nested.row(run)?
        {
            return Ok(());
        }
        if let Some(into) = &mut self.into {
            // The table of INTO leaves the identity value of the statement as it was.
            let identity = run.outcome.identity;
            let locks = into.target.locks(run);
            into.compute(run)?;
            match into.put(run, &locks)? {
                WriteOutcome::Written if self.nested.is_some() => run.outcome.rows_affected += 1,
                WriteOutcome::Written => {}
                WriteOutcome::Duplicate | WriteOutcome::Vanished => {
                    run.outcome.duplicates_ignored = true
                }
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

/// Counts a changed row, judges its foreign keys, and gives it to OUTPUT.
pub(crate) fn changed(
    run: &mut Run<'_>,
    target: &Target,
    output: &mut Option<Output>,
    out: &mut dyn RowSink,
) -> SqlResult<()> {
    if !output.as_ref().is_some_and(Output::counts) {
        run.outcome.rows_affected += 1;
    }
    target.written(run)?;
    match output {
        Some(output) => output.row(run, out),
        None => Ok(()),
    }
}
