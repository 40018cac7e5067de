//! The list of storage formats: a new one is its crate and a line here. Its redo and undo handlers
//! are listed in `redo_table.rs` and where a database is wired.

use access::Formats;
use rowstore::RowFormat;
use std::sync::Arc;

/// The storage formats that there are. `rowstore` stores what no other does.
pub fn formats() -> Formats {
    Formats::new(vec![Arc::new(RowFormat)])
}
