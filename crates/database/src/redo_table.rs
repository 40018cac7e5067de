//! The list of redo handlers. Its ranges are on-disk format. Append only.

use std::sync::Arc;
use wal::RedoTable;

/// The redo table of every database.
pub fn redo_table() -> Arc<RedoTable> {
    Arc::new(
        RedoTable::new()
            .with(space::kinds::RANGE, &space::SpaceRedo)
            .with(btree::KINDS, &btree::BtreeRedo)
            .with(rowstore::HEAP_KINDS, &rowstore::HeapRedo)
            .with(version::VERSION_KINDS, &version::VersionRedo),
    )
}
