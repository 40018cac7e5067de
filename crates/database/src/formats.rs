//! The list of storage formats. A new format is a crate and a line here. Its redo and undo handlers
//! are listed in `redo_table.rs` and where a database is wired.

use access::Formats;
use rowstore::RowFormat;
use std::sync::Arc;

/// The storage formats. `rowstore` stores what no other format stores.
pub fn formats() -> Formats {
    Formats::new(vec![Arc::new(RowFormat)])
}
