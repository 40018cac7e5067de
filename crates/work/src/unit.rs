//! `Work`: a session's transaction and everything it holds.

use crate::engine::Engine;
use crate::ghosts::{Ghosts, Settler};
use crate::home::Home;
use crate::lock_counts::LockCounts;
use crate::owed::Debt;
use crate::part::Part;
use crate::versions::{ReaderVersions, Versions};
use base::{DatabaseId, Lsn, PageId, SessionId, TransactionId, Xsn};
use lock::{Owner, OwnerId, OwnerKind, Timeout};
use os::wait::Waiter;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{ActiveTransaction, OpenEntry, TransactionName};
use wal::Group;

/// A point to roll back to: before a statement, or a savepoint.
#[derive(Clone, Debug, Default)]
pub struct Mark {
    parts: Vec<(DatabaseId, Lsn)>,
    ghosts: usize,
    after: usize,
    /// Records that the transaction had logged.
    records: u64,
    /// The newest number under which it had written.
    newest: Xsn,
    /// It lies behind that number, not within it.
    between: bool,
    /// How often parts had been rolled back by versions.
    cuts: u64,
    /// The log behind it is kept as long as the mark is.
    _seat: Option<Arc<()>>,
}

/// What is to be done once a transaction has committed.
pub(crate) struct AfterCommit {
    pub(crate) under_locks: Box<dyn FnOnce() + Send>,
    pub(crate) then: Box<dyn FnOnce() + Send>,
}

/// A session's unit of work. It lives as long as the session; transactions come and go in it.
pub struct Work {
    pub(crate) engine: Arc<Engine>,
    pub(crate) owner: Arc<Owner>,
    pub(crate) counts: LockCounts,
    timeout: Timeout,
    pub(crate) parts: Vec<Part>,
    pub(crate) ghosts: Ghosts,
    pub(crate) scratch: Group,
    /// For the record that is written just now: its room stays from row to row.
    pub record: Vec<u8>,
    pub(crate) after: Vec<AfterCommit>,
    pub(crate) versions: Versions,
    /// Its commit, if that waits for the disk and for somebody to settle it.
    pub(crate) owing: Option<Debt>,
    id: Option<TransactionId>,
    user: bool,
    /// It is listed by its name.
    named: bool,
    /// For its begin records.
    name: TransactionName,
    doomed: bool,
    generation: u64,
    /// What others may know; none where it reads for somebody else's transaction.
    pub(crate) entry: Option<Arc<OpenEntry>>,
    /// The entry of that transaction then.
    reads_for: Option<Arc<OpenEntry>>,
}

impl Mark {
    /// Ghosts that were there when it was taken.
    pub(crate) const fn ghosts(&self) -> usize {
        self.ghosts
    }

    /// Records that the transaction had logged when it was taken.
    pub(crate) const fn records(&self) -> u64 {
        self.records
    }

    /// The newest number under which the transaction had written.
    pub(crate) const fn newest(&self) -> Xsn {
        self.newest
    }

    /// Whether it lies behind that number, and the next one begins with what was logged behind it.
    pub(crate) const fn is_begin_of_number(&self, cuts: u64) -> bool {
        self.between && self.cuts == cuts
    }
}

impl Work {
    /// A session's unit of work, without a transaction yet. It waits at `waiter`.
    pub fn new(engine: &Arc<Engine>, session: SessionId, waiter: Arc<Waiter>) -> Work {
        let id = OwnerId::new(OwnerKind::Transaction, engine.transactions.next_id().0);
        Work {
            engine: Arc::clone(engine),
            owner: Owner::new(id, session, waiter),
            counts: LockCounts::default(),
            timeout: Timeout::INFINITE,
            parts: Vec::new(),
            ghosts: Ghosts::default(),
            scratch: Group::new(),
            record: Vec::new(),
            after: Vec::new(),
            versions: Versions::default(),
            owing: None,
            id: None,
            user: false,
            named: false,
            name: TransactionName::default(),
            doomed: false,
            generation: 0,
            entry: Some(engine.transactions.enlist(session)),
            reads_for: None,
        }
    }

    /// One that reads for a transaction of somebody else (`reader.rs`).
    pub(crate) fn for_reading(
        engine: &Arc<Engine>,
        owner: Arc<Owner>,
        id: Option<TransactionId>,
        versions: ReaderVersions,
        timeout: Timeout,
        reads_for: Option<Arc<OpenEntry>>,
    ) -> Work {
        Work {
            engine: Arc::clone(engine),
            owner,
            counts: LockCounts::default(),
            timeout,
            parts: Vec::new(),
            ghosts: Ghosts::default(),
            scratch: Group::new(),
            record: Vec::new(),
            after: Vec::new(),
            versions: Versions::of(versions),
            owing: None,
            id,
            user: false,
            named: false,
            name: TransactionName::default(),
            doomed: false,
            generation: 0,
            entry: None,
            reads_for,
        }
    }

    /// What it shares with others.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// The locks of the instance.
    pub fn locks(&self) -> &Arc<lock::Table> {
        &self.engine.locks
    }

    /// Who asks for locks.
    pub fn owner(&self) -> &Arc<Owner> {
        &self.owner
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.owner.session()
    }

    /// SET LOCK_TIMEOUT.
    pub fn timeout(&self) -> Timeout {
        self.timeout
    }

    /// SET LOCK_TIMEOUT.
    pub fn set_timeout(&mut self, timeout: Timeout) {
        self.timeout = timeout;
    }

    /// Whether a transaction is open.
    pub fn is_active(&self) -> bool {
        self.id.is_some()
    }

    /// Whether BEGIN TRANSACTION opened it, not a statement.
    pub fn is_user_transaction(&self) -> bool {
        self.id.is_some() && self.user
    }

    /// The open transaction's number.
    pub fn transaction_id(&self) -> Option<TransactionId> {
        self.id
    }

    /// XACT_STATE() = -1: it can only be rolled back.
    pub fn is_doomed(&self) -> bool {
        self.doomed
    }

    /// Dooms it.
    pub fn doom(&mut self) {
        assert!(self.id.is_some(), "there is something to doom");
        self.doomed = true;
    }

    /// Changes at each begin and end: what is cached for a transaction is stale then.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Tells others of its transaction.
    pub(crate) fn tell(&self, what: impl FnOnce(&OpenEntry)) {
        if let Some(entry) = &self.entry {
            what(entry);
        }
    }

    /// Its transaction's statement has locked tables of a database: others may know.
    #[inline]
    pub fn touches(&self, database: DatabaseId) {
        self.tell(|entry| entry.touches(database));
    }

    /// Its transaction reads as of a moment: others may know.
    pub fn reads_versions(&self) {
        if let Some(entry) = self.entry.as_ref().or(self.reads_for.as_ref()) {
            entry.reads_versions();
        }
    }

    /// Begins a transaction: of the user, of the engine under a name, or for one statement.
    pub fn begin(&mut self, user: bool, name: &str) -> TransactionId {
        self.begin_as(user, name, "", None)
    }

    /// Begins under a number of its own what a loser is undone by, which began then.
    pub(crate) fn begin_loser(&mut self, name: &str, began_at: i64) {
        self.begin_as(false, name, "", Some(began_at));
    }

    fn begin_as(
        &mut self,
        user: bool,
        name: &str,
        statement: &'static str,
        began_at: Option<i64>,
    ) -> TransactionId {
        assert!(self.id.is_none(), "transactions do not nest here");
        assert!(self.ghosts.is_empty() && self.after.is_empty(), "the last one left nothing");
        assert!(!self.doomed && !self.user, "the last one ended");
        let id = self.engine.transactions.next_id();
        debug_assert_ne!(id.0 as u32, 0, "0 logs for nobody");
        self.owner.renew(OwnerId::new(OwnerKind::Transaction, id.0));
        debug_assert_eq!(
            self.owner.id(),
            OwnerId::new(OwnerKind::Transaction, id.0),
            "locks by number"
        );
        self.named = user || !name.is_empty();
        let now = || if self.named { os::clock::now() } else { os::clock::about_now() }.0;
        let began_at = began_at.unwrap_or_else(now);
        self.name = TransactionName::Of(statement);
        if self.named {
            let name = if name.is_empty() { "user_transaction" } else { name };
            let active = ActiveTransaction {
                id,
                session: self.session(),
                name: name.to_owned(),
                began_at,
                user,
            };
            self.engine.transactions.enter(active);
            self.name = TransactionName::Given(name.into());
        }
        self.tell(|entry| entry.begin(id, began_at));
        self.id = Some(id);
        self.ghosts.begin(self.engine.ghosts_under_locks.load(Relaxed));
        self.user = user;
        self.doomed = false;
        self.generation += 1;
        for part in &mut self.parts {
            part.start(id, &self.name);
        }
        debug_assert!(
            self.parts.iter().all(|p| !p.has_logged()),
            "a begun transaction has logged nothing"
        );
        id
    }

    /// Begins the transaction of one statement, for which its begin record is named.
    pub fn begin_statement(&mut self, statement: &'static str) -> TransactionId {
        self.begin_as(false, "", statement, None)
    }

    /// A statement's transaction becomes the user's (implicit transactions).
    pub fn adopt(&mut self) {
        let id = self.id.expect("there is a transaction to adopt");
        assert!(!self.doomed, "a doomed transaction is only rolled back");
        if !std::mem::replace(&mut self.user, true) {
            let began_at = os::clock::now().0;
            let name = "implicit_transaction".to_owned();
            let active =
                ActiveTransaction { id, session: self.session(), name, began_at, user: true };
            self.engine.transactions.enter(active);
            self.named = true;
        }
    }

    /// The transaction's part in a database, made at first use.
    ///
    /// # Panics
    /// Without a transaction.
    pub fn part(&mut self, home: &Arc<Home>) -> &mut Part {
        let id = self.id.expect("changes belong to a transaction");
        debug_assert_eq!(home.database, home.pages.database(), "a home is of one database");
        let found = self.parts.iter().position(|p| p.home.database == home.database);
        let at = match found {
            Some(at) if Arc::ptr_eq(&self.parts[at].home, home) => at,
            Some(at) => {
                // The database was dropped and its number given to another.
                assert!(!self.parts[at].has_logged(), "a database in use is not dropped");
                self.parts[at].end();
                self.parts[at] = Part::new(home, &self.owner);
                self.parts[at].start(id, &self.name);
                at
            }
            None => {
                let mut part = Part::new(home, &self.owner);
                part.start(id, &self.name);
                self.parts.push(part);
                self.parts.len() - 1
            }
        };
        debug_assert_eq!(self.parts[at].chain.id, id.0 as u32, "a part is in its transaction");
        debug_assert!(Arc::ptr_eq(&self.parts[at].home, home), "the part of this database");
        &mut self.parts[at]
    }

    /// The request is over: log that was reserved for its next transaction is given back.
    pub fn rest(&mut self) {
        assert!(self.owing.is_none(), "a request is over when its commit is settled");
        self.parts.iter_mut().for_each(Part::rest);
        self.leave_version_page();
    }

    /// A ghost of this transaction, to be settled after its commit. Where it has too many, also
    /// for their pages to be remembered, the settler notes the page for the cleaner.
    pub fn ghosted(&mut self, settler: &Arc<dyn Settler>, key: &[u8], hint: (PageId, u16)) {
        assert!(self.id.is_some(), "ghosts belong to a transaction");
        debug_assert!(!self.owner.is_rolling_back(), "an undo leaves its ghosts to the cleaner");
        debug_assert!(!hint.0.is_none(), "a ghost is on a page");
        if !self.ghosts.push(Arc::clone(settler), key, hint) {
            settler.leave(hint.0);
        }
    }

    /// A page got ghosts by a split, the transaction's own perhaps.
    pub fn ghosts_moved(&mut self, settler: &Arc<dyn Settler>, page: PageId) {
        self.ghosts.moved_to(settler, page);
    }

    /// Something to be done after the commit: first what must be so before others get at what the
    /// transaction holds, then, without its locks, the rest, as freeing what was dropped. A crash
    /// may prevent both, so whoever asks for it has written down that it is due.
    pub fn after_commit(
        &mut self,
        under_locks: impl FnOnce() + Send + 'static,
        then: impl FnOnce() + Send + 'static,
    ) {
        assert!(self.is_active() && !self.doomed, "there is a commit to come after");
        self.after.push(AfterCommit { under_locks: Box::new(under_locks), then: Box::new(then) });
    }

    /// Where a rollback of what comes now would go back to. As long as it is there, the log from
    /// here on is kept where such a rollback would need it (`numbers.rs`).
    pub fn mark(&mut self) -> Mark {
        debug_assert!(self.is_active() || self.ghosts.is_empty(), "ghosts are a transaction's");
        debug_assert!(
            self.is_active() || self.after.is_empty(),
            "so is what comes after its commit"
        );
        let records = self.logged_records();
        let numbers = &self.versions.numbers;
        let (newest, between) = (numbers.newest(), numbers.current().is_none());
        let seat = (newest != Xsn::NONE).then(|| self.versions.marks.open(records));
        let logged = self.parts.iter_mut().filter(|p| p.has_logged());
        let parts = logged.map(|part| {
            seat.iter().for_each(|seat| part.marked(seat));
            (part.home.database, part.chain.last)
        });
        Mark {
            parts: parts.collect(),
            ghosts: self.ghosts.list.len(),
            after: self.after.len(),
            records,
            newest,
            between,
            cuts: self.versions.cuts,
            _seat: seat,
        }
    }

    /// Records that its transaction has logged, in all databases.
    pub(crate) fn logged_records(&self) -> u64 {
        self.parts.iter().map(|part| part.chain.records).sum()
    }

    /// Draws another number for the change in a database that is about to begin, where a part of
    /// the transaction has become too long to be undone from the log (`numbers.rs`).
    #[inline]
    pub(crate) fn begin_number_if_due(&mut self, home: &Home) {
        if self.versions.numbers.is_closed() {
            // A part was rolled back. Where checkpoints have no room for another number, the one
            // before goes on.
            if !self.may_begin_number() {
                self.versions.numbers.reopen();
            }
            return;
        }
        if !home.is_accelerated() {
            return;
        }
        let Some(oldest) = self.versions.marks.oldest() else { return };
        let is_long = self.logged_records() >= oldest + home.undone_records_max();
        let logged = |part: &Part| part.home.database == home.database && part.has_logged();
        // A database that the marks do not know begins with a number of its own.
        if (is_long || !self.parts.iter().any(logged)) && self.may_begin_number() {
            self.versions.numbers.close();
            self.versions.marks.clear();
            self.parts.iter_mut().for_each(Part::number_begins);
        }
    }

    fn may_begin_number(&mut self) -> bool {
        self.parts.iter_mut().all(Part::may_begin_number)
    }

    pub(crate) fn mark_of(mark: &Mark, database: DatabaseId) -> Lsn {
        mark.parts.iter().find(|p| p.0 == database).map_or(Lsn::ZERO, |p| p.1)
    }

    /// A savepoint is set here, or was gone back to: the last one there is.
    pub fn note_savepoint(&self, at: &Mark) {
        for part in &self.parts {
            part.entry().saved(Work::mark_of(at, part.home.database));
        }
    }

    pub(crate) fn forget_ghosts_after(&mut self, mark: &Mark) {
        assert!(mark.after <= self.after.len(), "a mark is at or before the last");
        self.ghosts.truncate(mark.ghosts);
        self.after.truncate(mark.after);
    }

    /// What cannot be rolled back keeps its locks until the next start: the engine has their owner,
    /// and this unit of work goes on with another.
    pub(crate) fn leave_behind(&mut self) {
        assert!(self.is_active(), "a transaction is left behind");
        let (session, waiter) = (self.owner.session(), Arc::clone(self.owner.waiter()));
        let id = OwnerId::new(OwnerKind::Transaction, self.engine.transactions.next_id().0);
        let old = std::mem::replace(&mut self.owner, Owner::new(id, session, waiter));
        self.parts.iter_mut().for_each(|p| p.belongs_to(&self.owner));
        assert_ne!(old.id(), self.owner.id(), "locks stay with who cannot be undone");
        assert_eq!(old.session(), self.owner.session(), "the session goes on");
        self.engine.locks.release_short(&old);
        self.engine.left_behind.lock().push(old);
        // Others see it as it is: with its locks, being undone.
        self.entry = Some(self.engine.transactions.enlist(session));
    }

    /// The transaction is over: locks go, parts are ready for the next.
    pub(crate) fn ended(&mut self) {
        let id = self.id.take().expect("a transaction ends once");
        debug_assert!(
            self.owner.id() == OwnerId::new(OwnerKind::Transaction, id.0)
                || self.owner.held_count() == 0,
            "only who is left behind leaves another owner, which holds nothing"
        );
        self.engine.locks.release_all(&self.owner);
        debug_assert_eq!(self.owner.held_count(), 0, "a transaction's locks end with it");
        self.counts.transaction_ends();
        // First: whoever finds it open finds its parts, too.
        self.tell(OpenEntry::end);
        self.settle_rest();
        for part in &mut self.parts {
            part.end();
        }
        self.user = false;
        if std::mem::take(&mut self.named) {
            self.engine.transactions.leave(id);
        }
        self.after.clear();
        self.leave_versions();
        self.doomed = false;
        self.generation += 1;
        debug_assert!(!self.user && self.ghosts.is_empty(), "nothing is left to the next");
    }
}
