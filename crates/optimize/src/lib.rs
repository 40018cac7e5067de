//! From what a statement means to how it is computed: access paths, join methods, order.
//!
//! One recursion over the logical tree carries three things down, conditions that are still to be
//! applied, slots that somebody above needs and what somebody above would like (an order, the first
//! rows), and brings an operator up with the order of its rows, how many they are expected to be
//! and what they cost. Where relations are joined, `order` searches all orders of a whole region at
//! once; each relation of it is again the recursion's. How, and after which papers: `../README.md`.
//!
//! ```text
//!   facts     rows, pages, values of parameters, memory: asked of `session`
//!   estimate  how many rows conditions, joins and groups keep
//!   cost      microseconds of operators
//!   rewrite   what is better whatever it costs
//!   path      one way through one index;  access: the best of them
//!   order     joins
//! ```
//!
//! Invariants
//!  1. Every condition that goes down is applied at least once, or made part of a seek that implies
//!     it, or both; one that may change its answer within a statement exactly once.
//!  2. A change never sees its own rows: `halloween` puts a spool between, where it might.
//!  3. An order is reported only by an operator that was told to keep it.
//!  4. No estimate and no price can make a result wrong.
//!  5. Each node that is converted is paid for (`plan::Toll`) as often as it is, and each pair of
//!     sets that is priced.
//!
//! Not here: meaning (bind), running (exec), making statistics (ddl).

#![forbid(unsafe_code)]

mod access;
mod convert;
mod cost;
mod estimate;
mod facts;
mod filtered;
mod full;
mod halloween;
mod index_spool;
mod memo;
mod node;
mod order;
mod ordering;
mod parallel;
mod path;
mod rewrite;
mod sarg;
mod several;
mod statement;
mod target_locks;
mod union;
mod unique;
mod wanted_columns;
mod wide;

pub use facts::{Facts, Memory, NoFacts, Size};
pub use parallel::Parallelism;
pub use statement::{SERIAL_BY_DEGREE, SERIAL_BY_PROCESSORS, optimize};
pub use wanted_columns::{WantedColumns, wanted};
