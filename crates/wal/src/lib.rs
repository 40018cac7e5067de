//! Log blocks, records, group commit, scan, truncation; owns RedoHandler.

#![forbid(unsafe_code)]
