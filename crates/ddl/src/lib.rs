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
//! [`rebuild`](crate::rebuild) makes the one into the other. Errors come before anything is made.
//!
//! Statements about whole databases go to [`Databases`], which `instance` implements. What parses
//! and is not supported is refused by its name; nothing is accepted and ignored.

#![forbid(unsafe_code)]

mod admin;
mod alter_column;
mod alter_database;
mod alter_index;
mod alter_table;
mod auto_statistics;
mod build;
mod column;
mod computed;
mod constraint;
mod context;
mod create_database;
mod create_index;
mod create_table;
mod databases;
mod declare;
mod disable_index;
mod drop;
mod drop_constraint;
mod drop_existing;
mod file_spec;
mod fill_choice;
mod foreign_key;
mod function;
mod gather;
mod generated_name;
mod index_definition;
mod index_filter;
mod index_option;
mod instant;
mod locate;
mod log_statements;
mod module;
mod normal_form;
mod online;
mod parallel;
mod property;
mod read_only;
mod rebuild;
mod rename;
mod reorganize;
mod schema;
mod schema_binding;
mod sequence;
mod show_statistics;
mod shrink_file;
mod sort;
mod statement;
mod statistics;
mod still_used;
mod synonym;
mod transfer;
mod trigger;
mod truncate;
mod type_name;
mod user_type;
mod view;

pub use alter_table::distrust;
pub use auto_statistics::{WantedStatistics, bears, gather_statistics};
pub use context::{DdlContext, Expressions, Place, Places, ResultSet, Settings, TempTables};
pub use create_table::create_into;
pub use databases::{
    Check, Databases, FileChange, FileNamed, FileSize, LogShrinkStop, NewDatabase, NewFile,
    ShrinkAsked, Shrunk, StateAsked, Waiting,
};
pub use declare::declare;
pub use parallel::Threads;
pub use property::{PropertyChange, PropertyVerb, change_property};
pub use rename::rename;
pub use statement::{DdlOutcome, Setting, execute, setting_of};
pub use trigger::{TriggerOrder, order_trigger};
pub use type_name::user_type;
pub use user_type::variable_of;
