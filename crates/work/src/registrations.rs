//! `Registrations`: the snapshots that a transaction has taken and not yet dropped, shared with
//! those who read for it. Debug builds alone know them, to assert that who reads versions has
//! registered himself, not only somebody else who reads as of the same moment.

#[cfg(debug_assertions)]
use os::sync::Mutex;
#[cfg(debug_assertions)]
use std::sync::Arc;
use txn::{CommitTime, SnapshotRegistry};

#[derive(Clone, Default)]
pub(crate) struct Registrations(#[cfg(debug_assertions)] Arc<Mutex<Vec<(u64, CommitTime)>>>);

#[cfg(debug_assertions)]
impl Registrations {
    pub(crate) fn enter(&self, entry: (u64, CommitTime)) {
        self.0.lock().push(entry);
    }

    pub(crate) fn leave(&self, entry: (u64, CommitTime)) {
        let mut entries = self.0.lock();
        let at = entries.iter().position(|e| *e == entry);
        entries.swap_remove(at.expect("a snapshot is dropped once"));
    }

    /// Whether one of them is at that moment, and the registry has it.
    pub(crate) fn reads(&self, at: CommitTime, registry: &SnapshotRegistry) -> bool {
        self.0.lock().iter().any(|entry| entry.1 == at && registry.is_open(*entry))
    }
}

#[cfg(not(debug_assertions))]
impl Registrations {
    pub(crate) fn enter(&self, _entry: (u64, CommitTime)) {}

    pub(crate) fn leave(&self, _entry: (u64, CommitTime)) {}

    pub(crate) fn reads(&self, _at: CommitTime, _registry: &SnapshotRegistry) -> bool {
        true
    }
}
