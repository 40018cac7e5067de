//! System views and table-valued system functions: names and columns here, snapshots in lower
//! crates.
//!
//! A lower crate publishes a typed, bounded snapshot; a file here says that it is called
//! `sys.dm_tran_locks`. A column that the engine cannot fill is NULL. docs/views.md lists the
//! constant columns with the reasons.

#![forbid(unsafe_code)]

mod cell;
mod column;
mod compat;
mod dbo;
mod deadlock;
mod dm;
mod document;
#[cfg(test)]
mod documentation;
mod event_session;
mod information_schema;
mod list;
mod log;
mod pages;
mod reason;
mod rowset;
mod storage;
mod stream;
mod sys;
mod tables;
mod view;

pub use deadlock::Surroundings;
pub use event_session::EventSession;
pub use list::{all, open};
pub use pages::{list_pages, show_page};
pub use view::{ClosedDatabase, Databases, System};
