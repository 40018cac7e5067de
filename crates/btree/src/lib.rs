//! Slotted records in key order on pages: search, insert, split, delete, cursor, verify, apply.

#![forbid(unsafe_code)]
