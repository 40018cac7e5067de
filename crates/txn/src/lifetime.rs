//! `Lifetime`: when a ghost or version was what a row looked like, and whether anybody needs it.
//!
//! A version is visible to snapshot s iff b <= s < e. It is needed while a registered snapshot
//! lies in [b, e).
//!
//! Invariants
//!  1. A snapshot reads the clock under the latch under which questions are answered: it lies in
//!     no lifetime that ended before, so an answer "nobody" holds for ever.
//!  2. Snapshots are listed in order of their points, since the clock only goes forward.
//!  3. What was needed stays needed until a snapshot ends for which something was kept: then the
//!     epoch moves. Of the last of them the points are known. So whoever has tested a chain of
//!     versions tests it again only as far down as the newest of those points reaches.

use crate::CommitTime;
use crate::commit_table::CommitTable;
use os::sync::{Mutex, Padded};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering::*};

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
    /// A registered snapshot sees it; this is the newest that does.
    Needed(CommitTime),
    /// Nobody does, and nobody will.
    Free,
}

/// Points at which somebody reads.
#[derive(Default)]
pub struct SnapshotRegistry {
    slots: Padded<Mutex<Slots>>,
    epoch: Padded<AtomicU32>,
}

#[derive(Default)]
struct Slots {
    registered: Vec<Registered>,
    last: u64,
    /// Points of the last snapshots that ended and for which something was kept.
    ended: VecDeque<CommitTime>,
}

/// So many ended snapshots are remembered.
const ENDED_MAX: usize = 64;
/// Set in every epoch, so that none is 0.
const EPOCH: u32 = 1 << 31;

/// A snapshot that is open.
struct Registered {
    at: CommitTime,
    ticket: u64,
    /// Something was kept for it.
    pins: bool,
}

impl SnapshotRegistry {
    /// Registers a snapshot of now; it stays until [`SnapshotRegistry::release`].
    pub fn acquire(&self, table: &CommitTable) -> (u64, CommitTime) {
        let mut slots = self.slots.lock();
        let at = table.clock();
        slots.last += 1;
        let ticket = slots.last;
        debug_assert!(slots.registered.last().is_none_or(|l| l.at <= at), "invariant 2");
        slots.registered.push(Registered { at, ticket, pins: false });
        (ticket, at)
    }

    /// Ends a snapshot.
    ///
    /// # Panics
    /// When it was ended before.
    pub fn release(&self, (ticket, at): (u64, CommitTime)) {
        let mut slots = self.slots.lock();
        let found = slots.registered.binary_search_by_key(&(at, ticket), |r| (r.at, r.ticket));
        let ended = slots.registered.remove(found.expect("a snapshot is released once"));
        if ended.pins {
            if slots.ended.len() == ENDED_MAX {
                slots.ended.pop_front();
            }
            slots.ended.push_back(at);
            self.epoch.fetch_add(1, Release);
        }
    }

    /// The oldest point of the snapshots that have ended since an epoch and for which something was
    /// kept; 0 when they are not remembered. `None`: there are none.
    pub fn oldest_ended_since(&self, epoch: u32) -> Option<CommitTime> {
        let slots = self.slots.lock();
        let count = self.epoch().wrapping_sub(epoch) & !EPOCH;
        match usize::try_from(count) {
            _ if epoch & EPOCH == 0 => Some(CommitTime(0)),
            Ok(0) => None,
            Ok(n) if n <= slots.ended.len() => slots.ended.iter().rev().take(n).min().copied(),
            Ok(_) | Err(_) => Some(CommitTime(0)),
        }
    }

    /// Moves when something that was needed may be so no more; never 0, which is no epoch.
    pub fn epoch(&self) -> u32 {
        self.epoch.load(Acquire) | EPOCH
    }

    /// Whether anybody needs a lifetime that has ended.
    pub fn need(&self, lifetime: Lifetime) -> Need {
        debug_assert!(lifetime.b <= lifetime.e, "a version ends after it began");
        let mut slots = self.slots.lock();
        let before_e = slots.registered.partition_point(|r| r.at < lifetime.e);
        match before_e.checked_sub(1).map(|i| &mut slots.registered[i]) {
            Some(newest) if lifetime.b <= newest.at => {
                newest.pins = true;
                Need::Needed(newest.at)
            }
            Some(_) | None => Need::Free,
        }
    }

    /// Whether somebody reads at that point.
    pub fn is_registered(&self, at: CommitTime) -> bool {
        let slots = self.slots.lock();
        let from = slots.registered.partition_point(|r| r.at < at);
        slots.registered.get(from).is_some_and(|r| r.at == at)
    }

    /// The oldest point at which anybody reads or will read: the clock when nobody does.
    pub fn horizon(&self, table: &CommitTable) -> CommitTime {
        let slots = self.slots.lock();
        slots.registered.first().map_or_else(|| table.clock(), |r| r.at)
    }

    /// All points, in order.
    pub fn points(&self) -> Vec<CommitTime> {
        self.slots.lock().registered.iter().map(|r| r.at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_snapshots_within_a_lifetime_need_it() {
        let (table, registry) = (CommitTable::default(), SnapshotRegistry::default());
        let commit = || table.commit(table.begin());
        let b = commit();
        assert_eq!(registry.horizon(&table), b);
        let (ticket, s) = registry.acquire(&table);
        let e = commit();
        assert_eq!(registry.need(Lifetime { b, e }), Need::Needed(s));
        let kept_at = registry.epoch();
        registry.release(registry.acquire(&table));
        assert_eq!(registry.epoch(), kept_at, "nothing was kept for it");
        let later = commit();
        assert_eq!(registry.need(Lifetime { b: e, e: later }), Need::Free);
        assert_eq!((registry.horizon(&table), registry.is_registered(s)), (s, true));
        registry.release((ticket, s));
        assert_eq!(registry.need(Lifetime { b, e }), Need::Free);
        assert_ne!(registry.epoch(), kept_at, "invariant 3");
        assert_eq!(registry.oldest_ended_since(kept_at), Some(s));
        assert_eq!(registry.oldest_ended_since(registry.epoch()), None);
        assert_eq!(registry.oldest_ended_since(0), Some(CommitTime(0)), "no epoch");
        assert_eq!((registry.horizon(&table), registry.is_registered(s)), (later, false));
    }

    #[test]
    fn snapshots_end_in_any_order() {
        let (table, registry) = (CommitTable::default(), SnapshotRegistry::default());
        let mut times = vec![table.clock()];
        let tickets: Vec<_> = (0..100)
            .map(|n| {
                let ticket = registry.acquire(&table);
                if n % 3 == 0 {
                    times.push(table.commit(table.begin()));
                }
                ticket
            })
            .collect();
        let mut left: Vec<CommitTime> = tickets.iter().map(|t| t.1).collect();
        for i in (0..100).step_by(7).chain((0..100).filter(|i| i % 7 != 0)) {
            registry.release(tickets[i]);
            let at = left.iter().position(|s| *s == tickets[i].1).unwrap();
            left.remove(at);
            for w in times.windows(2) {
                let lifetime = Lifetime { b: w[0], e: w[1] };
                let newest = left.iter().filter(|s| w[0] <= **s && **s < w[1]).max();
                let expected = newest.map_or(Need::Free, |s| Need::Needed(*s));
                assert_eq!(registry.need(lifetime), expected);
            }
            assert_eq!(registry.points(), left);
        }
    }
}
