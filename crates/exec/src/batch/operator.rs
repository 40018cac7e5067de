//! What a batch operator is. The protocol is that of operators of row mode, with batches for rows.

use crate::run::Run;
use base::SqlResult;
use vector::Batch;

/// Something that gives batches.
pub(super) trait BatchOperator: Send {
    /// A batch for what it gives, without rows.
    fn batch(&self) -> Batch;

    /// Begins: what it gives depends on slots of outer rows as they are now.
    fn open(&mut self, run: &mut Run<'_>) -> SqlResult<()>;

    /// Puts the next rows into the batch that [`BatchOperator::batch`] made, those selected that it
    /// gives; false after the last. It may select none.
    fn next(&mut self, run: &mut Run<'_>, batch: &mut Batch) -> SqlResult<bool>;

    /// The run is over.
    fn close(&mut self);
}
