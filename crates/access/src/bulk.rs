//! Bulk loading: sorted rows into an empty hobt, as index builds and large inserts do.

use crate::{Capture, WriteError};
use base::SqlResult;
use page::Field;
use work::Work;

/// How full a load leaves the pages of a tree, in percent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fill {
    /// Leaves.
    pub leaf: u8,
    /// The pages above them.
    pub interior: u8,
}

/// A hobt that can be loaded.
pub trait BulkLoad: Send + Sync {
    /// Begins a load into an empty hobt.
    ///
    /// # Errors
    /// Locks, space.
    fn load(&self, work: &mut Work, fill: Fill) -> SqlResult<Box<dyn Loader + '_>>;

    /// What it takes to build beside writers; `None` where that cannot be.
    fn capture(&self) -> Option<&dyn Capture> {
        None
    }
}

/// A load in progress.
pub trait Loader {
    /// Adds the next row; keys ascend.
    ///
    /// # Errors
    /// [`WriteError::Duplicate`] in a unique index, space, log.
    fn push(&mut self, work: &mut Work, row: &[Field<'_>]) -> Result<(), WriteError>;

    /// Completes upper levels; before it, nobody sees the rows.
    ///
    /// # Errors
    /// Space, log.
    fn finish(self: Box<Self>, work: &mut Work) -> SqlResult<u64>;
}
