//! MERGE: one pass over a join of source and target, and what each row of it asks for.
//!
//! The clauses are tried in order; the first that concerns a row and whose condition is true acts
//! upon it, the others do not. All rows are read before any is changed.

use crate::{
    Assignment, ColumnSource, IdentityColumn, OldRow, Output, Predicate, Scalar, Slot, Target,
};

/// MERGE
#[derive(Clone, Debug, PartialEq)]
pub struct Merge<S> {
    /// No row is written: what would be is kept for follow-ups, in the place of INSTEAD OF
    /// triggers. The target is a table of captured rows.
    pub captured: bool,
    /// What is changed, as its UPDATE knows it.
    pub target: Target,
    /// The same as INSERT knows it, where a clause inserts: its foreign keys are tested otherwise.
    pub inserts: Option<Target>,
    /// The same as DELETE knows it, where a clause deletes.
    pub deletes: Option<Target>,
    /// The join.
    pub source: S,
    /// The old row; NULL where there is none.
    pub old: OldRow,
    /// The new value of each column, by ordinal; NULL of a row that is deleted.
    pub new: Vec<Option<Slot>>,
    /// Not NULL in rows that have one of the target.
    pub has_target: Slot,
    /// Not NULL in rows that have one of the source; none where all have.
    pub has_source: Option<Slot>,
    /// What to do.
    pub clauses: Vec<MergeClause>,
    /// The identity column, where a clause inserts.
    pub identity: Option<IdentityColumn>,
    /// TOP: how many rows are acted upon at most.
    pub top: Option<Scalar>,
    /// The number of the clause that acts.
    pub clause: Slot,
    /// `$action`
    pub action: Slot,
    /// OUTPUT
    pub output: Option<Box<Output>>,
}

/// WHEN … THEN
#[derive(Clone, Debug, PartialEq)]
pub struct MergeClause {
    /// The rows it concerns.
    pub when: MergeMatch,
    /// AND
    pub condition: Predicate,
    /// THEN
    pub action: MergeAction,
}

/// Which rows of the join a clause concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeMatch {
    /// Those with both sides.
    Matched,
    /// Those of the source alone.
    NotMatchedByTarget,
    /// Those of the target alone.
    NotMatchedBySource,
}

/// What becomes of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeAction {
    /// SET
    Update(Vec<Assignment>),
    /// It goes.
    Delete,
    /// It comes: one per column of the target.
    Insert(Vec<ColumnSource>),
}

impl MergeAction {
    /// What `$action` says.
    pub fn name(&self) -> &'static str {
        match self {
            MergeAction::Update(_) => "UPDATE",
            MergeAction::Delete => "DELETE",
            MergeAction::Insert(_) => "INSERT",
        }
    }
}

impl<S> Merge<S> {
    /// What it changes, as each of its actions knows it.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        std::iter::once(&self.target).chain(&self.inserts).chain(&self.deletes)
    }
}
