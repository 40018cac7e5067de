//! A unit of work's share in row versions: its number, its snapshots, its page of the store.
//!
//! Invariants
//!  1. A number is drawn at the transaction's first versioned change, at its first access under
//!     SNAPSHOT, or, in a transaction of the user, at its first statement that reads as of a
//!     moment; every database learns of it before the number stands on one of its pages. A
//!     reader outside a transaction of the user gets a number only where a view asks for it. So a
//!     SELECT alone writes nothing that other threads share.
//!  2. A snapshot is registered from before it is read by until it is dropped, by who reads: that
//!     somebody else reads as of the same moment is no help (`registrations.rs`).
//!  3. A number is ended by the transaction that drew it: as committed if it may stand on a page.
//!     All that it commits have one time.

use crate::home::Home;
use crate::snapshot::Snapshot;
use crate::snapshot_gate::Refusal;
use crate::unit::Work;
use crate::version_use::{Traversal, VersionUse};
use crate::versions::{Number, Reads, TraversalCount};
use base::Xsn;
use os::clock::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{CommitTime, Mutation, Outcome, Reader};
use version::{Origin, VersionError, VersionPtr};

impl Work {
    /// The number under which the transaction writes versions now, if it has written any.
    pub fn xsn(&self) -> Option<Xsn> {
        self.versions.numbers.current()
    }

    /// When a writer has committed, for who asks it of row after row: a number that has ended stays
    /// so, and mostly it is one of the last two. `outcome` looks it up.
    #[inline]
    pub fn known_commit(&self, xsn: Xsn, outcome: impl FnOnce() -> Outcome) -> Option<CommitTime> {
        let known = self.versions.known.get();
        if let Some((_, time)) = known.iter().find(|known| known.0 == xsn) {
            return Some(*time);
        }
        let Outcome::Committed(time) = outcome() else { return None };
        self.versions.known.set([(xsn, time), known[0]]);
        Some(time)
    }

    /// Whether a number is one of those under which the transaction has written, in no part that
    /// was rolled back. Mostly it has one at most: it costs a load and a compare.
    #[inline]
    pub fn owns(&self, xsn: Xsn) -> bool {
        self.versions.numbers.has(xsn)
    }

    /// The moment as of which the transaction reads, if it is one under SNAPSHOT.
    pub fn moment(&self) -> Option<CommitTime> {
        self.versions.moment()
    }

    /// Now, for a statement that reads under READ_COMMITTED_SNAPSHOT.
    pub fn statement_snapshot(&mut self) -> Snapshot {
        let since_ns = monotonic_ns();
        self.tell_use(since_ns);
        if self.is_user_transaction() && matches!(self.versions.number, Number::None) {
            self.draw();
        }
        let by = self.reader(false, since_ns);
        Snapshot::take(&self.engine, by, &self.versions.registered)
    }

    /// Whether a snapshot at that moment is registered for its transaction. Only debug builds know;
    /// others believe it.
    pub fn is_registered(&self, at: CommitTime) -> bool {
        let transactions = &self.engine.transactions;
        transactions.mutations.has(Mutation::ForgottenUnasked)
            || self.versions.registered.reads(at, &transactions.snapshots)
    }

    fn reader(&self, whole: bool, since_ns: u64) -> Reader {
        Reader { session: self.session(), transaction: self.transaction_id(), whole, since_ns }
    }

    /// The transaction uses versions: others may know from now on.
    fn tell_use(&mut self, since_ns: u64) {
        if let Some(transaction) = self.transaction_id() {
            self.told().begin(transaction, since_ns);
        }
    }

    fn told(&mut self) -> &VersionUse {
        let (engine, session) = (&self.engine, self.owner.session());
        self.versions.told.get_or_insert_with(|| engine.enlist_version_use(session))
    }

    /// A reader of the transaction has gone along so many stored versions to the one that it sees.
    pub fn traversed(&self, versions: u64) {
        let TraversalCount { all, mut untold } = self.versions.followed.get();
        untold.follow(versions);
        self.versions.followed.set(TraversalCount { all: all + versions, untold });
    }

    /// Stored versions that its readers have gone along so far.
    #[inline]
    pub fn versions_traversed(&self) -> u64 {
        self.versions.followed.get().all
    }

    /// The same after a batch of rows or a statement: from now on others may know of them.
    #[inline]
    pub fn tell_traversed(&self) -> u64 {
        let TraversalCount { all, untold } = self.versions.followed.get();
        if untold.chains > 0 {
            self.versions.followed.set(TraversalCount { all, untold: Traversal::default() });
            self.versions.told.iter().for_each(|told| told.traversed(untold));
        }
        all
    }

    /// The transaction reads or writes under another level than SNAPSHOT: where that is the first
    /// that it does, it will have no moment.
    #[inline]
    pub fn reads_otherwise(&mut self) {
        if matches!(self.versions.reads, Reads::Nothing) {
            self.versions.reads = Reads::Otherwise;
        }
    }

    /// The transaction reads or writes a database under SNAPSHOT: as of the moment of the first
    /// time, from now to its end.
    ///
    /// # Errors
    /// Why it may not.
    pub fn read_as_of(&mut self, home: &Arc<Home>) -> Result<CommitTime, Refusal> {
        let session = self.session();
        match &mut self.versions.reads {
            Reads::Otherwise | Reads::Over(_) => Err(Refusal::BegunOtherwise),
            Reads::For(at) => Ok(*at),
            Reads::AsOf(snapshot, homes) if homes.iter().any(|h| Arc::ptr_eq(h, home)) => {
                Ok(snapshot.at())
            }
            Reads::AsOf(snapshot, homes) => {
                home.enter_snapshot(session, snapshot.at())?;
                homes.push(Arc::clone(home));
                Ok(snapshot.at())
            }
            Reads::Nothing => self.take_moment(home),
        }
    }

    /// Reads for the first time: takes the moment, and tells what was open then.
    fn take_moment(&mut self, home: &Arc<Home>) -> Result<CommitTime, Refusal> {
        let engine = Arc::clone(&self.engine);
        // Before the moment: numbers below this one were drawn when it was taken.
        self.draw();
        let since_ns = monotonic_ns();
        let by = self.reader(true, since_ns);
        let snapshot = Snapshot::take(&engine, by, &self.versions.registered);
        let at = snapshot.at();
        home.enter_snapshot(self.session(), at)?;
        self.versions.reads = Reads::AsOf(snapshot, vec![Arc::clone(home)]);
        self.tell_use(since_ns);
        if let Some(told) = &self.versions.told {
            told.reads_as_of(at);
        }
        Ok(at)
    }

    /// The transaction's number, drawn at the first time.
    fn draw(&mut self) -> Xsn {
        match self.versions.number {
            Number::Drawn(xsn) | Number::Written(xsn) => xsn,
            Number::Others => unreachable!("who reads for a transaction has its moment"),
            Number::None => {
                if !self.engine.has_versions() {
                    self.engine.note_versions();
                }
                let engine = Arc::clone(&self.engine);
                let xsn = self.told().draw(&engine.transactions.commits);
                self.versions.number = Number::Drawn(xsn);
                xsn
            }
        }
    }

    /// The transaction uses row versions: by the rule of 2019 no ghost that comes from now on goes
    /// before its end.
    #[inline]
    pub fn uses_versions(&mut self) {
        if self.engine.transactions_pin() && self.versions.user.is_none() && self.is_active() {
            let by = self.reader(true, monotonic_ns());
            let transactions = &self.engine.transactions;
            self.versions.user = Some(transactions.users.acquire_for(&transactions.commits, by));
        }
    }

    /// It ends.
    pub(crate) fn leave_versions(&mut self) {
        if let Some(user) = self.versions.user.take() {
            self.engine.transactions.users.release(user);
        }
        let session = self.session();
        let wrote = matches!(self.versions.number, Number::Written(_));
        if wrote && matches!(self.versions.reads, Reads::AsOf(..) | Reads::Over(_)) {
            self.engine.transactions.snapshot_updates.fetch_add(1, Relaxed);
        }
        self.versions.transaction_ends(session, &self.engine.transactions.commits);
    }

    /// The number for a change in a database, drawn at the first: at the transaction's first
    /// change, and where a part begins that may be rolled back alone (`numbers.rs`).
    ///
    /// # Errors
    /// 9002, or a boot page that cannot be written.
    pub fn versions_in(&mut self, home: &Arc<Home>) -> base::SqlResult<Xsn> {
        assert!(self.is_active(), "changes belong to a transaction");
        self.uses_versions();
        self.begin_number_if_due(home);
        let xsn = match (self.versions.numbers.current(), self.versions.number) {
            (Some(xsn), _) => xsn,
            (None, Number::Written(_)) => {
                let xsn = self.engine.transactions.commits.begin();
                self.writes_under(xsn);
                xsn
            }
            (None, Number::None | Number::Drawn(_)) => {
                let xsn = self.draw();
                self.versions.number = Number::Written(xsn);
                self.writes_under(xsn);
                self.tell_use(monotonic_ns());
                xsn
            }
            (None, Number::Others) => unreachable!("who reads for a transaction writes nothing"),
        };
        home.expect_xsn(xsn)?;
        Ok(xsn)
    }

    /// It writes under another number from now on.
    fn writes_under(&mut self, xsn: Xsn) {
        self.tell(|entry| entry.writes_versions(xsn));
        self.versions.numbers.begin(xsn);
        // With optimized locking it locks each of its numbers.
        self.counts.itself.clear();
    }

    /// The same where it was drawn and announced before: under a latch nothing is announced.
    pub fn versions_drawn(&self, home: &Home) -> Option<Xsn> {
        self.versions.numbers.current().filter(|xsn| home.expects(*xsn))
    }

    /// Whether a record of that length can be kept without waiting, where a database keeps its
    /// versions.
    pub fn has_version_room(&self, home: &Home, record_bytes: usize) -> bool {
        self.versions.places.has_room(home.version_store(), record_bytes)
    }

    /// Keeps a record of a database as it was before this transaction changed it; room was made.
    ///
    /// # Errors
    /// A page of the store that cannot be read.
    pub fn keep_version(
        &mut self,
        home: &Home,
        origin: Origin,
        record: (&[u8], u32),
    ) -> Result<VersionPtr, VersionError> {
        let xsn = self.versions.numbers.current().expect("who keeps versions has a number");
        self.versions.without = false;
        let store = home.version_store();
        store.append(self.versions.places.of(store), origin, xsn, record)
    }

    /// Draws the commit's time.
    pub(crate) fn stamp(&mut self) {
        let commits = &self.engine.transactions.commits;
        match self.versions.number {
            Number::Written(_) => drop(commits.commit_all(self.versions.numbers.list())),
            Number::Drawn(xsn) => commits.abort(xsn),
            Number::None | Number::Others => {}
        }
    }

    /// What it wrote was taken back.
    pub(crate) fn unstamp(&mut self) {
        let commits = &self.engine.transactions.commits;
        match self.versions.number {
            Number::Written(_) => {
                self.versions.numbers.list().iter().for_each(|xsn| commits.abort(*xsn));
            }
            Number::Drawn(xsn) => commits.abort(xsn),
            Number::None | Number::Others => {}
        }
    }

    /// Gives its pages of stores to whoever wants them.
    pub(crate) fn leave_version_page(&mut self) {
        self.versions.places.leave(self.engine.versions.get());
    }
}
