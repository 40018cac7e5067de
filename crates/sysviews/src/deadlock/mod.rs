//! Deadlocks as SQL Server's `xml_deadlock_report` tells them.
//!
//! ```text
//! deadlock
//!   victim-list    victimProcess
//!   process-list   process            a wait of the circle, with its session and its statements
//!   resource-list  keylock, ridlock …  what a wait is for: who has it, who waits for it
//! ```
//! `report.rs` is the document, `process.rs` and `resource.rs` its two lists, `names.rs` what ids
//! are called. What is not known is left out.
//!
//! Sources: names and order of attributes are those of the deadlock graph in Microsoft's "Deadlocks
//! guide"; of resources those of `resource_description` on the page of sys.dm_os_waiting_tasks;
//! that a resource is told once for each wait, and how waits further ahead in its queue are told,
//! is of deadlock graphs that others published.

mod names;
mod process;
mod report;
mod resource;

pub use report::Surroundings;
pub(crate) use report::report;
