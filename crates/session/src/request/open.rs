//! What belongs to the open transaction of a session, beside its work.
//!
//! Points to go back to are numbered as they are taken. The holder of one, a savepoint's name or a
//! statement whose trigger runs, may find that a ROLLBACK to an earlier savepoint has undone all
//! from before it was taken: then it stands for that savepoint (`Open::undone`). Savepoints behind
//! a point that was gone back to are gone.

use crate::tables::temp::TempSnapshot;
use base::TransactionId;
use std::sync::Arc;
use work::Mark;

/// What a rollback goes back to.
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

/// Points with these numbers are of what a ROLLBACK to a savepoint has undone.
pub(crate) struct UndoneRange {
    pub(super) behind: u64,
    pub(super) last: u64,
    /// What they stand for.
    pub(super) savepoint: Arc<RollbackPoint>,
}

/// How the last transaction ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Committed,
    RolledBack,
}

/// What belongs to the open transaction, beside its work.
#[derive(Default)]
pub(crate) struct Open {
    pub(super) name: String,
    pub(super) savepoints: Vec<Savepoint>,
    /// How many points were taken.
    pub(super) points: u64,
    /// In the order of their numbers, none within another.
    pub(super) undone: Vec<UndoneRange>,
    /// SET IMPLICIT_TRANSACTIONS began it.
    pub(crate) implicit: bool,
    pub(super) temp_before: TempSnapshot,
    /// The host has an overlay of definitions for it.
    pub(crate) definitions: bool,
    /// What the client believes: the descriptor of its transaction, 0 for none.
    pub(super) told: u64,
    pub(super) ended: Option<End>,
}

impl Open {
    /// The savepoint that a point stands for, where all since before it was undone.
    pub(super) fn stands_for(&self, point: &RollbackPoint) -> Option<Arc<RollbackPoint>> {
        let of = |u: &&UndoneRange| u.behind < point.number && point.number <= u.last;
        self.undone.iter().find(of).map(|u| Arc::clone(&u.savepoint))
    }

    /// All behind a point is undone: savepoints that were set there are gone.
    pub(super) fn forget_behind(&mut self, number: u64) {
        self.savepoints.retain(|s| s.point.number <= number);
        self.undone.retain(|u| u.behind <= number);
    }

    /// A savepoint was gone back to: whoever holds a point behind it finds the savepoint.
    pub(super) fn note_undone(&mut self, savepoint: Arc<RollbackPoint>) {
        let behind = savepoint.number;
        self.undone.retain(|u| u.behind < behind);
        self.undone.push(UndoneRange { behind, last: self.points, savepoint });
    }
}
