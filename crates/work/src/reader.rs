//! Reading for one transaction with several threads.
//!
//! A reader is a unit of work under its transaction's number, with a waiter of its own. The lock
//! table knows owners by number: what any of them holds, the transaction holds, and none of them
//! conflicts with another. A circle of waits that goes through one of them is a deadlock of the
//! transaction, which cannot end without it.
//!
//! Invariants
//!  1. A reader writes nothing: it has no part in a database.
//!  2. It asks for tables' locks and tests rows, and gives no lock back by itself: whether it or
//!     another was granted a table first, the transaction takes over all that they have listed.

use crate::engine::Engine;
use crate::unit::Work;
use crate::versions::ReaderVersions;
use base::TransactionId;
use lock::{Owner, OwnerId, Timeout};
use os::wait::Waiter;
use std::sync::Arc;
use txn::OpenEntry;

/// What readers of a transaction are made of.
#[derive(Clone)]
pub struct ReaderSeed {
    engine: Arc<Engine>,
    owner: Arc<Owner>,
    owner_id: OwnerId,
    transaction: Option<TransactionId>,
    versions: ReaderVersions,
    timeout: Timeout,
    entry: Option<Arc<OpenEntry>>,
}

impl Work {
    /// For readers of the transaction that is open now. It stays open until all are done.
    pub fn reader_seed(&self) -> ReaderSeed {
        ReaderSeed {
            engine: Arc::clone(&self.engine),
            owner: Arc::clone(&self.owner),
            owner_id: self.owner.id(),
            transaction: self.transaction_id(),
            versions: self.versions.for_readers(),
            timeout: self.timeout(),
            entry: self.entry.clone(),
        }
    }
}

impl ReaderSeed {
    /// A reader that waits at `waiter`.
    pub fn reader(&self, waiter: Arc<Waiter>) -> Work {
        let owner = self.owner.helper(self.owner_id, waiter);
        let (versions, entry) = (self.versions.clone(), self.entry.clone());
        Work::for_reading(&self.engine, owner, self.transaction, versions, self.timeout, entry)
    }

    /// A reader is done.
    pub fn done(&self, reader: &Work) {
        assert!(reader.parts.is_empty(), "invariant 1");
        self.owner.take_over(&reader.owner);
    }
}
