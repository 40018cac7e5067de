//! Plans run at the door of `exec`, over tables in memory.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected ends")]

mod build;
mod changes;
mod cost;
mod expressions;
mod fake;
mod grants;
mod makers;
mod operators;
mod sets;
