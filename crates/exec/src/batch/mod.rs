//! Batch mode: operators that give batches of columns (crate `vector`) instead of rows.
//!
//! ```text
//!   operator  what a batch operator is
//!   scan      a table by batches, filtered by kernels
//!   test      conditions that kernels decide
//!   rows      the adapter: a batch operator as an operator of row mode
//!   build     which accesses of a plan may run by batches
//! ```
//! The optimizer does not choose batch mode: only [`Executor::by_batches`] runs plans so, and row
//! mode and batch mode give the same rows in the same order.
//!
//! [`Executor::by_batches`]: crate::Executor::by_batches

mod build;
mod operator;
mod rows;
mod scan;
mod test;
