//! One unit of work: a transaction, its part per database, its pending settles.

#![forbid(unsafe_code)]

/// One unit of work (under construction: the transaction, its parts, its locks).
#[derive(Default)]
pub struct Work {}
