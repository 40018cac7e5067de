//! One unit of work: a transaction, its part per database, its pending settles; the order of
//! commit and rollback.
//!
//! A [`Work`] is a session's transaction, explicit or of one statement. It writes the commit
//! order once, for everybody; README.md has it, and what a crash leaves at each step.

#![forbid(unsafe_code)]

mod commit;
mod decisions;
mod entry;
mod ghost_queue;
mod ghost_rule;
mod graveyards;
mod home;
mod locking;
mod losers;
mod part;
mod reader;
mod redefined;
mod registered;
mod settle;
mod several;
mod snapshot_gate;
mod trace_flags;
mod unit;
mod version_room;
mod version_use;
mod versions;

pub use buffer::{PageReads, page_reads, pages_dirtied};
pub use commit::{CommitMode, Owed, Unflushed, WorkError};
pub use decisions::{Decisions, Outcome, Presumption};
pub use entry::{OpenPart, PartState};
pub use ghost_queue::GhostQueue;
pub use ghost_rule::GhostRule;
pub use graveyards::{GraveMemory, Graveyards, Sexton};
pub use home::{DelayedDurability, Home, STATEMENT_VERSIONS, TRANSACTION_VERSIONS};
pub use lock::thread_requests as lock_requests;
pub use locking::LockedHobt;
pub use losers::{Loser, NotTaken, RECOVERY_SESSION};
pub use part::{Part, PartMark};
pub use reader::ReaderSeed;
pub use settle::{Ghost, Settled, Settler};
pub use snapshot_gate::{Refusal, SnapshotState};
pub use trace_flags::{
    DBCC_TO_CLIENT, DBCC_TO_LOG, TraceFlag, TraceFlagSet, TraceFlags, means_something,
};
pub use txn::CommitTime;
pub use unit::{Engine, Mark, Work, WriteErrorLog};
pub use version_use::{Traversed, VersionUser};
pub use versions::Snapshot;
