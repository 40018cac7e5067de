//! Statements about tables, and the parts of a table as a statement declares them.
//!
//! ```text
//!   create_table, alter_table, alter_column, truncate   the statements; DROP is in `drop.rs`
//!   declare     DECLARE @t TABLE
//!   column      a column as it is declared; `computed`: a computed column
//!   instant     adds and drops columns without reading a row
//! ```

pub(crate) mod alter_column;
pub(crate) mod alter_table;
pub(crate) mod column;
pub(crate) mod computed;
pub(crate) mod create_table;
pub(crate) mod declare;
pub(crate) mod instant;
pub(crate) mod truncate;
