//! CREATE, ALTER, DROP, index builds, TRUNCATE, DBCC: definitions changed in the user's
//! transaction.
//!
//! [`execute`] takes one statement and a [`DdlContext`]. What it changes is three things at once:
//! rows of the system tables (`catalog::Changes`), hobts (`catalog::Builder`), and a list of
//! deltas, which the session shows to its own transaction at once and publishes at commit.
//!
//! ```text
//! statement ─ locate: lock, look up again ─ check everything ─ rebuild ─ rows, deltas
//!                                                               │
//!                       a table before and after: hobts made, filled, dropped as they differ
//! ```
//!
//! Every change of a table, from CREATE INDEX to TRUNCATE, is a table before and a table after;
//! [`rebuild`](crate::build::rebuild) makes the one into the other. Errors come before anything is
//! made.
//!
//! ```text
//!   statement      which statement is done where; drop, rename, sequence, synonym, property
//!   database, schema, table, constraint, index, statistics, module, data_type, dbcc
//!                  the statements about each of them
//!   locate         from a name to a definition, locked
//!   build          a table before made into the table after; online: beside its users
//! ```
//!
//! Statements about whole databases go to [`Databases`], which `instance` implements. What parses
//! and is not supported is refused by its name; nothing is accepted and ignored.

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
