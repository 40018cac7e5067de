//! Heaps: rows in no order, each at a RID that it keeps.
//!
//! ```text
//!   scan         reads rows in the order of allocation, or one by its RID
//!   write        insert, update, delete; `slots` says where a record fits
//!   forward      a row that outgrew its page
//!   redo, undo   the log records of heap pages, and the undo of changes
//!   promises     bytes on pages that are reserved for rollbacks
//!   bare_ghosts  ghosts that have no room for a version tag
//! ```

pub(crate) mod bare_ghosts;
pub(crate) mod forward;
pub(crate) mod promises;
pub(crate) mod redo;
pub(crate) mod scan;
pub(crate) mod slots;
pub(crate) mod undo;
pub(crate) mod write;
