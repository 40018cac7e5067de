//! The transaction log for users: record by record, and block by block.
//!
//! Both are streams (`crate::stream`): they keep one block of the log in memory, however much they
//! read.

mod cells;
mod columns;
mod cursor;
mod dblog;
mod log_blocks;
mod lsn;
mod own;
mod units;

use crate::stream::Stream;

/// All of them. Append only: the position is the object id.
pub(crate) const STREAMS: &[&Stream] = &[&dblog::STREAM, &log_blocks::STREAM];
