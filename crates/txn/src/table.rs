//! The transactions of the instance: their numbers, and the active ones.

use crate::open::OpenEntry;
use crate::{CommitTable, CommitTime, Mutations, SnapshotRegistry};
use base::{SessionId, TransactionId};
use os::sync::{Mutex, PaddedCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The largest number that is accepted from a log. Lock owners have numbers of 56 bits; at a
/// million transactions a second these last a thousand years.
const FOUND_ID_MAX: u64 = 1 << 55;

/// A transaction with a name, of those that sys.dm_tran_active_transactions shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActiveTransaction {
    /// Its number.
    pub id: TransactionId,
    /// Whose.
    pub session: SessionId,
    /// Its name.
    pub name: String,
    /// Wall time of its begin, nanoseconds since 1970.
    pub began_at: i64,
    /// Whether BEGIN TRANSACTION (or implicit transactions) opened it, not the engine.
    pub user: bool,
}

/// The transactions of the instance.
#[derive(Default)]
pub struct Transactions {
    last_id: PaddedCell<AtomicU64>,
    active: PaddedCell<Mutex<BTreeMap<u64, ActiveTransaction>>>,
    /// One entry per unit of work. The list changes when a session comes or goes, not with
    /// transactions.
    pub(crate) works: Mutex<Vec<Arc<OpenEntry>>>,
    /// From number to commit.
    pub commits: CommitTable,
    /// The readers of moments.
    pub snapshots: SnapshotRegistry,
    /// Since when open transactions have used row versions. It is used only in databases whose
    /// ghosts are removed by the rule of 2019.
    pub users: SnapshotRegistry,
    /// Transactions under SNAPSHOT that have changed something, or tried to, and are over.
    pub snapshot_updates: AtomicU64,
    /// Those of them whose change was refused because another transaction had changed the row
    /// (3960).
    pub update_conflicts: AtomicU64,
    /// The planted faults of a test build.
    pub mutations: Mutations,
}

impl Transactions {
    /// The next transaction number. Low 32 bits are never 0, which means "no transaction".
    pub fn next_id(&self) -> TransactionId {
        loop {
            let id = self.last_id.fetch_add(1, Relaxed) + 1;
            if id as u32 != 0 {
                return TransactionId(id);
            }
        }
    }

    /// Makes later ids higher than one found in a log. False when no transaction can have had that
    /// one.
    pub fn raise_id(&self, above: u64) -> bool {
        let sound = above <= FOUND_ID_MAX;
        if sound {
            self.last_id.fetch_max(above, Relaxed);
        }
        sound
    }

    /// All moments at which any snapshot reads, in order.
    pub fn points(&self) -> Vec<CommitTime> {
        let mut points = self.snapshots.points();
        points.extend(self.users.points());
        points.sort_unstable();
        points
    }

    /// Lists a transaction as active.
    pub fn enter(&self, active: ActiveTransaction) {
        assert!(active.id.0 as u32 != 0, "0 logs for nobody");
        assert!(active.id.0 <= self.last_id.load(Relaxed), "its number was drawn here");
        let fresh = self.active.lock().insert(active.id.0, active).is_none();
        assert!(fresh, "a transaction begins once");
    }

    /// Takes it off the list.
    pub fn leave(&self, id: TransactionId) {
        assert!(id.0 <= self.last_id.load(Relaxed), "its number was drawn here");
        let was = self.active.lock().remove(&id.0).is_some();
        assert!(was, "a transaction ends once");
    }

    /// The active transactions, oldest first.
    pub fn active(&self) -> Vec<ActiveTransaction> {
        let active = self.active.lock();
        debug_assert!(active.iter().all(|(id, a)| *id == a.id.0), "listed by its own number");
        active.values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_no_transaction_can_have_had_is_not_believed() {
        let transactions = Transactions::default();
        assert!(transactions.raise_id(70) && transactions.next_id().0 == 71);
        assert!(!transactions.raise_id(FOUND_ID_MAX + 1) && !transactions.raise_id(u64::MAX));
        assert_eq!(transactions.next_id().0, 72);
    }
}
