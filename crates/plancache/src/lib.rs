//! Compiled batches and plans: keys, invalidation, statistics of use.

#![forbid(unsafe_code)]
