//! Cursors of T-SQL text and of clients, from their declaration to their last row.

pub(crate) mod api;
pub(crate) mod cursor;
pub(crate) mod handles;
pub(crate) mod parameter;
pub(crate) mod rows;
pub(crate) mod statement;
