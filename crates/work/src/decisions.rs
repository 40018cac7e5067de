//! Commits over several databases: what the deciding logs say, as long as anybody may ask.
//!
//! ```text
//!   prepare in the others, durable ── commit in the deciding log, durable ── commit in the others
//!                                          │ noted here                           │ durable
//!                                          └────────── the deciding log stays ────┴─ forget
//! ```
//!
//! Of the databases that a transaction has written, the one with the lowest number decides: at a
//! start it is opened before the others, so none waits in a circle. A database whose log shows a
//! prepared transaction and no end of it asks here. README.md has the order of the commit.
//!
//! Invariants
//!  1. A decision is noted before its commit record is appended, and stays until each other
//!     database has its own commit record on disk, is gone, or has asked. As long as it stays, the
//!     deciding log is kept from the transaction's first record on.
//!  2. Nobody is told "rolled back" but of a database whose whole log was read at this start: what
//!     is not noted then was never decided (presumed abort).
//!  3. The forget record is a relief, no duty: without it the next start asks the other databases
//!     again.
//!  4. No log is waited for while the list is locked.

use base::{DatabaseId, Lsn};
use os::sync::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use txn::{ChainName, Member, PreparePayload};
use wal::{Group, Log, LogReservation, TransactionChain, kinds};

/// Log for a forget record, in a block of its own.
const FORGET_BYTES: u64 = 512;

/// What a database that asks is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The transaction is committed.
    Committed,
    /// It is not, and never will be.
    RolledBack,
    /// The database that decides is not open.
    InDoubt,
}

/// `in-doubt xact resolution`: what is said where the database that decides is not open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Presumption {
    /// Nothing: who asks stays closed.
    #[default]
    None = 0,
    /// That it is committed.
    Commit = 1,
    /// That it is rolled back.
    Abort = 2,
}

/// Another database of a decided transaction, as far as it may not know the decision.
#[derive(Clone)]
struct Follower {
    member: Member,
    /// Its commit record, if it has been appended by this process.
    told: Option<(Arc<Log>, Lsn)>,
}

impl Follower {
    fn knows(&self) -> bool {
        self.told.as_ref().is_some_and(|(log, lsn)| *lsn < log.durable_lsn())
    }
}

/// A transaction that is committed in the deciding log, or about to be.
#[derive(Clone)]
struct Decision {
    decider: Member,
    log: Arc<Log>,
    chain: ChainName,
    followers: Vec<Follower>,
}

#[derive(Default)]
struct List {
    decisions: Vec<Decision>,
    /// Databases whose decisions are all noted.
    read: BTreeMap<DatabaseId, [u8; 16]>,
}

/// The decisions of an instance.
#[derive(Default)]
pub struct Decisions {
    list: Mutex<List>,
    presumption: AtomicU8,
}

/// A database as logs name it.
pub(crate) fn member(database: DatabaseId, log: &Log) -> Member {
    Member { database, family: log.family() }
}

impl Decisions {
    /// Sets what is presumed of transactions in doubt.
    pub fn presume(&self, presumption: Presumption) {
        self.presumption.store(presumption as u8, Relaxed);
    }

    /// A database is open, and this is what its log has decided that somebody may ask for; `whole`
    /// where the log was read to its end. Before anybody changes anything there.
    pub fn enter(
        &self,
        database: DatabaseId,
        log: &Arc<Log>,
        found: impl IntoIterator<Item = (ChainName, Vec<Member>)>,
        whole: bool,
    ) {
        let decider = member(database, log);
        let mut list = self.list.lock();
        for (chain, members) in found {
            let follower = |member| Follower { member, told: None };
            let followers = members.into_iter().map(follower).collect();
            list.decisions.push(Decision { decider, log: Arc::clone(log), chain, followers });
        }
        if whole {
            list.read.insert(database, decider.family);
        }
    }

    /// A database is closed: what it has decided is read from its log again.
    pub fn leave(&self, database: DatabaseId) {
        let mut list = self.list.lock();
        list.decisions.retain(|d| d.decider.database != database);
        list.read.remove(&database);
    }

    /// How a transaction ended that a database's log leaves open.
    pub fn outcome(&self, prepared: &PreparePayload) -> Outcome {
        let PreparePayload { decider, chain } = prepared;
        let list = self.list.lock();
        if list.decisions.iter().any(|d| d.decider == *decider && d.chain == *chain) {
            return Outcome::Committed;
        }
        if list.read.get(&decider.database) == Some(&decider.family) {
            return Outcome::RolledBack;
        }
        match self.presumption.load(Relaxed) {
            p if p == Presumption::Commit as u8 => Outcome::Committed,
            p if p == Presumption::Abort as u8 => Outcome::RolledBack,
            _ => Outcome::InDoubt,
        }
    }

    /// A transaction is about to be decided.
    pub(crate) fn note(
        &self,
        decider: Member,
        log: &Arc<Log>,
        chain: ChainName,
        members: &[Member],
    ) {
        assert!(!members.is_empty(), "who decides for itself alone notes nothing");
        let follower = |member: &Member| Follower { member: *member, told: None };
        let followers = members.iter().map(follower).collect();
        let decision = Decision { decider, log: Arc::clone(log), chain, followers };
        self.list.lock().decisions.push(decision);
    }

    /// The other databases have their commit records, not yet on disk perhaps.
    pub(crate) fn told(
        &self,
        decider: Member,
        chain: ChainName,
        mut told: impl FnMut(Member) -> Option<(Arc<Log>, Lsn)>,
    ) {
        let mut list = self.list.lock();
        let decision = list.decisions.iter_mut().find(|d| d.decider == decider && d.chain == chain);
        let decision = decision.expect("invariant 1: it stays until the others know");
        for follower in &mut decision.followers {
            follower.told = told(follower.member);
        }
    }

    /// The first record that a database's log is kept for; [`Lsn::MAX`] without one. A checkpoint
    /// reads the log's end before it calls this.
    pub fn oldest(&self, database: DatabaseId) -> Lsn {
        let list = self.list.lock();
        let own = list.decisions.iter().filter(|d| d.decider.database == database);
        own.map(|d| d.chain.first).min().unwrap_or(Lsn::MAX)
    }

    /// Forgets what every other database knows.
    pub(crate) fn forget_known(&self, database: DatabaseId) {
        self.forget(|d| d.decider.database == database, |f| f.knows());
    }

    /// The same, once the other databases' commit records are on disk. The caller holds no latch.
    pub fn settle(&self, database: DatabaseId) {
        let own = |d: &&Decision| d.decider.database == database;
        let waits: Vec<(Arc<Log>, Lsn)> = {
            let list = self.list.lock();
            let followers = list.decisions.iter().filter(own).flat_map(|d| &d.followers);
            followers.filter_map(|f| f.told.clone()).collect()
        };
        waits.into_iter().for_each(|(log, lsn)| log.flush_to(lsn));
        self.forget_known(database);
    }

    /// A database has asked for all that it wanted to know and has it on disk, or is gone for good:
    /// nobody keeps anything for it. `known` says whether a database is meant.
    pub fn release(&self, known: impl Fn(Member) -> bool) {
        self.forget(|d| d.followers.iter().any(|f| known(f.member)), |f| known(f.member));
    }

    /// Takes followers off decisions, and decisions without any off the list.
    fn forget(&self, of: impl Fn(&Decision) -> bool, knows: impl Fn(&Follower) -> bool) {
        let settled: Vec<Decision> = {
            let mut list = self.list.lock();
            for decision in list.decisions.iter_mut().filter(|d| of(d)) {
                decision.followers.retain(|f| !knows(f));
            }
            list.decisions.extract_if(.., |d| d.followers.is_empty()).collect()
        };
        for Decision { log, chain, .. } in settled {
            append_forget(&log, chain);
        }
    }
}

/// Where there is no room for it, or nothing is written any more, it is left out (invariant 3).
fn append_forget(log: &Arc<Log>, chain: ChainName) {
    let mut room = LogReservation::none(log);
    if room.grow(FORGET_BYTES).is_err() {
        return;
    }
    let mut group = Group::new();
    let pushed = group.push_plain(kinds::FORGET, 0, &chain.bytes());
    assert!(pushed.is_ok(), "an empty group has room for a forget record");
    log.append(&mut group, &mut TransactionChain::default());
}
