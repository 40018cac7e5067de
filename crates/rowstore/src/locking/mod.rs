//! Locks of rows: which one a reader or writer asks for, and when.
//!
//! ```text
//!   row     the lock of one row, tried under its page's latch
//!   gap     the gap into which a new key falls (next-key locking)
//!   writer  optimized locking: a transaction's lock on itself stands for its rows
//! ```

pub(crate) mod gap;
pub(crate) mod row;
pub(crate) mod writer;
