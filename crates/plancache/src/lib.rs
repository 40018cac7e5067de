//! Compiled batches and plans: keys, invalidation, statistics of use.
//!
//! [`Cache`] keeps whole programs (a batch, a procedure, a prepared statement) by their text and
//! what else decides their meaning. It does not know what a program is. A program outlives changes
//! of definitions: each of its statements holds its newest plan in a [`PlanCell`], which says
//! whether the plan still fits the versions of the databases it was bound in.
//!
//! Invariants
//!  1. Two keys that differ in any part never share an entry: a hash only chooses the bucket.
//!  2. The bytes of a shard never exceed its share of the limit, except by its newest entry, and
//!     they are reserved with `os::memory` (`CACHESTORE_SQLCP`).
//!  3. An entry that was evicted lives on for whoever runs it, and says that it is gone.

#![forbid(unsafe_code)]

mod cache;
mod cell;
mod entry;
mod handle;
mod statistics;

pub use cache::{Cache, Counters, Options};
pub use cell::{PlanCell, ShownPlan};
pub use entry::{Entry, Key, Kind, NewEntry};
pub use handle::{Fingerprint, HANDLE_HEAD_BYTES, PlanHandle, TextHandle};
pub use statistics::{ExecutionCounts, Measure, Run, Statistics};
