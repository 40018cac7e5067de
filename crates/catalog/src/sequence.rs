//! Values of sequences: counted as identity values are, and reserved ahead by as many as the
//! sequence caches.
//!
//! Invariants
//!  1. A reservation is on disk before a value under it is given: a value may be shown to a client
//!     that never commits. So a crash leaves a gap, never a repeat.
//!  2. A count that begins anew (CYCLE) is reserved anew.

use crate::identity::{Identities, IdentityStore, beyond};
use crate::view::{Origin, Sequence};
use base::{SqlError, SqlResult, messages};

/// How many values are reserved at once where CACHE says nothing.
const CACHED: u32 = 1000;

impl Identities {
    /// The next value of a sequence. It is not given back.
    ///
    /// # Errors
    /// 11728 behind the last one; those of the store.
    pub fn next_of(&self, sequence: &Sequence, store: &dyn IdentityStore) -> SqlResult<i128> {
        let count = self.count(sequence.counter);
        let mut count = count.lock();
        let ended = || SqlError::new(messages::SEQUENCE_EXHAUSTED, &[&sequence.name]);
        let (value, anew) = match (count.last, sequence.origin) {
            (None, Origin::First(first)) => (first, false),
            (None, Origin::After(last)) | (Some(last), _) => {
                sequence.following(last).ok_or_else(ended)?
            }
        };
        let covered = count.reserved.is_some_and(|r| !beyond(value, r, sequence.increment));
        if anew || !covered {
            let more = match sequence.cache {
                None => 0,
                Some(0) => CACHED - 1,
                Some(n) => n - 1,
            };
            let ahead = sequence.increment.saturating_mul(i128::from(more));
            let ahead = value.saturating_add(ahead).clamp(sequence.minimum, sequence.maximum);
            store.reserve_at_once(sequence.counter, ahead)?;
            count.reserved = Some(ahead);
        }
        count.last = Some(value);
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::SchemaId;
    use base::{HobtId, ObjectId};
    use os::sync::Mutex;
    use types::SqlType;

    #[derive(Default)]
    struct Disk(Mutex<Option<i128>>, Mutex<u32>);

    impl IdentityStore for Disk {
        fn reserve(&self, _: HobtId, _: i128) -> SqlResult<()> {
            unreachable!("sequences reserve at once")
        }

        fn reserve_at_once(&self, _: HobtId, reserved: i128) -> SqlResult<()> {
            *self.0.lock() = Some(reserved);
            *self.1.lock() += 1;
            Ok(())
        }
    }

    fn sequence(increment: i128, cycles: bool, cache: Option<u32>) -> Sequence {
        Sequence {
            object_id: ObjectId(1),
            schema_id: SchemaId::DBO,
            schema_name: "dbo".into(),
            name: "s".into(),
            sql_type: SqlType::Int,
            user_type_id: 56,
            start: 5,
            increment,
            minimum: 1,
            maximum: 10,
            cycles,
            cache,
            counter: HobtId(300),
            origin: Origin::First(5),
            properties: Vec::new(),
        }
    }

    fn after_crash(disk: &Disk) -> Identities {
        let loaded: Vec<_> = disk.0.lock().iter().map(|r| (HobtId(300), *r)).collect();
        Identities::new(&loaded)
    }

    #[test]
    fn a_crash_leaves_a_gap_and_never_a_repeat() {
        for (increment, cache, then) in [(1, None, 6), (1, Some(3), 8), (-2, Some(2), 1)] {
            let (disk, s) = (Disk::default(), sequence(increment, false, cache));
            assert_eq!(after_crash(&disk).next_of(&s, &disk), Ok(5));
            assert_eq!(after_crash(&disk).next_of(&s, &disk), Ok(then));
        }
    }

    #[test]
    fn a_count_ends_or_begins_anew_at_its_bound() {
        let disk = Disk::default();
        let (ids, s) = (Identities::default(), sequence(3, false, Some(0)));
        assert_eq!([ids.next_of(&s, &disk), ids.next_of(&s, &disk)], [Ok(5), Ok(8)]);
        let ended = ids.next_of(&s, &disk).map_err(|e| e.number());
        assert_eq!((ended, *disk.1.lock()), (Err(11728), 1));
        let s = sequence(3, true, Some(0));
        assert_eq!([ids.next_of(&s, &disk), ids.next_of(&s, &disk)], [Ok(1), Ok(4)]);
        assert_eq!(*disk.1.lock(), 2, "reserved anew");
        let down = sequence(-3, true, Some(0));
        assert_eq!([ids.next_of(&down, &disk), ids.next_of(&down, &disk)], [Ok(1), Ok(10)]);
    }
}
