//! `Snapshot`: a moment as of which somebody reads.

use crate::engine::Engine;
use crate::registrations::Registrations;
use std::sync::Arc;
use txn::{CommitTime, Mutation, Reader, Transactions};

/// A moment as of which somebody reads, registered until it is dropped.
pub struct Snapshot {
    engine: Arc<Engine>,
    entry: (u64, CommitTime),
    of: Registrations,
}

impl Snapshot {
    pub(crate) fn take(engine: &Arc<Engine>, by: Reader, of: &Registrations) -> Snapshot {
        let entry = acquire(&engine.transactions, by);
        of.enter(entry);
        Snapshot { engine: Arc::clone(engine), entry, of: of.clone() }
    }

    /// The moment.
    pub fn at(&self) -> CommitTime {
        self.entry.1
    }
}

fn acquire(transactions: &Transactions, by: Reader) -> (u64, CommitTime) {
    #[cfg(feature = "mutations")]
    if transactions.mutations.has(Mutation::EarlyPoint) {
        return transactions.snapshots.acquire_late(&transactions.commits, by);
    }
    let entry = transactions.snapshots.acquire_for(&transactions.commits, by);
    if is_forgotten(transactions, entry) {
        transactions.snapshots.release(entry);
    }
    entry
}

/// Whether a snapshot is not registered, which is a fault.
fn is_forgotten(transactions: &Transactions, (ticket, _): (u64, CommitTime)) -> bool {
    let faults = [Mutation::SnapshotForgotten, Mutation::ForgottenUnasked];
    faults.into_iter().any(|fault| transactions.mutations.has(fault)) && ticket.is_multiple_of(4)
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.of.leave(self.entry);
        if !is_forgotten(&self.engine.transactions, self.entry) {
            self.engine.transactions.snapshots.release(self.entry);
        }
    }
}
