//! `Run`: the state of one run that operators and expressions share.
//!
//! ```text
//!   context, callout   what a run is given, and what it returns
//!   cursors            the cursors of the run, by number
//!   progress           counters of operators, written while others read them
//! ```
//! Cursors borrow the hobts that they read, and these live no longer than a run. So cursors are
//! here, and operators, which outlive runs, know them by number.
//!
//! Invariants
//!  1. A subplan is absent from `subplans` exactly while it runs; no plan refers to itself.
//!  2. The grant covers what operators hold, except what was requested by `overdraw_memory`.
//!  3. `Run` names no operator of a kind, no builder and no crew. Files above it state what they do
//!     for it by a trait: `FollowUp` (beside `Run`) and `Team` (`exchange/team.rs`).

mod callout;
mod context;
mod cursors;
mod progress;

pub use callout::{Callout, NoCallout};
pub use context::{
    ExecContext, GrantTerms, IdentitySource, NoRows, OperatorCount, Outcome, RowFeed, RowSink,
};
pub(crate) use progress::{Call, Tallies, WITHIN};
pub use progress::{Progress, ThreadWork};

use crate::exchange::{Team, Worker};
use crate::expr::Subplan;
use crate::memory::{Grant, GrantRow, RowBuffer, WORKSPACE_BYTES};
use access::{Hobt, Hobts, Isolation, LockPlan, RowCursor, Spill, TableReads};
use base::SqlResult;
use builtins::SessionFacts;
use cursors::Cursors;
use plan::{Granule, Level, LockHints, Slot, Strength};
use std::sync::Arc;
use types::Value;
use work::{CommitTime, Work};

/// Rows between two looks at the waiter; a power of two.
const ROWS_PER_CHECK: u32 = 256;
/// What a builtin does between two ticks takes about as long as this many rows.
const BUILTIN_ROWS: u32 = 1024;

/// One run of a statement.
pub(crate) struct Run<'r> {
    pub(crate) work: &'r mut Work,
    private: Option<&'r mut Work>,
    pub(crate) resolver: &'r dyn Hobts,
    pub(crate) spill: &'r dyn Spill,
    pub(crate) variables: &'r mut [Value],
    pub(crate) facts: &'r dyn SessionFacts,
    pub(crate) identity: &'r dyn IdentitySource,
    pub(crate) callout: &'r dyn Callout,
    pub(crate) hobts: &'r [Arc<dyn Hobt>],
    pub(crate) cursors: Cursors<'r>,
    pub(crate) frame: &'r mut [Value],
    pub(crate) subplans: &'r mut [Option<Box<Subplan>>],
    pub(crate) follow_ups: &'r mut [Option<Box<dyn FollowUp>>],
    /// The rows that targets keep, by number.
    pub(crate) changed: &'r mut [Option<Box<RowBuffer>>],
    pub(crate) counts: &'r Tallies,
    pub(crate) outcome: Outcome,
    /// Answers of functions that have one answer in a run, by the address of their call.
    pub(crate) once: Vec<(usize, Value)>,
    isolation: Isolation,
    as_of: Option<CommitTime>,
    qualifies_first: bool,
    /// A row of the target was put aside, to be changed after others were read.
    keeps_back: bool,
    pub(crate) row_limit: Option<u64>,
    /// The threads that exchange rows, when several run the statement.
    pub(crate) team: Option<&'r dyn Team>,
    /// Which worker this thread is; `None` is the thread that runs the statement.
    pub(crate) worker: Option<Worker>,
    /// What the closed cursors of a worker have read, by number.
    past: &'r mut [TableReads],
    grant: Grant<'r>,
    ticks: u32,
}

/// What a change leads to after all its rows are changed: a check or change of other rows, or the
/// change of one index.
pub(crate) trait FollowUp: Send {
    /// Runs it, after all rows are changed.
    fn follow(&mut self, run: &mut Run<'_>) -> SqlResult<()>;

    /// The run is over.
    fn close(&mut self);
}

/// What a worker reads with.
pub(crate) struct WorkerLoan<'r> {
    pub(crate) work: &'r mut Work,
    pub(crate) resolver: &'r dyn Hobts,
    pub(crate) spill: &'r dyn Spill,
    pub(crate) variables: &'r mut [Value],
    pub(crate) facts: &'r dyn SessionFacts,
    pub(crate) identity: &'r dyn IdentitySource,
    pub(crate) callout: &'r dyn Callout,
    pub(crate) hobts: &'r [Arc<dyn Hobt>],
    pub(crate) frame: &'r mut [Value],
    pub(crate) counts: &'r Tallies,
    pub(crate) past: &'r mut [TableReads],
    pub(crate) grant: Grant<'r>,
    pub(crate) isolation: Isolation,
    pub(crate) as_of: Option<CommitTime>,
    pub(crate) team: &'r dyn Team,
    pub(crate) worker: Worker,
}

/// What an executor lends to a run.
pub(crate) struct Loan<'r> {
    pub(crate) hobts: &'r [Arc<dyn Hobt>],
    pub(crate) frame: &'r mut [Value],
    pub(crate) subplans: &'r mut [Option<Box<Subplan>>],
    pub(crate) follow_ups: &'r mut [Option<Box<dyn FollowUp>>],
    pub(crate) changed: &'r mut [Option<Box<RowBuffer>>],
    pub(crate) counts: &'r Tallies,
    pub(crate) grant: Grant<'r>,
    pub(crate) team: Option<&'r dyn Team>,
}

impl<'r> Run<'r> {
    /// The run of a worker.
    pub(crate) fn of_worker(lent: WorkerLoan<'r>) -> Run<'r> {
        Run {
            work: lent.work,
            private: None,
            resolver: lent.resolver,
            spill: lent.spill,
            variables: lent.variables,
            facts: lent.facts,
            identity: lent.identity,
            callout: lent.callout,
            hobts: lent.hobts,
            cursors: Cursors::new(lent.counts.cursors()),
            frame: lent.frame,
            subplans: &mut [],
            follow_ups: &mut [],
            changed: &mut [],
            counts: lent.counts,
            outcome: Outcome::default(),
            once: Vec::new(),
            isolation: lent.isolation,
            as_of: lent.as_of,
            qualifies_first: false,
            keeps_back: false,
            row_limit: None,
            team: Some(lent.team),
            worker: Some(lent.worker),
            past: lent.past,
            grant: lent.grant,
            ticks: 0,
        }
    }

    /// Begins another part of a scan that workers share; the part before is closed.
    pub(crate) fn next_part(&mut self, at: usize, part: Box<dyn RowCursor + 'r>) {
        if let Some(done) = self.cursors.at(at).replace(part) {
            let mut reads = done.reads();
            // A worker scans once, however many parts it has.
            reads.scans = u64::from(self.past[at].scans == 0);
            self.past[at].add(&reads);
        }
    }

    /// All rows are read: adds what the open cursors have read.
    pub(crate) fn note_past_reads(&mut self) {
        for at in 0..self.past.len() {
            if let Some(mut reads) = self.cursors.reads(at) {
                if self.past[at].scans > 0 {
                    reads.scans = 0;
                }
                self.past[at].add(&reads);
            }
        }
    }

    pub(crate) fn new<'c: 'r>(context: &'r mut ExecContext<'c>, lent: Loan<'r>) -> Run<'r> {
        Run {
            work: context.work,
            private: context.private.as_deref_mut(),
            resolver: context.hobts,
            spill: context.spill,
            variables: context.variables,
            facts: context.facts,
            identity: context.identity,
            callout: context.callout,
            hobts: lent.hobts,
            cursors: Cursors::new(lent.counts.cursors()),
            frame: lent.frame,
            subplans: lent.subplans,
            follow_ups: lent.follow_ups,
            changed: lent.changed,
            counts: lent.counts,
            outcome: Outcome::default(),
            once: Vec::new(),
            isolation: context.isolation,
            as_of: context.as_of,
            qualifies_first: context.qualifies_first,
            keeps_back: false,
            row_limit: context.row_limit,
            team: lent.team,
            worker: None,
            past: &mut [],
            grant: lent.grant,
            ticks: 0,
        }
    }

    /// Called for each row that an operator reads: ends the statement when it is cancelled.
    #[inline]
    pub(crate) fn tick(&mut self) -> SqlResult<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(ROWS_PER_CHECK) { self.check() } else { Ok(()) }
    }

    /// As `tick`, for work that takes as long as this many rows.
    #[inline]
    pub(crate) fn tick_by(&mut self, rows: u32) -> SqlResult<()> {
        let before = self.ticks / ROWS_PER_CHECK;
        self.ticks = self.ticks.wrapping_add(rows);
        if self.ticks / ROWS_PER_CHECK == before { Ok(()) } else { self.check() }
    }

    /// As `tick`, for a builtin that works long for one value or row.
    pub(crate) fn tick_builtin(&mut self) -> SqlResult<()> {
        self.tick_by(BUILTIN_ROWS)
    }

    #[cold]
    fn check(&mut self) -> SqlResult<()> {
        self.show_reads();
        if let Some(team) = self.team {
            team.stop().check()?;
        }
        self.work.owner().waiter().check()?;
        os::values::look_at_memory()
    }

    /// Publishes what cursors have read so far.
    fn show_reads(&mut self) {
        for at in 0..self.counts.cursors() {
            let Some(mut reads) = self.cursors.reads(at) else { continue };
            if let Some(past) = self.past.get(at) {
                if past.scans > 0 {
                    reads.scans = 0;
                }
                reads.add(past);
            }
            self.counts.set_reads(at, &reads);
        }
    }

    /// The unit of work that writes a target.
    ///
    /// # Panics
    /// When the session opened no unit of work for its table variables.
    pub(crate) fn writer(&mut self, private: bool) -> &mut Work {
        match private {
            true => self.private.as_mut().expect("the session opened it for this plan"),
            false => self.work,
        }
    }

    /// SET ROWCOUNT: whether another row is to be changed, with some gathered already.
    #[inline]
    pub(crate) fn takes_more(&self, gathered: u64) -> bool {
        self.row_limit.is_none_or(|limit| self.outcome.rows_affected + gathered < limit)
    }

    /// The value in a slot.
    #[inline]
    pub(crate) fn slot(&self, slot: Slot) -> &Value {
        &self.frame[slot.0 as usize]
    }

    /// Puts a value into a slot.
    #[inline]
    pub(crate) fn set(&mut self, slot: Slot, value: Value) {
        self.frame[slot.0 as usize] = value;
    }

    /// Asks for memory beyond what the operator holds: false when it is to spill.
    pub(crate) fn take_memory(&mut self, bytes: usize, held_bytes: usize) -> bool {
        if self.grant.take(bytes, held_bytes, self.work) {
            return true;
        }
        let within = held_bytes + bytes <= WORKSPACE_BYTES;
        if within {
            self.overdraw_memory(bytes);
        }
        within
    }

    /// Takes memory that cannot be done without.
    pub(crate) fn overdraw_memory(&mut self, bytes: usize) {
        self.grant.overdraw(bytes, self.work);
    }

    /// The run's memory as it is now.
    pub(crate) fn memory(&self) -> Option<GrantRow> {
        self.grant.row()
    }

    /// Gives memory back.
    pub(crate) fn give_memory(&mut self, bytes: usize) {
        self.grant.give(bytes);
    }

    /// The row at hand is changed after others were read: it and all later rows stay locked.
    pub(crate) fn keep_back(&mut self) {
        if !std::mem::replace(&mut self.keeps_back, true) {
            self.cursors.each(|cursor| cursor.keep_back());
        }
    }

    /// The locks of a reference at the session's level.
    pub(crate) fn lock_plan(&self, hints: &LockHints) -> LockPlan {
        let isolation = match hints.level {
            None => self.isolation,
            Some(Level::ReadUncommitted) => Isolation::ReadUncommitted,
            Some(Level::ReadCommitted | Level::ReadCommittedLock) => Isolation::ReadCommitted,
            Some(Level::RepeatableRead) => Isolation::RepeatableRead,
            Some(Level::Serializable) => Isolation::Serializable,
            Some(Level::Snapshot) => Isolation::Snapshot,
            Some(Level::Enforcing) => match self.isolation {
                keeps @ (Isolation::RepeatableRead | Isolation::Serializable) => keeps,
                Isolation::ReadUncommitted | Isolation::ReadCommitted | Isolation::Snapshot => {
                    Isolation::ReadCommitted
                }
            },
        };
        let first = self.qualifies_first && hints.is_plain_change();
        let judges = self.isolation == Isolation::Snapshot && hints.judges_changes();
        LockPlan {
            isolation,
            granule: match hints.granule {
                Granule::Row => access::Granule::Row,
                Granule::Page => access::Granule::Page,
                Granule::Table => access::Granule::Table,
            },
            strength: match hints.strength {
                Strength::Shared => access::Strength::Shared,
                Strength::Update if first => access::Strength::Shared,
                Strength::Update => access::Strength::Update,
                Strength::Exclusive => access::Strength::Exclusive,
            },
            hold: hints.hold,
            read_past: hints.read_past,
            no_wait: hints.no_wait,
            kept_back: (hints.kept_back || self.keeps_back) && !first,
            as_of: self.as_of.filter(|_| hints.reads_versions()),
            unchanged_since: self.as_of.filter(|_| judges || first),
        }
    }
}
