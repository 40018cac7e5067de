//! User functions: how a statement calls them, and their table variables.

pub(crate) mod caller;
pub(crate) mod known;
pub(crate) mod tables;
