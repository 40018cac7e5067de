//! One unit of work: a transaction, its part per database, its pending settles; the order of
//! commit and rollback.
//!
//! A [`Work`] is a session's transaction, explicit or of one statement. It writes the commit
//! order once, for everybody; README.md has it, and what a crash leaves at each step.

#![forbid(unsafe_code)]

mod cleaner_times;
mod commit;
mod decisions;
mod engine;
mod entry;
mod ghost_queue;
mod ghost_rule;
mod ghosts;
mod grave_memory;
mod graveyards;
mod home;
mod in_row_counts;
mod lock_counts;
mod locking;
mod loser;
mod losers;
mod numbers;
mod owed;
mod part;
mod reader;
mod redefinitions;
mod registrations;
mod secondary_log;
mod settle;
mod several;
mod snapshot;
mod snapshot_gate;
mod trace_flags;
mod undo_room;
mod unit;
mod version_places;
mod version_room;
mod version_use;
mod version_users;
mod versioning;
mod versions;

pub use buffer::{PageReads, page_reads, pages_dirtied};
pub use cleaner_times::{CleanerPass, CleanerTimes, PassTimes, PassedPages};
pub use commit::{CommitMode, WorkError};
pub use decisions::{Decisions, Outcome, Presumption};
pub use engine::{Engine, WriteErrorLog};
pub use entry::{OpenPart, PartState};
pub use ghost_queue::GhostQueue;
pub use ghost_rule::GhostRule;
pub use ghosts::{Ghost, SettleOutcome, Settler};
pub use grave_memory::GraveMemory;
pub use graveyards::{Graveyards, Sexton};
pub use home::{
    DelayedDurability, Home, OPEN_UNITS_MAX, RECOVERY_VERSIONS, RELYING_PARTS_MAX,
    STATEMENT_VERSIONS, TRANSACTION_VERSIONS,
};
pub use in_row_counts::InRowCounts;
pub use lock::thread_requests as lock_requests;
pub use lock_counts::LockedHobt;
pub use loser::Loser;
pub use losers::{RECOVERY_SESSION, TakeoverError};
pub use owed::{OwedCommit, UnflushedLog};
pub use part::{Part, PartMark};
pub use reader::ReaderSeed;
pub use snapshot::Snapshot;
pub use snapshot_gate::{Refusal, SnapshotState};
pub use trace_flags::{
    DBCC_TO_CLIENT, DBCC_TO_LOG, TraceFlag, TraceFlagSet, TraceFlags, means_something,
};
pub use txn::CommitTime;
pub use unit::{Mark, Work};
pub use version::Activity as StoreActivity;
pub use version_use::{Traversal, VersionUser};
