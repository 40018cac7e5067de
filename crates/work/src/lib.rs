//! One unit of work: a transaction, its part per database, its pending settles.

#![forbid(unsafe_code)]
