//! Commit and rollback, each step in its order.
//!
//! 1. append the commit record to each part's log
//! 2. wait until they are durable, unless delayed
//! 3. stamp: draw the commit's time, from which on snapshots see what it wrote
//! 4. settle the first ghosts, under the locks of their deleter (`settle.rs`)
//! 5. what was asked to be done before others get at what it holds
//! 6. release locks
//! 7. settle the other ghosts
//! 8. what was asked to be done after the commit
//!
//! Nobody sees a fully durable commit before it is durable: locks are held until then.

use crate::entry::PartState;
use crate::unit::{Mark, Work};
use base::{Lsn, SqlError, messages};
use txn::{Ended, Mutation, OpenEntry, UndoError};
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
}

impl WorkError {
    /// As the user sees it.
    pub fn into_sql(self, database: &str) -> SqlError {
        match self {
            WorkError::Log(e) => e.into_sql(database),
            WorkError::Undo(UndoError::Buffer(e)) => e.into(),
            WorkError::Undo(e) => SqlError::new(messages::INTERNAL, &[&e]),
        }
    }
}

impl Work {
    /// Commits the open transaction.
    ///
    /// # Errors
    /// None that leaves it half done: when log is missing for the commit record, the transaction
    /// is open as before.
    ///
    /// # Panics
    /// Without a transaction, or with a doomed one.
    pub fn commit(&mut self, mode: CommitMode) -> Result<(), WorkError> {
        assert!(self.is_active() && !self.is_doomed(), "what is committed is open and sound");
        assert!(!self.owner.is_rolling_back(), "what is undone is not committed");
        let early = self.engine.transactions.mutations.has(Mutation::EarlyStamp);
        if early {
            self.stamp();
        }
        self.append_commits(mode);
        if !early {
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
        Ok(())
    }

    fn append_commits(&mut self, mode: CommitMode) {
        let ended = Ended { at: os::clock::now().0 }.bytes();
        let asks_delay = mode == CommitMode::Delayed;
        let mut waits: [Option<(usize, Lsn)>; 4] = [None; 4];
        let mut count = 0;
        for (i, part) in self.parts.iter_mut().enumerate().filter(|(_, p)| p.has_logged()) {
            let before = part.chain.last;
            assert_ne!(part.chain.id, 0, "who has logged has a number");
            part.group.clear();
            let pushed = part.group.push_plain(kinds::COMMIT, part.chain.id, &ended);
            assert!(pushed.is_ok(), "an empty group has room for a commit");
            let appended = part.home.log().append(&mut part.group, &mut part.chain);
            assert!(before < appended.first, "a commit record is behind what it commits");
            assert_eq!(part.chain.last, appended.last, "a commit record is its transaction's last");
            part.commits();
            if part.home.waits_for_disk(asks_delay) {
                match waits.get_mut(count) {
                    Some(place) => *place = Some((i, appended.last)),
                    None => part.home.log().flush_commit(appended.last),
                }
                count += 1;
            }
        }
        for (i, lsn) in waits.into_iter().flatten() {
            assert!(self.parts[i].home.survives(), "nobody waits for what no crash leaves");
            self.parts[i].home.log().flush_commit(lsn);
            assert!(
                lsn < self.parts[i].home.log().durable_lsn(),
                "rule 1: durable before it is seen"
            );
        }
        for part in self.parts.iter().filter(|p| p.has_logged()) {
            part.entry().is(PartState::Committed);
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
        for i in (0..self.parts.len()).rev() {
            let to = Work::mark_of(mark, self.parts[i].home.database);
            if let Err(e) = self.undo_part(i, (to, true), &mut group, &|| true) {
                self.doom();
                return Err(e);
            }
        }
        self.forget_ghosts_after(mark);
        Ok(())
    }

    fn undo_part(
        &mut self,
        i: usize,
        (to, lives): (Lsn, bool),
        group: &mut Group,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), WorkError> {
        let part = &mut self.parts[i];
        if !part.has_logged() || part.chain.last <= to {
            return Ok(());
        }
        let last = part.chain.last;
        debug_assert!(
            to == Lsn::ZERO || part.chain.first <= to,
            "a mark is within its transaction"
        );
        if !goes_on() {
            return Err(WorkError::Undo(UndoError::Stopped));
        }
        let keeps_keys = lives && self.counts.has_ranges();
        let home = std::sync::Arc::clone(&part.home);
        let entry = std::sync::Arc::clone(part.entry());
        let undone = |chain: &TransactionChain| {
            entry.logged(chain);
            goes_on()
        };
        let (pages, undo) = (&home.pages, home.undo());
        txn::roll_back(pages, &undo, group, &mut part.chain, to, keeps_keys, &undone)
            .map_err(WorkError::Undo)?;
        assert!(part.chain.last >= last, "undo is logged, never cut off");
        part.rolled_back(to);
        Ok(())
    }

    /// Rolls the open transaction back.
    ///
    /// # Errors
    /// Damage: what could not be undone stays as it is, its log is kept and its locks stay with
    /// it, so that nobody builds on it; recovery tries again at the next start.
    pub fn roll_back(&mut self) -> Result<(), WorkError> {
        self.roll_back_while(&|| true)
    }

    /// The same as long as somebody says that it goes on: who is asked after each change.
    ///
    /// # Errors
    /// As of [`Work::roll_back`]; also [`UndoError::Stopped`], and what is left then is as after
    /// damage.
    pub fn roll_back_while(&mut self, goes_on: &dyn Fn() -> bool) -> Result<(), WorkError> {
        assert!(self.is_active(), "there is something to roll back");
        self.owner().set_rolling_back(true);
        self.tell(OpenEntry::rolls_back);
        let mut group = Group::new();
        let mut result = Ok(());
        for i in (0..self.parts.len()).rev() {
            match self.undo_part(i, (Lsn::ZERO, false), &mut group, goes_on) {
                Ok(()) => self.append_abort(i, &mut group),
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
            let ended = Ended { at: os::clock::now().0 }.bytes();
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
