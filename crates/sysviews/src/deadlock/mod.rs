//! Deadlocks in the form of SQL Server's `xml_deadlock_report`.
//!
//! ```text
//! deadlock
//!   victim-list    victimProcess
//!   process-list   process            a wait of the circle, with its session and its statements
//!   resource-list  keylock, ridlock …  what a wait is for: who has it, who waits for it
//! ```
//! `report.rs` writes the document, `process.rs` and `resource.rs` its two lists; `names.rs` has
//! the names of ids. Unknown facts are left out.
//!
//! Sources: the names and order of attributes are those of the deadlock graph in Microsoft's
//! "Deadlocks guide"; those of resources are from `resource_description` on the page of
//! sys.dm_os_waiting_tasks. That a resource is listed once for each wait, and how waits further
//! ahead in its queue are listed, is from published deadlock graphs.

mod names;
mod process;
mod report;
mod resource;

pub use report::Surroundings;
pub(crate) use report::report;
