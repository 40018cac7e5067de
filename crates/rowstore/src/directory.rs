//! Maps an allocation unit to its open hobt: undo asks for it.

use crate::RowHobt;
use base::AllocUnitId;
use std::sync::Arc;

/// Finds hobts by the unit that log records carry. Implemented by `database`, which also knows
/// hobts of transactions that are not committed.
pub trait HobtDirectory: Send + Sync {
    /// The hobt that owns a unit, opened if need be.
    fn by_unit(&self, unit: AllocUnitId) -> Option<Arc<RowHobt>>;

    /// The transaction that made a unit was undone: its hobt is gone.
    fn undone(&self, unit: AllocUnitId);
}
