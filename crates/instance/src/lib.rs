//! The process: databases, sessions, tempdb, workers, and the lists that register them.
//!
//! An [`Instance`] is opened on a folder, embedded or behind the server; it owns what is one for
//! all databases (locks, transactions, the buffer pool, sessions) and implements what sessions
//! ask of the process ([`session::Host`]).

#![forbid(unsafe_code)]

mod asker;
mod auto_statistics;
mod checkdb;
mod closed;
mod configured;
mod databases;
mod ddl_call;
mod definitions;
mod error_log;
mod expressions;
mod facts;
mod files;
mod forced_cleaning;
#[cfg(test)]
#[path = "../tests/heard/mod.rs"]
mod heard;
mod hobts;
mod host;
mod instance;
mod list;
mod list_found;
mod list_start;
mod list_text;
mod log_reports;
mod opening;
mod private_tables;
mod shrinking;
mod standing;
mod start;
mod store_watch;
#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail")]
mod tests;
mod unsupported;
mod version_cleanup;
mod versioning;
mod visit;
mod workers;

pub use instance::{Instance, InstanceOptions};
