//! Compiled batches and plans: keys, invalidation, statistics of use.
//!
//! [`Cache`] keeps whole programs (a batch, a procedure, a prepared statement) by their text and
//! what else decides their meaning. It does not know what a program is. A program outlives changes
//! of definitions: each of its statements holds its newest plan in a [`PlanCell`], which says
//! whether the plan still fits the versions of the databases it was bound in.
//!
//! Invariants
//!  1. Two keys that differ in any part never share an entry: a hash only chooses the bucket.
//!  2. The bytes of a shard never exceed its share of the limit, except by its newest entry.
//!  3. An entry that was evicted lives on for whoever runs it.

#![forbid(unsafe_code)]

mod cache;
mod cell;
mod entry;

pub use cache::{Cache, Counters, Options};
pub use cell::{PlanCell, is_current};
pub use entry::{Entry, EntrySnapshot, Key, Kind, Run, Statistics};
