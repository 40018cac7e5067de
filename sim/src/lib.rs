//! The simulated os: a scheduler that switches anywhere, a disk that tears and loses writes.
//!
//! One run is one seed: which task runs at each lock, latch, wait and transfer, what time it is,
//! what the random bits are, where the machine crashes and what of the unsynced writes survives
//! follow from it and from nothing else. README.md says how; [`harness`] drives crash runs.
//!
//! Not here: what the engine promises. Workloads and checkers are written beside what they test.

#![forbid(unsafe_code)]

mod disk;
pub mod harness;
mod hook;
mod random;
mod scheduler;
mod simulation;
mod state;
mod trace;

pub use disk::{Disk, DiskOptions};
pub use random::Random;
pub use scheduler::{Crash, Scheduler};
pub use simulation::{Options, Run, RunEnd, Simulation};
