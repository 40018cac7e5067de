//! Recovery: what the log says is done again, and who did not finish is named.
//!
//! One pass over the log from the last checkpoint's `min_lsn`: each group is redone on the pages
//! that do not have it yet, and the transactions seen are counted as ended or lost. Undo of the
//! losers is their owners' business. Checkpoints, which bound that pass, are here too. See
//! README.md for the protocol and its numbered rules.

#![forbid(unsafe_code)]

mod analysis;
mod checkpoint;
mod error;
mod redo;

pub use checkpoint::{CARRIED_BYTES_MAX, Checkpointed, carried_of, checkpoint};
pub use error::RecoveryError;
pub use redo::{Redone, redo, redo_what_fits};
