//! What a unit of work's transaction has of row versions, as views show it.
//!
//! A unit of work that uses versions writes a few words of its own, without a lock and on a line
//! that few others write; whoever asks goes over all of them.
//!
//! Invariants
//!  1. The transaction's number is written last and erased first. Who finds the same number before
//!     and after it has read the rest has read of one transaction, since numbers are given once.

use base::{SessionId, TransactionId, Xsn};
use os::sync::PaddedCell;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    fence,
};
use txn::{CommitTable, CommitTime};

/// An open transaction that uses row versions: it has drawn a number, or read as of a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VersionUser {
    /// The transaction.
    pub transaction: TransactionId,
    /// Whose.
    pub session: SessionId,
    /// Its number, if it has drawn one.
    pub xsn: Option<Xsn>,
    /// The moment as of which it reads, under SNAPSHOT.
    pub moment: Option<CommitTime>,
    /// Since when, by the monotonic clock.
    pub since_ns: u64,
    /// Former versions that it has read.
    pub traversed: Traversal,
}

/// Chains of stored versions that a transaction has followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traversal {
    /// How many.
    pub chains: u64,
    /// Versions on the way, the one that was read among them.
    pub versions: u64,
    /// Of the longest.
    pub longest: u64,
}

impl Traversal {
    /// Versions of a chain.
    pub fn average(self) -> f64 {
        self.versions as f64 / self.chains.max(1) as f64
    }

    /// One more, of so many versions.
    pub(crate) fn follow(&mut self, versions: u64) {
        self.chains += 1;
        self.versions += versions;
        self.longest = self.longest.max(versions);
    }
}

/// What a unit of work tells.
pub(crate) struct VersionUse {
    session: SessionId,
    gone: AtomicBool,
    told: PaddedCell<Words>,
}

#[derive(Default)]
struct Words {
    transaction: AtomicU64,
    xsn: AtomicU64,
    moment: AtomicU64,
    since_ns: AtomicU64,
    chains: AtomicU64,
    versions: AtomicU64,
    longest: AtomicU64,
}

impl VersionUse {
    /// Of a session's unit of work, which uses no versions yet.
    pub(crate) fn new(session: SessionId) -> VersionUse {
        VersionUse { session, gone: AtomicBool::new(false), told: PaddedCell::default() }
    }

    /// The transaction uses versions from now on, if it has not yet.
    pub(crate) fn begin(&self, transaction: TransactionId, since_ns: u64) {
        let before = self.told.transaction.load(Relaxed);
        if before != transaction.0 {
            assert_eq!(before, 0, "a unit of work has one transaction at a time");
            self.told.since_ns.store(since_ns, Relaxed);
            self.told.transaction.store(transaction.0, Release);
        }
    }

    /// Its number, drawn now unless it was before.
    pub(crate) fn draw(&self, commits: &CommitTable) -> Xsn {
        let before = self.told.xsn.load(Acquire);
        if before != 0 {
            return Xsn(before);
        }
        let fresh = commits.begin();
        match self.told.xsn.compare_exchange(0, fresh.0, AcqRel, Acquire) {
            Ok(_) => fresh,
            Err(theirs) => {
                commits.abort(fresh);
                Xsn(theirs)
            }
        }
    }

    /// It reads as of a moment.
    pub(crate) fn reads_as_of(&self, moment: CommitTime) {
        self.told.moment.store(moment.0, Relaxed);
    }

    /// It has gone along chains of stored versions; threads that read for it do, too.
    pub(crate) fn traversed(&self, more: Traversal) {
        if self.told.transaction.load(Relaxed) == 0 {
            // It reads by a snapshot of the engine's own.
            return;
        }
        self.told.chains.fetch_add(more.chains, Relaxed);
        self.told.versions.fetch_add(more.versions, Relaxed);
        if self.told.longest.load(Relaxed) < more.longest {
            self.told.longest.fetch_max(more.longest, Relaxed);
        }
    }

    /// The transaction is over. Its number, which the caller ends unless it has.
    pub(crate) fn end(&self) -> Option<Xsn> {
        let told = &self.told;
        if told.transaction.load(Relaxed) == 0 && told.xsn.load(Relaxed) == 0 {
            return None;
        }
        told.transaction.store(0, Relaxed);
        // Whoever reads something of what follows finds the number gone (invariant 1).
        fence(Release);
        let Words { moment, chains, versions, longest, .. } = &**told;
        for word in [moment, chains, versions, longest] {
            word.store(0, Relaxed);
        }
        self.take_number()
    }

    /// The unit of work is gone.
    pub(crate) fn leave(&self, commits: &CommitTable) {
        self.gone.store(true, Relaxed);
        self.take_number().into_iter().for_each(|xsn| commits.abort(xsn));
    }

    fn take_number(&self) -> Option<Xsn> {
        Some(self.told.xsn.swap(0, AcqRel)).filter(|n| *n != 0).map(Xsn)
    }

    /// What it tells, with a number, which it gets now where it has none.
    pub(crate) fn read_numbered(&self, commits: &CommitTable) -> Option<VersionUser> {
        let user = self.read()?;
        if user.xsn.is_some() {
            return Some(user);
        }
        self.draw(commits);
        // Who has put it in behind the last that the unit of work took out sees that it is gone.
        if self.gone.load(Relaxed) {
            self.leave(commits);
        }
        self.read()
    }

    pub(crate) fn read(&self) -> Option<VersionUser> {
        let told = &self.told;
        let transaction = told.transaction.load(Acquire);
        let number = |word: &AtomicU64| Some(word.load(Relaxed)).filter(|n| *n != 0);
        let user = VersionUser {
            transaction: TransactionId(transaction),
            session: self.session,
            xsn: number(&told.xsn).map(Xsn),
            moment: number(&told.moment).map(CommitTime),
            since_ns: told.since_ns.load(Relaxed),
            traversed: Traversal {
                chains: told.chains.load(Relaxed),
                versions: told.versions.load(Relaxed),
                longest: told.longest.load(Relaxed),
            },
        };
        fence(Acquire);
        let same = told.transaction.load(Relaxed) == transaction;
        (transaction != 0 && same).then_some(user)
    }
}
