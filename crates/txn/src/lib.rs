//! Transactions: ids, the commit table, version lifetimes, and the walk that undoes.
//!
//! What a transaction did is known by its chain of log records; how one of them is undone is the
//! business of the [`UndoHandler`] that owns its kind, implemented above and wired in `database`.

#![forbid(unsafe_code)]

mod aborted_map;
mod commit_table;
mod kept_records;
mod lifetime;
mod mutations;
mod open;
mod payload;
mod several;
mod table;
mod undo;

pub use aborted_map::{AbortedMap, AbortedTransaction};
pub use commit_table::{CommitTable, CommitTime, Outcome};
pub use kept_records::{KeptRecords, kept_front, kept_record};
pub use lifetime::{Lifetime, OpenSnapshot, Reader, Retention, SnapshotRegistry};
pub use mutations::{Mutation, Mutations};
pub use open::{Open, OpenEntry, TOLD_DATABASES};
pub use payload::{BEGIN_BYTES_MAX, Begin, EndPayload, NumberPayload, TransactionName};
pub use several::{ChainName, DecisionPayload, Member, PreparePayload};
pub use table::{ActiveTransaction, Transactions};
pub use undo::{UndoContext, UndoError, UndoHandler, UndoScope, UndoTable, roll_back};
