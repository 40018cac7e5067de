//! The second half of a wide change: one index is changed by itself, after all base rows.
//!
//! Its rows come in the order of its key; among equal keys, deletions come before insertions.
//!
//! Invariants
//!  1. Each row was changed in its heap or clustered index before, and is locked there. So no other
//!     transaction changes its entries.

use super::target::{Locator, RowChange, Target, WriteOutcome};
use crate::operator::Node;
use crate::run::{FollowUp, Run};
use access::LockPlan;
use base::{SqlError, SqlResult, messages};
use plan::{EntryWork, OldRow, Physical, Slot};

/// A change of one index, ready to run.
pub(crate) struct IndexChange {
    /// It has no other index than this one.
    target: Target,
    source: Node,
    work: EntryWork,
    before: OldRow,
    after: OldRow,
}

impl IndexChange {
    pub(crate) fn new(
        change: &plan::IndexChange<Physical>,
        target: Target,
        source: Node,
    ) -> SqlResult<IndexChange> {
        let (work, before, after) = (change.work, change.before.clone(), change.after.clone());
        let goes = work != EntryWork::Insert;
        let comes = work != EntryWork::Delete;
        target.check_slots(goes.then_some(&before), comes.then_some(&after.columns[..]))?;
        Ok(IndexChange { target, source, work, before, after })
    }
}

impl FollowUp for IndexChange {
    fn follow(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        let locks = self.target.locks(run);
        self.source.open(run)?;
        while self.source.next(run)? {
            run.tick()?;
            if self.change(run, &locks)? != WriteOutcome::Written {
                let lost = "an index that skips rows is changed by itself";
                return Err(SqlError::new(messages::INTERNAL, &[&lost]));
            }
        }
        self.source.release(run);
        Ok(())
    }

    fn close(&mut self) {
        self.source.close();
    }
}

impl IndexChange {
    /// Does what the row at hand asks for.
    fn change(&mut self, run: &mut Run<'_>, locks: &LockPlan) -> SqlResult<WriteOutcome> {
        let (old, new) = (Locator::of(run, &self.before), Locator::of(run, &self.after));
        let change = RowChange {
            old: &self.before.columns,
            new: &self.after.columns,
            old_locator: &old,
            new_locator: &new,
            hint: None,
        };
        let work = match self.work {
            EntryWork::Split(action) => split_work(run, action)?,
            work => work,
        };
        let done = match work {
            EntryWork::Delete => return self.target.delete(run, 0, &change, locks),
            EntryWork::Update => self.target.update(run, 0, &change, locks)?,
            EntryWork::Insert | EntryWork::Split(_) => {
                self.target.insert(run, 0, &self.after.columns, &new, locks)?
            }
        };
        Ok(done.err().unwrap_or(WriteOutcome::Written))
    }
}

/// What is done with a row of a split.
fn split_work(run: &Run<'_>, action: Slot) -> SqlResult<EntryWork> {
    match run.slot(action).as_i64() {
        Some(0) => Ok(EntryWork::Delete),
        Some(1) => Ok(EntryWork::Insert),
        _ => Err(SqlError::new(messages::INTERNAL, &[&"a row that was split lost its action"])),
    }
}
