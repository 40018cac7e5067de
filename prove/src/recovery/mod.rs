//! Crashes, simulated and real, and what is there afterwards.

pub(crate) mod activities;
pub(crate) mod big_table;
pub(crate) mod big_table_story;
pub(crate) mod constant_time_rollback;
pub(crate) mod constant_time_start;
pub(crate) mod cost_of_former_rows;
pub(crate) mod crashes_of_accelerated_databases;
pub(crate) mod crashes_of_log_shapes;
pub(crate) mod crashes_with_versions;
pub(crate) mod durability;
pub(crate) mod full_disk;
pub(crate) mod killed_update;
pub mod kills;
pub(crate) mod large_changes;
pub(crate) mod phases;
pub(crate) mod store_stays_small;
pub(crate) mod store_without_room;
pub mod trace;
