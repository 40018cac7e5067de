//! Running a statement that defines something, for a session.

use crate::asker::Asker;
use crate::expressions::SessionExpressions;
use crate::instance::Instance;
use base::{DatabaseId, ObjectId, SessionId, SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, SchemaId, Table};
use catalog::{Delta, IdentityStore, SystemHobts};
use database::Database;
use ddl::{DdlContext, DdlOutcome, Place, Places, ResultSet};
use lock::{Duration, Owner, Timeout};
use session::{DdlAnswer, DdlCall, ProcedureCall, Rowset, Settings, Switches};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use types::SqlType;
use work::Work;

/// Databases as one session's statement finds them.
pub(crate) struct SessionPlaces<'a> {
    instance: &'a Instance,
    current: DatabaseId,
    /// The session that changes definitions, and how many changes it made before.
    changes: Option<(SessionId, usize)>,
    owner: Arc<Owner>,
    timeout: Timeout,
    /// Other databases, locked S until the statement ends: what it logs there keeps them then.
    held: RefCell<Vec<DatabaseId>>,
    /// Why a database was not to be had.
    refused: RefCell<Option<SqlError>>,
}

impl<'a> SessionPlaces<'a> {
    pub(crate) fn new(instance: &'a Instance, current: DatabaseId, work: &Work) -> Self {
        let (owner, timeout) = (Arc::clone(work.owner()), work.timeout());
        SessionPlaces {
            instance,
            current,
            changes: None,
            owner,
            timeout,
            held: RefCell::default(),
            refused: RefCell::default(),
        }
    }

    /// As a session finds them, the first of whose changes `known` is.
    pub(crate) fn with_changes(mut self, session: SessionId, known: usize) -> Self {
        self.changes = Some((session, known));
        self
    }

    /// A database with the changes of the session, and further ones.
    fn changed(&self, database: &Database, deltas: &[(DatabaseId, Delta)]) -> Arc<DatabaseView> {
        let (view, known) = match self.changes {
            Some((session, known)) => (self.instance.view_of(session, database), known),
            None => (database.view(), 0),
        };
        let own = deltas[known..].iter().filter(|(d, _)| *d == database.id());
        let own: Vec<Delta> = own.map(|(_, delta)| delta.clone()).collect();
        if own.is_empty() { view } else { catalog::preview(&view, &own) }
    }
}

impl SessionPlaces<'_> {
    /// A database that is there and not open is not to be called unknown.
    fn instead_of(&self, error: SqlError) -> SqlError {
        let told = [messages::DATABASE_NOT_FOUND.number, messages::ALTER_DATABASE_FAILED.number];
        match self.refused.take() {
            Some(why) if !told.contains(&why.number()) && error.number() != told[1] => {
                why.at_line(error.line())
            }
            _ => error,
        }
    }
}

impl Drop for SessionPlaces<'_> {
    fn drop(&mut self) {
        for id in self.held.get_mut().drain(..) {
            self.instance.let_go(&self.owner, id);
        }
    }
}

impl Places for SessionPlaces<'_> {
    fn open(&self, name: Option<&str>, deltas: &[(DatabaseId, Delta)]) -> Option<Place> {
        let database = match name {
            Some(name) => {
                let found = self.instance.database_by_name(name);
                let found = found.ok_or_else(|| self.instance.not_open(name));
                let held = found.and_then(|found| {
                    let (id, duration) = (found.id(), Duration::Short);
                    self.instance.hold(&self.owner, self.timeout, id, duration)
                });
                let found = held.map_err(|e| self.refused.borrow_mut().replace(e)).ok()?;
                let id = found.id();
                self.held.borrow_mut().push(id);
                found
            }
            None => self.instance.database(self.current)?,
        };
        let system: Arc<dyn SystemHobts> = Arc::clone(database.hobts()) as Arc<dyn SystemHobts>;
        Some(Place {
            view: self.changed(&database, deltas),
            builder: database.builder(),
            system,
            ids: Arc::clone(database.ids()),
            identities: Arc::clone(database.identities()),
            identity_store: Arc::clone(&database) as Arc<dyn IdentityStore>,
            modifications: Arc::clone(database.modifications()),
        })
    }
}

/// A session's temporary tables as ddl changes them.
pub(crate) struct SessionTemp<'a> {
    pub(crate) temp: &'a mut session::TempTables,
    pub(crate) instance: &'a Instance,
}

impl ddl::TempTables for SessionTemp<'_> {
    fn find(&self, name: &str) -> Option<Arc<Table>> {
        self.temp.find(name).cloned()
    }

    fn put(&mut self, table: Arc<Table>) {
        self.temp.put(table);
    }

    fn is_made_here(&self, name: &str) -> bool {
        self.temp.exists_here(name)
    }

    fn remove(&mut self, table: &Table) {
        self.temp.remove(table.object_id);
    }

    fn made_global(&mut self, table: ObjectId) {
        self.temp.made_global(table);
    }

    fn next_suffix(&mut self) -> u64 {
        self.instance.next_temp.fetch_add(1, Relaxed)
    }
}

/// What a column is that does not say: as the session's settings have it, else the database's
/// ANSI_NULL_DEFAULT.
fn null_by_default(instance: &Instance, database: DatabaseId, settings: &Settings) -> bool {
    let own = |d: Arc<database::Database>| d.options().ansi_null_default;
    match settings.is_on(Switches::ANSI_NULL_DFLT_ON) {
        true => true,
        false if settings.is_on(Switches::ANSI_NULL_DFLT_OFF) => false,
        false => instance.database(database).is_some_and(own),
    }
}

impl Instance {
    pub(crate) fn run_ddl(&self, call: DdlCall<'_>) -> SqlResult<DdlAnswer> {
        let mut temp = SessionTemp { temp: call.temp, instance: self };
        let mut deltas = self.definitions.deltas(call.session);
        let known = deltas.len();
        let places = SessionPlaces::new(self, call.database, call.work);
        let places = places.with_changes(call.session, known);
        let (mut messages, mut results) = (Vec::new(), Vec::new());
        let s = call.settings;
        let (workspace, timeout) = (Arc::clone(call.workspace), call.work.timeout());
        let asker = Asker { instance: self, workspace, timeout };
        let mut cx = DdlContext {
            work: call.work,
            places: &places,
            databases: &asker,
            spill: &*self.spill,
            semaphores: &self.semaphores,
            threads: ddl::Threads {
                workers: Some(&self.query_workers),
                parallelism: call.parallelism,
                did: exec::MakersWork::default(),
            },
            temp: &mut temp,
            expressions: &SessionExpressions { instance: self, dialect: s.dialect() },
            settings: ddl::Settings {
                quoted_identifier: s.is_on(Switches::QUOTED_IDENTIFIER),
                ansi_nulls: s.is_on(Switches::ANSI_NULLS),
                null_by_default: null_by_default(self, call.database, s),
                dialect: s.dialect(),
            },
            schema: SchemaId::DBO,
            deltas: &mut deltas,
            messages: &mut messages,
            results: &mut results,
        };
        let outcome = match (call.into, call.procedure) {
            (Some(into), _) => ddl::create_into(into, &mut cx).map(|()| DdlOutcome::Changed),
            (None, Some(ProcedureCall::Distrust(table))) => {
                ddl::distrust(table, &mut cx).map(|()| DdlOutcome::Changed)
            }
            (None, Some(ProcedureCall::Rename(r))) => {
                let renamed = ddl::rename(&r.name, &r.new_name, r.kind.as_deref(), &mut cx);
                renamed.map(|()| DdlOutcome::Changed)
            }
            (None, Some(ProcedureCall::Property(change))) => {
                ddl::change_property(change, &mut cx).map(|()| DdlOutcome::Changed)
            }
            (None, Some(ProcedureCall::TriggerOrder(o))) => {
                let ordered = ddl::order_trigger(&o.name, o.order, o.event, &mut cx);
                ordered.map(|()| DdlOutcome::Changed)
            }
            (None, None) => ddl::execute(call.statement, call.text, &mut cx),
        };
        let did = cx.threads.did;
        let outcome = match outcome {
            Ok(outcome) => outcome,
            Err(last) => {
                let last = places.instead_of(last);
                return Err(messages.into_iter().fold(last, SqlError::after));
            }
        };
        if deltas.len() != known {
            self.definitions.set(call.session, deltas);
        }
        Ok(DdlAnswer {
            messages,
            results: results.into_iter().map(rowset).collect(),
            changed_definitions: outcome == DdlOutcome::Changed,
            did,
        })
    }
}

fn rowset(set: ResultSet) -> Rowset {
    let named =
        |(name, sql_type, nullable): (&str, SqlType, bool)| (name.to_owned(), sql_type, nullable);
    Rowset { columns: set.columns.into_iter().map(named).collect(), rows: set.rows }
}
