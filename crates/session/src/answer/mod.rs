//! What a client is told: columns, rows, messages, the end of each statement.

pub(crate) mod failure;
pub(crate) mod output;
pub(crate) mod result_sets;
pub(crate) mod sink;
pub(crate) mod text_size;
