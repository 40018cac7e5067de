//! Changes: INSERT, UPDATE, DELETE and MERGE, with what each owes to constraints and triggers.
//!
//! ```text
//!   change          one of the four, by its text
//!   target          the table that is changed
//!   row_slots       where a changed row has its values
//!   through         changes through views and derived tables
//!   insert          INSERT
//!   update          UPDATE
//!   delete          DELETE
//!   merge           MERGE
//!   output          OUTPUT
//!   referential     what a change owes to foreign keys
//!   capture         rows for AFTER triggers
//!   parent          what has an INSTEAD OF trigger
//!   instead         changes of it
//!   captured_merge  its MERGE
//!   nested          a change in the FROM of an INSERT
//!   select_into     the INSERT of a SELECT INTO
//!   cursor          cursors, and changes of the row that is current
//! ```

pub(crate) mod capture;
pub(crate) mod captured_merge;
pub(crate) mod change;
pub(crate) mod cursor;
pub(crate) mod delete;
pub(crate) mod insert;
pub(crate) mod instead;
pub(crate) mod merge;
pub(crate) mod nested;
pub(crate) mod output;
pub(crate) mod parent;
pub(crate) mod referential;
pub(crate) mod row_slots;
pub(crate) mod select_into;
pub(crate) mod target;
pub(crate) mod updatable_columns;
pub(crate) mod update;
