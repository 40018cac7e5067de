//! Statements about whole databases. What is done for them is asked of the instance
//! (`databases.rs`).
//!
//! ```text
//!   create_database, alter_database   the statements; DROP is in `drop.rs`
//!   file_spec                         a file as they write it
//! ```

pub(crate) mod alter_database;
pub(crate) mod create_database;
pub(crate) mod file_spec;
