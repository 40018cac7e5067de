//! What a unit of work's transaction has of row versions, as views show it.
//!
//! A unit of work that uses versions writes a few words of its own, without a lock and on a line
//! that few others write; whoever asks goes over all of them.
//!
//! Invariants
//!  1. The transaction's number is written last and erased first. Who finds the same number before
//!     and after it has read the rest has read of one transaction, since numbers are given once.

use crate::unit::Engine;
use base::{SessionId, TransactionId, Xsn};
use os::sync::PaddedCell;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed, Release},
    fence,
};
use txn::{CommitTable, CommitTime, OpenSnapshot};

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
    pub traversed: Traversed,
}

/// Chains of stored versions that a transaction has followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traversed {
    /// How many.
    pub chains: u64,
    /// Versions on the way, the one that was read among them.
    pub versions: u64,
    /// Of the longest.
    pub longest: u64,
}

impl Traversed {
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
    told: PaddedCell<Told>,
}

#[derive(Default)]
struct Told {
    transaction: AtomicU64,
    xsn: AtomicU64,
    moment: AtomicU64,
    since_ns: AtomicU64,
    chains: AtomicU64,
    versions: AtomicU64,
    longest: AtomicU64,
}

impl VersionUse {
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
    pub(crate) fn traversed(&self, more: Traversed) {
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
        let Told { moment, chains, versions, longest, .. } = &**told;
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
    fn read_numbered(&self, commits: &CommitTable) -> Option<VersionUser> {
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

    fn read(&self) -> Option<VersionUser> {
        let told = &self.told;
        let transaction = told.transaction.load(Acquire);
        let number = |word: &AtomicU64| Some(word.load(Relaxed)).filter(|n| *n != 0);
        let user = VersionUser {
            transaction: TransactionId(transaction),
            session: self.session,
            xsn: number(&told.xsn).map(Xsn),
            moment: number(&told.moment).map(CommitTime),
            since_ns: told.since_ns.load(Relaxed),
            traversed: Traversed {
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

impl Engine {
    /// A unit of work of a session begins to use versions.
    pub(crate) fn enlist_version_use(&self, session: SessionId) -> Arc<VersionUse> {
        let made = Arc::new(VersionUse {
            session,
            gone: AtomicBool::new(false),
            told: PaddedCell::default(),
        });
        let mut uses = self.version_uses.lock();
        // Units of work that are gone leave the list when another comes.
        uses.retain(|of| of.strong_count() > 0);
        uses.push(Arc::downgrade(&made));
        made
    }

    /// The numbers that were open at the moment of a transaction under SNAPSHOT. None of any other,
    /// nor when it is over.
    pub fn open_before(&self, user: &VersionUser) -> Vec<Xsn> {
        match (user.xsn, user.moment) {
            (Some(own), Some(at)) if self.transactions.snapshots.is_registered(at) => {
                self.transactions.commits.unseen(own, at)
            }
            _ => Vec::new(),
        }
    }

    /// The lowest of them, or its own; none of a transaction without a moment.
    pub fn first_open_before(&self, user: &VersionUser) -> Option<Xsn> {
        user.moment?;
        self.open_before(user).first().copied().or(user.xsn)
    }

    /// The open transactions that use row versions, oldest first. Each is true of its own moment.
    pub fn version_users(&self) -> Vec<VersionUser> {
        self.each_use(VersionUse::read)
    }

    /// The same, each with a number: who reads by statements alone and outside a transaction of the
    /// user draws none by itself.
    pub fn numbered_version_users(&self) -> Vec<VersionUser> {
        let commits = &self.transactions.commits;
        self.each_use(|of| of.read_numbered(commits))
    }

    fn each_use(&self, read: impl Fn(&VersionUse) -> Option<VersionUser>) -> Vec<VersionUser> {
        let uses: Vec<_> = self.version_uses.lock().iter().filter_map(|of| of.upgrade()).collect();
        let mut users: Vec<_> = uses.iter().filter_map(|of| read(of)).collect();
        users.sort_unstable_by_key(|user| user.transaction.0);
        users
    }

    /// The numbers that were open when a statement's snapshot was taken. None when it is over.
    pub fn open_before_snapshot(&self, snapshot: &OpenSnapshot) -> Vec<Xsn> {
        let transactions = &self.transactions;
        let unseen = transactions.commits.unseen(Xsn(snapshot.drawn.0 + 1), snapshot.at);
        // As long as it is registered what it does not see keeps its times.
        match transactions.snapshots.is_open((snapshot.ticket, snapshot.at)) {
            true => unseen,
            false => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_is_told_while_it_uses_versions_and_nothing_of_it_after() {
        let engine = Engine::new(lock::Table::new(&lock::Options::default()));
        let own = engine.enlist_version_use(SessionId(51));
        assert_eq!(engine.version_users(), []);
        own.begin(TransactionId(7), 100);
        own.begin(TransactionId(7), 200);
        let number = own.draw(&engine.transactions.commits);
        assert_eq!(own.draw(&engine.transactions.commits), number, "once");
        own.reads_as_of(CommitTime(9));
        let mut followed = Traversed::default();
        followed.follow(2);
        followed.follow(1);
        own.traversed(followed);
        let user = engine.version_users().remove(0);
        assert_eq!((user.transaction, user.session), (TransactionId(7), SessionId(51)));
        assert_eq!((user.xsn, user.moment), (Some(number), Some(CommitTime(9))));
        assert_eq!((user.since_ns, engine.open_before(&user)), (100, vec![]), "not registered");
        assert_eq!(user.traversed, Traversed { chains: 2, versions: 3, longest: 2 });
        assert_eq!(user.traversed.average(), 1.5);
        assert_eq!(own.end(), Some(number));
        assert_eq!((own.end(), engine.version_users()), (None, vec![]));
        own.begin(TransactionId(8), 300);
        let user = engine.version_users().remove(0);
        assert_eq!((user.xsn, user.moment, user.traversed), (None, None, Traversed::default()));
        drop(own);
        assert_eq!(engine.version_users(), []);
    }

    #[test]
    fn who_asks_gives_a_reader_the_number_that_it_writes_under_later() {
        let engine = Engine::new(lock::Table::new(&lock::Options::default()));
        let commits = &engine.transactions.commits;
        let own = engine.enlist_version_use(SessionId(51));
        own.begin(TransactionId(7), 100);
        let writer = commits.begin();
        assert_eq!(engine.version_users()[0].xsn, None);
        let number = engine.numbered_version_users()[0].xsn;
        assert!(number > Some(writer), "nobody else has it");
        assert_eq!(engine.numbered_version_users()[0].xsn, number, "it keeps it");
        assert_eq!((Some(own.draw(commits)), own.end()), (number, number));
        assert_eq!(engine.numbered_version_users(), []);
        // A number that comes as the transaction goes is ended by the next, or when there is none.
        let late = own.draw(commits);
        assert_eq!(own.end(), Some(late));
        let late = own.draw(commits);
        own.leave(commits);
        assert_eq!(commits.outcome(late), txn::Outcome::Aborted);
    }
}
