//! What an operator knows of the threads that run its statement with it.
//!
//! A [`Crew`](super::Crew) is a team. An operator asks it once when it is opened, or once a packet,
//! never for each row.

use super::link::Link;
use super::stop::Stop;
use access::{Division, LockPlan, ScanRange};
use base::SqlResult;
use std::sync::Arc;
use work::Work;

/// Which worker of its branch.
#[derive(Clone, Copy)]
pub(crate) struct Worker {
    pub(crate) number: usize,
}

/// Enumerates ranges.
pub(crate) type Ranges<'f> =
    &'f mut dyn FnMut(&mut dyn FnMut(&ScanRange<'_>) -> SqlResult<()>) -> SqlResult<()>;

/// What an operator sees of its crew.
pub(crate) trait Team: Sync {
    /// The queue of an exchange's rows.
    fn link(&self, exchange: usize) -> Arc<Link>;

    /// Whether the statement must end.
    fn stop(&self) -> &Stop;

    /// Whether aggregates of workers that have sent their rows have skipped a NULL.
    fn saw_nulls(&self) -> bool;

    /// The parts of a scan that workers share, range by range.
    fn divided(
        &self,
        cursor: usize,
        hobt: usize,
        work: &mut Work,
        ranges: Ranges<'_>,
        locks: &LockPlan,
    ) -> SqlResult<&[Box<dyn Division + '_>]>;
}
