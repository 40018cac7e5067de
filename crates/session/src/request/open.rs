//! State of a session's open transaction, beside its unit of work.
//!
//! Rollback points are numbered as they are taken. A savepoint's name or a statement with triggers
//! holds one. A ROLLBACK to an earlier savepoint may undo everything from before the point was
//! taken. Then the point stands for that savepoint (`Open::undone`). Savepoints that follow a point
//! are removed when that point is rolled back to.

use crate::tables::temp::TempSnapshot;
use base::TransactionId;
use std::sync::Arc;
use work::Mark;

/// A point that a rollback can return to.
pub(crate) struct RollbackPoint {
    pub(super) transaction: Option<TransactionId>,
    /// Points are numbered as they are taken.
    pub(super) number: u64,
    pub(crate) mark: Mark,
    pub(super) temp: TempSnapshot,
    pub(super) definitions: u64,
}

pub(crate) struct Savepoint {
    pub(super) name: String,
    pub(super) point: Arc<RollbackPoint>,
}

/// A range of point numbers that a ROLLBACK to a savepoint has undone.
pub(crate) struct UndoneRange {
    pub(super) behind: u64,
    pub(super) last: u64,
    /// The savepoint that they stand for.
    pub(super) savepoint: Arc<RollbackPoint>,
}

/// How the last transaction ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Committed,
    RolledBack,
}

/// State of the open transaction, beside its unit of work.
#[derive(Default)]
pub(crate) struct Open {
    pub(super) name: String,
    pub(super) savepoints: Vec<Savepoint>,
    /// The number of points taken so far.
    pub(super) points: u64,
    /// Undone ranges in the order of their numbers; none contains another.
    pub(super) undone: Vec<UndoneRange>,
    /// Whether SET IMPLICIT_TRANSACTIONS began it.
    pub(crate) implicit: bool,
    pub(super) temp_before: TempSnapshot,
    /// Whether the host has an overlay of definitions for it.
    pub(crate) definitions: bool,
    /// The descriptor of the transaction that the client was told of; 0 for none.
    pub(super) told: u64,
    pub(super) ended: Option<End>,
}

impl Open {
    /// The savepoint that a point stands for, if everything since before the point was undone.
    pub(super) fn stands_for(&self, point: &RollbackPoint) -> Option<Arc<RollbackPoint>> {
        let of = |u: &&UndoneRange| u.behind < point.number && point.number <= u.last;
        self.undone.iter().find(of).map(|u| Arc::clone(&u.savepoint))
    }

    /// Everything after a point is undone: removes the savepoints that were set after it.
    pub(super) fn forget_behind(&mut self, number: u64) {
        self.savepoints.retain(|s| s.point.number <= number);
        self.undone.retain(|u| u.behind <= number);
    }

    /// A savepoint was rolled back to: points after it now stand for the savepoint.
    pub(super) fn note_undone(&mut self, savepoint: Arc<RollbackPoint>) {
        let behind = savepoint.number;
        self.undone.retain(|u| u.behind < behind);
        self.undone.push(UndoneRange { behind, last: self.points, savepoint });
    }
}
