//! Commit and rollback, each step in its order.
//!
//! 1. append the commit record to each part's log
//! 2. wait until it is durable, unless delayed; several databases agree first (`several.rs`)
//! 3. stamp: draw the commit's time, from which on snapshots see what it wrote
//! 4. settle the first ghosts, under the locks of their deleter (`settle.rs`)
//! 5. what was asked to be done before others get at what it holds
//! 6. release locks
//! 7. settle the other ghosts
//! 8. what was asked to be done after the commit
//!
//! Nobody sees a fully durable commit before it is durable: locks are held until then.
//!
//! A commit that its request ends with may be owed at step 2 ([`Work::commit_or_owe`]): the thread
//! goes on with other requests, and the steps behind it are done when the log is on disk
//! ([`OwedCommit::when_durable`], then [`Work::settle_owed`]), by whatever thread has written it.
//! The unit of work does nothing else meanwhile. Only what is short behind the commit is owed: no
//! ghosts, nothing that was asked to be done after it.

use crate::entry::PartState;
use crate::home::Home;
use crate::owed::{Debt, OwedCommit};
use crate::part::Part;
use crate::unit::{Mark, Work};
use base::{Lsn, SqlError, messages};
use std::sync::Arc;
use txn::{EndPayload, Mutation, OpenEntry, UndoError, UndoScope};
use wal::{Group, TransactionChain, WalError, kinds};

/// How a COMMIT asks for durability.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CommitMode {
    /// As the database's setting has it without a wish.
    Full,
    /// WITH (DELAYED_DURABILITY = ON).
    Delayed,
}

/// Why a unit of work could not go on.
#[derive(Debug)]
pub enum WorkError {
    /// No log for the commit record: the transaction is still open.
    Log(WalError),
    /// A record could not be undone: the database is damaged.
    Undo(UndoError),
    /// There is no transaction to commit.
    NotOpen,
    /// It has written more databases than can agree on its end: it is open as before.
    TooMany,
    /// The transaction can only be rolled back: it is open as before.
    Doomed,
}

impl WorkError {
    /// As the user sees it.
    pub fn into_sql(self, database: &str) -> SqlError {
        match self {
            WorkError::Log(e) => e.into_sql(database),
            WorkError::Undo(UndoError::Buffer(e)) => e.into(),
            WorkError::Undo(UndoError::Stopped) => os::wait::CancelReason::Shutdown.into(),
            WorkError::Undo(e) => SqlError::new(messages::INTERNAL, &[&e]),
            WorkError::NotOpen => SqlError::new(messages::COMMIT_NO_BEGIN, &[]),
            WorkError::TooMany => {
                let what = "COMMIT of a transaction over more than 2,000 databases";
                SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&what])
            }
            WorkError::Doomed => SqlError::new(messages::XACT_DOOMED_COMMIT, &[]),
        }
    }
}

impl Work {
    /// Commits the open transaction, or appends its commit record and owes the rest: true then, and
    /// [`Work::owed`] tells what for. What waits for more than one log, and what has more to do
    /// behind its commit than to give back what it holds, is committed whole.
    ///
    /// # Errors
    /// As [`Work::commit`].
    pub fn commit_or_owe(&mut self, mode: CommitMode) -> Result<bool, WorkError> {
        let early = self.engine.transactions.mutations.has(Mutation::EarlyStamp);
        let logged = self.parts.iter().filter(|p| p.has_logged()).count();
        if early || logged != 1 || !self.ghosts.is_empty() || !self.after.is_empty() {
            return self.commit(mode).map(|()| false);
        }
        self.may_commit()?;
        let mut owing = None;
        self.append_commits(mode, |_, part, lsn| owing = Some(Debt { part, lsn }));
        self.owing = owing;
        if owing.is_none() {
            self.committed();
        }
        Ok(owing.is_some())
    }

    /// What it owes, if anything.
    pub fn owed(&self) -> Option<OwedCommit> {
        let Debt { part, lsn } = self.owing?;
        Some(OwedCommit::new(&self.parts[part].home, lsn))
    }

    /// Commits what is owed to the end; waits for it where it is not on disk yet. The answer is
    /// when the log's last flush ended, `None` where nothing was owed.
    pub fn settle_owed(&mut self) -> Option<u64> {
        let Debt { part, lsn } = self.owing.take()?;
        let home = Arc::clone(&self.parts[part].home);
        home.log().flush_commit(lsn);
        assert!(lsn < home.log().durable_lsn(), "rule 1: durable before it is seen");
        let flushed_ns = home.log().flushed_ns();
        self.committed();
        Some(flushed_ns)
    }

    /// Whether there is something to commit: what a session runs may have ended or doomed it.
    fn may_commit(&self) -> Result<(), WorkError> {
        if !self.is_active() {
            return Err(WorkError::NotOpen);
        }
        if self.is_doomed() {
            return Err(WorkError::Doomed);
        }
        assert!(!self.owner.is_rolling_back(), "what is undone is not committed");
        assert!(self.owing.is_none(), "a commit that is owed is settled first");
        Ok(())
    }

    /// Commits the open transaction.
    ///
    /// # Errors
    /// None that leaves it half done: when log is missing for the commit record, the transaction
    /// is open as before; so is one that is doomed.
    pub fn commit(&mut self, mode: CommitMode) -> Result<(), WorkError> {
        self.may_commit()?;
        if self.engine.transactions.mutations.has(Mutation::EarlyStamp) {
            self.stamp();
        }
        if self.is_of_several() {
            return self.commit_several();
        }
        let mut waits = None;
        self.append_commits(mode, |_, part, lsn| {
            let before = waits.replace((part, lsn));
            assert!(before.is_none(), "rule 12: who waits for two logs prepares");
        });
        if let Some((part, lsn)) = waits {
            self.flush_part(part, lsn);
        }
        self.committed();
        Ok(())
    }

    /// Waits until a record of a part is on disk.
    pub(crate) fn flush_part(&self, part: usize, lsn: Lsn) {
        let home = &self.parts[part].home;
        assert!(home.survives(), "nobody waits for what no crash leaves");
        home.log().flush_commit(lsn);
        assert!(lsn < home.log().durable_lsn(), "rule 1: durable before it is seen");
    }

    /// What comes behind the wait for the disk.
    pub(crate) fn committed(&mut self) {
        for part in self.parts.iter().filter(|p| p.has_logged()) {
            part.entry().is(PartState::Committed);
        }
        if !self.engine.transactions.mutations.has(Mutation::EarlyStamp) {
            self.stamp();
        }
        self.versions.stop_reading();
        self.settle();
        let after: Vec<_> = std::mem::take(&mut self.after)
            .into_iter()
            .map(|a| {
                (a.under_locks)();
                a.then
            })
            .collect();
        self.ended();
        after.into_iter().for_each(|then| then());
    }

    /// Appends a commit record to each part's log, and tells of those that wait for the disk.
    fn append_commits(&mut self, mode: CommitMode, mut waits: impl FnMut(&Home, usize, Lsn)) {
        let ended = EndPayload { at: os::clock::now().0 }.bytes();
        let asks_delay = mode == CommitMode::Delayed;
        for (i, part) in self.parts.iter_mut().enumerate().filter(|(_, p)| p.has_logged()) {
            let lsn = part.append_commit(&ended);
            if part.home.waits_for_disk(asks_delay) {
                waits(&part.home, i, lsn);
            }
        }
    }

    /// Undoes what came after a mark: a failed statement, or ROLLBACK to a savepoint. Locks stay.
    ///
    /// # Errors
    /// Damage; the transaction is then doomed.
    pub fn roll_back_to(&mut self, mark: &Mark) -> Result<(), WorkError> {
        assert!(self.is_active());
        assert!(mark.ghosts() <= self.ghosts.list.len(), "a mark is of this transaction");
        debug_assert!(!self.owner.is_rolling_back(), "a part of it is undone, not all");
        let mut group = Group::new();
        let by_versions = self.is_undone_by_versions_to(mark);
        for i in (0..self.parts.len()).rev() {
            if let Err(e) = self.undo_to(i, mark, by_versions, &mut group) {
                self.doom();
                return Err(e);
            }
        }
        self.parts.iter().for_each(Part::unpin);
        if by_versions {
            let commits = &self.engine.transactions.commits;
            let aborted = self.versions.numbers.cut(mark.newest());
            aborted.into_iter().for_each(|xsn| commits.abort(xsn));
            self.versions.marks.clear();
            self.versions.cuts += 1;
        }
        self.forget_ghosts_after(mark);
        Ok(())
    }

    /// Whether versions undo what comes behind a mark: as that takes long from the log, as the log
    /// is not there any more, or as it has no room for the undo. It was written under numbers of
    /// its own then.
    fn is_undone_by_versions_to(&self, mark: &Mark) -> bool {
        let above = self.versions.numbers.above(mark.newest());
        let begins = above == 1 && mark.is_begin_of_number(self.versions.cuts);
        let records = self.logged_records();
        let undone_from_log = |part: &Part| {
            let max = part.home.undone_records_max();
            // There is room for the whole transaction, or for what is behind the mark.
            let has_room = records <= max || begins;
            let to = Work::mark_of(mark, part.home.database);
            has_room && records - mark.records() <= max && part.pin(to)
        };
        let mut parts = self.parts.iter().filter(|p| p.has_number_above(mark.newest()));
        above > 0 && !parts.all(undone_from_log)
    }

    /// Undoes what a part has done behind a mark.
    fn undo_to(
        &mut self,
        i: usize,
        mark: &Mark,
        by_versions: bool,
        group: &mut Group,
    ) -> Result<(), WorkError> {
        let engine = Arc::clone(&self.engine);
        let goes_on = || engine.undoes();
        let to = Work::mark_of(mark, self.parts[i].home.database);
        let begin = self.parts[i].begin_of_numbers_above(mark.newest());
        if let Some(begin) = begin.filter(|_| by_versions) {
            // What was logged before these numbers is undone below.
            if let Some(from) = self.parts[i].unversioned_from(begin) {
                let scope = UndoScope::unversioned_from(from);
                self.undo_part(i, scope, group, &goes_on)?;
            }
            self.parts[i].abort_numbers(mark.newest());
        }
        // The rest, if there is any, was written under the number within which the mark lies.
        let scope = UndoScope::after(to, self.counts.has_ranges());
        self.undo_part(i, scope, group, &goes_on)
    }

    /// Undoes a part as a whole: by the versions of its rows, or from the log.
    fn undo_all(
        &mut self,
        i: usize,
        group: &mut Group,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), WorkError> {
        match self.parts[i].is_undone_by_versions() {
            Some(rest) => {
                if let Some(from) = rest {
                    self.undo_part(i, UndoScope::unversioned_from(from), group, goes_on)?;
                }
                self.parts[i].abort_by_versions();
            }
            None => {
                self.undo_part(i, UndoScope::ALL, group, goes_on)?;
                self.append_abort(i, group);
            }
        }
        Ok(())
    }

    fn undo_part(
        &mut self,
        i: usize,
        scope: UndoScope<'_>,
        group: &mut Group,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), WorkError> {
        let part = &mut self.parts[i];
        let to = scope.to();
        if !part.has_logged() || part.chain.last <= to {
            return Ok(());
        }
        let last = part.chain.last;
        let within = to == Lsn::ZERO || part.chain.first <= Lsn(to.0 + 1);
        debug_assert!(within, "a mark is within its transaction");
        if !goes_on() {
            return Err(WorkError::Undo(UndoError::Stopped));
        }
        let home = Arc::clone(&part.home);
        let entry = Arc::clone(part.entry());
        let undone = |chain: &TransactionChain| {
            entry.logged(chain);
            goes_on()
        };
        let (pages, undo, kept) = (&home.pages, home.undo(), part.kept_for_undo(to));
        let scope = scope.with(kept.as_deref());
        txn::roll_back(pages, &undo, group, &mut part.chain, scope, &undone)
            .map_err(WorkError::Undo)?;
        assert!(part.chain.last >= last, "undo is logged, never cut off");
        part.rolled_back(to);
        Ok(())
    }

    /// Rolls the open transaction back, unless the process stops meanwhile: then what is left of it
    /// is the next start's ([`crate::Engine::leave_undo_at`]), as after a crash.
    ///
    /// # Errors
    /// Damage, or [`UndoError::Stopped`]: what could not be undone stays as it is, its log is kept
    /// and its locks stay with it, so that nobody builds on it; recovery tries again at the next
    /// start.
    pub fn roll_back(&mut self) -> Result<(), WorkError> {
        let engine = Arc::clone(&self.engine);
        self.roll_back_while(&|| engine.undoes())
    }

    /// The same as long as somebody says that it goes on: who is asked after each change.
    ///
    /// # Errors
    /// As of [`Work::roll_back`]; also [`UndoError::Stopped`], and what is left then is as after
    /// damage.
    pub fn roll_back_while(&mut self, goes_on: &dyn Fn() -> bool) -> Result<(), WorkError> {
        assert!(self.is_active(), "there is something to roll back");
        assert!(self.owing.is_none(), "what is committed is not undone");
        self.owner().set_rolling_back(true);
        self.tell(OpenEntry::rolls_back);
        let mut group = Group::new();
        let mut result = Ok(());
        for i in (0..self.parts.len()).rev() {
            match self.undo_all(i, &mut group, goes_on) {
                Ok(()) => {}
                Err(e) => {
                    self.parts[i].stays();
                    result = Err(e);
                }
            }
        }
        if result.is_ok() {
            self.unstamp();
        }
        self.owner().set_rolling_back(false);
        debug_assert!(self.is_active(), "a transaction ends once, after all its parts");
        if result.is_err() {
            self.leave_behind();
        }
        // Undone, or the next start's.
        self.ghosts.clear();
        self.ended();
        result
    }

    fn append_abort(&mut self, i: usize, group: &mut Group) {
        let part = &mut self.parts[i];
        if part.has_logged() {
            group.clear();
            let before = part.chain.last;
            let ended = EndPayload { at: os::clock::now().0 }.bytes();
            part.needs_log();
            let pushed = group.push_plain(kinds::ABORT, part.chain.id, &ended);
            assert!(pushed.is_ok(), "an empty group has room for an abort");
            let appended = part.home.log().append(group, &mut part.chain);
            assert!(before < appended.first, "an abort record is behind what it ends");
            assert_eq!(part.chain.last, appended.last, "an abort record is its transaction's last");
            part.aborted();
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if os::sched::crashed() {
            return;
        }
        self.settle_owed();
        if self.is_active() {
            // A session that ends, also by a panic, takes its transaction with it.
            let _ = self.roll_back();
        }
        self.leave_version_page();
        self.locks().release_all(self.owner());
        // Who has none reads for a transaction that goes on.
        if let Some(entry) = self.entry.take() {
            self.versions.leave(&self.engine.transactions.commits);
            self.engine.transactions.delist(&entry);
        }
    }
}
