//! Random queries, and who says whether an answer is right.
//!
//! Nobody knows the right answer to a random query; but it has one, so every way to compute it must
//! give the same: with indexes and without, under each forced join and grouping, with little memory
//! (`trial`). The rows for which a condition is true, false and unknown are all rows (Rigger and
//! Su, "Finding bugs in database systems via query partitioning", 2020). And where PostgreSQL means
//! the same, it gives the same (`second`).
//!
//! Invariants
//!  1. A seed and a number tell a statement: what is found can be found again.
//!  2. A query has one answer: no form whose rows depend on a plan is made (`generate`).

#![forbid(unsafe_code)]
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::indexing_slicing,
    reason = "a judge stands beside the engine: it is the world, not part of it"
)]

mod answer;
mod engine;
mod generate;
mod reduce;
pub mod second;
mod spell;
mod tables;
mod tree;
pub mod trial;
mod variant;
