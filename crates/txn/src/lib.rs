//! Transactions: Xsn, begin, commit, abort, commit table, undo walk.

#![forbid(unsafe_code)]
