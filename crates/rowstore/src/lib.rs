//! Rows with locks and ghosts: heap, clustered and secondary index, large objects, settle.

#![forbid(unsafe_code)]
