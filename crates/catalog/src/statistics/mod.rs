//! Statistics: what is known of the values of some columns, as plain data.
//!
//! `ddl` pushes sorted keys into a [`Collector`] and gets a [`Distribution`]; the catalog stores
//! it in pieces of `sysobjvalues`; views show it, and [`Histogram`] answers how many rows a
//! comparison keeps.
//!
//! ```text
//! distribution  rows, rows sampled, when
//!               prefixes: for the first column, the first two, …: distinct keys, average bytes
//!               steps of the first column, at most 200, in ascending order, NULL first:
//!
//!   rows equal to the step's key   2        1           4       1
//!                        keys    NULL      10          20      35
//!   rows between two keys               (nothing)   3 (2 distinct)   0
//! ```
//!
//! Invariants
//!  1. The least value that is not NULL is a step's key, so rows between steps have two ends.
//!  2. Rows of all steps sum to the rows of the table, as far as floats do.

mod collector;
mod distribution;
mod histogram;
mod pairs;
mod staleness;
mod stored;
mod strings;

pub use collector::{Collector, StatisticsHeader};
pub use distribution::{Distribution, Prefix, Step};
pub use histogram::Histogram;
pub use staleness::stale_after;

/// Most steps of a histogram, that of NULL with them.
pub const STEPS_MAX: usize = 200;

#[cfg(test)]
mod tests;
