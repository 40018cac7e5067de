//! Ghosts: deleted records that still stand in their pages, and their removal.
//!
//! ```text
//!   settle      by their deleter, right after its commit
//!   neighbours  by a thread that changes the leaf beside them
//!   clean       by the background cleaner, or a thread that is about to split their leaf
//!   burial      moves a ghost that a snapshot needs off its page, into the graveyard
//!   graveyard   keeps such ghosts in memory; `chunks` is its list
//! ```

pub(crate) mod burial;
pub(crate) mod chunks;
pub(crate) mod clean;
pub(crate) mod graveyard;
pub(crate) mod neighbours;
pub(crate) mod settle;
