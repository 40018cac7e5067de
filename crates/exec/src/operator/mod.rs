//! What an operator is, its place in a tree, and the operators that keep no rows.
//!
//! ```text
//!   filter compute assert top split   pass on or change the rows of one input
//!   concatenation merge_union         join the rows of several
//!   constants                         rows that the plan contains
//!   timer                             measures another operator
//! ```
//! An operator of another kind is in the folder of its kind: `scan`, `join`, `aggregate`, `sort`,
//! `window`, `spool`, `exchange`, with the memory that it uses and its counters.
//!
//! Protocol: `open` (or `rewind`), `next` until false, any number of times, `close`. `next` leaves
//! the row in the slots that the operator's plan node lists. After an error only `open` and `close`
//! may follow; both work from any state.

mod assert;
mod compute;
mod concatenation;
mod constants;
mod filter;
mod merge_union;
mod split;
mod timer;
mod top;

pub(crate) use assert::Assert;
pub(crate) use compute::Compute;
pub(crate) use concatenation::Concatenation;
pub(crate) use constants::Constants;
pub(crate) use filter::{Filter, StartupFilter};
pub(crate) use merge_union::MergeUnion;
pub(crate) use split::Split;
pub(crate) use timer::Timer;
pub(crate) use top::{Top, row_count};

use crate::join::JoinFilter;
use crate::run::Run;
use base::SqlResult;

/// Something that gives rows.
pub(crate) trait Operator: Send {
    /// Begins: rows depend on slots of outer rows as they are now.
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()>;

    /// The next row into its slots; false after the last.
    fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool>;

    /// Begins again where no outer slot has changed since `open`: what was computed may be kept.
    fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        self.open(run)
    }

    /// Whether the row that it returned last is unchanged, for an operator above that has read more
    /// of that row since. If not, `next` returns it again in its present state, or the row after
    /// it. Rows that are permanent copies do not change.
    fn recheck(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let _ = run;
        Ok(true)
    }

    /// The run is over: drops rows and files, and closes the inputs.
    fn close(&mut self);

    /// Nobody reads it again in this run: its memory goes back to the grant.
    fn release(&mut self, run: &mut Run<'_>) {
        let _ = run;
    }

    /// A join above drops rows whose keys its filter refuses, so an operator that reads the keys
    /// may drop them at once. Without a filter, the filter of that join is forgotten. True when the
    /// operator applies it.
    fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        let _ = (join, filter);
        false
    }

    /// How many rows there are in all, where that is known after `open`.
    fn known_rows(&self) -> Option<u64> {
        None
    }
}

/// An operator with its number among those of the plan, under which its rows are counted.
pub(crate) struct Node {
    pub(crate) id: usize,
    pub(crate) operator: Box<dyn Operator>,
}

impl Node {
    pub(crate) fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        run.counts.of(self.id).opened();
        self.operator.open(run)
    }

    pub(crate) fn rewind(&mut self, run: &mut Run<'_>) -> SqlResult<()> {
        run.counts.of(self.id).rewound();
        self.operator.rewind(run)
    }

    #[inline]
    pub(crate) fn next(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let more = self.operator.next(run)?;
        run.counts.of(self.id).gave(more);
        Ok(more)
    }

    #[inline]
    pub(crate) fn recheck(&mut self, run: &mut Run<'_>) -> SqlResult<bool> {
        let same = self.operator.recheck(run)?;
        if !same {
            run.counts.of(self.id).took_back();
        }
        Ok(same)
    }

    pub(crate) fn close(&mut self) {
        self.operator.close();
    }

    pub(crate) fn release(&mut self, run: &mut Run<'_>) {
        self.operator.release(run);
    }

    pub(crate) fn set_filter(&mut self, join: usize, filter: Option<&JoinFilter>) -> bool {
        self.operator.set_filter(join, filter)
    }

    pub(crate) fn known_rows(&self) -> Option<u64> {
        self.operator.known_rows()
    }
}
