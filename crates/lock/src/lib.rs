//! The lock table: modes, queues, escalation advice, deadlock search, over opaque resources.
//!
//! One [`Table`] serves an instance. It sees a 24-byte [`Resource`], an [`Owner`] that is a
//! transaction and never a thread, and what a victim would cost. It calls nobody: escalation is
//! advice, and rolling back is what a session does on error 1205. Latches and locks never wait
//! for each other: a caller that holds a page latch uses [`Table::try_lock`]; when that gives a
//! [`Ticket`] it drops the latch, then passes the ticket to [`Table::wait`], then seeks again.
//!
//! README.md has the queues, the grant rules and the search, with numbered rules.

#![forbid(unsafe_code)]

mod budget;
mod counters;
mod deadlock;
mod error;
mod escalation;
mod head;
mod mode;
mod owner;
mod resource;
mod shard;
mod snapshot;
mod table;
mod ticket;

pub use budget::LOCK_BYTES;
pub use counters::{Counters, KindCounters, thread_requests};
pub use deadlock::{Deadlock, DeadlockMember, DeadlockWitness, Progress};
pub use error::LockError;
pub use escalation::{ESCALATION_COUNT, ESCALATION_STEP, EscalationCounter, EscalationPolicy};
pub use head::{Blocker, Duration, Place};
pub use mode::Mode;
pub use owner::{Owner, OwnerId, OwnerKind};
pub use resource::{INFINITY, Kind, Resource};
pub use snapshot::{LockRow, LockStatus, WaitRow};
pub use table::{Grant, Options, Outcome, Table, Timeout};
pub use ticket::{AwaitedRow, Ticket};
