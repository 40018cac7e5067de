//! The one door to the world: files, clock, entropy, tasks, waits, latches, memory.
//!
//! Everything nondeterministic enters the engine through this crate, so that a simulator that
//! replaces [`disk::Disk`] and installs a [`sched::Scheduler`] decides every byte and every
//! switch. Without a simulator each primitive costs one relaxed load of a static flag more than
//! what it wraps.
//!
//! Not here: what a wait means, who may take which latch first, what is in a file.

pub mod clock;
pub mod counters;
pub mod disk;
pub mod entropy;
pub mod heap;
pub mod latch;
pub mod machine;
pub mod memory;
pub mod park;
mod policy;
mod processor;
pub mod room;
pub mod sched;
pub mod spin;
pub mod stop;
pub mod sync;
pub mod tally;
pub mod task;
pub mod turn;
pub mod values;
pub mod vm;
pub mod wait;
mod wait_totals;
