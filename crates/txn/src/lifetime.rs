//! `Lifetime`: the interval in which a version (or ghost) was the current state of a row, and
//! whether any reader needs it.
//!
//! A version is visible to snapshot s iff b <= s < e. It is needed while a registered snapshot lies
//! in [b, e).
//!
//! Invariants
//!  1. A snapshot reads the clock under the latch under which `need` answers. So it lies in no
//!     lifetime that ended before, and the answer "free" holds for ever. While none is open, `need`
//!     answers without the latch: a snapshot is counted before it reads the clock, and who asks
//!     has found the end of the lifetime on the clock before he looks at the count.
//!  2. Snapshots are listed in order of their points, since the clock only goes forward.
//!  3. A version that was needed stays needed until a snapshot ends for which something was kept.
//!     Then the epoch moves. The points of the last such snapshots are remembered. So a thread that
//!     has tested a chain of versions tests it again only down to the oldest of these points.
//!  4. A victim (a reader that the version store no longer serves) stays registered: ghosts and
//!     chains wait for it as for any other reader. Only stored versions do not wait for it. They
//!     are removed after it was marked. So a reader that has read a stored version, and then finds
//!     that it is no victim, has read the right version.

use crate::CommitTime;
use crate::commit_table::CommitTable;
use base::{SessionId, TransactionId, Xsn};
use os::sync::{Mutex, PaddedCell};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};

/// From its creator's commit to its superseder's, in commit order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lifetime {
    /// Commit of the creator.
    pub b: CommitTime,
    /// Commit of the transaction that superseded or deleted it.
    pub e: CommitTime,
}

/// The answer to "does anybody need it?".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retention {
    /// A registered snapshot sees it; this is the newest that does.
    Needed(CommitTime),
    /// No snapshot sees it, and none will.
    Free,
}

/// A reader of a moment, as views show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reader {
    /// The session; 0 for the engine's own.
    pub session: SessionId,
    /// The transaction that reads, or whose statement does.
    pub transaction: Option<TransactionId>,
    /// It reads so to the end of its transaction (SNAPSHOT), not only within one statement.
    pub whole: bool,
    /// When the moment was taken, by the monotonic clock.
    pub since_ns: u64,
}

impl Reader {
    /// A reader of the engine's own.
    pub const NOBODY: Reader =
        Reader { session: SessionId(0), transaction: None, whole: false, since_ns: 0 };
}

/// A snapshot that is open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenSnapshot {
    /// Its number: no other has had it.
    pub ticket: u64,
    /// Its point.
    pub at: CommitTime,
    /// The last number that had been given when it was taken.
    pub drawn: Xsn,
    /// Who reads.
    pub by: Reader,
}

/// The points at which snapshots read.
#[derive(Default)]
pub struct SnapshotRegistry {
    slots: PaddedCell<Mutex<Slots>>,
    epoch: PaddedCell<AtomicU32>,
    /// How many are registered, or about to be.
    open: PaddedCell<AtomicUsize>,
    /// How many victims are open: mostly none, and then no reader asks further.
    victims: AtomicUsize,
}

#[derive(Default)]
struct Slots {
    registered: Vec<RegisteredSnapshot>,
    last: u64,
    /// Points of the last snapshots that ended and for which something was kept.
    ended: VecDeque<CommitTime>,
}

/// So many ended snapshots are remembered.
const ENDED_MAX: usize = 64;
/// Set in every epoch, so that none is 0.
const EPOCH: u32 = 1 << 31;

/// A snapshot that is open.
struct RegisteredSnapshot {
    at: CommitTime,
    ticket: u64,
    drawn: Xsn,
    /// Something was kept for it.
    pins: bool,
    /// Stored versions do not wait for it.
    victim: bool,
    by: Reader,
}

impl RegisteredSnapshot {
    fn told(&self) -> OpenSnapshot {
        OpenSnapshot { ticket: self.ticket, at: self.at, drawn: self.drawn, by: self.by }
    }
}

impl SnapshotRegistry {
    /// Registers a snapshot of now; it stays until [`SnapshotRegistry::release`].
    pub fn acquire(&self, table: &CommitTable) -> (u64, CommitTime) {
        self.acquire_for(table, Reader::NOBODY)
    }

    /// The same for a given reader.
    pub fn acquire_for(&self, table: &CommitTable, by: Reader) -> (u64, CommitTime) {
        self.acquire_at(table, by, None)
    }

    /// The same at a point that was read before: a fault.
    #[cfg(feature = "mutations")]
    pub fn acquire_late(&self, table: &CommitTable, by: Reader) -> (u64, CommitTime) {
        let at = table.clock();
        os::sched::switch_point();
        self.acquire_at(table, by, Some(at))
    }

    fn acquire_at(
        &self,
        table: &CommitTable,
        by: Reader,
        read: Option<CommitTime>,
    ) -> (u64, CommitTime) {
        let mut slots = self.slots.lock();
        // Invariant 1.
        self.open.store(slots.registered.len() + 1, SeqCst);
        // It is read before the moment: a transaction with a number up to this began before the
        // moment.
        let drawn = table.last();
        let at = read.unwrap_or_else(|| table.clock());
        slots.last += 1;
        let ticket = slots.last;
        // A fault leaves the list in order: it is seen by what is read, not here.
        let place = match read {
            Some(at) => slots.registered.partition_point(|r| r.at <= at),
            None => slots.registered.len(),
        };
        let in_order = place.checked_sub(1).is_none_or(|last| slots.registered[last].at <= at);
        debug_assert!(in_order, "invariant 2");
        let fresh = RegisteredSnapshot { at, ticket, drawn, pins: false, victim: false, by };
        slots.registered.insert(place, fresh);
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
        self.open.store(slots.registered.len(), SeqCst);
        self.victims.fetch_sub(usize::from(ended.victim), Relaxed);
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

    /// Changes when something that was needed may no longer be needed. Never 0, which is no epoch.
    pub fn epoch(&self) -> u32 {
        self.epoch.load(Acquire) | EPOCH
    }

    /// Whether any snapshot needs a lifetime that has ended.
    pub fn need(&self, lifetime: Lifetime) -> Retention {
        debug_assert!(lifetime.b <= lifetime.e, "a version ends after it began");
        if self.open.load(SeqCst) == 0 {
            return Retention::Free;
        }
        let mut slots = self.slots.lock();
        let before_e = slots.registered.partition_point(|r| r.at < lifetime.e);
        match before_e.checked_sub(1).map(|i| &mut slots.registered[i]) {
            Some(newest) if lifetime.b <= newest.at => {
                newest.pins = true;
                Retention::Needed(newest.at)
            }
            Some(_) | None => Retention::Free,
        }
    }

    /// Makes victims of all readers of a moment before `before`: versions that were superseded up
    /// to then are no longer kept for them. Returns those that were no victims yet. `None` when
    /// `may` refuses one of them; then nothing has changed.
    pub fn victimise(
        &self,
        before: CommitTime,
        may: impl Fn(&Reader) -> bool,
    ) -> Option<Vec<OpenSnapshot>> {
        let mut slots = self.slots.lock();
        let end = slots.registered.partition_point(|r| r.at < before);
        let fresh = || slots.registered[..end].iter().filter(|r| !r.victim);
        if !fresh().all(|r| may(&r.by)) {
            return None;
        }
        let told: Vec<_> = fresh().map(RegisteredSnapshot::told).collect();
        slots.registered[..end].iter_mut().for_each(|r| r.victim = true);
        self.victims.fetch_add(told.len(), Release);
        Some(told)
    }

    /// Whether a reader of that point is a victim. A reader asks after it has read a stored
    /// version.
    #[inline]
    pub fn is_victim(&self, at: CommitTime) -> bool {
        self.victims.load(Acquire) != 0 && self.is_victim_among(at)
    }

    #[cold]
    fn is_victim_among(&self, at: CommitTime) -> bool {
        let slots = self.slots.lock();
        let from = slots.registered.partition_point(|r| r.at < at);
        slots.registered[from..].iter().take_while(|r| r.at == at).any(|r| r.victim)
    }

    /// The oldest point for which stored versions are kept: victims do not count.
    pub fn store_horizon(&self, table: &CommitTable) -> CommitTime {
        let slots = self.slots.lock();
        let first = slots.registered.iter().find(|r| !r.victim);
        first.map_or_else(|| table.clock(), |r| r.at)
    }

    /// Whether a snapshot reads at that point.
    pub fn is_registered(&self, at: CommitTime) -> bool {
        let slots = self.slots.lock();
        let from = slots.registered.partition_point(|r| r.at < at);
        slots.registered.get(from).is_some_and(|r| r.at == at)
    }

    /// Whether that snapshot is open.
    pub fn is_open(&self, (ticket, at): (u64, CommitTime)) -> bool {
        let slots = self.slots.lock();
        slots.registered.binary_search_by_key(&(at, ticket), |r| (r.at, r.ticket)).is_ok()
    }

    /// The oldest point at which any snapshot reads or will read: the clock when there is none.
    pub fn horizon(&self, table: &CommitTable) -> CommitTime {
        let slots = self.slots.lock();
        slots.registered.first().map_or_else(|| table.clock(), |r| r.at)
    }

    /// All points, in order.
    pub fn points(&self) -> Vec<CommitTime> {
        self.slots.lock().registered.iter().map(|r| r.at).collect()
    }

    /// The snapshots that are open, in order of their points.
    pub fn open(&self) -> Vec<OpenSnapshot> {
        let slots = self.slots.lock();
        slots.registered.iter().map(RegisteredSnapshot::told).collect()
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
        assert_eq!(registry.need(Lifetime { b, e }), Retention::Needed(s));
        let kept_at = registry.epoch();
        registry.release(registry.acquire(&table));
        assert_eq!(registry.epoch(), kept_at, "nothing was kept for it");
        let later = commit();
        assert_eq!(registry.need(Lifetime { b: e, e: later }), Retention::Free);
        assert_eq!((registry.horizon(&table), registry.is_registered(s)), (s, true));
        assert!(registry.is_open((ticket, s)) && !registry.is_open((ticket + 1, s)));
        registry.release((ticket, s));
        assert!(!registry.is_open((ticket, s)));
        assert_eq!(registry.need(Lifetime { b, e }), Retention::Free);
        assert_ne!(registry.epoch(), kept_at, "invariant 3");
        assert_eq!(registry.oldest_ended_since(kept_at), Some(s));
        assert_eq!(registry.oldest_ended_since(registry.epoch()), None);
        assert_eq!(registry.oldest_ended_since(0), Some(CommitTime(0)), "no epoch");
        assert_eq!((registry.horizon(&table), registry.is_registered(s)), (later, false));
    }

    #[test]
    fn who_reads_is_told_until_he_ends() {
        let (table, registry) = (CommitTable::default(), SnapshotRegistry::default());
        let reader = |n: i16, whole| Reader {
            session: SessionId(n),
            transaction: Some(TransactionId(n as u64)),
            whole,
            since_ns: 7,
        };
        let first = registry.acquire_for(&table, reader(51, true));
        let at = table.commit(table.begin());
        let second = registry.acquire_for(&table, reader(52, false));
        let open = |n, ticket, at, drawn, whole| OpenSnapshot {
            ticket,
            at,
            drawn: Xsn(drawn),
            by: reader(n, whole),
        };
        let [one, other] = [open(51, first.0, first.1, 0, true), open(52, second.0, at, 1, false)];
        assert_eq!(registry.open(), [one, other]);
        registry.release(first);
        assert_eq!(registry.open(), [other]);
        registry.release(second);
        assert_eq!(registry.open(), []);
    }

    #[test]
    fn versions_do_not_wait_for_victims_but_all_else_does() {
        let (table, registry) = (CommitTable::default(), SnapshotRegistry::default());
        let commit = || table.commit(table.begin());
        let b = commit();
        let old = registry.acquire_for(&table, Reader { session: SessionId(51), ..Reader::NOBODY });
        let e = commit();
        let own = registry.acquire(&table);
        assert_eq!(registry.victimise(e, |by| by.session.0 > 51), None, "it may not be one");
        assert!(!registry.is_victim(old.1));
        let told = registry.victimise(e, |by| by.session.0 == 51).unwrap();
        assert_eq!((told.len(), told[0].at), (1, old.1));
        assert_eq!(registry.victimise(e, |_| true), Some(vec![]), "once");
        assert!(registry.is_victim(old.1) && !registry.is_victim(own.1));
        assert_eq!((registry.store_horizon(&table), registry.horizon(&table)), (own.1, old.1));
        assert_eq!(registry.need(Lifetime { b, e }), Retention::Needed(old.1), "invariant 4");
        registry.release(own);
        assert_eq!(registry.store_horizon(&table), table.clock());
        registry.release(old);
        assert!(!registry.is_victim(old.1), "who begins there now is none");
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
                let expected = newest.map_or(Retention::Free, |s| Retention::Needed(*s));
                assert_eq!(registry.need(lifetime), expected);
            }
            assert_eq!(registry.points(), left);
        }
    }
}
