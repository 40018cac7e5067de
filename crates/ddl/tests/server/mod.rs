//! A server of two databases in memory, and sessions that run definitions in it.
#![allow(dead_code, reason = "each test uses a part of it")]

#[path = "../../../catalog/tests/fakes/mod.rs"]
mod fakes;

pub(crate) use fakes::FakeDatabase;

use access::{Spill, SpillFile};
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Module, SystemObjects, Table};
use catalog::{Changes, DatabaseOption, Delta, Identities, Ids, Publisher, load};
use ddl::{
    Databases, DdlContext, Expressions, FileChange, FileReference, LogShrinkStop, NewDatabase,
    Place, Places, ResultSet, Setting, Settings, ShrinkOutcome, ShrinkRequest, TempTables,
    WaitLimit, WantedState, execute, setting_of,
};
use exec::{ResourceSemaphores, Workspace};
use os::memory::Memory;
use os::sync::Mutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use types::{Collation, SqlType, Value};
use work::{CommitMode, Engine, Work};

/// One database with all that belongs to it.
pub(crate) struct Site {
    pub(crate) storage: Arc<FakeDatabase>,
    publisher: Publisher,
    ids: Arc<Ids>,
    pub(crate) identities: Arc<Identities>,
}

impl Site {
    fn new(id: u16, name: &str) -> Site {
        let system = Arc::new(SystemObjects::default());
        let view = DatabaseView::new(DatabaseId(id), name, Collation::default(), system);
        Site {
            storage: Arc::new(FakeDatabase::new(id)),
            publisher: Publisher::new(view),
            ids: Arc::default(),
            identities: Arc::default(),
        }
    }
}

/// The server.
pub(crate) struct Server {
    pub(crate) sites: BTreeMap<String, Site>,
    engine: Arc<Engine>,
    suffixes: Mutex<u64>,
    /// What was asked of whole databases.
    pub(crate) asked: Mutex<Vec<String>>,
}

impl Server {
    pub(crate) fn new() -> Arc<Server> {
        let site = |id, name: &str| (name.to_owned(), Site::new(id, name));
        Arc::new(Server {
            sites: BTreeMap::from([site(2, "tempdb"), site(5, "shop")]),
            engine: Arc::clone(fakes::work().engine()),
            suffixes: Mutex::default(),
            asked: Mutex::default(),
        })
    }

    pub(crate) fn view(&self, name: &str) -> Arc<DatabaseView> {
        self.sites[name].publisher.current()
    }

    /// What the system tables say equals what everybody sees.
    pub(crate) fn check_system_tables(&self) {
        let mut work = fakes::work();
        for (name, site) in &self.sites {
            let view = site.publisher.current();
            let system = Arc::new(SystemObjects::default());
            let id = view.id();
            let loaded = load(&*site.storage, &mut work, id, name, system);
            let loaded = loaded.expect("the rows make sense");
            let objects = |v: &DatabaseView| v.objects().cloned().map(in_order).collect::<Vec<_>>();
            assert_eq!(objects(&loaded.view), objects(&view), "in {name}");
            assert_eq!(loaded.view.schemas(), view.schemas());
            let mut hobts: Vec<_> = view.objects().flat_map(hobts_of).collect();
            hobts.sort();
            let places: Vec<_> = loaded.places.keys().copied().collect();
            assert_eq!(places, hobts, "each hobt has its places, and nothing else has");
        }
    }
}

fn hobts_of(object: &catalog::view::Object) -> Vec<base::HobtId> {
    match object {
        catalog::view::Object::Table(t) => t.indexes.iter().map(|i| i.partitions.sole()).collect(),
        _ => Vec::new(),
    }
}

/// Checks come back by id.
fn in_order(object: catalog::view::Object) -> catalog::view::Object {
    match object {
        catalog::view::Object::Table(t) => {
            let mut t = Table::clone(&t);
            t.checks.sort_by_key(|c| c.object_id);
            catalog::view::Object::Table(Arc::new(t))
        }
        other => other,
    }
}

/// Identity values of tests need not survive.
struct NullStore;

impl catalog::IdentityStore for NullStore {
    fn reserve(&self, _: base::HobtId, _: i128) -> SqlResult<()> {
        Ok(())
    }

    fn reserve_at_once(&self, _: base::HobtId, _: i128) -> SqlResult<()> {
        Ok(())
    }
}

impl Places for Server {
    fn open(&self, name: Option<&str>, deltas: &[(DatabaseId, Delta)]) -> Option<Place> {
        let name = name.unwrap_or("shop").to_lowercase();
        let site = self.sites.get(&name)?;
        let id = site.publisher.current().id();
        let own: Vec<Delta> = deltas.iter().filter(|d| d.0 == id).map(|d| d.1.clone()).collect();
        Some(Place {
            view: catalog::preview(&site.publisher.current(), &own),
            builder: Arc::clone(&site.storage) as _,
            system: Arc::clone(&site.storage) as _,
            ids: Arc::clone(&site.ids),
            identities: Arc::clone(&site.identities),
            identity_store: Arc::new(NullStore),
            modifications: Arc::default(),
        })
    }
}

impl Databases for Server {
    fn create(&self, new: &NewDatabase) -> SqlResult<()> {
        if self.sites.contains_key(&*new.name) {
            return Err(SqlError::new(messages::DATABASE_EXISTS, &[&new.name]));
        }
        self.asked.lock().push(format!("{new:?}"));
        Ok(())
    }

    fn drop(&self, name: &str) -> SqlResult<()> {
        if !self.sites.contains_key(name) {
            let args: [&dyn std::fmt::Display; 3] = [&"drop", &"database", &name];
            return Err(SqlError::new(messages::DROP_NOT_FOUND, &args));
        }
        self.asked.lock().push(format!("drop {name}"));
        Ok(())
    }

    fn rename(&self, name: &str, new_name: &str) -> SqlResult<()> {
        self.asked.lock().push(format!("rename {name} {new_name}"));
        Ok(())
    }

    fn set_state(&self, name: &str, asked: WantedState, _: WaitLimit) -> SqlResult<bool> {
        self.asked.lock().push(format!("{name} {}", asked.name()));
        Ok(false)
    }

    fn set_option(
        &self,
        name: &str,
        option: DatabaseOption,
        waiting: WaitLimit,
    ) -> SqlResult<bool> {
        if !self.sites.contains_key(name) {
            let e = SqlError::new(messages::CANNOT_ALTER_DATABASE, &[&name]);
            return Err(e.with_state(5));
        }
        if waiting == WaitLimit::NotAtAll {
            return Err(SqlError::new(messages::ALTER_DATABASE_LOCK, &[&name]));
        }
        Changes::new(&*self.sites[name].storage).put_option(&mut fakes::work(), option)?;
        self.asked.lock().push(format!("{name} {option:?} {waiting:?}"));
        Ok(matches!(waiting, WaitLimit::RollBackAfter(_)))
    }

    fn modify_file(&self, name: &str, change: &FileChange) -> SqlResult<()> {
        self.asked.lock().push(format!("{name} {change:?}"));
        Ok(())
    }

    fn checkpoint(&self, database: DatabaseId) -> SqlResult<()> {
        self.asked.lock().push(format!("checkpoint {database}"));
        Ok(())
    }

    fn check(
        &self,
        _: &mut Work,
        database: DatabaseId,
        check: &ddl::Check,
    ) -> SqlResult<Vec<SqlError>> {
        let table = check.table.map_or(String::new(), |t| format!(" {t}"));
        self.asked.lock().push(format!("check {database} {}{table}", !check.no_index));
        let args: [&dyn std::fmt::Display; 4] = [&"CHECKDB", &0, &0, &database];
        let summary = SqlError::new(messages::CHECKDB_SUMMARY, &args);
        Ok([summary].into_iter().filter(|_| !check.quiet).collect())
    }

    fn clear_statistics(&self, name: &str) -> bool {
        name == "sys.dm_os_wait_stats"
    }

    fn name_of(&self, database: DatabaseId) -> SqlResult<String> {
        let named = if database.0 == 2 { Some("tempdb") } else { None };
        let unknown = || SqlError::new(messages::DATABASE_NOT_FOUND, &[&database]);
        named.map(str::to_owned).ok_or_else(unknown)
    }

    fn log_info(&self, database: DatabaseId) -> SqlResult<ResultSet> {
        self.asked.lock().push(format!("log of {database}"));
        Ok(ResultSet::default())
    }

    fn shrink_file(
        &self,
        database: DatabaseId,
        file: &FileReference,
        asked: ShrinkRequest,
    ) -> SqlResult<ShrinkOutcome> {
        self.asked.lock().push(format!("{file:?} of {database}: {asked:?}"));
        Ok(ShrinkOutcome {
            file: base::FileId(2),
            name: "l".into(),
            before: 4 << 20,
            bytes: 3 << 20,
            first_bytes: 1 << 20,
            used_bytes: 1 << 20,
            needed_bytes: 3 << 20,
            stop: LogShrinkStop::InUse,
        })
    }

    fn log_space(&self) -> ResultSet {
        self.asked.lock().push("all logs".to_owned());
        ResultSet::default()
    }
}

#[derive(Default)]
struct SpillMemory(Vec<Vec<u8>>, usize);

impl Spill for Server {
    fn create(&self) -> SqlResult<Box<dyn SpillFile>> {
        Ok(Box::new(SpillMemory::default()))
    }
}

impl SpillFile for SpillMemory {
    fn append(&mut self, bytes: &[u8]) -> SqlResult<()> {
        self.0.push(bytes.to_vec());
        Ok(())
    }

    fn rewind(&mut self) -> SqlResult<()> {
        self.1 = 0;
        Ok(())
    }

    fn next(&mut self) -> SqlResult<Option<&[u8]>> {
        self.1 += 1;
        Ok(self.0.get(self.1 - 1).map(Vec::as_slice))
    }

    fn bytes(&self) -> u64 {
        0
    }

    fn position(&self) -> u64 {
        self.0.len() as u64
    }

    fn seek(&mut self, position: u64) -> SqlResult<()> {
        self.1 = position as usize;
        Ok(())
    }
}

/// Binds nothing: `nosuch` is a column that no table has, `wrong` a condition no row satisfies.
impl Expressions for Server {
    fn check_default(&self, _: &DatabaseView, text: &str, _: SqlType, _: bool) -> SqlResult<()> {
        match text.contains("nosuch") {
            true => Err(SqlError::new(messages::COLUMN_NOT_PERMITTED, &[&"nosuch"])),
            false => Ok(()),
        }
    }

    fn check_condition(
        &self,
        view: &DatabaseView,
        table: &Table,
        text: &str,
        _: bool,
    ) -> SqlResult<()> {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        let names = words.filter(|w| w.starts_with(|c: char| c.is_alphabetic()));
        for name in names.filter(|n| !["and", "is", "null", "not"].contains(n)) {
            if table.column(name, view.collation()).is_none() {
                return Err(SqlError::new(messages::INVALID_COLUMN, &[&name]));
            }
        }
        Ok(())
    }

    fn default_value(
        &self,
        _: &mut Work,
        _: &DatabaseView,
        text: &str,
        (to, _): (SqlType, types::Collation),
    ) -> SqlResult<Value> {
        let bare = text.trim_matches(['(', ')', '\'']);
        let from = SqlType::nvarchar(4000);
        types::convert(&Value::nvarchar(bare), from, to, 0)
    }

    fn module_columns(&self, _: &DatabaseView, _: &Arc<Module>) -> SqlResult<bind::ModuleColumns> {
        Ok(bind::ModuleColumns::default())
    }

    fn computed_type(&self, _: &DatabaseView, _: &Table, _: &str) -> SqlResult<bind::ComputedType> {
        let (sql_type, collation) = (SqlType::Int, Collation::default());
        let reads = Vec::new();
        let (nullable, deterministic, precise) = (true, true, true);
        let coercibility = bind::Coercibility::default();
        Ok(bind::ComputedType {
            sql_type,
            nullable,
            collation,
            coercibility,
            deterministic,
            precise,
            reads,
        })
    }

    fn user_of(&self, _: &DatabaseView, _: &Table, _: &Module) -> Option<Box<str>> {
        None
    }

    fn fill(
        &self,
        _: &mut Work,
        _: &Arc<DatabaseView>,
        _: ObjectId,
        _: &BTreeSet<usize>,
    ) -> SqlResult<()> {
        Ok(())
    }

    fn any_row(&self, _: &mut Work, _: &Arc<DatabaseView>, query: &str) -> SqlResult<bool> {
        Ok(query.contains("999"))
    }
}

/// A session's temporary tables.
#[derive(Default)]
struct Temp(BTreeMap<String, Arc<Table>>, Option<Arc<Server>>);

impl TempTables for Temp {
    fn find(&self, name: &str) -> Option<Arc<Table>> {
        self.0.get(&name.to_lowercase()).cloned()
    }

    fn put(&mut self, table: Arc<Table>) {
        self.0.insert(table.name.to_lowercase(), table);
    }

    fn is_made_here(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    fn remove(&mut self, table: &Table) {
        self.0.remove(&table.name.to_lowercase());
    }

    fn made_global(&mut self, _: base::ObjectId) {}

    fn next_suffix(&mut self) -> u64 {
        let server = self.1.as_ref().expect("a session has its server");
        let mut suffixes = server.suffixes.lock();
        *suffixes += 1;
        *suffixes
    }
}

/// A session.
pub(crate) struct Session {
    pub(crate) server: Arc<Server>,
    pub(crate) work: Work,
    temp: Temp,
    deltas: Vec<(DatabaseId, Delta)>,
    explicit: bool,
    pub(crate) settings: Settings,
}

impl Session {
    pub(crate) fn new(server: &Arc<Server>, id: i16) -> Session {
        let mut work = fakes::another_work(&server.engine, id);
        end(&mut work);
        work.set_timeout(lock::Timeout::NO_WAIT);
        Session {
            server: Arc::clone(server),
            work,
            temp: Temp(BTreeMap::new(), Some(Arc::clone(server))),
            deltas: Vec::new(),
            explicit: false,
            settings: Settings {
                quoted_identifier: true,
                ansi_nulls: true,
                null_by_default: true,
                dialect: types::datetime::Dialect::default(),
            },
        }
    }

    pub(crate) fn begin(&mut self) {
        self.work.begin(true, "");
        self.explicit = true;
    }

    pub(crate) fn commit(&mut self) {
        for (name, site) in &self.server.sites {
            let id = self.server.view(name).id();
            let own: Vec<_> =
                self.deltas.iter().filter(|d| d.0 == id).map(|d| d.1.clone()).collect();
            site.publisher.publish(&own);
        }
        self.deltas.clear();
        self.explicit = false;
        end(&mut self.work);
    }

    /// The view that the session's transaction has of `shop`.
    pub(crate) fn view(&self) -> Arc<DatabaseView> {
        self.server.open(None, &self.deltas).expect("shop is there").view
    }

    pub(crate) fn table(&self, name: &str) -> Arc<Table> {
        let found = match name.starts_with('#') {
            true => self.temp.find(name),
            false => match self.view().find(catalog::view::SchemaId::DBO, name) {
                Some(catalog::view::Object::Table(t)) => Some(t),
                _ => None,
            },
        };
        found.unwrap_or_else(|| panic!("table {name} is there"))
    }

    pub(crate) fn has_temp(&self, name: &str) -> bool {
        self.temp.find(name).is_some()
    }

    /// Runs a batch: all that the client would be told.
    pub(crate) fn run(&mut self, text: &str) -> Vec<SqlError> {
        let options = tsql::ParseOptions { quoted_identifier: self.settings.quoted_identifier };
        let parsed = tsql::parse(text, options);
        assert!(parsed.errors.is_empty(), "{text}: {:?}", parsed.errors);
        let mut told = Vec::new();
        for statement in &parsed.batch.statements {
            let setting = setting_of(&statement.kind);
            let own = setting == Some(Setting::Transaction) && !self.explicit;
            if own {
                self.work.begin(false, "");
            }
            let server = Arc::clone(&self.server);
            let before: Vec<_> = server.sites.values().map(|s| s.storage.snapshot()).collect();
            let memory = Memory::new(64 << 20);
            let clerk = memory.clerk("MEMORYCLERK_SQLQERESERVATIONS");
            let workspace = Workspace::of_limit(memory.limit_bytes());
            let semaphores = ResourceSemaphores::new(&memory, &clerk, workspace);
            let mut cx = DdlContext {
                work: &mut self.work,
                places: &*server,
                databases: &*server,
                spill: &*server,
                semaphores: &semaphores,
                threads: ddl::Threads::NONE,
                temp: &mut self.temp,
                expressions: &*server,
                settings: self.settings,
                schema: catalog::view::SchemaId::DBO,
                deltas: &mut self.deltas,
                messages: &mut told,
                results: &mut Vec::new(),
            };
            let result = execute(statement, text, &mut cx);
            assert_eq!(memory.reserved_bytes(), 0, "a build gives its memory back");
            if result.is_err() {
                let sites = server.sites.values().zip(before);
                sites.for_each(|(site, then)| site.storage.restore(then));
            }
            if own {
                self.commit();
            }
            if let Err(e) = result {
                told.push(e);
                break;
            }
        }
        told
    }

    /// The numbers of what [`Session::run`] tells.
    pub(crate) fn numbers(&mut self, text: &str) -> Vec<i32> {
        self.run(text).iter().map(SqlError::number).collect()
    }

    /// Runs a batch of which the client hears nothing.
    pub(crate) fn quietly(&mut self, text: &str) {
        let told = self.run(text);
        assert!(told.is_empty(), "{text}: {told:?}");
    }
}

/// Nothing was logged by the fakes.
fn end(work: &mut Work) {
    work.commit(CommitMode::Full).expect("nothing to write");
}
