//! A host without a disk: one database, tables held in memory, no durability and no undo of rows.
#![allow(dead_code, reason = "each test program uses a part")]

use access::{
    BulkLoad, Field, Hobt, Hobts, InsertOutcome, Loader, LockPlan, PageHint, RowCursor, RowKey,
    ScanRange, SourceSize, Spill, SpillFile, TableSink, TableSource, WriteError,
};
use base::{
    DatabaseId, FileId, HobtId, IndexId, ObjectId, SessionId, SqlError, SqlResult, messages,
};
use catalog::view::{
    Column, DatabaseView, Identity, Index, IndexKind, Module, ModuleKind, ModuleOptions, Object,
    SchemaId, SystemObjects, Table,
};
use database::SweepRequest;
use exec::{GrantTerms, IdentitySource, ResourceSemaphores, Workspace};
use os::memory::Memory;
use os::sync::{Mutex, RwLock};
use plan::IdentityColumn;
use plancache::Cache;
use session::{
    Databases, DdlAnswer, DdlCall, Definitions, ErrorLog, Numbers, PageRequest, Pages,
    PagesRequest, Process, Program, Registry, Rowset, SessionRow, Statistics, Storage,
    TemporaryTables,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use tsql::ast::{self, StatementKind};
use types::{Collation, SqlType, Value};
use work::{Engine, Home, Work};

pub(crate) const DATABASE: DatabaseId = DatabaseId(5);

/// The stored bytes of a row's columns; NULL is none.
type StoredRow = Vec<Option<Vec<u8>>>;

/// Rows of stored fields.
#[derive(Default)]
struct Heap {
    rows: Mutex<Vec<(u64, StoredRow)>>,
    next: AtomicU64,
}

pub(crate) struct Fake {
    engine: Arc<Engine>,
    registry: Arc<Registry>,
    programs: Cache<Program>,
    configuration: session::Configuration,
    view: RwLock<Arc<DatabaseView>>,
    epoch: AtomicU64,
    next_object: AtomicI32,
    hobts: FakeHobts,
    identity: FakeIdentity,
    semaphores: ResourceSemaphores,
    pub(crate) lines: Mutex<Vec<String>>,
    /// Calls of definitions_committing and _undone, in order.
    pub(crate) told: Mutex<Vec<String>>,
}

#[derive(Default)]
struct FakeHobts(Mutex<BTreeMap<HobtId, Arc<Heap>>>);

#[derive(Default)]
struct FakeIdentity(Mutex<BTreeMap<ObjectId, i128>>);

impl Fake {
    pub(crate) fn new() -> Arc<Fake> {
        let memory = Memory::new(64 << 20);
        let clerk = memory.clerk("session tests");
        let system = Arc::new(SystemObjects::default());
        let view = DatabaseView::new(DATABASE, "fake", Collation::default(), system);
        Arc::new(Fake {
            engine: Arc::new(Engine::new(lock::Table::new(&lock::Options::default()))),
            registry: Registry::new(),
            programs: Cache::new(&plancache::Options::default()),
            configuration: session::Configuration::new(&std::collections::BTreeMap::new(), 1024),
            view: RwLock::new(Arc::new(view)),
            epoch: AtomicU64::new(1),
            next_object: AtomicI32::new(100),
            hobts: FakeHobts::default(),
            identity: FakeIdentity::default(),
            semaphores: ResourceSemaphores::new(&memory, &clerk, Workspace::of_limit(64 << 20)),
            lines: Mutex::new(Vec::new()),
            told: Mutex::new(Vec::new()),
        })
    }

    pub(crate) fn sessions(&self) -> Vec<SessionRow> {
        self.registry.list()
    }

    pub(crate) fn cache_counters(&self) -> plancache::Counters {
        self.programs.counters()
    }

    fn change(&self, change: impl FnOnce(DatabaseView) -> DatabaseView) {
        let mut view = self.view.write();
        let version = view.schema_version() + 1;
        *view = Arc::new(change((**view).clone()).at_version(version));
        self.epoch.fetch_add(1, Relaxed);
    }

    fn table(&self, statement: &ast::CreateTable) -> SqlResult<Table> {
        let id = self.next_object.fetch_add(1, Relaxed);
        let temp = statement.name.object.starts_with('#');
        let mut columns = Vec::new();
        for (i, c) in statement.definition.columns.iter().enumerate() {
            let ast::ColumnKind::Typed(name) = &c.kind else { continue };
            columns.push(Column {
                column_id: i as i32 + 1,
                name: c.name.text.clone(),
                sql_type: bind::declared_type(name, 1)?,
                user_type_id: 0,
                nullable: c.nullable != Some(false),
                collation: Collation::default(),
                identity: c.identity.as_ref().map(|_| Identity {
                    seed: 1,
                    increment: 1,
                    not_for_replication: false,
                }),
                row_guid: false,
                default: None,
                computed: None,
                physical: Some(i as u16),
            });
        }
        let hobt = HobtId(id as u32);
        self.hobts.0.lock().insert(hobt, Arc::default());
        let heap = Index {
            index_id: IndexId(0),
            name: "".into(),
            kind: IndexKind::Heap,
            unique: false,
            primary_key: false,
            unique_constraint: false,
            constraint_id: None,
            system_named: false,
            key: Vec::new(),
            included: Vec::new(),
            partitions: catalog::view::Partitions::one(hobt),
            fill_factor: 0,
            auto_fill: None,
            padded: false,
            ignore_dup_key: false,
            disabled: false,
            filter: None,
            gathered: Default::default(),
        };
        Ok(Table {
            database: DATABASE,
            object_id: ObjectId(id),
            schema_id: SchemaId::DBO,
            schema_name: "dbo".into(),
            name: statement.name.object.text.clone(),
            columns,
            indexes: vec![heap],
            statistics: Vec::new(),
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            history: Default::default(),
            properties: Vec::new(),
            is_temp: temp,
        })
    }

    fn drop_object(&self, call: &mut DdlCall<'_>, item: &ast::Drop) -> SqlResult<()> {
        for dropped in &item.items {
            let name = &dropped.name.object.text;
            if let Some(table) = call.temp.find(name).map(|t| t.object_id) {
                call.temp.remove(table);
                continue;
            }
            let found = self.view.read().find(SchemaId::DBO, name);
            match found {
                Some(object) => self.change(|v| v.without_object(object.object_id())),
                None if item.if_exists => {}
                None => {
                    let facts: [&dyn std::fmt::Display; 3] = [&"drop", &"table", name];
                    return Err(SqlError::new(messages::DROP_NOT_FOUND, &facts));
                }
            }
        }
        Ok(())
    }
}

impl Storage for Fake {
    fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    fn hobts(&self) -> &dyn Hobts {
        &self.hobts
    }

    fn spill(&self) -> &dyn Spill {
        &NoSpill
    }

    fn identity(&self) -> &dyn IdentitySource {
        &self.identity
    }

    fn grant(&self) -> GrantTerms<'_> {
        GrantTerms { semaphores: &self.semaphores, workers: None }
    }

    fn home(&self, _: DatabaseId) -> Option<Arc<Home>> {
        None
    }

    fn hobt_size(&self, _: DatabaseId, _: HobtId) -> Option<optimize::Size> {
        None
    }

    fn plan_memory(&self) -> optimize::Memory {
        optimize::Facts::memory(&optimize::NoFacts)
    }
}

impl Process for Fake {
    fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }

    fn programs(&self) -> &Cache<Program> {
        &self.programs
    }

    fn configuration(&self) -> &session::Configuration {
        &self.configuration
    }

    fn keep_configuration(&self) -> SqlResult<()> {
        Ok(())
    }

    fn reconfigure(&self) {
        self.configuration.install();
    }

    fn server_property(&self, name: &str) -> Value {
        match name {
            "SERVERNAME" => Value::nvarchar("fake"),
            "PRODUCTVERSION" => Value::nvarchar("16.0.1000.6"),
            _ => Value::Null,
        }
    }

    fn kill(&self, _: SessionId, target: SessionId) -> SqlResult<()> {
        match self.registry.find(target) {
            Some(entry) => {
                entry.waiter().cancel(os::wait::CancelReason::Kill);
                Ok(())
            }
            None => Err(SqlError::new(messages::KILL_NOT_FOUND, &[&target])),
        }
    }

    fn shutdown(&self, _: bool) -> SqlResult<()> {
        Ok(())
    }
}

impl ErrorLog for Fake {
    fn log(&self, line: &str) {
        self.lines.lock().push(line.to_owned());
    }

    fn error_log(&self, _: u32) -> std::io::Result<Option<(Arc<dyn os::disk::File>, u64)>> {
        Ok(None)
    }

    fn cycle_error_log(&self) -> SqlResult<()> {
        Ok(())
    }
}

impl Databases for Fake {
    fn databases(&self) -> Vec<(DatabaseId, String)> {
        vec![(DATABASE, "fake".to_owned()), (DatabaseId(1), "master".to_owned())]
    }

    fn database_id(&self, name: &str) -> Option<DatabaseId> {
        let all = self.databases();
        all.iter().find(|d| d.1.eq_ignore_ascii_case(name)).map(|d| d.0)
    }

    fn enter_database(
        &self,
        _: &Arc<lock::Owner>,
        _: lock::Timeout,
        name: &str,
        _: Option<DatabaseId>,
    ) -> SqlResult<DatabaseId> {
        let unknown = || SqlError::new(messages::DATABASE_NOT_FOUND, &[&name]);
        self.database_id(name).ok_or_else(unknown)
    }

    fn leave_database(&self, _: &lock::Owner, _: DatabaseId) {}

    fn hold_database(&self, _: &Work, _: DatabaseId) -> SqlResult<()> {
        Ok(())
    }

    fn database_options(&self, _: DatabaseId) -> Option<catalog::DatabaseOptions> {
        None
    }

    fn database_property(&self, _: DatabaseId, _: &str) -> Value {
        Value::Null
    }

    fn files(&self, _: DatabaseId) -> Vec<(u16, String)> {
        vec![(1, "fake".to_owned()), (2, "fake_log".to_owned())]
    }
}

impl Definitions for Fake {
    fn view(&self, _: SessionId, database: DatabaseId) -> Option<Arc<DatabaseView>> {
        match database {
            DATABASE => Some(Arc::clone(&self.view.read())),
            other => {
                let system = Arc::new(SystemObjects::default());
                let view = DatabaseView::new(other, "master", Collation::default(), system);
                Some(Arc::new(view))
            }
        }
    }

    fn schema_version(&self, session: SessionId, database: DatabaseId) -> Option<u64> {
        self.view(session, database).map(|v| v.schema_version())
    }

    fn definitions_epoch(&self) -> u64 {
        self.epoch.load(Relaxed)
    }

    fn definitions_mark(&self, _: SessionId) -> u64 {
        7
    }

    fn definitions_committing(&self, _: SessionId, _: &mut Work) {
        self.told.lock().push("committing".to_owned());
    }

    fn definitions_undone(&self, _: SessionId, mark: u64) {
        self.told.lock().push(format!("undone to {mark}"));
    }

    fn ddl(&self, mut call: DdlCall<'_>) -> SqlResult<DdlAnswer> {
        match &call.statement.kind {
            StatementKind::CreateTable(it) => {
                let table = Arc::new(self.table(it)?);
                if table.is_temp {
                    call.temp.put(table);
                } else {
                    self.change(|v| v.with_object(Object::Table(table)));
                }
            }
            StatementKind::Procedure(it) => {
                let module = Module {
                    object_id: ObjectId(self.next_object.fetch_add(1, Relaxed)),
                    schema_id: SchemaId::DBO,
                    schema_name: "dbo".into(),
                    name: it.name.object.text.clone(),
                    kind: ModuleKind::Procedure,
                    text: call.statement.span.of(tsql::ast::ParsedText::whole(call.text)).into(),
                    quoted_identifier: true,
                    ansi_nulls: true,
                    options: ModuleOptions::default(),
                    columns: Vec::new(),
                    parameters: Vec::new(),
                    properties: Vec::new(),
                    trigger: None,
                    bound: Vec::new(),
                };
                self.change(|v| v.with_object(Object::Module(Arc::new(module))));
            }
            StatementKind::Drop(it) => self.drop_object(&mut call, it)?,
            StatementKind::Checkpoint(_) => {
                panic!("a planted bug");
            }
            other => {
                let what = format!("{other:?}");
                let what = what.split('(').next().unwrap_or("");
                return Err(SqlError::new(messages::NOT_SUPPORTED, &[&what]));
            }
        }
        Ok(DdlAnswer { changed_definitions: true, ..DdlAnswer::default() })
    }
}

impl TemporaryTables for Fake {
    fn declare_table(&self, _: session::DeclareCall<'_>) -> SqlResult<Table> {
        Err(SqlError::new(messages::NOT_SUPPORTED, &[&"DECLARE @t TABLE"]))
    }

    fn make_table(&self, _: &mut Work, _: &Table) -> SqlResult<Arc<Table>> {
        Err(SqlError::new(messages::NOT_SUPPORTED, &[&"DECLARE @t TABLE"]))
    }

    fn empty_table(&self, _: &Table) -> SqlResult<bool> {
        Ok(false)
    }

    fn drop_temp_tables(&self, _: &mut Work, tables: &[Arc<Table>]) -> SqlResult<()> {
        self.told.lock().push(format!("dropped {} temporary tables", tables.len()));
        Ok(())
    }

    fn drop_global(&self, _: &mut Work, _: &[ObjectId]) -> SqlResult<()> {
        Ok(())
    }
}

impl Statistics for Fake {
    fn statistics_terms(&self, _: DatabaseId) -> Option<session::StatisticsTerms> {
        None
    }

    fn gather_statistics(&self, _: session::GatherCall<'_>) -> bool {
        false
    }

    fn update_statistics_later(&self, _: DatabaseId, _: ObjectId, _: &[i32]) {}

    fn rows_changed(&self, _: DatabaseId, _: ObjectId, _: Option<&[i32]>, _: u64) {}
}

impl Numbers for Fake {
    fn identity_current(&self, _: DatabaseId, table: &Table) -> Option<i128> {
        self.identity.0.lock().get(&table.object_id).copied()
    }

    fn next_row_version(&self, _: DatabaseId) -> SqlResult<u64> {
        Ok(1)
    }

    fn row_version(&self, _: DatabaseId) -> u64 {
        0
    }

    fn next_value(&self, _: DatabaseId, sequence: &catalog::view::Sequence) -> SqlResult<i128> {
        Ok(sequence.start)
    }
}

impl Pages for Fake {
    fn clean_ghosts(
        &self,
        _work: &Work,
        _database: DatabaseId,
        _file: Option<FileId>,
        _rest_ns: u64,
    ) -> SqlResult<()> {
        Ok(())
    }

    fn sweep_versions(
        &self,
        _work: &Work,
        _database: DatabaseId,
        _asked: SweepRequest,
    ) -> SqlResult<()> {
        Ok(())
    }

    fn show_page(&self, _work: &Work, ask: &PageRequest) -> SqlResult<DdlAnswer> {
        // Pages are the engine's: the asked one alone is told.
        let told = format!("{ask:?}");
        Ok(DdlAnswer { messages: vec![SqlError::raw(0, 0, 1, told)], ..DdlAnswer::default() })
    }

    fn list_pages(&self, _work: &Work, ask: &PagesRequest) -> SqlResult<Rowset> {
        let (name, index) = (Value::nvarchar(&ask.table.name), Value::BigInt(ask.index));
        let column = |name: &str, sql_type| (name.to_owned(), sql_type, false);
        let columns = vec![column("table", SqlType::SYSNAME), column("index", SqlType::BigInt)];
        Ok(Rowset { columns, rows: vec![vec![name, index]] })
    }
}

impl IdentitySource for FakeIdentity {
    fn next(
        &self,
        _: &mut Work,
        _: DatabaseId,
        object: ObjectId,
        column: &IdentityColumn,
    ) -> SqlResult<i128> {
        let mut last = self.0.lock();
        let next = last.get(&object).map_or(column.seed, |v| v + column.increment);
        last.insert(object, next);
        Ok(next)
    }
    fn given(
        &self,
        _: &mut Work,
        _: DatabaseId,
        object: ObjectId,
        _: &IdentityColumn,
        value: i128,
    ) -> SqlResult<()> {
        self.0.lock().insert(object, value);
        Ok(())
    }
}

impl Hobts for FakeHobts {
    fn hobt(&self, _: DatabaseId, hobt: HobtId) -> SqlResult<Arc<dyn Hobt>> {
        let found = self.0.lock().get(&hobt).map(Arc::clone);
        found
            .map(|h| h as Arc<dyn Hobt>)
            .ok_or_else(|| SqlError::new(messages::INVALID_OBJECT, &[&hobt]))
    }
    fn system_view(
        &self,
        _: DatabaseId,
        object: ObjectId,
        _: &[Value],
        _: &work::Work,
    ) -> SqlResult<Arc<dyn TableSource>> {
        Err(SqlError::new(messages::INVALID_OBJECT, &[&object]))
    }
}

struct NoSpill;

impl Spill for NoSpill {
    fn create(&self) -> SqlResult<Box<dyn SpillFile>> {
        Err(SqlError::new(messages::NOT_SUPPORTED, &[&"spilling"]))
    }
}

struct HeapCursor {
    rows: Vec<(u64, Vec<Option<Vec<u8>>>)>,
    at: Option<usize>,
}

impl TableSource for Heap {
    fn scan(
        &self,
        _: &mut Work,
        _: &ScanRange<'_>,
        _: &LockPlan,
    ) -> SqlResult<Box<dyn RowCursor + '_>> {
        Ok(Box::new(HeapCursor { rows: self.rows.lock().clone(), at: None }))
    }
    fn size(&self) -> SourceSize {
        SourceSize { rows: self.rows.lock().len() as u64, pages: 1 }
    }
}

impl RowCursor for HeapCursor {
    fn next(&mut self, _: &mut Work) -> SqlResult<bool> {
        let at = self.at.map_or(0, |at| at + 1);
        self.at = Some(at);
        Ok(at < self.rows.len())
    }
    fn field(&self, column: usize) -> SqlResult<Field<'_>> {
        let row = &self.rows[self.at.expect("it stands on a row")].1;
        Ok(row[column].as_deref().map_or(Field::Null, Field::Inline))
    }
    fn hint(&self) -> Option<PageHint> {
        None
    }
    fn rid(&self) -> Option<[u8; 8]> {
        Some(self.rows[self.at?].0.to_le_bytes())
    }
    fn release_row(&mut self, _: &mut Work) {}
    fn rewind(&mut self, _: &mut Work, _: &ScanRange<'_>) -> SqlResult<()> {
        self.at = None;
        Ok(())
    }
}

fn owned(row: &[Field<'_>]) -> Vec<Option<Vec<u8>>> {
    row.iter().map(|f| f.inline().map(<[u8]>::to_vec)).collect()
}

impl Heap {
    fn place(&self, key: RowKey<'_>) -> Result<u64, WriteError> {
        let rid = key.fields.first().and_then(|f| f.inline()).ok_or(WriteError::Vanished)?;
        Ok(u64::from_le_bytes(rid.try_into().map_err(|_| WriteError::Vanished)?))
    }
}

impl TableSink for Heap {
    fn insert(
        &self,
        _: &mut Work,
        row: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let id = self.next.fetch_add(1, Relaxed);
        self.rows.lock().push((id, owned(row)));
        Ok(InsertOutcome { rid: Some(id.to_le_bytes()), uniquifier: None })
    }
    fn update(
        &self,
        _: &mut Work,
        key: RowKey<'_>,
        row: &[Field<'_>],
        _: &LockPlan,
    ) -> Result<InsertOutcome, WriteError> {
        let id = self.place(key)?;
        let mut rows = self.rows.lock();
        let found = rows.iter_mut().find(|r| r.0 == id).ok_or(WriteError::Vanished)?;
        found.1 = owned(row);
        Ok(InsertOutcome { rid: Some(id.to_le_bytes()), uniquifier: None })
    }
    fn delete(&self, _: &mut Work, key: RowKey<'_>, _: &LockPlan) -> Result<(), WriteError> {
        let id = self.place(key)?;
        self.rows.lock().retain(|r| r.0 != id);
        Ok(())
    }
}

impl BulkLoad for Heap {
    fn load(&self, _: &mut Work, _: access::Fill) -> SqlResult<Box<dyn Loader + '_>> {
        Err(SqlError::new(messages::NOT_SUPPORTED, &[&"bulk load"]))
    }
}
