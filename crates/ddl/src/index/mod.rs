//! Statements about indexes, and the parts of an index as a statement declares them.
//!
//! ```text
//!   create_index, alter_index, disable_index, reorganize   the statements; DROP is in `drop.rs`
//!   drop_existing  CREATE INDEX ... WITH (DROP_EXISTING = ON)
//!   definition     an index as it is declared; `options`: its WITH list; `filter`: its WHERE
//!   fill_choice    FILLFACTOR = AUTO
//! ```

pub(crate) mod alter_index;
pub(crate) mod create_index;
pub(crate) mod definition;
pub(crate) mod disable_index;
pub(crate) mod drop_existing;
pub(crate) mod fill_choice;
pub(crate) mod filter;
pub(crate) mod options;
pub(crate) mod reorganize;
