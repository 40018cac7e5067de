//! Ghosts: deleted records that still stand in their pages, and who removes them.
//!
//! ```text
//!   settle      their deleter, right after its commit
//!   neighbours  whoever changes the leaf beside them
//!   clean       the background cleaner, and whoever is about to split their leaf
//!   burial      moves one that a snapshot needs off its page, into the graveyard
//!   graveyard   where such ghosts lie, in memory; `chunks` is its list
//! ```

pub(crate) mod burial;
pub(crate) mod chunks;
pub(crate) mod clean;
pub(crate) mod graveyard;
pub(crate) mod neighbours;
pub(crate) mod settle;
