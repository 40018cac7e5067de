//! System views and table-valued system functions: names and columns above, snapshots below.
//!
//! A lower crate publishes a typed, bounded snapshot; a file here says that it is called
//! `sys.dm_tran_locks`. What a view cannot know it shows as NULL, and docs/views.md says which
//! columns are constant and why.

#![forbid(unsafe_code)]

mod dm;
mod rowset;
mod sys;
mod view;

pub use view::{Databases, System, all, open};
