//! What sessions were promised, and what may therefore be found after a crash.
//!
//! A transaction of several statements writes its number into the ledger `dbo.L`, so what is
//! found says which transactions are there. A statement that is its own transaction works on keys
//! of its session alone; whether one that was cut off is there is told by what it left.
//!
//! Invariants
//!  1. Only transactions whose commit was asked for are there; acknowledged full ones all are.
//!  2. What is there is closed under the order of commits: over before another was asked for, or
//!     wrote a key before it did, or has the smaller ticket. So what is lost is a suffix.
//!  3. Every key is as the last transaction left it that is there: all of each, nothing of others.

use os::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Where a key is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Place {
    /// `dbo.T`, a tree with large values.
    Tree,
    /// `dbo.H`, a heap.
    Heap,
    /// `dbo.U`, a tree whose keys repeat, truncated now and then; keyed by value here.
    Log,
    /// A table that comes and goes.
    Table,
    /// An index that comes and goes.
    Index,
}

pub(crate) type Key = (Place, i64);
/// What is found, by key.
pub(crate) type Rows = BTreeMap<Key, i64>;

/// What a transaction made of a key, in which of its steps.
#[derive(Clone, Copy, Debug)]
struct Entry {
    id: i64,
    step: i64,
    now: Option<i64>,
}

/// One whose commit was asked for.
#[derive(Clone, Copy, Debug)]
struct Commit {
    asked: u64,
    answered: Option<u64>,
    /// A full one that was answered: nothing may take it away.
    acknowledged: bool,
    /// A statement by itself: not in the ledger.
    solo: bool,
}

/// A database that comes and goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Existence {
    There,
    Gone,
    Either,
}

#[derive(Default)]
pub(crate) struct Oracle {
    /// Batches of the schema that were answered.
    pub(crate) schema: AtomicU64,
    pub(crate) databases: Mutex<BTreeMap<String, Existence>>,
    /// The last setting of files that was asked for, and the last that was answered.
    pub(crate) files: Mutex<(i64, i64)>,
    /// For each key, in the order in which its lock was held.
    history: Mutex<BTreeMap<Key, Vec<Entry>>>,
    commits: Mutex<BTreeMap<i64, Commit>>,
    time: AtomicU64,
}

impl Oracle {
    /// While its lock is held.
    pub(crate) fn note(&self, key: Key, id: i64, step: i64, now: Option<i64>) {
        self.history.lock().entry(key).or_default().push(Entry { id, step, now });
    }

    /// The whole place was emptied.
    pub(crate) fn clear(&self, place: Place, id: i64, step: i64) {
        let mut history = self.history.lock();
        for list in history.iter_mut().filter(|(key, _)| key.0 == place).map(|(_, list)| list) {
            list.push(Entry { id, step, now: None });
        }
    }

    /// Steps of a transaction were undone, from this one on.
    pub(crate) fn undo(&self, id: i64, from: i64) {
        let mut history = self.history.lock();
        history.values_mut().for_each(|list| list.retain(|e| e.id != id || e.step < from));
        history.retain(|_, list| !list.is_empty());
    }

    /// Which of a session's own keys are there, from one to another; it has nothing open.
    pub(crate) fn own(&self, place: Place, from: i64, to: i64) -> Vec<i64> {
        let commits = self.commits.lock();
        let history = self.history.lock();
        let there = |list: &[Entry]| {
            list.iter().rfind(|e| commits.contains_key(&e.id)).is_some_and(|e| e.now.is_some())
        };
        let range = history.range((place, from)..(place, to));
        range.filter(|(_, list)| there(list)).map(|(key, _)| key.1).collect()
    }

    pub(crate) fn ask(&self, id: i64, solo: bool) {
        let asked = self.time.fetch_add(1, Relaxed);
        let commit = Commit { asked, answered: None, acknowledged: false, solo };
        let before = self.commits.lock().insert(id, commit);
        assert!(before.is_none(), "transaction {id} asks to commit twice");
    }

    pub(crate) fn answer(&self, id: i64, durable: bool) {
        let mut commits = self.commits.lock();
        let commit = commits.get_mut(&id).expect("what is answered was asked");
        commit.answered = Some(self.time.fetch_add(1, Relaxed));
        commit.acknowledged = durable;
    }

    /// It did not happen, and says so.
    pub(crate) fn refuse(&self, id: i64) {
        self.commits.lock().remove(&id);
        self.undo(id, 0);
    }

    /// Transactions that were answered.
    pub(crate) fn answered(&self) -> u64 {
        self.commits.lock().values().filter(|c| c.answered.is_some()).count() as u64
    }

    /// Compares what is found with what may be; `ledger` has the numbers of `dbo.L`.
    pub(crate) fn compare(&self, ledger: &BTreeMap<i64, Option<i64>>, found: &Rows) {
        let commits = self.commits.lock();
        let history = self.history.lock();
        let mut there: BTreeSet<i64> = ledger.keys().copied().collect();
        for id in &there {
            assert!(commits.contains_key(id), "transaction {id} never asked to commit");
        }
        let solos = commits.iter().filter(|(_, c)| c.solo);
        let (sure, unsure): (Vec<_>, Vec<_>) = solos.partition(|(_, c)| c.answered.is_some());
        there.extend(sure.iter().map(|(id, _)| **id));
        for (id, _) in commits.iter().filter(|(_, c)| c.acknowledged) {
            assert!(there.contains(id), "transaction {id} was acknowledged and is lost");
        }
        let unsure: Vec<i64> = unsure.iter().map(|(id, _)| **id).collect();
        assert!(unsure.len() <= 8, "a session has one statement at a time");
        let mut first = None;
        for chosen in 0..1_u32 << unsure.len() {
            let mut there = there.clone();
            there.extend(
                unsure.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, id)| *id),
            );
            match contradiction(&commits, &history, &there, found) {
                None => return,
                Some(text) => first = first.or(Some(text)),
            }
        }
        panic!("{}", first.expect("at least no statement was tried"));
    }
}

/// Why this set of transactions cannot be what is found.
fn contradiction(
    commits: &BTreeMap<i64, Commit>,
    history: &BTreeMap<Key, Vec<Entry>>,
    there: &BTreeSet<i64>,
    found: &Rows,
) -> Option<String> {
    let newest = there.iter().filter_map(|id| commits.get(id)).map(|c| c.asked).max().unwrap_or(0);
    let lost = commits.iter().filter(|(id, _)| !there.contains(id));
    for (id, commit) in lost.clone() {
        if commit.answered.is_some_and(|at| at < newest) {
            return Some(format!(
                "transaction {id} is lost, one that began to commit later is not"
            ));
        }
    }
    let lost: BTreeSet<i64> = lost.map(|(id, _)| *id).collect();
    for (key, list) in history {
        let mut gap = None;
        for entry in list {
            if lost.contains(&entry.id) {
                gap = Some(entry.id);
            } else if let Some(lost) = gap.filter(|_| there.contains(&entry.id)) {
                let id = entry.id;
                return Some(format!("{key:?}: {lost} is lost, {id}, which came after, is not"));
            }
        }
        let last = list.iter().rfind(|e| there.contains(&e.id));
        let (expected, is) = (last.and_then(|e| e.now), found.get(key).copied());
        if expected != is {
            return Some(format!("{key:?} is {is:?}, must be {expected:?}: {list:?}, {there:?}"));
        }
    }
    let strange = found.keys().find(|key| !history.contains_key(key));
    strange.map(|key| format!("{key:?} was never written"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn promised() -> Oracle {
        let p = Oracle::default();
        for id in 1..=3 {
            p.note((Place::Tree, 7), id, 1, Some(id * 10));
            p.note((Place::Heap, id), id, 2, Some(id * 10 + 1));
            p.ask(id, false);
            p.answer(id, id == 1);
        }
        p
    }

    fn fits(ids: &[i64], rows: &[(Key, i64)]) -> bool {
        let p = promised();
        let ledger = ids.iter().map(|id| (*id, None)).collect();
        let found = rows.iter().copied().collect();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| p.compare(&ledger, &found)))
            .is_ok()
    }

    /// Whole prefixes fit; gaps, parts, strangers and lost promises do not.
    #[test]
    fn only_whole_prefixes_fit() {
        let (t, h) = (|v| ((Place::Tree, 7), v), |k, v| ((Place::Heap, k), v));
        assert!(fits(&[1], &[t(10), h(1, 11)]));
        assert!(fits(&[1, 2], &[t(20), h(1, 11), h(2, 21)]));
        assert!(fits(&[1, 2, 3], &[t(30), h(1, 11), h(2, 21), h(3, 31)]));
        assert!(!fits(&[], &[]), "1 was acknowledged");
        assert!(!fits(&[1, 3], &[t(30), h(1, 11), h(3, 31)]), "2 is a gap");
        assert!(!fits(&[1, 2], &[t(20), h(1, 11)]), "2 is there in part");
        assert!(!fits(&[1], &[t(20), h(1, 11)]), "2 is not there, but its row");
        assert!(!fits(&[1], &[t(10), h(1, 11), h(9, 9)]), "nobody wrote that");
        assert!(!fits(&[1, 4], &[t(10), h(1, 11)]), "4 never was");
    }
}
