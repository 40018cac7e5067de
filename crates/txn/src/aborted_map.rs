//! The aborted map: transactions of a database that were aborted while records by them still stand
//! on its pages.
//!
//! A transaction that is undone record by record leaves nothing behind, and never is in the map.
//! One whose records stay where they are enters the map before its locks go. From then on nobody
//! takes what it wrote for a row; the version before it is. It leaves the map when no page has a
//! record by it. The commit table forgets outcomes and starts anew with each process; the map is
//! asked before it, and before numbers of earlier starts are taken for committed.
//!
//! Mostly the map is empty. Then a question costs one load and one compare.

use base::{AllocUnitId, Lsn, TransactionId, Xsn};
use os::sync::{PaddedCell, RwLock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// A transaction that was aborted while its records stay on pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbortedTransaction {
    /// The number in the tags of its records.
    pub xsn: Xsn,
    /// Its number in the log.
    pub id: TransactionId,
    /// Wall time of its begin, nanoseconds since 1970.
    pub began_at: i64,
    /// Its first log record.
    pub begin: Lsn,
    /// The log record that says that it is aborted. Recovery reads it, or a checkpoint carries it.
    pub end: Lsn,
    /// Only the part of the transaction that had this number was aborted: it was rolled back to a
    /// savepoint, or a statement failed. The transaction went on.
    pub nested: bool,
    /// The allocation units that have records by it, ascending. Empty where they are not known.
    pub units: Vec<AllocUnitId>,
}

impl AbortedTransaction {
    /// The same with these units besides.
    #[must_use]
    pub fn also_changing(mut self, units: &[AllocUnitId]) -> AbortedTransaction {
        // Without any it may have changed all.
        if !self.units.is_empty() {
            self.units.extend_from_slice(units);
            self.units.sort_unstable();
            self.units.dedup();
        }
        self
    }
}

/// Aborted transactions of one database whose records still stand on pages.
#[derive(Default)]
pub struct AbortedMap {
    /// How many; changed under the latch of the transactions. On a line of its own: every record
    /// that is read asks for it.
    count: PaddedCell<AtomicUsize>,
    transactions: RwLock<BTreeMap<Xsn, AbortedTransaction>>,
    #[cfg(feature = "mutations")]
    passed_over: std::sync::atomic::AtomicBool,
}

impl AbortedMap {
    /// From now on nobody asks for the current row but by its status: a fault.
    #[cfg(feature = "mutations")]
    pub fn pass_over(&self) {
        self.passed_over.store(true, Release);
    }

    /// Whether that fault was planted.
    #[inline]
    pub fn is_passed_over(&self) -> bool {
        #[cfg(feature = "mutations")]
        return self.passed_over.load(Acquire);
        #[cfg(not(feature = "mutations"))]
        false
    }

    /// A transaction is aborted, and its records stay. It still holds its locks.
    pub fn enter(&self, aborted: AbortedTransaction) {
        assert_ne!(aborted.xsn, Xsn::NONE, "who wrote nothing leaves nothing");
        let mut transactions = self.transactions.write();
        let before = transactions.insert(aborted.xsn, aborted);
        assert!(before.is_none(), "a transaction is aborted once");
        self.count.store(transactions.len(), Release);
    }

    /// No page has a record by it any more.
    pub fn forget(&self, xsn: Xsn) {
        let mut transactions = self.transactions.write();
        let was = transactions.remove(&xsn);
        assert!(was.is_some(), "what is forgotten was in the map");
        self.count.store(transactions.len(), Release);
    }

    /// All of them, by ascending number.
    pub fn list(&self) -> Vec<AbortedTransaction> {
        self.transactions.read().values().cloned().collect()
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.count.load(Acquire)
    }

    /// Whether there is none: the question of every reader.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count.load(Acquire) == 0
    }

    /// Whether a writer was aborted and its records do not count.
    #[inline]
    pub fn contains(&self, xsn: Xsn) -> bool {
        !self.is_empty() && self.is_listed(xsn)
    }

    #[cold]
    fn is_listed(&self, xsn: Xsn) -> bool {
        self.transactions.read().contains_key(&xsn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aborted(xsn: u64) -> AbortedTransaction {
        AbortedTransaction {
            xsn: Xsn(xsn),
            id: TransactionId(xsn),
            began_at: 0,
            begin: Lsn(1),
            end: Lsn(2),
            nested: false,
            units: Vec::new(),
        }
    }

    /// A number is in the map from its entry until it is forgotten, whatever else comes and goes.
    #[test]
    fn numbers_are_in_the_map_until_they_are_forgotten() {
        let map = AbortedMap::default();
        assert!(map.is_empty() && !map.contains(Xsn(7)));
        map.enter(aborted(7));
        map.enter(aborted(9));
        assert_eq!((map.list(), map.count()), (vec![aborted(7), aborted(9)], 2));
        map.forget(Xsn(9));
        assert!(!map.is_empty() && map.contains(Xsn(7)) && !map.contains(Xsn(9)));
        map.forget(Xsn(7));
        assert!(map.is_empty() && !map.contains(Xsn(7)));
    }
}
