//! Recovery: repeats what the log says, and names the transactions that did not finish.
//!
//! It is one pass over the log from the last checkpoint's `min_lsn`. Each group is redone on the
//! pages that do not have it yet, and each transaction is counted as ended or as a loser. The
//! losers' owners undo them. Checkpoints, which bound that pass, are here too. See README.md for
//! the protocol and its numbered rules.

#![forbid(unsafe_code)]

mod analysis;
mod checkpoint;
mod error;
mod redo;

pub use checkpoint::{
    CARRIED_BYTES_MAX, CarriedNotes, CheckpointResult, LogBounds, checkpoint, hints_of, kept_of,
};
pub use error::RecoveryError;
pub use redo::{RedoReport, redo, redo_what_fits};
