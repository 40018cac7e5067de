//! Crashes, simulated and real, and what is there afterwards.

pub(crate) mod activities;
pub(crate) mod big_table;
pub(crate) mod big_table_story;
pub(crate) mod crashes_of_log_shapes;
pub(crate) mod crashes_with_versions;
pub(crate) mod durability;
pub(crate) mod full_disk;
pub(crate) mod killed_update;
pub(crate) mod constant_time_start;
pub mod kills;
pub(crate) mod phases;
pub mod trace;
