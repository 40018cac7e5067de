//! The state of a request whose commit is not durable yet. `owed.rs` has the rules.

use crate::program::steps::{PlaceId, Program};
use os::wait::DetachedWait;
use plancache::{Entry, Run};
use std::sync::Arc;

/// What remains to be done when the commit is durable.
#[derive(Default)]
pub(crate) struct PendingEnd {
    /// Whether the transaction was the user's.
    pub(super) user: bool,
    pub(super) counted: Vec<EndedRun>,
    pub(super) parked: Option<ParkedRequest>,
}

/// A run of a statement or a program that has ended except for the wait.
pub(crate) struct EndedRun {
    pub(super) program: Arc<Entry<Program>>,
    pub(super) place: Option<PlaceId>,
    pub(super) began_at: i64,
    pub(super) began_ns: u64,
    pub(super) run: Run,
}

/// A request whose thread has left it.
pub(crate) struct ParkedRequest {
    pub(super) wait: DetachedWait,
    pub(super) began_ns: u64,
}
