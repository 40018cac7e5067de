//! Definitions as data in compiled-in system tables; lookup, DDL.

#![forbid(unsafe_code)]

pub mod view;
