//! Row versions and isolation: what each reads, what it costs, what is left behind.

pub(crate) mod ghosts_under_each_rule;
pub(crate) mod isolation_anomalies;
pub(crate) mod nothing_grows;
pub(crate) mod queue_table;
pub(crate) mod scan_without_versions;
pub(crate) mod snapshots_read_their_moment;
pub(crate) mod what_readers_cost;
