//! INSERT, and the bulk load that runs it again for each row.

use super::output::{Output, changed};
use super::row_insert::RowInsert;
use super::target::WriteOutcome;
use crate::operator::Node;
use crate::run::{NoRows, RowFeed, RowSink, Run};
use access::LockPlan;
use base::SqlResult;

/// An INSERT ready to run.
pub(crate) struct Insert {
    into: RowInsert,
    source: Node,
    output: Option<Output>,
}

impl Insert {
    pub(crate) fn new(into: RowInsert, source: Node, output: Option<Output>) -> Insert {
        Insert { into, source, output }
    }

    /// The run is over.
    pub(crate) fn close(&mut self) {
        self.source.close();
    }

    pub(crate) fn run(&mut self, run: &mut Run<'_>, out: &mut dyn RowSink) -> SqlResult<()> {
        let locks = self.into.target.locks(run);
        self.into.target.begin(run)?;
        self.insert_rows(run, &locks, out)?;
        self.into.target.finish(run)
    }

    /// Reads its source once for each row that gives the variables their values; one statement:
    /// foreign keys are judged after the last row.
    pub(crate) fn load(&mut self, run: &mut Run<'_>, feed: &mut dyn RowFeed) -> SqlResult<()> {
        let locks = self.into.target.locks(run);
        self.into.target.begin(run)?;
        while feed.next(run.variables)? {
            self.insert_rows(run, &locks, &mut NoRows)?;
        }
        self.into.target.finish(run)
    }

    fn insert_rows(
        &mut self,
        run: &mut Run<'_>,
        locks: &LockPlan,
        out: &mut dyn RowSink,
    ) -> SqlResult<()> {
        self.source.open(run)?;
        while run.takes_more(0) && self.source.next(run)? {
            run.tick()?;
            self.into.compute(run)?;
            match self.into.put(run, locks)? {
                WriteOutcome::Written => changed(run, &self.into.target, &mut self.output, out)?,
                WriteOutcome::Duplicate | WriteOutcome::Vanished => {
                    run.outcome.duplicates_ignored = true
                }
            }
        }
        Ok(())
    }
}
