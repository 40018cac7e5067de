//! When objects of a database were last defined anew: definitions have no versions, so a
//! transaction that reads as of an earlier moment may not read them (3961).

use base::ObjectId;
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::*};
use txn::CommitTime;

/// Those that anybody may ask for.
#[derive(Default)]
pub(crate) struct Redefinitions {
    /// The last of all: mostly before every moment that is asked for.
    last: AtomicU64,
    objects: Mutex<BTreeMap<ObjectId, CommitTime>>,
}

impl Redefinitions {
    /// Notes it, and forgets what nobody reads as of an earlier moment than.
    pub(crate) fn note(
        &self,
        objects: impl Iterator<Item = ObjectId>,
        at: CommitTime,
        oldest: CommitTime,
    ) {
        let mut noted = self.objects.lock();
        noted.retain(|_, last| *last > oldest);
        for object in objects {
            let last = noted.entry(object).or_default();
            *last = (*last).max(at);
        }
        self.last.fetch_max(at.0, Release);
    }

    /// Whether one was defined anew since a moment.
    pub(crate) fn since(&self, object: ObjectId, at: CommitTime) -> bool {
        if self.last.load(Acquire) <= at.0 {
            return false;
        }
        self.objects.lock().get(&object).is_some_and(|last| *last > at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_remembered_as_long_as_anybody_reads_from_before() {
        let redefined = Redefinitions::default();
        let (a, b) = (ObjectId(5), ObjectId(6));
        redefined.note([a].into_iter(), CommitTime(10), CommitTime(3));
        assert!(redefined.since(a, CommitTime(9)) && !redefined.since(a, CommitTime(10)));
        assert!(!redefined.since(b, CommitTime(9)));
        redefined.note([b].into_iter(), CommitTime(20), CommitTime(12));
        assert!(!redefined.since(a, CommitTime(3)), "nobody reads as of then any more");
        assert!(redefined.since(b, CommitTime(19)));
    }
}
