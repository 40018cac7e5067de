//! A unit of work's share in row versions: its number, its snapshots, its page of the store.
//!
//! Invariants
//!  1. A number is drawn at the transaction's first versioned change, and every database learns of
//!     it before the number stands on one of its pages.
//!  2. A snapshot is registered from before it is read by until it is dropped.

use crate::home::Home;
use crate::unit::{Engine, Work};
use base::Xsn;
use std::sync::Arc;
use txn::CommitTime;
use version::{Origin, Place, VersionError, VersionPtr};

/// What a unit of work has of versions.
#[derive(Default)]
pub(crate) struct Versions {
    xsn: Option<Xsn>,
    place: Place,
}

impl Versions {
    /// Of a reader for a transaction of that number.
    pub(crate) fn of(xsn: Option<Xsn>) -> Versions {
        Versions { xsn, place: Place::default() }
    }

    pub(crate) fn transaction_ends(&mut self) {
        self.xsn = None;
    }
}

/// A moment as of which somebody reads, registered until it is dropped.
pub struct Snapshot {
    engine: Arc<Engine>,
    entry: (u64, CommitTime),
}

impl Snapshot {
    /// Now.
    pub fn take(engine: &Arc<Engine>) -> Snapshot {
        let transactions = &engine.transactions;
        let entry = transactions.snapshots.acquire(&transactions.commits);
        debug_assert!(transactions.snapshots.is_registered(entry.1), "invariant 2");
        Snapshot { engine: Arc::clone(engine), entry }
    }

    /// The moment.
    pub fn at(&self) -> CommitTime {
        self.entry.1
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        self.engine.transactions.snapshots.release(self.entry);
    }
}

impl Engine {
    /// The version store.
    ///
    /// # Panics
    /// Before there is a tempdb: nothing is versioned then.
    pub fn version_store(&self) -> &Arc<version::Store> {
        self.versions.get().expect("tempdb is there before a database has versions")
    }
}

impl Work {
    /// The number under which the transaction writes versions, if it has written any.
    pub fn xsn(&self) -> Option<Xsn> {
        self.versions.xsn
    }

    /// That number for a change in a database, drawn at the first.
    ///
    /// # Errors
    /// 9002, or a boot page that cannot be written.
    pub fn versions_in(&mut self, home: &Arc<Home>) -> base::SqlResult<Xsn> {
        assert!(self.is_active(), "changes belong to a transaction");
        let commits = &self.engine.transactions.commits;
        let xsn = *self.versions.xsn.get_or_insert_with(|| commits.begin());
        home.expect_xsn(xsn)?;
        Ok(xsn)
    }

    /// The same where it was drawn and announced before: under a latch nothing is announced.
    pub fn versions_drawn(&self, home: &Home) -> Option<Xsn> {
        self.versions.xsn.filter(|xsn| home.expects(*xsn))
    }

    /// Sees to it that a record of that length can be kept. No latch is held.
    ///
    /// # Errors
    /// Tempdb is full.
    pub fn make_version_room(&mut self, record_bytes: usize) -> Result<(), VersionError> {
        let store = Arc::clone(self.engine.version_store());
        store.make_room(&mut self.versions.place, record_bytes)
    }

    /// Whether a record of that length can be kept without waiting.
    pub fn has_version_room(&self, record_bytes: usize) -> bool {
        self.versions.place.has_room(record_bytes)
    }

    /// Keeps a record as it was before this transaction changed it; room was made.
    ///
    /// # Errors
    /// A page of the store that cannot be read.
    pub fn keep_version(
        &mut self,
        origin: Origin,
        record: (&[u8], u32),
    ) -> Result<VersionPtr, VersionError> {
        let xsn = self.versions.xsn.expect("who keeps versions has a number");
        let store = Arc::clone(self.engine.version_store());
        store.append(&mut self.versions.place, origin, xsn, record)
    }

    /// Draws the commit's time.
    pub(crate) fn stamp(&mut self) {
        if let Some(xsn) = self.versions.xsn {
            self.engine.transactions.commits.commit(xsn);
        }
    }

    /// What it wrote was taken back.
    pub(crate) fn unstamp(&mut self) {
        if let Some(xsn) = self.versions.xsn {
            self.engine.transactions.commits.abort(xsn);
        }
    }

    /// Gives its page of the store to whoever wants it.
    pub(crate) fn leave_version_page(&mut self) {
        if let Some(store) = self.engine.versions.get() {
            // A page that cannot be read now stays its own: nobody else fills it.
            let _ = store.leave(&mut self.versions.place);
        }
    }
}
