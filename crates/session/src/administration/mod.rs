//! Statements and procedures of an administrator: DBCC, trace flags, pages.

pub(crate) mod dbcc;
pub(crate) mod pages;
pub(crate) mod trace_flags;
