//! Plans run at the door of `exec`, over tables in memory.

mod build;
mod changes;
mod expressions;
mod fake;
mod operators;
mod sets;
