//! READ_COMMITTED_SNAPSHOT, ALLOW_SNAPSHOT_ISOLATION, OPTIMIZED_LOCKING and
//! ACCELERATED_DATABASE_RECOVERY: who has to be gone before they change.
//!
//! Readers of versions take no locks: before there are any, nobody may be about to change a row
//! without leaving a version.
//!
//! READ_COMMITTED_SNAPSHOT changes while nobody else is in the database: the session takes X on it.
//! It waits in the queue for that, so that newcomers stand behind it, and whom it rolls back are
//! those who are inside then.
//!
//! ALLOW_SNAPSHOT_ISOLATION ON goes on beside others:
//!  1. changes leave versions from now on; who may have made some without holds locks, and is
//!     waited for;
//!  2. transactions may read as of moments from now on.
//!
//! OFF closes the gate, waits for those inside, and ends the versions; never in master and msdb.
//! Nobody is rolled back for either: `ddl` refuses a termination (5083).
//!
//! OPTIMIZED_LOCKING changes while nobody else is in the database, too: of a row's writer who goes
//! on it must be known whether he has locked himself.
//!
//! ACCELERATED_DATABASE_RECOVERY likewise: a transaction is undone by its versions or from the log,
//! as was decided when it began. OFF sweeps the records of aborted transactions before others are
//! kept out, and what has come since then while nobody else is inside.
//!
//! Invariants
//!  1. One of these goes on in a database at a time.
//!  2. Until the option is written, a failure brings back what was.
//!  3. Where locking is optimized there are versions: the last option that asks for them stays.
//!  4. Who has a moment from before transactions were let in is not let in, also where nothing was
//!     committed under a number since: the gate opens at a time of its own.
//!  5. Where recovery is not accelerated no transaction is in the aborted map.

use crate::asker::Asker;
use crate::host::is_locked;
use crate::instance::Instance;
use base::{DatabaseId, SessionId, SqlError, SqlResult, messages};
use catalog::DatabaseOption;
use database::{Database, SweepRequest};
use ddl::WaitLimit;
use lock::{Duration, Kind, LockError, Mode, Outcome, Resource, Ticket, Timeout};
use os::clock::monotonic_ns;
use os::wait::{CancelReason, WaitKind, Waiter, Wake};
use session::SessionEntry;
use std::collections::BTreeSet;
use std::sync::Arc;
use work::{
    CommitTime, RECOVERY_VERSIONS, STATEMENT_VERSIONS, SnapshotState, TRANSACTION_VERSIONS,
};

/// How often it is looked whether those who are waited for are gone.
const LOOK_NS: u64 = 10_000_000;

/// The turn to change a database's versioning.
pub(crate) struct Turn<'i> {
    instance: &'i Instance,
    database: DatabaseId,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.instance.altering.lock().remove(&self.database);
    }
}

/// Who a session waits for, to those who ask; nobody when this is dropped.
struct ShownBlocker {
    entry: Option<Arc<SessionEntry>>,
}

impl ShownBlocker {
    fn by(&self, session: Option<SessionId>) {
        self.entry.iter().for_each(|entry| entry.set_blocked_by(session));
    }
}

impl Drop for ShownBlocker {
    fn drop(&mut self) {
        self.by(None);
    }
}

/// X on a database, back to what the session held when this is dropped.
pub(crate) struct ExclusiveUse<'a> {
    asker: &'a Asker<'a>,
    resource: Resource,
    before: Mode,
    rolled_back: bool,
}

impl ExclusiveUse<'_> {
    /// Whether sessions were ended for it.
    pub(crate) fn rolled_back(&self) -> bool {
        self.rolled_back
    }
}

impl Drop for ExclusiveUse<'_> {
    fn drop(&mut self) {
        let (locks, workspace) = (&self.asker.instance.engine().locks, &self.asker.workspace);
        match self.before {
            Mode::NL => locks.release(workspace, self.resource),
            before => locks.release_to(workspace, self.resource, before),
        };
    }
}

impl Instance {
    /// Ends sessions, whose transactions are rolled back then.
    fn roll_back_sessions(&self, sessions: impl Iterator<Item = SessionId>) {
        let sessions: BTreeSet<SessionId> = sessions.filter(|s| s.0 != 0).collect();
        for entry in sessions.iter().filter_map(|s| self.registry.find(*s)) {
            entry.waiter().cancel(CancelReason::Kill);
        }
    }

    /// Those who are in a database, but one session.
    fn roll_back_inside(&self, resource: Resource, but: SessionId) {
        let inside = self.engine().locks.holders_of(resource).into_iter().map(|(_, s)| s);
        self.roll_back_sessions(inside.filter(|s| *s != but));
    }

    /// Which versions changes leave from now on.
    fn set_versions(&self, database: &Database, versions: u8) {
        if versions != 0 {
            self.engine().note_versions();
        }
        os::sched::switch_point();
        database.home().set_versioning(versions);
    }
}

impl Asker<'_> {
    /// Sets an option of a database; whether sessions are rolled back for it.
    pub(crate) fn alter(
        &self,
        name: &str,
        option: DatabaseOption,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        let unknown = || SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&name]).with_state(5);
        let Some(database) = self.instance.database_by_name(name) else {
            let closed = self.instance.closed_by_name(name);
            return Err(closed.map_or_else(unknown, |(_, closed)| closed.refusal()));
        };
        self.instance.must_be_changeable(&database, self.session())?;
        match option {
            DatabaseOption::ReadOnly(on) => return self.switch_read_only(&database, on, waiting),
            DatabaseOption::UserAccess(access) => {
                return self.switch_access(&database, access, waiting);
            }
            _ if database.options().read_only => {
                return Err(SqlError::new(messages::DATABASE_NOT_WRITABLE, &[]).with_state(4));
            }
            _ => {}
        }
        match option {
            DatabaseOption::ReadCommittedSnapshot(on) => {
                self.switch_statements(&database, on, waiting)
            }
            DatabaseOption::SnapshotIsolation(on) => {
                debug_assert_eq!(waiting, WaitLimit::Forever, "ddl refuses any other (5083)");
                self.switch_transactions(&database, on).map(|()| false)
            }
            DatabaseOption::OptimizedLocking(on) => self.switch_locking(&database, on, waiting),
            DatabaseOption::AcceleratedRecovery(on) => self.switch_recovery(&database, on, waiting),
            option => self.with_database(&database, || {
                self.instance.write_option(&database, option)?;
                if option.decides_plans() {
                    self.instance.programs.clear_database(database.id());
                }
                Ok(false)
            }),
        }
    }

    pub(crate) fn session(&self) -> SessionId {
        self.workspace.session()
    }

    /// Does something while nobody drops the database.
    pub(crate) fn with_database<T>(
        &self,
        database: &Arc<Database>,
        then: impl FnOnce() -> SqlResult<T>,
    ) -> SqlResult<T> {
        let id = database.id();
        let held = self.instance.hold(&self.workspace, self.timeout, id, Duration::Short)?;
        let same = Arc::ptr_eq(&held, database);
        let done = if same { then() } else { Err(gone(database)) };
        self.instance.let_go(&self.workspace, id);
        done
    }

    /// Invariant 1.
    pub(crate) fn turn(&self, database: &Database) -> SqlResult<Turn<'_>> {
        let id = database.id();
        match self.instance.altering.lock().insert(id) {
            true => Ok(Turn { instance: self.instance, database: id }),
            false => Err(not_locked(database)),
        }
    }

    /// The same for an option that master, tempdb and msdb do not have.
    fn turn_of_users(&self, option: &str, database: &Database) -> SqlResult<Turn<'_>> {
        if !is_locked(database.id()) || database.id() == crate::start::MSDB {
            return Err(not_here(option, database));
        }
        self.turn(database)
    }

    fn switch_statements(
        &self,
        database: &Arc<Database>,
        on: bool,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        let _turn = self.turn_of_users("READ_COMMITTED_SNAPSHOT", database)?;
        if database.options().read_committed_snapshot == on {
            return Ok(false);
        }
        let others = database.home().versioning() & !STATEMENT_VERSIONS;
        may_end("READ_COMMITTED_SNAPSHOT", database, on, others)?;
        let alone = self.alone(database, waiting)?;
        self.nobody_goes_on(database)?;
        self.instance.write_option(database, DatabaseOption::ReadCommittedSnapshot(on))?;
        let own = if on { STATEMENT_VERSIONS } else { 0 };
        self.instance.set_versions(database, others | own);
        Ok(alone.rolled_back)
    }

    /// A transaction that could not be rolled back still holds its tables, and its rows have the
    /// versions of before. While there is one, the option does not change.
    fn nobody_goes_on(&self, database: &Database) -> SqlResult<()> {
        let holders = self.instance.engine().locks.holders_in(database.id(), Kind::Object);
        let is_other = |session: SessionId| session.is_user() && session != self.session();
        match holders.into_iter().any(|(_, session)| is_other(session)) {
            true => Err(in_use(database)),
            false => Ok(()),
        }
    }

    fn switch_locking(
        &self,
        database: &Arc<Database>,
        on: bool,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        let _turn = self.turn_of_users("OPTIMIZED_LOCKING", database)?;
        let options = database.options();
        if options.optimized_locking == on {
            return Ok(false);
        }
        let is_versioned = options.read_committed_snapshot
            || options.snapshot_isolation
            || options.accelerated_recovery;
        if on && !is_versioned {
            let name = database.home().name();
            return Err(SqlError::new(messages::LOCKING_NEEDS_VERSIONS, &[&name]));
        }
        let alone = self.alone(database, waiting)?;
        // Who could not be rolled back has nothing but this lock.
        let locks = &self.instance.engine().locks;
        if !locks.holders_in(database.id(), Kind::Xact).is_empty() {
            return Err(in_use(database));
        }
        self.instance.write_option(database, DatabaseOption::OptimizedLocking(on))?;
        if on {
            self.instance.engine().note_optimized_locking();
        }
        database.home().set_optimized_locking(on);
        Ok(alone.rolled_back)
    }

    fn switch_recovery(
        &self,
        database: &Arc<Database>,
        on: bool,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        if !is_locked(database.id()) || database.id() == crate::start::MSDB {
            return Err(SqlError::new(messages::RECOVERY_OF_SYSTEM_DATABASE, &[]));
        }
        let _turn = self.turn(database)?;
        if database.options().accelerated_recovery == on {
            return Ok(false);
        }
        if !on {
            // As SQL Server does: also where other versions would be enough for it.
            may_end("Accelerated Database Recovery", database, on, 0)?;
        }
        if !on && waiting != WaitLimit::NotAtAll && self.tell_aborted(database) {
            // What is swept now others need not wait for.
            let soon = SweepRequest { store: false, retries: false, ..SweepRequest::ALL };
            let sweep = || database.sweep_versions(soon, self.workspace.waiter()).map(drop);
            self.with_database(database, sweep)?;
        }
        let alone = self.alone(database, waiting)?;
        let home = database.home();
        self.nobody_goes_on(database)?;
        match on {
            true => database.note_accelerated()?,
            false => self.outwait_aborted(database)?,
        }
        self.instance.write_option(database, DatabaseOption::AcceleratedRecovery(on))?;
        let own = if on { RECOVERY_VERSIONS } else { 0 };
        home.choose_store(on);
        self.instance.set_versions(database, home.versioning() & !RECOVERY_VERSIONS | own);
        if on {
            database.start_cleaner();
        }
        let told =
            if on { messages::RECOVERY_ACCELERATED } else { messages::RECOVERY_NOT_ACCELERATED };
        self.instance.write_log("spid", SqlError::new(told, &[&database.id().0]).text());
        Ok(alone.rolled_back)
    }

    /// Whether aborted transactions have rows that stand on pages; the error log says how many.
    fn tell_aborted(&self, database: &Database) -> bool {
        let (name, count) = (database.home().name(), database.home().aborted().count());
        let line = format!(
            "Accelerated recovery of database '{name}' is turned off when the rows of {count} \
             aborted transactions are as they were."
        );
        if count > 0 {
            self.instance.write_log("spid", &line);
        }
        count > 0
    }

    /// Invariant 5: sweeps until no record by an aborted transaction is left.
    fn outwait_aborted(&self, database: &Database) -> SqlResult<()> {
        if !self.tell_aborted(database) {
            return Ok(());
        }
        let rows = SweepRequest { store: false, ..SweepRequest::ALL };
        loop {
            let waiter = self.workspace.waiter();
            database.sweep_versions(rows, waiter)?;
            if database.home().aborted().is_empty() {
                return Ok(());
            }
            let until = monotonic_ns() + LOOK_NS;
            if let Wake::Cancelled(why) = waiter.wait(WaitKind::DisableVersioning, Some(until)) {
                return Err(why.into());
            }
        }
    }

    /// X on a database, when all others have left it.
    pub(crate) fn alone(
        &self,
        database: &Arc<Database>,
        waiting: WaitLimit,
    ) -> SqlResult<ExclusiveUse<'_>> {
        let (locks, resource) = (&self.instance.engine().locks, Resource::database(database.id()));
        let before = locks.held_mode(&self.workspace, resource);
        let asked = locks.try_lock(&self.workspace, resource, Mode::X, Duration::Short, None)?;
        let rolled_back = match asked {
            Outcome::Granted { .. } | Outcome::AlreadyHeld => false,
            Outcome::Wait(_) if waiting == WaitLimit::NotAtAll => return Err(in_use(database)),
            Outcome::Wait(ticket) => self.outwait(database, ticket, waiting)?,
        };
        let alone = ExclusiveUse { asker: self, resource, before, rolled_back };
        match self.instance.is_open(database) {
            true => Ok(alone),
            false => Err(gone(database)),
        }
    }

    /// Waits in the queue; those who are inside when their time is over are rolled back, once.
    fn outwait(&self, database: &Database, ticket: Ticket, waiting: WaitLimit) -> SqlResult<bool> {
        let (resource, session) = (ticket.resource(), self.session());
        let timeout = match waiting {
            WaitLimit::RollBackAfter(_) => Timeout::INFINITE,
            WaitLimit::Forever | WaitLimit::NotAtAll => self.timeout,
        };
        let locks = &self.instance.engine().locks;
        let granted = match waiting {
            WaitLimit::RollBackAfter(0) => {
                self.instance.roll_back_inside(resource, session);
                locks.wait(ticket, timeout, None)
            }
            WaitLimit::RollBackAfter(seconds) => {
                let (ended, instance) = (Arc::new(Waiter::new()), self.instance.arc());
                let until = monotonic_ns() + u64::from(seconds) * 1_000_000_000;
                let end = Arc::clone(&ended);
                let late = os::task::spawn("rollback after", move || {
                    let late = matches!(end.wait(WaitKind::SleepTask, Some(until)), Wake::TimedOut);
                    if late {
                        instance.roll_back_inside(resource, session);
                    }
                    late
                });
                let granted = locks.wait(ticket, timeout, None);
                ended.signal();
                let late = late.join().unwrap_or(true);
                return granted.map(|_| late).map_err(|e| not_granted(database, e));
            }
            WaitLimit::Forever | WaitLimit::NotAtAll => locks.wait(ticket, timeout, None),
        };
        let rolls_back = matches!(waiting, WaitLimit::RollBackAfter(_));
        granted.map(|_| rolls_back).map_err(|e| not_granted(database, e))
    }

    fn switch_transactions(&self, database: &Arc<Database>, on: bool) -> SqlResult<()> {
        let id = database.id();
        let always = id == crate::start::MASTER || id == crate::start::MSDB;
        if id == crate::start::TEMPDB || (always && !on) {
            return Err(not_here("ALLOW_SNAPSHOT_ISOLATION", database));
        }
        let _turn = self.turn(database)?;
        if database.options().snapshot_isolation == on {
            return Ok(());
        }
        let others = database.home().versioning() & !TRANSACTION_VERSIONS;
        may_end("ALLOW_SNAPSHOT_ISOLATION", database, on, others)?;
        self.with_database(database, || match on {
            true => self.allow_snapshots(database),
            false => self.disallow_snapshots(database),
        })
    }

    fn allow_snapshots(&self, database: &Database) -> SqlResult<()> {
        let home = database.home();
        let before = home.versioning();
        home.set_snapshot_state(SnapshotState::ToOn, CommitTime(0));
        let come = (|| {
            self.instance.set_versions(database, before | TRANSACTION_VERSIONS);
            if before == 0 {
                self.outwait_holders(database)?;
            }
            self.instance.write_option(database, DatabaseOption::SnapshotIsolation(true))
        })();
        match come {
            Ok(()) => {
                // Changes that left no version have moved no clock: a time of its own, behind every
                // moment that somebody reads as of already.
                let commits = &self.instance.engine().transactions.commits;
                let since = commits.commit(commits.begin());
                home.set_snapshot_state(SnapshotState::On, since);
            }
            Err(_) => {
                home.set_snapshot_state(SnapshotState::Off, CommitTime(0));
                self.instance.set_versions(database, before);
            }
        }
        come
    }

    fn disallow_snapshots(&self, database: &Database) -> SqlResult<()> {
        let home = database.home();
        let since = home.snapshots_since();
        home.set_snapshot_state(SnapshotState::ToOff, since);
        let inside = || home.snapshot_readers();
        let gone = self.outwait_sessions(WaitKind::DisableVersioning, inside);
        let write =
            || self.instance.write_option(database, DatabaseOption::SnapshotIsolation(false));
        let gone = gone.and_then(|()| write());
        match gone {
            Ok(()) => {
                home.set_snapshot_state(SnapshotState::Off, CommitTime(0));
                let others = home.versioning() & !TRANSACTION_VERSIONS;
                self.instance.set_versions(database, others);
            }
            Err(_) => home.set_snapshot_state(SnapshotState::On, since),
        }
        gone
    }

    /// Waits until all who hold locks on tables of a database now have given them back.
    fn outwait_holders(&self, database: &Database) -> SqlResult<()> {
        let (locks, id) = (&self.instance.engine().locks, database.id());
        let mut left = locks.holders_in(id, Kind::Object);
        left.retain(|(_, session)| *session != self.session());
        let inside = || {
            let now = locks.holders_in(id, Kind::Object);
            left.retain(|holder| now.contains(holder));
            left.iter().map(|(_, session)| *session).collect()
        };
        self.outwait_sessions(WaitKind::EnableVersioning, inside)
    }

    /// Waits until nobody is in the way.
    fn outwait_sessions(
        &self,
        kind: WaitKind,
        mut inside: impl FnMut() -> BTreeSet<SessionId>,
    ) -> SqlResult<()> {
        let shown = ShownBlocker { entry: self.instance.registry.find(self.session()) };
        loop {
            let sessions = inside();
            shown.by(sessions.first().copied());
            if sessions.is_empty() {
                return Ok(());
            }
            let until = monotonic_ns() + LOOK_NS;
            if let Wake::Cancelled(why) = self.workspace.waiter().wait(kind, Some(until)) {
                return Err(why.into());
            }
        }
    }
}

fn not_here(option: &str, database: &Database) -> SqlError {
    SqlError::new(messages::OPTION_NOT_IN_DATABASE, &[&option, &database.home().name()])
}

/// Invariant 3, where an option is turned off beside these.
fn may_end(option: &str, database: &Database, on: bool, others: u8) -> SqlResult<()> {
    if on || others != 0 || !database.options().optimized_locking {
        return Ok(());
    }
    Err(SqlError::new(messages::VERSIONS_NEEDED_BY_LOCKING, &[&option]).with_state(2))
}

pub(crate) fn in_use(database: &Database) -> SqlError {
    SqlError::new(messages::ALTER_DATABASE_LOCK, &[&database.home().name()])
}

fn not_locked(database: &Database) -> SqlError {
    SqlError::new(messages::DATABASE_NOT_LOCKED, &[&database.home().name()])
}

pub(crate) fn gone(database: &Database) -> SqlError {
    SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&database.home().name()]).with_state(5)
}

/// What the end of a wait in the queue is called here.
fn not_granted(database: &Database, e: LockError) -> SqlError {
    match e {
        LockError::TimedOut { .. } => not_locked(database),
        e => e.into(),
    }
}
