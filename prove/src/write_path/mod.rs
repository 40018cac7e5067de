//! The write path: what transactions cost, alone, side by side and beside the peers, and what they
//! write.

pub(crate) mod cost_of_a_row;
pub(crate) mod cost_of_a_transaction;
pub(crate) mod fill_factors;
pub(crate) mod log_as_a_table;
pub(crate) mod one_end_of_an_index;
pub(crate) mod one_row_story;
pub(crate) mod six_indexes_story;
pub(crate) mod transactions_beside_peers;
