//! CREATE, ALTER, DROP, index builds, TRUNCATE, DBCC: definitions changed in the user's
//! transaction.
//!
//! [`execute`] takes one statement and a [`DdlContext`]. It changes three things: rows of the
//! system tables (`catalog::Changes`), hobts (`catalog::Builder`), and a list of deltas. The
//! session's own transaction sees these deltas at once; commit publishes them.
//!
//! ```text
//! statement ─ locate: lock, look up again ─ check everything ─ rebuild ─ rows, deltas
//!                                                               │
//!      compares the table before with the table after: makes, fills and drops hobts
//! ```
//!
//! Every change of a table, from CREATE INDEX to TRUNCATE, is described by the table before and
//! the table after; [`rebuild`](crate::build::rebuild) turns the one into the other. A statement
//! checks everything and reports errors before it makes anything.
//!
//! ```text
//!   statement      calls the file that runs a statement
//!   drop, rename, sequence, synonym, property
//!   database, schema, table, constraint, index, statistics, module, data_type, dbcc
//!                  the statements about each of them
//!   locate         looks a name up and locks its definition
//!   build          turns the table before into the table after
//!   online         builds indexes while other sessions use the table
//! ```
//!
//! Statements about whole databases go to [`Databases`], which `instance` implements. A statement
//! or option that parses but is not supported is refused by its name; none is accepted and
//! ignored.

#![forbid(unsafe_code)]

mod build;
mod constraint;
mod context;
mod data_type;
mod database;
mod databases;
mod dbcc;
mod drop;
mod index;
mod locate;
mod module;
mod online;
mod property;
mod rename;
mod schema;
mod sequence;
mod statement;
mod statistics;
mod synonym;
mod table;

pub use build::parallel::Threads;
pub use context::{DdlContext, Expressions, Place, Places, ResultSet, Settings, TempTables};
pub use data_type::type_name::user_type;
pub use data_type::user_type::variable_of;
pub use databases::{
    Check, Databases, FileChange, FileReference, FileSize, LogShrinkStop, NewDatabase, NewFile,
    ShrinkOutcome, ShrinkRequest, WaitLimit, WantedState,
};
pub use module::trigger::{TriggerOrder, order_trigger};
pub use property::{PropertyChange, PropertyVerb, change_property};
pub use rename::rename;
pub use statement::{DdlOutcome, Setting, execute, setting_of};
pub use statistics::auto_statistics::{WantedStatistics, bears, gather_statistics};
pub use table::alter_table::distrust;
pub use table::create_table::create_into;
pub use table::declare::declare;
