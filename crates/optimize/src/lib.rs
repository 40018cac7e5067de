//! Logical to physical: access paths and join methods.

#![forbid(unsafe_code)]
