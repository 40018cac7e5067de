//! What the session sends to a client: columns, rows, messages, and the end of each statement.

pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod result_sets;
pub(crate) mod sink;
pub(crate) mod text_size;
