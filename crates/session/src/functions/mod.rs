//! Functions of the user: how a statement calls them, and their tables.

pub(crate) mod caller;
pub(crate) mod known;
pub(crate) mod tables;
