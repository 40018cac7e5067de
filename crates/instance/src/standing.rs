//! ALTER DATABASE … SET OFFLINE, ONLINE, EMERGENCY, READ_ONLY, READ_WRITE and SINGLE_USER: how a
//! database stands, and who may be in it.
//!
//! What changes how its files are opened is done by closing the database and opening it again,
//! while the session has X on it and nobody else is inside. The list of databases says how the next
//! start opens it. Where it cannot be opened it stays closed, in a state that says why.
//!
//! Invariants
//!  1. CREATE, DROP and these exclude each other where they change which databases there are: all
//!     hold `creating`. X on the database is taken before, and nobody waits for it who holds that.
//!  2. Of a database in SINGLE_USER the session that has entered first has a claim, as long as it
//!     holds the database. A session that finds another's claim leaves again (924).
//!  3. A database whose options say READ_ONLY is one that is opened so: its log is sealed, and of
//!     its files nothing is written, also by the next start.

use crate::asker::Asker;
use crate::closed::{ClosedEntry, refusal, say_closed};
use crate::host::is_system;
use crate::instance::{Instance, Open};
use crate::list_text::{DesiredState, Entry};
use crate::opening::Opening;
use crate::start::{MASTER, TEMPDB, presumption};
use crate::versioning::{gone, in_use};
use base::{DatabaseId, SessionId, SqlError, SqlResult, messages};
use catalog::{DatabaseOption, UserAccess};
use database::{Database, DatabaseState};
use ddl::{WaitLimit, WantedState};
use lock::Resource;
use session::Setting;
use std::sync::Arc;

impl Instance {
    fn opening(&self) -> Opening<'_> {
        Opening { env: &self.env, dir: &self.dir, options: &self.options, log: &self.log }
    }

    /// The entry of a database in the list.
    fn entry(&self, id: DatabaseId) -> Option<Entry> {
        self.list.lock().entries().get(&id).cloned()
    }

    /// Whether a session may be in a database that it holds: invariant 2.
    pub(crate) fn may_be_in(&self, database: &Database, session: SessionId) -> SqlResult<()> {
        if database.options().user_access != UserAccess::Single || !session.is_user() {
            return Ok(());
        }
        let id = database.id();
        let mut claims = self.claims.lock();
        let holders = self.engine().locks.holders_of(Resource::database(id));
        let other = claims.get(&id).filter(|claimed| **claimed != session);
        if other.is_some_and(|claimed| holders.iter().any(|(_, s)| s == claimed)) {
            let name = database.home().name();
            return Err(SqlError::new(messages::DATABASE_SINGLE_USER, &[&name]));
        }
        claims.insert(id, session);
        Ok(())
    }

    /// Whether a session could be in a database: HAS_DBACCESS.
    pub(crate) fn could_be_in(&self, database: &Database, session: SessionId) -> bool {
        if database.options().user_access != UserAccess::Single {
            return true;
        }
        self.other_inside(database, session).is_none()
    }

    /// The session that has a database in SINGLE_USER, if that is another.
    fn other_inside(&self, database: &Database, session: SessionId) -> Option<SessionId> {
        let holders = self.engine().locks.holders_of(Resource::database(database.id()));
        let mut others = holders.into_iter().map(|(_, s)| s);
        others.find(|s| s.is_user() && *s != session)
    }

    /// 5064 where another session has the database for itself.
    pub(crate) fn must_be_changeable(
        &self,
        database: &Database,
        session: SessionId,
    ) -> SqlResult<()> {
        let single = database.options().user_access == UserAccess::Single;
        if single && self.other_inside(database, session).is_some() {
            let name = database.home().name();
            return Err(SqlError::new(messages::STATE_NOT_CHANGED_NOW, &[&name]));
        }
        Ok(())
    }

    /// Opens a database that is closed, as its entry says; else it stays closed, and says why.
    fn open_closed(&self, id: DatabaseId, entry: &Entry) -> SqlResult<()> {
        let files = database::Files::named(&self.dir, &entry.stem);
        let policy = presumption(self.configuration.in_use(Setting::InDoubt));
        self.engine().decisions.presume(policy);
        match self.opening().open(id, entry, &files) {
            Ok(open) => {
                self.databases.write().insert(id, open);
                self.closed.write().remove(&id);
                self.programs.clear_database(id);
                self.definitions.moved();
                Ok(())
            }
            Err((state, why)) => {
                say_closed(&self.log, (id, &entry.name), state, &why);
                self.closed.write().insert(id, ClosedEntry::new(entry, files, state));
                self.definitions.moved();
                let refused = refusal(state, &entry.name);
                Err(if why.number() == refused.number() { why } else { refused.after(why) })
            }
        }
    }

    /// Closes a database that nobody else is in, and opens it as an entry of the list says.
    fn swap(&self, database: &Arc<Database>, entry: &Entry) -> SqlResult<()> {
        let _one = self.creating.lock();
        self.list.lock().must_be_at_its_place()?;
        let id = database.id();
        let files = database.files().clone();
        let closed = |state| ClosedEntry::new(entry, files.clone(), state);
        let open = {
            let _cleaner = self.cleaning.lock();
            let mut databases = self.databases.write();
            self.closed.write().insert(id, closed(DatabaseState::Recovering));
            databases.remove(&id)
        };
        let Some(Open { database, workers }) = open else {
            self.closed.write().remove(&id);
            return Err(gone(database));
        };
        self.definitions.moved();
        if let Err(e) = database.close(workers) {
            let pending = DatabaseState::RecoveryPending;
            say_closed(&self.log, (id, &entry.name), pending, &e);
            self.closed.write().insert(id, closed(pending));
            return Err(e);
        }
        drop(database);
        let listed = self.list.lock().change(|entries| drop(entries.insert(id, entry.clone())));
        let before = || self.entry(id).unwrap_or_else(|| entry.clone());
        if let Err(e) = listed {
            // It goes on as the list has it.
            let _ = self.open_closed(id, &before());
            return Err(e);
        }
        if entry.standing == DesiredState::Offline {
            self.closed.write().insert(id, closed(DatabaseState::Offline));
            self.programs.clear_database(id);
            self.write_log("spid", &format!("Database '{}' is OFFLINE.", entry.name));
            return Ok(());
        }
        self.open_closed(id, entry)
    }
}

impl Asker<'_> {
    /// OFFLINE, ONLINE, EMERGENCY; whether sessions were rolled back for it.
    pub(crate) fn change_state(
        &self,
        name: &str,
        asked: WantedState,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        if let Some((id, closed)) = self.instance.closed_by_name(name) {
            return self.change_closed(id, &closed, asked).map(|()| false);
        }
        let unknown = || SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&name]).with_state(5);
        let database = self.instance.database_by_name(name).ok_or_else(unknown)?;
        let name = database.home().name();
        if is_system(&name) {
            return Err(SqlError::new(messages::OPTION_NOT_IN_DATABASE, &[&asked.name(), &name]));
        }
        self.instance.must_be_changeable(&database, self.session())?;
        let already = match asked {
            WantedState::Online => !database.is_emergency(),
            WantedState::Emergency => database.is_emergency(),
            WantedState::Offline => false,
        };
        if already {
            return Ok(false);
        }
        let entry = self.instance.entry(database.id()).ok_or_else(|| gone(&database))?;
        let entry = Entry { standing: standing(asked), ..entry };
        let _turn = self.turn(&database)?;
        let alone = self.alone(&database, waiting)?;
        self.must_be_unused(&database)?;
        if asked == WantedState::Offline && self.is_own(database.id()) {
            return Err(in_use(&database));
        }
        self.instance.swap(&database, &entry)?;
        Ok(alone.rolled_back())
    }

    /// The same of a database that is not open.
    fn change_closed(
        &self,
        id: DatabaseId,
        closed: &ClosedEntry,
        asked: WantedState,
    ) -> SqlResult<()> {
        let _one = self.instance.creating.lock();
        let entry = self.instance.entry(id);
        let unknown =
            || SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&closed.name]).with_state(5);
        let entry = Entry { standing: standing(asked), ..entry.ok_or_else(unknown)? };
        let mut list = self.instance.list.lock();
        list.change(|entries| drop(entries.insert(id, entry.clone())))?;
        drop(list);
        if asked == WantedState::Offline {
            let offline = ClosedEntry { state: DatabaseState::Offline, ..closed.clone() };
            self.instance.closed.write().insert(id, offline);
            return Ok(());
        }
        self.instance.open_closed(id, &entry)
    }

    /// Whether it is the database that the session is in.
    fn is_own(&self, id: DatabaseId) -> bool {
        let entry = self.instance.registry.find(self.session());
        entry.is_some_and(|entry| entry.database() == id)
    }

    /// A transaction that has only defined something in it holds no lock on it.
    fn must_be_unused(&self, database: &Database) -> SqlResult<()> {
        match database.home().active_count() {
            0 => Ok(()),
            _ => Err(in_use(database)),
        }
    }

    /// READ_ONLY and READ_WRITE.
    pub(crate) fn switch_read_only(
        &self,
        database: &Arc<Database>,
        on: bool,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        let (id, option) = (database.id(), if on { "READ_ONLY" } else { "READ_WRITE" });
        if id == MASTER || id == TEMPDB {
            let name = database.home().name();
            return Err(SqlError::new(messages::OPTION_NOT_IN_DATABASE, &[&option, &name]));
        }
        let _turn = self.turn(database)?;
        if database.options().read_only == on {
            return Ok(false);
        }
        let alone = self.alone(database, waiting)?;
        self.must_be_unused(database)?;
        if on {
            self.instance.write_option(database, DatabaseOption::ReadOnly(true))?;
        }
        self.reopen(database, on)?;
        if !on {
            let now = self.instance.database(id).ok_or_else(|| gone(database))?;
            self.instance.write_option(&now, DatabaseOption::ReadOnly(false))?;
        }
        Ok(alone.rolled_back())
    }

    fn reopen(&self, database: &Arc<Database>, read_only: bool) -> SqlResult<()> {
        let entry = self.instance.entry(database.id()).ok_or_else(|| gone(database))?;
        self.instance.swap(database, &Entry { read_only, ..entry })
    }

    /// MULTI_USER, SINGLE_USER, RESTRICTED_USER: who lets in whom it likes needs nobody to be gone.
    pub(crate) fn switch_access(
        &self,
        database: &Arc<Database>,
        access: UserAccess,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        let id = database.id();
        if id == MASTER || id == TEMPDB {
            let name = database.home().name();
            let option = access.name();
            return Err(SqlError::new(messages::OPTION_NOT_IN_DATABASE, &[&option, &name]));
        }
        let _turn = self.turn(database)?;
        if database.options().user_access == access {
            return Ok(false);
        }
        let read_only = database.options().read_only;
        if access != UserAccess::Single && !read_only {
            return self.with_database(database, || {
                self.instance.write_option(database, DatabaseOption::UserAccess(access))?;
                Ok(false)
            });
        }
        let alone = self.alone(database, waiting)?;
        self.must_be_unused(database)?;
        if read_only {
            self.reopen(database, false)?;
        }
        let now = self.instance.database(id).ok_or_else(|| gone(database))?;
        self.instance.write_option(&now, DatabaseOption::UserAccess(access))?;
        if read_only {
            self.reopen(&now, true)?;
        }
        if self.is_own(id) {
            self.instance.claims.lock().insert(id, self.session());
        }
        Ok(alone.rolled_back())
    }
}

fn standing(asked: WantedState) -> DesiredState {
    match asked {
        WantedState::Online => DesiredState::Online,
        WantedState::Offline => DesiredState::Offline,
        WantedState::Emergency => DesiredState::Emergency,
    }
}
