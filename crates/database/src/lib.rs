//! One open database: wiring of floors 2 to 5, the redo table, boot, open, recover, close.
//!
//! A database is a data file `NAME.mdf` and a log `NAME_log.ldf`. Opening repairs torn pages,
//! redoes the log, opens the compiled-in system tables from the boot page, undoes losers that
//! changed definitions, and then reads the definitions. Losers that changed only rows are undone
//! while sessions use the database, where that is sound. See README.md.

#![forbid(unsafe_code)]

mod aborted;
mod accelerated;
mod boot;
mod builder;
mod check;
mod clean;
mod create;
mod database;
mod drops;
mod emergency;
mod files;
mod formats;
mod hobts;
mod identity;
mod in_doubt;
mod kept_ghosts;
mod kept_records;
mod kept_versions;
mod losers;
mod maintain;
mod named;
mod open;
mod overlay;
mod pace;
mod redo_table;
mod shrink;
mod spec;
mod state;
mod sweep;

pub use boot::boot_version;
pub use check::{CheckCounts, CheckFinding, CheckOptions, CheckReport};
pub use clean::GhostProgress;
pub use create::Sizing;
pub use database::{Database, Environment};
pub use files::{DATA_FILE, LOG_FILE};
pub use formats::formats;
pub use kept_versions::versions_on;
pub use losers::DeferredUndo;
pub use named::{Files, Identity, first_stem, identity_of, is_left_of_us, name_of_stem, stem};
pub use open::{OpenError, RecoveryReport};
pub use redo_table::redo_table;
pub use shrink::LogLengths;
pub use state::DatabaseState;
pub use sweep::{SweepOutcome, SweepRequest};
pub use version::VERSION_UNIT;
