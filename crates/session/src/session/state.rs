//! `State`: everything of a session except its transaction's work; and the lookup of names.

use crate::cursors::cursor::{Cursors, SharedCursor};
use crate::host::Host;
use crate::program::steps::VisibleVariables;
use crate::session::application_locks::ApplicationLocks;
use crate::session::registry::SessionEntry;
use crate::session::settings::{Settings, Switches};
use crate::tables::temp::TempTables;
use base::{DatabaseId, ObjectId, SessionId, SqlError, SqlResult};
use builtins::Rand;
use catalog::view::{Catalogs, DatabaseView, DeclaredTable, Object, RowKey, SchemaId, Table};
use ddl::WantedStatistics;
use lock::Owner;
use plan::CursorKey;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use types::Value;
use types::datetime::Moment;
use work::TraceFlagSet;

/// The state of a session.
pub(crate) struct State {
    pub(crate) host: Arc<dyn Host>,
    pub(crate) entry: Arc<SessionEntry>,
    pub(crate) settings: Settings,
    pub(crate) database: CurrentDatabase,
    pub(crate) last: LastStatement,
    pub(crate) transaction: OpenTransaction,
    pub(crate) nesting: Nesting,
    pub(crate) identity: IdentityValues,
    pub(crate) context: Context,
    pub(crate) temp: TempTables,
    /// Statistics of temporary tables that statements want.
    pub(crate) wishes: RefCell<Vec<(DatabaseId, WantedStatistics)>>,
    /// Changes when names may mean something else to this session only.
    pub(crate) names_version: u64,
    /// The time of the statement, once it has been read.
    pub(crate) now: Cell<Option<Moment>>,
    /// Cursors by name.
    pub(crate) cursors: Cursors,
    /// The state of RAND, once it was called.
    pub(crate) rand: Cell<Option<Rand>>,
    pub(crate) application: ApplicationLocks,
    /// The session's own trace flags.
    pub(crate) trace_flags: TraceFlagSet,
}

/// The current database of a session.
pub(crate) struct CurrentDatabase {
    pub(crate) id: DatabaseId,
    pub(crate) name: String,
    /// The database of the login.
    pub(crate) original: String,
}

/// The results of the last statement.
#[derive(Default)]
pub(crate) struct LastStatement {
    /// `@@ERROR`
    pub(crate) error: i32,
    /// `@@ROWCOUNT`
    pub(crate) rows: u64,
}

/// The user's transaction.
#[derive(Default)]
pub(crate) struct OpenTransaction {
    /// `@@TRANCOUNT`
    pub(crate) count: u32,
    pub(crate) doomed: bool,
}

/// The running modules, each within another.
#[derive(Default)]
pub(crate) struct Nesting {
    /// `@@NESTLEVEL`
    pub(crate) level: u32,
    /// `@@PROCID`
    pub(crate) object: ObjectId,
    /// The state of the running trigger.
    pub(crate) firing: Firing,
    /// The running INSTEAD OF triggers, outermost first.
    pub(crate) instead: Vec<(DatabaseId, ObjectId)>,
    /// The errors of the running CATCH blocks, outermost first.
    pub(crate) caught: Vec<SqlError>,
}

/// The last identity values, and the table that accepts explicit ones.
#[derive(Default)]
pub(crate) struct IdentityValues {
    pub(crate) scope: Option<i128>,
    pub(crate) last: Option<i128>,
    /// The table of SET IDENTITY_INSERT ON.
    pub(crate) insert: Option<IdentityInsert>,
}

/// The values that the user has stored in the session: CONTEXT_INFO and SESSION_CONTEXT.
pub(crate) struct Context {
    pub(crate) info: Value,
    pub(crate) values: BTreeMap<String, (Value, bool)>,
}

/// The table of SET IDENTITY_INSERT ON.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IdentityInsert {
    pub(crate) database: DatabaseId,
    pub(crate) object: ObjectId,
    /// `database.schema.table`
    pub(crate) name: String,
}

impl State {
    pub(crate) fn new(
        host: Arc<dyn Host>,
        entry: Arc<SessionEntry>,
        database: DatabaseId,
        database_name: String,
        transaction: Arc<Owner>,
    ) -> State {
        let application = ApplicationLocks::new(&entry, transaction);
        State {
            host,
            entry,
            settings: Settings::default(),
            database: CurrentDatabase {
                id: database,
                original: database_name.clone(),
                name: database_name,
            },
            last: LastStatement::default(),
            transaction: OpenTransaction::default(),
            nesting: Nesting::default(),
            identity: IdentityValues::default(),
            context: Context { info: Value::Null, values: BTreeMap::new() },
            temp: TempTables::default(),
            wishes: RefCell::default(),
            names_version: 0,
            now: Cell::new(None),
            cursors: Cursors::default(),
            rand: Cell::new(None),
            application,
            trace_flags: TraceFlagSet::default(),
        }
    }

    pub(crate) fn id(&self) -> SessionId {
        self.entry.id()
    }

    /// The definitions of a database as this session sees them.
    pub(crate) fn view(&self, database: DatabaseId) -> Option<Arc<DatabaseView>> {
        self.host.view(self.id(), database)
    }

    /// A cursor is declared. Plans that change its current row depend on its keys.
    pub(crate) fn note_cursor(&mut self, name: &str, keys: &[CursorKey]) {
        if self.cursors.has_other_keys(name, keys) {
            self.names_version += 1;
        }
    }

    /// Makes a cursor variable refer to a cursor.
    pub(crate) fn refer(&mut self, name: &str, level: u32, cursor: SharedCursor) {
        self.note_cursor(name, cursor.lock().keys());
        self.cursors.refer(name, level, Some(cursor));
    }

    /// A number that changes when plans of this session become invalid.
    pub(crate) fn names_version(&self) -> u64 {
        // Within an INSTEAD OF trigger its table is changed directly.
        let within = self.nesting.instead.iter().fold(0_u64, |sum, (database, trigger)| {
            let one = u64::from(database.0) << 32 | u64::from(trigger.0.unsigned_abs());
            sum.wrapping_mul(31).wrapping_add(one << 16)
        });
        // A plan that folded dates in another dialect is not current.
        let dialect = u64::from(self.settings.date_format_number()) << 56
            ^ u64::from(self.settings.language.id.unsigned_abs()) << 48;
        (self.names_version + self.temp.version()).wrapping_add(within).wrapping_add(dialect)
    }
}

/// The moment by the wall clock.
pub(crate) fn now() -> Moment {
    // 1970-01-01 is day 719162 from 0001-01-01.
    const EPOCH_DAYS: i64 = 719_162;
    let ticks = os::clock::now().0.div_euclid(100);
    let day = types::datetime::DAY_TICKS as i64;
    Moment {
        days: (ticks.div_euclid(day) + EPOCH_DAYS) as i32,
        ticks: ticks.rem_euclid(day) as u64,
        offset: 0,
    }
}

impl crate::showplan::names::Views for State {
    fn view(&self, database: DatabaseId) -> Option<Arc<DatabaseView>> {
        State::view(self, database)
    }
}

/// The place of a text whose names are looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    /// The database of names that do not give one.
    pub(crate) database: DatabaseId,
    /// The schema in which names without schema are looked up before dbo.
    pub(crate) schema: SchemaId,
}

/// The name lookup of a statement, in a database.
pub(crate) struct Names<'s> {
    pub(crate) state: &'s State,
    pub(crate) current: Arc<DatabaseView>,
    /// The schema in which names without schema are looked up first.
    pub(crate) schema: SchemaId,
    /// The variables of the text that is bound.
    pub(crate) variables: Option<&'s VisibleVariables<'s>>,
    /// Why a database that was asked for cannot be used.
    pub(crate) refused: RefCell<Option<SqlError>>,
}

impl<'s> Names<'s> {
    /// Without variables, and without a schema of its own.
    pub(crate) fn of(state: &'s State, current: Arc<DatabaseView>) -> Names<'s> {
        let schema = SchemaId::DBO;
        Names { state, current, schema, variables: None, refused: RefCell::default() }
    }
}

impl Catalogs for Names<'_> {
    fn current(&self) -> Arc<DatabaseView> {
        Arc::clone(&self.current)
    }

    fn first_schema(&self) -> SchemaId {
        self.schema
    }

    fn database(&self, name: &str) -> Option<Arc<DatabaseView>> {
        let host = &self.state.host;
        let view = self.state.view(host.database_id(name)?);
        if view.is_none() {
            *self.refused.borrow_mut() = host.refused_database(name);
        }
        view
    }

    fn temp_table(&self, name: &str) -> Option<Arc<Table>> {
        self.state.temp.find(name).map(Arc::clone)
    }

    fn table_variable(&self, name: &str) -> Option<Arc<Table>> {
        self.variables?.table(name)
    }

    fn cursor_keys(&self, name: &str, global: bool) -> SqlResult<Vec<RowKey>> {
        self.state.cursors.keys_of(name, global, self.state.nesting.level)
    }

    fn is_firing(&self, database: DatabaseId, trigger: ObjectId) -> bool {
        self.state.nesting.instead.contains(&(database, trigger))
    }

    fn declared_table(&self, name: &str) -> DeclaredTable {
        self.variables.map(|v| v.declared_table(name)).unwrap_or_default()
    }
}

impl State {
    /// An object by a name in a value, or in a text without a schema of its own.
    pub(crate) fn find_object(
        &self,
        name: &tsql::ast::ObjectName,
        database: DatabaseId,
    ) -> Option<(DatabaseId, Object)> {
        self.find_object_from(name, Origin { database, schema: SchemaId::DBO })
    }

    /// An object by a name in a text, and its database. A synonym is resolved.
    pub(crate) fn find_object_from(
        &self,
        name: &tsql::ast::ObjectName,
        Origin { database, schema }: Origin,
    ) -> Option<(DatabaseId, Object)> {
        let current = self.view(database)?;
        let names = Names { schema, ..Names::of(self, current) };
        let spelled = catalog::view::ObjectName {
            database: name.database.as_deref(),
            schema: name.schema.as_deref(),
            object: &name.object,
        };
        let found = catalog::view::resolve(&names, spelled)?;
        let found = catalog::view::follow(&names, found);
        Some((found.database.id(), found.object))
    }

    /// The present name of the table of SET IDENTITY_INSERT ON, if the table still exists. The
    /// setting ends with the table.
    pub(crate) fn identity_insert_name(&self) -> Option<String> {
        let on = self.identity.insert.as_ref()?;
        if self.temp.iter().any(|t| t.object_id == on.object) {
            return Some(on.name.clone());
        }
        let view = self.view(on.database)?;
        let table = view.table(on.object)?;
        Some(format!("{}.{}", view.name(), table.two_part_name()))
    }

    /// Sets `@@NESTLEVEL`, which other sessions see.
    pub(crate) fn set_nest_level(&mut self, level: u32) {
        self.nesting.level = level;
        self.entry.nest_level.store(u8::try_from(level).unwrap_or(u8::MAX), Relaxed);
    }

    /// SESSIONPROPERTY.
    pub(crate) fn session_property(&self, name: &str) -> Value {
        let name = name.to_ascii_uppercase();
        match Switches::by_name(&name) {
            Some(switch) => Value::Int(i32::from(self.settings.is_on(switch))),
            None => Value::Null,
        }
    }
}

/// The maximum depth of procedure calls.
pub(crate) const NEST_LEVEL_MAX: u32 = 32;

/// What a running trigger may ask.
#[derive(Clone, Debug, Default)]
pub(crate) struct Firing {
    /// The number of triggers that run within each other.
    pub(crate) level: u32,
    /// COLUMNS_UPDATED(): one bit for each column id.
    pub(crate) columns: Vec<u8>,
}
