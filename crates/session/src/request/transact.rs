//! Transactions of a session: nesting, names, savepoints, implicit transactions, doomed
//! transactions.
//!
//! ```text
//!   none → open       [begin_user, begin of a statement]
//!   open → none       [commit, roll_back]
//!   open → doomed     [an error in a TRY block that ends the transaction]
//!   doomed → none     [roll_back]
//! ```

use crate::answer::failure::Failure;
use crate::answer::sink::EnvironmentChange;
use crate::request::open::{End, RollbackPoint, Savepoint};
use crate::session::Session;
use crate::session::settings::Switches;
use crate::tables::temp::TempSnapshot;
use base::{SqlError, SqlResult, messages};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use tsql::ast::TransactionVerb;
use work::CommitMode;

impl Session {
    /// Begins a transaction that outlasts the statement.
    pub(crate) fn begin_user(&mut self, name: &str) {
        self.settle_commit();
        debug_assert!(!self.work.is_active(), "transactions nest by count only");
        self.work.begin(true, name);
        self.open.name.clear();
        self.open.name.push_str(name);
        self.open.temp_before = self.state.temp.snapshot();
        self.open.implicit = false;
        self.state.transaction.count = 1;
        self.note_transaction();
    }

    pub(crate) fn note_transaction(&self) {
        self.tell_transaction_of(self.state.transaction.count);
    }

    fn tell_transaction_of(&self, tran_count: u32) {
        let entry = &self.state.entry;
        entry.open_transactions.store(tran_count, Relaxed);
        entry.transaction.store(self.work.transaction_id().map_or(0, |t| t.0), Relaxed);
    }

    /// Under SET IMPLICIT_TRANSACTIONS a statement that accesses data begins a transaction.
    pub(crate) fn begin_if_implicit(&mut self) {
        if self.state.transaction.count == 0
            && self.state.settings.is_on(Switches::IMPLICIT_TRANSACTIONS)
        {
            self.begin_user("implicit_transaction");
            self.open.implicit = true;
        }
    }

    /// Begins the transaction of one statement, unless one is open. Returns whether it began one.
    #[inline]
    pub(crate) fn begin_statement(&mut self) -> bool {
        self.settle_commit();
        self.work.statement_begins();
        if self.work.is_active() {
            return false;
        }
        self.work.begin_statement(self.state.entry.command());
        self.open.temp_before = self.state.temp.snapshot();
        true
    }

    /// Lets triggers end the statement's own transaction.
    pub(crate) fn enter_own_transaction(&mut self) {
        self.state.transaction.count = 1;
        self.note_transaction();
    }

    /// Commits whatever is open.
    pub(crate) fn commit_work(&mut self, mode: CommitMode) -> SqlResult<()> {
        if self.open.definitions {
            self.state.host.definitions_committing(self.state.id(), &mut self.work);
        }
        match self.commit_or_owe(mode) {
            Ok(owes) => {
                if !owes {
                    self.tell_ended();
                }
                self.transaction_ended(End::Committed);
                Ok(())
            }
            Err(e) => {
                if self.open.definitions {
                    self.state.host.definitions_undone(self.state.id(), 0);
                }
                Err(e.into_sql(&self.state.database.name))
            }
        }
    }

    /// Rolls back everything that is open.
    pub(crate) fn roll_back_work(&mut self) -> SqlResult<()> {
        self.settle_commit();
        if !self.work.is_active() {
            return Ok(());
        }
        // The overlay is removed first: nobody may read it when the locks that protect it are
        // released.
        if self.open.definitions {
            self.state.host.definitions_undone(self.state.id(), 0);
        }
        let temp = std::mem::take(&mut self.open.temp_before);
        self.state.temp.restore(&temp);
        let result = self.work.roll_back();
        self.tell_ended();
        self.transaction_ended(End::RolledBack);
        result.map_err(|e| e.into_sql(&self.state.database.name))
    }

    /// Publishes that the session's transaction has ended.
    fn tell_ended(&self) {
        self.state.entry.versions_no_rows();
        if self.state.transaction.count > 0 {
            self.tell_transaction_of(0);
        }
    }

    fn transaction_ended(&mut self, end: End) {
        let user = self.state.transaction.count > 0;
        self.open.definitions = false;
        self.open.temp_before = TempSnapshot::default();
        self.state.transaction.doomed = false;
        if user {
            self.open.name.clear();
            self.open.savepoints.clear();
            self.open.undone.clear();
            self.open.implicit = false;
            self.open.ended = Some(end);
            self.state.transaction.count = 0;
            if self.state.settings.is_on(Switches::CURSOR_CLOSE_ON_COMMIT) {
                self.state.cursors.close_all();
            }
        }
    }

    /// A point to which a rollback of everything from now on returns.
    pub(crate) fn rollback_point(&mut self) -> RollbackPoint {
        self.open.points += 1;
        let definitions = match self.open.definitions {
            true => self.state.host.definitions_mark(self.state.id()),
            false => 0,
        };
        RollbackPoint {
            transaction: self.work.transaction_id(),
            number: self.open.points,
            mark: self.work.mark(),
            temp: self.state.temp.snapshot(),
            definitions,
        }
    }

    /// Undoes everything after a point. Locks stay. If the point's transaction has ended, the whole
    /// open transaction came after the point.
    pub(crate) fn roll_back_to(&mut self, point: &RollbackPoint) -> SqlResult<()> {
        if self.work.transaction_id() != point.transaction {
            return self.roll_back_work();
        }
        let earlier = self.open.stands_for(point);
        let point = earlier.as_deref().unwrap_or(point);
        self.open.forget_behind(point.number);
        if self.open.definitions {
            self.state.host.definitions_undone(self.state.id(), point.definitions);
        }
        self.state.temp.restore(&point.temp);
        let result = self.work.roll_back_to(&point.mark);
        self.state.transaction.doomed |= self.work.is_doomed();
        result.map_err(|e| e.into_sql(&self.state.database.name))
    }

    /// Dooms the transaction: a CATCH block runs in it, but cannot commit it.
    pub(crate) fn doom(&mut self) {
        if self.work.is_active() && self.state.transaction.count > 0 {
            self.work.doom();
            self.state.transaction.doomed = true;
        }
    }

    /// BEGIN, COMMIT, ROLLBACK or SAVE TRANSACTION.
    pub(crate) fn transaction(
        &mut self,
        verb: TransactionVerb,
        name: &str,
        delayed: Option<bool>,
    ) -> Result<(), Failure> {
        match verb {
            TransactionVerb::Begin | TransactionVerb::BeginDistributed => {
                self.begin(name);
                Ok(())
            }
            // Only a COMMIT that would end it is refused; inner levels may be left.
            TransactionVerb::Commit if self.flow.inserts && self.state.transaction.count == 1 => {
                Err(SqlError::new(messages::COMMIT_IN_INSERT_EXEC, &[]).with_state(0).into())
            }
            TransactionVerb::Rollback if self.flow.inserts => {
                Err(SqlError::new(messages::ROLLBACK_IN_INSERT_EXEC, &[]).with_state(0).into())
            }
            TransactionVerb::Commit => Ok(self.commit(delayed)?),
            TransactionVerb::Rollback => Ok(self.roll_back(name)?),
            TransactionVerb::Save => Ok(self.save(name)?),
        }
    }

    /// BEGIN TRANSACTION. Under IMPLICIT_TRANSACTIONS it is the second level of the transaction
    /// that it begins.
    fn begin(&mut self, name: &str) {
        let implicit = self.state.settings.is_on(Switches::IMPLICIT_TRANSACTIONS);
        if self.state.transaction.count == 0 {
            self.begin_user(name);
            self.open.implicit = implicit;
            if !implicit {
                return;
            }
        }
        self.state.transaction.count += 1;
        self.note_transaction();
    }

    fn commit(&mut self, delayed: Option<bool>) -> SqlResult<()> {
        if self.state.transaction.count == 0 {
            return Err(SqlError::new(messages::COMMIT_NO_BEGIN, &[]));
        }
        if self.state.transaction.doomed {
            return Err(SqlError::new(messages::XACT_DOOMED_COMMIT, &[]));
        }
        if self.state.transaction.count > 1 {
            self.state.transaction.count -= 1;
            self.note_transaction();
            return Ok(());
        }
        let mode = if delayed == Some(true) { CommitMode::Delayed } else { CommitMode::Full };
        self.commit_work(mode)
    }

    fn roll_back(&mut self, name: &str) -> SqlResult<()> {
        if self.state.transaction.count == 0 {
            return Err(SqlError::new(messages::CANNOT_ROLLBACK_NO_SAVEPOINT, &[]));
        }
        // Names of transactions and savepoints are compared byte by byte, as in SQL Server.
        let named = |s: &Savepoint| !name.is_empty() && s.name == name;
        let at = self.open.savepoints.iter().rposition(named);
        match at {
            Some(_) if self.state.transaction.doomed => {
                Err(SqlError::new(messages::XACT_DOOMED_SAVEPOINT, &[]))
            }
            Some(at) => {
                // The savepoint stays and can be rolled back to again.
                let point = Arc::clone(&self.open.savepoints[at].point);
                let result = self.roll_back_to(&point);
                self.work.note_savepoint(&point.mark);
                self.open.note_undone(point);
                result
            }
            _ if name.is_empty() || name == self.open.name => self.roll_back_work(),
            _ => Err(SqlError::new(messages::ROLLBACK_NAME_UNKNOWN, &[&name])),
        }
    }

    fn save(&mut self, name: &str) -> SqlResult<()> {
        if self.state.transaction.count == 0 {
            return Err(SqlError::new(messages::SAVEPOINT_NO_TRANSACTION, &[]));
        }
        if self.state.transaction.doomed {
            return Err(SqlError::new(messages::XACT_DOOMED_COMMIT, &[]));
        }
        let point = Arc::new(self.rollback_point());
        self.work.note_savepoint(&point.mark);
        self.open.savepoints.push(Savepoint { name: name.to_owned(), point });
        Ok(())
    }

    /// Tells the client which transaction it is in now, if that has changed.
    pub(crate) fn tell_transaction(&mut self, out: &mut crate::answer::output::Output<'_>) {
        let now = match self.state.transaction.count {
            0 => 0,
            _ => self.work.transaction_id().map_or(0, |t| t.0),
        };
        let told = std::mem::replace(&mut self.open.told, now);
        let ended = self.open.ended.take();
        if told == now {
            return;
        }
        if told != 0 {
            out.environment_within(&match ended {
                Some(End::Committed) => EnvironmentChange::Commit(told),
                Some(End::RolledBack) | None => EnvironmentChange::Rollback(told),
            });
        }
        if now != 0 {
            out.environment_within(&EnvironmentChange::Begin(now));
        }
    }
}
