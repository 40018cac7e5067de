//! Operators in row mode, memory grants, spills.

#![forbid(unsafe_code)]
