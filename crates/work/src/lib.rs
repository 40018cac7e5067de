//! One unit of work: a transaction, its part per database, its pending settles; the order of
//! commit and rollback.
//!
//! A [`Work`] is a session's transaction, explicit or of one statement. It writes the commit
//! order once, for everybody; README.md has it, and what a crash leaves at each step.

#![forbid(unsafe_code)]

mod commit;
mod ghost_queue;
mod home;
mod locking;
mod part;
mod reader;
mod settle;
mod unit;
mod versions;

pub use buffer::{PageReads, page_reads, pages_dirtied};
pub use commit::{CommitMode, WorkError};
pub use ghost_queue::GhostQueue;
pub use home::{DelayedDurability, Home, STATEMENT_VERSIONS, TRANSACTION_VERSIONS};
pub use locking::LockedHobt;
pub use part::Part;
pub use reader::ReaderSeed;
pub use settle::{Ghost, Settled, Settler};
pub use txn::CommitTime;
pub use unit::{Engine, Mark, Work};
pub use versions::Snapshot;
