//! The process: databases, sessions, tempdb, workers, registration lists.

#![forbid(unsafe_code)]
