//! `Lifetime`: when a ghost or version was what a row looked like, and whether anybody needs it.
//!
//! A version is visible to snapshot s iff b <= s < e. It is needed while a registered snapshot
//! lies in [b, e). A provisional slot stands for every point at or above its bound.

use crate::CommitTime;
use crate::commit_table::CommitTable;
use os::sync::Mutex;

/// From its creator's commit to its superseder's, in commit order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifetime {
    /// Commit of the creator.
    pub b: CommitTime,
    /// Commit of whoever superseded or deleted it.
    pub e: CommitTime,
}

/// The answer to "does anybody need it?".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Need {
    /// A registered snapshot sees it.
    Needed(CommitTime),
    /// Nobody does, and nobody will.
    Free,
    /// A snapshot is just being taken: ask again.
    Unknown,
}

/// Points at which somebody reads.
#[derive(Default)]
pub struct SnapshotRegistry {
    slots: Mutex<Slots>,
}

#[derive(Default)]
struct Slots {
    registered: Vec<(u64, CommitTime)>,
    next: u64,
}

impl SnapshotRegistry {
    /// Registers a snapshot of now; it stays until [`SnapshotRegistry::release`].
    pub fn acquire(&self, table: &CommitTable) -> (u64, CommitTime) {
        let mut slots = self.slots.lock();
        // Read under the latch: no question is answered between reading and registering.
        let at = table.clock();
        slots.next += 1;
        let ticket = slots.next;
        let later = slots.registered.iter().any(|(_, s)| *s > at);
        debug_assert!(!later, "the clock goes forward");
        debug_assert!(slots.registered.iter().all(|(t, _)| *t < ticket), "tickets are used once");
        slots.registered.push((ticket, at));
        (ticket, at)
    }

    /// Ends a snapshot.
    pub fn release(&self, ticket: u64) {
        let mut slots = self.slots.lock();
        let at = slots.registered.iter().position(|(t, _)| *t == ticket);
        assert!(ticket > 0 && ticket <= slots.next, "a ticket that was given");
        slots.registered.swap_remove(at.expect("a snapshot is released once"));
    }

    /// Whether anybody needs a lifetime. Ended snapshots are never counted; later ones begin
    /// after `e`, since `e` is committed.
    pub fn need(&self, lifetime: Lifetime) -> Need {
        assert!(lifetime.b <= lifetime.e, "a version ends after it began");
        let slots = self.slots.lock();
        let sees = |s: &CommitTime| lifetime.b <= *s && *s < lifetime.e;
        match slots.registered.iter().map(|(_, s)| *s).filter(sees).max() {
            Some(s) => Need::Needed(s),
            None => Need::Free,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Xsn;

    #[test]
    fn only_snapshots_within_a_lifetime_need_it() {
        let (table, registry) = (CommitTable::default(), SnapshotRegistry::default());
        let b = table.commit(Xsn(1));
        let (ticket, s) = registry.acquire(&table);
        let e = table.commit(Xsn(2));
        assert_eq!(registry.need(Lifetime { b, e }), Need::Needed(s));
        let later = table.commit(Xsn(3));
        assert_eq!(registry.need(Lifetime { b: e, e: later }), Need::Free);
        registry.release(ticket);
        assert_eq!(registry.need(Lifetime { b, e }), Need::Free);
    }
}
