//! The transactions of the instance: numbers, and who is active.

use crate::open::OpenEntry;
use crate::{CommitTable, CommitTime, Mutations, SnapshotRegistry};
use base::{SessionId, TransactionId};
use os::sync::{Mutex, Padded};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The largest number that a log is believed. Owners of locks have numbers of 56 bits; so many
/// transactions take a thousand years at a million a second.
const FOUND_ID_MAX: u64 = 1 << 55;

/// A transaction with a name, of those that sys.dm_tran_active_transactions shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Active {
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
    last_id: Padded<AtomicU64>,
    active: Padded<Mutex<BTreeMap<u64, Active>>>,
    /// One a unit of work; it changes when a session comes or goes, not with transactions.
    pub(crate) works: Mutex<Vec<Arc<OpenEntry>>>,
    /// From number to commit.
    pub commits: CommitTable,
    /// Who reads at which point.
    pub snapshots: SnapshotRegistry,
    /// Since when open transactions have used row versions: where a database's ghosts go by the
    /// rule of 2019, and nowhere else.
    pub users: SnapshotRegistry,
    /// Transactions under SNAPSHOT that have changed something, or tried to, and are over.
    pub snapshot_updates: AtomicU64,
    /// Those of them that were refused it, because others had (3960).
    pub update_conflicts: AtomicU64,
    /// What a test build does wrong.
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

    /// Sees to it that later ids are above one found in a log; false when no transaction can have
    /// had that one.
    pub fn raise_id(&self, above: u64) -> bool {
        let sound = above <= FOUND_ID_MAX;
        if sound {
            self.last_id.fetch_max(above, Relaxed);
        }
        sound
    }

    /// All moments that anybody asks for, in order.
    pub fn points(&self) -> Vec<CommitTime> {
        let mut points = self.snapshots.points();
        points.extend(self.users.points());
        points.sort_unstable();
        points
    }

    /// Lists a transaction as active.
    pub fn enter(&self, active: Active) {
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

    /// Who is active, oldest first.
    pub fn active(&self) -> Vec<Active> {
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
