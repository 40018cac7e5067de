//! Indexes: rows and entries in the order of their keys, on the trees of `btree`.
//!
//! ```text
//!   scan         reads rows in the order of keys
//!   write        insert, update, delete
//!   entry_group  inserts a row's entries into several indexes at once
//!   reorganize   ALTER INDEX ... REORGANIZE
//! ```

pub(crate) mod entry_group;
pub(crate) mod reorganize;
pub(crate) mod scan;
pub(crate) mod write;
