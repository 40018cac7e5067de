//! Changes: INSERT, UPDATE, DELETE and MERGE, and what they lead to.
//!
//! ```text
//!   body                     what a statement does with the rows of its source
//!   insert update merge      the statements; update has DELETE
//!   row_insert row_change    one row: into each hobt of a target, or changed in each
//!   target                   composes the stored row of each hobt and writes it
//!   output                   OUTPUT, for the client or into a table
//!   first_rows notes         which rows came before; what the first of two passes did
//!   assertion foreign_keys   CHECK constraints; foreign keys and their follow-ups
//!   wide                     an index that is changed by itself, after the base rows
//! ```
//! README.md, rules 1 to 4, says in what order things are written.

mod assertion;
mod body;
mod first_rows;
mod foreign_keys;
mod insert;
mod merge;
mod notes;
mod output;
mod row_change;
mod row_insert;
mod target;
mod update;
mod wide;

pub(crate) use body::{Body, Rows};
pub(crate) use foreign_keys::{ChangedRows, Refusal};
pub(crate) use insert::Insert;
pub(crate) use merge::{Clause, Merge};
pub(crate) use output::Output;
pub(crate) use row_insert::{ColumnValue, RowInsert};
pub(crate) use target::Target;
pub(crate) use update::{Delete, Update};
pub(crate) use wide::IndexChange;
