//! Identity values: given out from memory, reserved on disk ahead.
//!
//! ```text
//!     given out        free to give     not yet reserved
//! |----------------|----------------|-------------------->
//!  seed         last           reserved (in sysidents)
//! ```
//!
//! Invariants
//!  1. A value is given out only when one at least as far is reserved on disk, or in the log
//!     before anything that uses it: a crash leaves a gap, never a duplicate.
//!  2. A count belongs to a base hobt. TRUNCATE and a rebuild give a table a new one; a rebuild
//!     takes the count along, TRUNCATE begins at the seed. A rollback comes back to the old one.
//!  3. Values never go back within a count; reseeding is said explicitly.

use crate::view::Identity;
use base::{HobtId, SqlResult};
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How rowversions of a database count: the first is the one behind 0x7D0, which `@@DBTS` of a new
/// database shows.
pub const ROW_VERSIONS: Identity =
    Identity { seed: 2001, increment: 1, not_for_replication: false };

/// How many values are reserved at once.
const AHEAD: i128 = 1000;

/// Writes reservations. Implemented by `database`: a small system transaction of its own with
/// [`crate::Changes::put_identity`], which need not wait for the disk, because its log comes
/// before that of anybody who uses the values. Of a temporary table it does nothing.
pub trait IdentityStore: Send + Sync {
    /// Notes that values up to this one may have been given out.
    ///
    /// # Errors
    /// Space, log.
    fn reserve(&self, hobt: HobtId, reserved: i128) -> SqlResult<()>;

    /// The same, on disk when it returns.
    ///
    /// # Errors
    /// Space, log.
    fn reserve_at_once(&self, hobt: HobtId, reserved: i128) -> SqlResult<()>;
}

#[derive(Debug, Default)]
pub(crate) struct Count {
    /// The last value given out; none before the first.
    pub(crate) last: Option<i128>,
    /// What the disk says; none before the first reservation.
    pub(crate) reserved: Option<i128>,
}

/// The identity values of a database.
#[derive(Debug, Default)]
pub struct Identities {
    counts: Mutex<BTreeMap<HobtId, Arc<Mutex<Count>>>>,
}

impl Identities {
    /// Begins with what was loaded: values up to there may have been given out.
    pub fn new(loaded: &[(HobtId, i128)]) -> Identities {
        let count = |&(hobt, reserved): &(HobtId, i128)| {
            let count = Count { last: Some(reserved), reserved: Some(reserved) };
            (hobt, Arc::new(Mutex::new(count)))
        };
        Identities { counts: Mutex::new(loaded.iter().map(count).collect()) }
    }

    /// The next value of the table with this base hobt. The caller checks that its column holds
    /// it (8115).
    ///
    /// # Errors
    /// Those of the store.
    pub fn next(
        &self,
        hobt: HobtId,
        identity: Identity,
        store: &dyn IdentityStore,
    ) -> SqlResult<i128> {
        let count = self.count(hobt);
        let mut count = count.lock();
        let value = match count.last {
            None => identity.seed,
            Some(last) => last.saturating_add(identity.increment),
        };
        count.cover(hobt, value, identity.increment, store)?;
        count.last = Some(value);
        Ok(value)
    }

    /// A row came with a value of its own (IDENTITY_INSERT): later values go on from it when it
    /// is further than they are.
    ///
    /// # Errors
    /// Those of the store.
    pub fn note(
        &self,
        hobt: HobtId,
        identity: Identity,
        value: i128,
        store: &dyn IdentityStore,
    ) -> SqlResult<()> {
        let count = self.count(hobt);
        let mut count = count.lock();
        if count.last.is_none_or(|last| beyond(value, last, identity.increment)) {
            count.cover(hobt, value, identity.increment, store)?;
            count.last = Some(value);
        }
        Ok(())
    }

    /// The next `count` values of a count at once; gives the first.
    ///
    /// # Errors
    /// Those of the store.
    pub fn next_many(
        &self,
        hobt: HobtId,
        identity: Identity,
        count: u64,
        store: &dyn IdentityStore,
    ) -> SqlResult<i128> {
        let first = self.next(hobt, identity, store)?;
        let more = i128::from(count.saturating_sub(1));
        let last = first.saturating_add(identity.increment.saturating_mul(more));
        self.note(hobt, identity, last, store)?;
        Ok(first)
    }

    /// The last value given out: IDENT_CURRENT, `sys.identity_columns.last_value`.
    pub fn last(&self, hobt: HobtId) -> Option<i128> {
        self.counts.lock().get(&hobt).and_then(|c| c.lock().last)
    }

    /// Later values follow this one, also when that is back: DBCC CHECKIDENT (…, RESEED, n).
    ///
    /// # Errors
    /// Those of the store.
    pub fn reseed(&self, hobt: HobtId, last: i128, store: &dyn IdentityStore) -> SqlResult<()> {
        let count = self.count(hobt);
        let mut count = count.lock();
        store.reserve(hobt, last)?;
        *count = Count { last: Some(last), reserved: Some(last) };
        Ok(())
    }

    /// The table has another base hobt and goes on counting.
    ///
    /// # Errors
    /// Those of the store.
    pub fn inherit(&self, from: HobtId, to: HobtId, store: &dyn IdentityStore) -> SqlResult<()> {
        self.last(from).map_or(Ok(()), |last| self.reseed(to, last, store))
    }

    /// At a clean stop: reservations shrink to what was given out, so that no gap remains.
    ///
    /// # Errors
    /// Those of the store.
    pub fn settle(&self, store: &dyn IdentityStore) -> SqlResult<()> {
        let counts: Vec<_> = self.counts.lock().iter().map(|(h, c)| (*h, Arc::clone(c))).collect();
        for (hobt, count) in counts {
            let mut count = count.lock();
            if let (Some(last), true) = (count.last, count.reserved != count.last) {
                store.reserve(hobt, last)?;
                count.reserved = Some(last);
            }
        }
        Ok(())
    }

    /// Forgets a dropped hobt's count.
    pub fn forget(&self, hobt: HobtId) {
        self.counts.lock().remove(&hobt);
    }

    pub(crate) fn count(&self, hobt: HobtId) -> Arc<Mutex<Count>> {
        Arc::clone(self.counts.lock().entry(hobt).or_default())
    }
}

/// Whether `a` comes after `b` in the direction of counting.
pub(crate) fn beyond(a: i128, b: i128, increment: i128) -> bool {
    if increment >= 0 { a > b } else { a < b }
}

impl Count {
    /// Sees to it that `value` is reserved.
    fn cover(
        &mut self,
        hobt: HobtId,
        value: i128,
        increment: i128,
        store: &dyn IdentityStore,
    ) -> SqlResult<()> {
        if self.reserved.is_some_and(|r| !beyond(value, r, increment)) {
            return Ok(());
        }
        let ahead = value.saturating_add(increment.saturating_mul(AHEAD - 1));
        // A decimal of 38 digits is the furthest that can be stored.
        let limit = 10_i128.pow(38) - 1;
        let ahead = ahead.clamp(-limit, limit);
        store.reserve(hobt, ahead)?;
        self.reserved = Some(ahead);
        assert!(!beyond(value, ahead, increment) || value.abs() > limit, "invariant 1");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Disk(Mutex<BTreeMap<HobtId, i128>>, Mutex<u32>);

    impl IdentityStore for Disk {
        fn reserve(&self, hobt: HobtId, reserved: i128) -> SqlResult<()> {
            self.0.lock().insert(hobt, reserved);
            *self.1.lock() += 1;
            Ok(())
        }

        fn reserve_at_once(&self, hobt: HobtId, reserved: i128) -> SqlResult<()> {
            self.reserve(hobt, reserved)
        }
    }

    impl Disk {
        fn restart(&self) -> Identities {
            let rows: Vec<_> = self.0.lock().iter().map(|(h, v)| (*h, *v)).collect();
            Identities::new(&rows)
        }
    }

    const HOBT: HobtId = HobtId(300);

    #[test]
    fn a_crash_leaves_a_gap_and_a_clean_stop_none() {
        for (seed, increment) in [(1, 1), (-5, 3), (100, -7)] {
            let identity = Identity { seed, increment, not_for_replication: false };
            let disk = Disk::default();
            let first = disk.restart();
            let mut given = Vec::new();
            for _ in 0..2500 {
                given.push(first.next(HOBT, identity, &disk).expect("the fake takes all"));
            }
            assert_eq!(given[2499], seed + 2499 * increment);
            assert_eq!(*disk.1.lock(), 3, "one reservation for a thousand values");
            let crashed = disk.restart();
            let next = crashed.next(HOBT, identity, &disk).expect("the fake takes all");
            assert!(!given.contains(&next));
            crashed.settle(&disk).expect("the fake takes all");
            let stopped = disk.restart();
            let value = stopped.next(HOBT, identity, &disk).expect("the fake takes all");
            assert_eq!(value, next + increment);
        }
    }

    #[test]
    fn explicit_values_move_the_count_on_and_never_back() {
        let identity = Identity { seed: 1, increment: 1, not_for_replication: false };
        let (disk, ids) = (Disk::default(), Identities::default());
        ids.note(HOBT, identity, 5000, &disk).expect("taken");
        ids.note(HOBT, identity, 7, &disk).expect("taken");
        assert_eq!(ids.next(HOBT, identity, &disk), Ok(5001));
        ids.inherit(HOBT, HobtId(301), &disk).expect("the fake takes all");
        assert_eq!(ids.next(HobtId(301), identity, &disk), Ok(5002), "a rebuild goes on");
        assert_eq!(ids.next(HobtId(302), identity, &disk), Ok(1), "TRUNCATE begins again");
        ids.reseed(HOBT, 10, &disk).expect("taken");
        assert_eq!(ids.next(HOBT, identity, &disk), Ok(11));
        assert_eq!(ids.last(HobtId(999)), None);
    }
}
