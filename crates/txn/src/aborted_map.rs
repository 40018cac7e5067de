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

use base::Xsn;
use os::sync::{PaddedCell, RwLock};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// Aborted transactions of one database whose records still stand on pages.
#[derive(Default)]
pub struct AbortedMap {
    /// How many; changed under the latch of the numbers. On a line of its own: every record that is
    /// read asks for it.
    count: PaddedCell<AtomicUsize>,
    numbers: RwLock<BTreeSet<Xsn>>,
}

impl AbortedMap {
    /// A transaction is aborted, and its records stay. It still holds its locks.
    pub fn enter(&self, xsn: Xsn) {
        assert_ne!(xsn, Xsn::NONE, "who wrote nothing leaves nothing");
        let mut numbers = self.numbers.write();
        let fresh = numbers.insert(xsn);
        assert!(fresh, "a transaction is aborted once");
        self.count.store(numbers.len(), Release);
    }

    /// No page has a record by it any more.
    pub fn forget(&self, xsn: Xsn) {
        let mut numbers = self.numbers.write();
        let was = numbers.remove(&xsn);
        assert!(was, "what is forgotten was in the map");
        self.count.store(numbers.len(), Release);
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
        self.numbers.read().contains(&xsn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number is in the map from its entry until it is forgotten, whatever else comes and goes.
    #[test]
    fn numbers_are_in_the_map_until_they_are_forgotten() {
        let map = AbortedMap::default();
        assert!(map.is_empty() && !map.contains(Xsn(7)));
        map.enter(Xsn(7));
        map.enter(Xsn(9));
        map.forget(Xsn(9));
        assert!(!map.is_empty() && map.contains(Xsn(7)) && !map.contains(Xsn(9)));
        map.forget(Xsn(7));
        assert!(map.is_empty() && !map.contains(Xsn(7)));
    }
}
