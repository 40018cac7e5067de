//! Statements about whole databases. The instance does the work (`databases.rs`).
//!
//! ```text
//!   create_database, alter_database   the statements; DROP is in `drop.rs`
//!   file_spec                         a file specification in these statements
//! ```

pub(crate) mod alter_database;
pub(crate) mod create_database;
pub(crate) mod file_spec;
