//! What sessions were promised, and what may therefore be found after a crash.

use os::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What happened to a key, in the order in which its lock was held: transaction, value or none.
type History = BTreeMap<u64, Vec<(u64, Option<u64>)>>;

#[derive(Default)]
pub(crate) struct Oracle {
    pub(crate) made: Mutex<bool>,
    pub(crate) history: Mutex<History>,
    /// When its commit was asked for, and when it came back.
    asked: Mutex<BTreeMap<u64, u64>>,
    answered: Mutex<BTreeMap<u64, u64>>,
    acknowledged: Mutex<BTreeSet<u64>>,
    time: AtomicU64,
    pub(crate) commits: AtomicU64,
}

impl Oracle {
    pub(crate) fn note(&self, key: u64, id: u64, now: Option<u64>) {
        self.history.lock().entry(key).or_default().push((id, now));
    }

    /// What is forgotten must be forgotten while its locks keep others away.
    pub(crate) fn forget(&self, id: u64, keys: &[u64]) {
        let mut history = self.history.lock();
        for key in keys {
            let list = history.get_mut(key).unwrap();
            let at = list.iter().rposition(|(t, _)| *t == id).unwrap();
            list.remove(at);
        }
    }

    pub(crate) fn commit(&self, id: u64, durable: bool, commit: impl FnOnce()) {
        self.asked.lock().insert(id, self.time.fetch_add(1, Relaxed));
        commit();
        self.commits.fetch_add(1, Relaxed);
        self.answered.lock().insert(id, self.time.fetch_add(1, Relaxed));
        if durable {
            self.acknowledged.lock().insert(id);
        }
    }

    pub(crate) fn compare(&self, found: &BTreeMap<u64, u64>) {
        let (asked, answered) = (self.asked.lock(), self.answered.lock());
        let mut there: BTreeSet<u64> = self.acknowledged.lock().clone();
        there.extend(found.values().map(|v| v / 1000));
        // Delayed commits are lost only as a suffix: what was over before one that is there is
        // there, too.
        let newest = there.iter().filter_map(|id| asked.get(id)).max().copied().unwrap_or(0);
        there.extend(answered.iter().filter(|(_, at)| **at < newest).map(|(id, _)| *id));
        for (key, list) in self.history.lock().iter() {
            // Only those that asked to commit may be there.
            let list: Vec<_> = list.iter().filter(|(t, _)| asked.contains_key(t)).collect();
            let now = found.get(key).copied();
            let mut states: Vec<Option<u64>> = vec![None];
            for (t, v) in &list {
                // One that is there is there whole, unless it was overwritten.
                if there.contains(t) {
                    states.clear();
                }
                states.push(*v);
            }
            assert!(states.contains(&now), "key {key} is {now:?}, may be {states:?}: {list:?}");
        }
        for key in found.keys() {
            assert!(self.history.lock().contains_key(key), "key {key} was never written");
        }
    }
}
