//! Statements about tables, and what a table is made of as a statement writes it.
//!
//! ```text
//!   create_table, alter_table, alter_column, truncate   the statements; DROP is in `drop.rs`
//!   declare     DECLARE @t TABLE
//!   column      a column as it is declared; `computed` where it is an expression
//!   instant     columns that come and go without a look at the rows
//! ```

pub(crate) mod alter_column;
pub(crate) mod alter_table;
pub(crate) mod column;
pub(crate) mod computed;
pub(crate) mod create_table;
pub(crate) mod declare;
pub(crate) mod instant;
pub(crate) mod truncate;
