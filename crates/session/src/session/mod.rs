//! `Session`: the state of one connection. Other files have its functions.

pub(crate) mod application_locks;
pub(crate) mod language;
pub(crate) mod login;
pub(crate) mod registry;
pub(crate) mod settings;
pub(crate) mod state;

use crate::answer::failure::Failure;
use crate::answer::output::Output;
use crate::answer::sink::EnvironmentChange;
use crate::cursors::handles::ApiCursors;
use crate::functions::known::Functions;
use crate::host::Host;
use crate::procedures::call::Call;
use crate::procedures::prepared::Handles;
use crate::program::steps::Program;
use crate::request::activation::Activations;
use crate::request::announcement::Bulk;
use crate::request::flow::Flow;
use crate::request::meter::Consumption;
use crate::request::open::Open;
use crate::request::pending_end::PendingEnd;
use crate::session::state::State;
use crate::tables::pool::VariableTables;
use base::{DatabaseId, SqlError, SqlResult, messages};
use lock::Owner;
use plancache::Entry;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use types::datetime::Language;
use work::Work;

/// A system procedure. Returns its return status.
pub(crate) type SystemProcedure =
    fn(&mut Session, &mut Call, &mut Output<'_>) -> Result<i32, Failure>;

/// The system procedures that sessions know.
pub(crate) struct SystemProcedures {
    /// By their names without schema.
    pub(crate) by_name: &'static [(&'static str, SystemProcedure)],
    /// Procedures that clients call by number, from 1 on.
    pub(crate) by_number: &'static [SystemProcedure],
}

impl SystemProcedures {
    /// A procedure by its name without schema, in any case.
    pub(crate) fn find(&self, name: &str) -> Option<SystemProcedure> {
        self.by_name.iter().find(|p| p.0.eq_ignore_ascii_case(name)).map(|p| p.1)
    }

    /// A procedure by its number.
    pub(crate) fn numbered(&self, number: u16) -> Option<SystemProcedure> {
        self.by_number.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// An unknown language that a login asked for.
pub(crate) enum LanguageRefusal {
    Nothing,
    /// The login goes on in the default language, with message 4016.
    Told(String),
}

/// The properties of a login, which a reset restores.
pub(crate) struct LoginTerms {
    /// Its database.
    pub(crate) database: String,
    /// Its language.
    pub(crate) language: &'static Language,
    /// The unknown language that it asked for.
    pub(crate) refused: LanguageRefusal,
}

/// A connection to the engine.
pub struct Session {
    pub(crate) procedures: &'static SystemProcedures,
    pub(crate) host: Arc<dyn Host>,
    pub(crate) state: State,
    pub(crate) work: Work,
    pub(crate) tables: VariableTables,
    pub(crate) flow: Flow,
    pub(crate) spent: Consumption,
    pub(crate) handles: Handles,
    pub(crate) login: LoginTerms,
    /// The owner of the S lock on the session's database.
    pub(crate) workspace: Arc<Owner>,
    pub(crate) open: Open,
    pub(crate) idle: Activations,
    pub(crate) functions: RefCell<Functions>,
    /// The program that the most recent shell runs.
    pub(crate) of_shell: Option<Arc<Entry<Program>>>,
    pub(crate) api_cursors: ApiCursors,
    /// The announced bulk load, whose rows the next request brings.
    pub(crate) bulk: Option<Bulk>,
    /// The rest of a request whose commit is not durable yet.
    pub(crate) owing: Option<Box<PendingEnd>>,
}

impl Session {
    /// The session's facts for the views.
    pub fn entry(&self) -> &Arc<crate::session::registry::SessionEntry> {
        &self.state.entry
    }

    /// Passes settings to the objects that read them.
    pub(crate) fn apply_settings(&mut self) {
        let s = &self.state.settings;
        self.work.set_timeout(s.lock_timeout);
        self.work.owner().set_priority(s.deadlock_priority);
        let entry = &self.state.entry;
        entry.isolation.store(s.isolation_number(), Relaxed);
        entry.deadlock_priority.store(s.deadlock_priority, Relaxed);
        entry.lock_timeout_ms.store(s.lock_timeout_ms, Relaxed);
        entry.options.store(s.bits(), Relaxed);
        entry.text_size.store(s.text_size, Relaxed);
        entry.date_first.store(s.date_first, Relaxed);
        entry.date_format.store(s.date_format_number(), Relaxed);
        entry.language.store(s.language.id as u8, Relaxed);
    }

    /// Rolls back everything that is open, a statement's change of table variables included.
    pub(crate) fn roll_back_all(&mut self) -> SqlResult<()> {
        if let Some(work) = self.tables.work.as_mut().filter(|w| w.is_active()) {
            work.roll_back().map_err(|e| e.into_sql("tempdb"))?;
        }
        self.functions.get_mut().tables.roll_back()?;
        self.drop_function_tables(true);
        self.drop_spare_tables(true);
        self.roll_back_work()
    }

    /// Leaves the session's database for another. An open transaction keeps using it until it ends.
    pub(crate) fn enter(&self, name: &str) -> SqlResult<DatabaseId> {
        let (timeout, old) = (self.work.timeout(), self.state.database.id);
        if self.work.is_active() {
            self.host.hold_database(&self.work, old)?;
        }
        self.host.enter_database(&self.workspace, timeout, name, Some(old))
    }

    /// Uses another database beside the session's, until [`Session::leave`].
    pub(crate) fn visit(&self, name: &str) -> SqlResult<DatabaseId> {
        self.host.enter_database(&self.workspace, self.work.timeout(), name, None)
    }

    /// Ends a visit.
    pub(crate) fn leave(&self, database: DatabaseId) {
        self.host.leave_database(&self.workspace, database);
    }

    pub(crate) fn drop_all_temp_tables(&mut self) {
        let temp = std::mem::take(&mut self.state.temp);
        let tables: Vec<_> = temp.iter().map(Arc::clone).collect();
        // The new list counts from 0 again, and the sum of both numbers may only grow.
        self.state.names_version += temp.version() + 1;
        if tables.is_empty() && temp.global().is_empty() || self.work.is_active() {
            return;
        }
        let waiter = Arc::clone(self.work.owner().waiter());
        self.work.begin(false, "");
        let own = waiter.undisturbed(|| self.host.drop_temp_tables(&mut self.work, &tables));
        let own = self.end_statement(true, own, None);
        // Other sessions may use these tables, so the drop may wait. A cancellation ends the wait.
        self.work.begin(false, "");
        let global = self.host.drop_global(&mut self.work, temp.global());
        let global = self.end_statement(true, global, None);
        if let Err(e) = own.and(global) {
            self.host.log(&format!("temporary tables were not dropped: {}", e.error));
        }
    }
}

impl State {
    pub(crate) fn now_in_database(&mut self, database: DatabaseId) {
        self.database.id = database;
        self.entry.database.store(database.0, Relaxed);
        let old = std::mem::take(&mut self.database.name);
        let known = self.host.databases().into_iter().find(|d| d.0 == database);
        self.database.name = known.map_or(old, |d| d.1);
    }

    pub(crate) fn tell_database(&mut self, old: String, out: &mut Output<'_>) {
        let new = self.database.name.clone();
        let e = SqlError::new(messages::LOGIN_DATABASE_CHANGED, &[&new]);
        out.environment(&EnvironmentChange::Database { new, old });
        out.message(&e.at_line(1));
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if os::sched::crashed() {
            return;
        }
        let id = self.state.id();
        let undone = catch_unwind(AssertUnwindSafe(|| {
            let undone = self.roll_back_all();
            self.drop_all_temp_tables();
            undone
        }));
        if !matches!(undone, Ok(Ok(()))) {
            self.host.log(&format!("session {id}: its transaction was not rolled back"));
        }
        self.state.application.clear(&*self.host);
        self.host.leave_database(&self.workspace, self.state.database.id);
        self.host.registry().leave(id);
    }
}
