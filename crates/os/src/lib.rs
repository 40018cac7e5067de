//! The one door to the world: files, clock, entropy, tasks, waits, latches, memory.
//!
//! Everything nondeterministic enters the engine through this crate. A simulator replaces
//! [`disk::Disk`] and installs a [`sched::Scheduler`]; it then decides every byte that is read and
//! every switch between tasks. Without a simulator, each primitive costs one relaxed load of a
//! static flag more than the call of the system that it wraps.
//!
//! Not here: the meaning of a wait, the order in which latches are taken, the content of files.

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
