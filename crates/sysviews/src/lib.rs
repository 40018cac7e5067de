//! sys views and DMVs as table sources over snapshots.

#![forbid(unsafe_code)]
