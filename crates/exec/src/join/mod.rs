//! Joins: nested loops, merge join, hash join, and the filter that a hash join hands down.
//!
//! ```text
//!   loops                    for each row of the outer side, the rows of the inner side
//!   merge_join               both sides in the order of their keys
//!   hash_join                the build side in a table (join_table), or in partitions
//!   join_filter              a Bloom filter of the build keys, for the probe side's scans
//! ```

mod hash_join;
mod join_filter;
mod join_table;
mod loops;
mod merge_join;

pub(crate) use hash_join::HashJoin;
pub(crate) use join_filter::JoinFilter;
pub(crate) use loops::Loops;
pub(crate) use merge_join::MergeJoin;
