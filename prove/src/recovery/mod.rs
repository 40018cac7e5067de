//! Crashes, simulated and real, and what is there afterwards.

pub(crate) mod activities;
pub(crate) mod crashes_of_log_shapes;
pub(crate) mod crashes_with_versions;
pub(crate) mod durability;
pub(crate) mod full_disk;
pub(crate) mod killed_update;
pub mod kills;
pub mod trace;
