//! From what a statement means to how it is computed: access paths, join methods, order.
//!
//! One recursion over the logical tree carries two things down, conditions that are still to be
//! applied and slots that somebody above needs, and brings an operator up with the order of its
//! rows.
//! Estimates are guesses by shape until statistics exist; no choice can make a result wrong.
//!
//! Invariants
//!  1. Every condition that goes down is applied exactly once, or made part of a seek that implies
//!     it, or both.
//!  2. A change never sees its own rows: `halloween` puts a spool between, where it might.
//!  3. An order is reported only by an operator that was told to keep it.
//!
//! Not here: meaning (bind), running (exec), costs from statistics.

#![forbid(unsafe_code)]

mod access;
mod convert;
mod estimate;
mod halloween;
mod join;
mod merge;
mod node;
mod ordering;
mod path;
mod sarg;
mod semi;
mod statement;
mod wanted;

pub use statement::optimize;
pub use wanted::{Wanted, wanted};
