//! `Host`: what a session needs of the process it lives in. `instance` implements it.
//!
//! Definitions: a session sees its own uncommitted ones, everybody else the committed ones. The
//! host keeps an overlay per session for that; the session tells it when the transaction that made
//! the overlay ends.

pub(crate) mod configuration;
pub(crate) mod page_ask;

use crate::host::configuration::Configuration;
use crate::host::page_ask::{PageAsk, PagesAsk};
use crate::program::steps::Program;
use crate::session::registry::Registry;
use crate::session::settings::Settings;
use crate::tables::temp::TempTables;
use access::{Hobts, Spill};
use base::{DatabaseId, FileId, HobtId, ObjectId, SessionId, SqlError, SqlResult};
use catalog::view::{DatabaseView, SchemaId, Sequence, Table};
use catalog::{DatabaseOptions, Modifications};
use ddl::WantedStatistics;
use exec::{GrantTerms, IdentitySource};
use os::wait::Waiter;
use plancache::Cache;
use std::sync::Arc;
use tsql::ast;
use types::{SqlType, Value};
use work::{Engine, Home, Work};

/// The process around sessions.
pub trait Host: Send + Sync {
    /// What all units of work share.
    fn engine(&self) -> &Arc<Engine>;

    /// Heaps, indexes and system views by id.
    fn hobts(&self) -> &dyn Hobts;

    /// Spill files in tempdb.
    fn spill(&self) -> &dyn Spill;

    /// Identity values.
    fn identity(&self) -> &dyn IdentitySource;

    /// Memory of one statement's sorts and hashes.
    fn grant(&self) -> GrantTerms<'_>;

    /// All sessions, for the DMVs.
    fn registry(&self) -> &Arc<Registry>;

    /// Compiled batches, prepared statements and procedures.
    fn programs(&self) -> &Cache<Program>;

    /// Options of the server.
    fn configuration(&self) -> &Configuration;

    /// What was configured is to be there after a restart.
    ///
    /// # Errors
    /// The disk's.
    fn keep_configuration(&self) -> SqlResult<()>;

    /// RECONFIGURE: what was configured holds from now on.
    fn reconfigure(&self);

    /// The options of a database; `None` when it is not open.
    fn database_options(&self, database: DatabaseId) -> Option<DatabaseOptions>;

    /// Whether READ_COMMITTED_SNAPSHOT is on in a database.
    fn reads_versions(&self, _database: DatabaseId) -> bool {
        false
    }

    /// A line of the error log.
    fn log(&self, line: &str);

    /// A file of the error log and where it ends now: 0 is the one that is written, 1 the one
    /// before. `None` where there is none.
    ///
    /// # Errors
    /// The operating system's.
    fn error_log(&self, number: u32) -> std::io::Result<Option<(Arc<dyn os::disk::File>, u64)>>;

    /// Begins a new error log; those before are kept as far as they are now.
    ///
    /// # Errors
    /// 17049
    fn cycle_error_log(&self) -> SqlResult<()>;

    /// Removes the ghosts of a database, or of one of its data files, that nobody needs any more,
    /// and rests so long behind each page.
    ///
    /// # Errors
    /// 911, 8985 for an unknown file; damaged pages, a full log; cancellation.
    fn clean_ghosts(
        &self,
        work: &Work,
        database: DatabaseId,
        file: Option<FileId>,
        rest_ns: u64,
    ) -> SqlResult<()>;

    /// What DBCC PAGE shows: a result set, or messages.
    ///
    /// # Errors
    /// 2514, 2521, 2560, 8968; damaged pages.
    fn show_page(&self, work: &Work, ask: &PageAsk) -> SqlResult<DdlAnswer>;

    /// What DBCC IND lists.
    ///
    /// # Errors
    /// 2560; damaged maps.
    fn list_pages(&self, work: &Work, ask: &PagesAsk) -> SqlResult<Rowset>;

    /// Every database, open or not, by id.
    fn databases(&self) -> Vec<(DatabaseId, String)>;

    /// A database by name in any case, open or not.
    fn database_id(&self, name: &str) -> Option<DatabaseId>;

    /// What whoever asks for a database is told when it is there and not open.
    fn refused_database(&self, name: &str) -> Option<SqlError> {
        let _ = name;
        None
    }

    /// Whether a session could use a database; `None` when there is none.
    fn has_access(&self, session: SessionId, name: &str) -> Option<bool> {
        let _ = session;
        self.database_id(name).map(|_| true)
    }

    /// A session makes a database its own, or leaves it for another: `workspace` holds S on the
    /// one it is in, so that it is not dropped.
    ///
    /// # Errors
    /// 911 for an unknown name, 924, 926, 942, 945, 1222, cancellation.
    fn enter_database(
        &self,
        workspace: &Arc<lock::Owner>,
        timeout: lock::Timeout,
        name: &str,
        leaves: Option<DatabaseId>,
    ) -> SqlResult<DatabaseId>;

    /// The session ends: it leaves its database.
    fn leave_database(&self, workspace: &lock::Owner, database: DatabaseId);

    /// The transaction of a unit of work uses another database than its session's: it holds S on
    /// it to its end.
    ///
    /// # Errors
    /// 1222, 1205, cancellation; 911 when it has been dropped.
    fn hold_database(&self, work: &Work, database: DatabaseId) -> SqlResult<()>;

    /// A database as units of work see it.
    fn home(&self, database: DatabaseId) -> Option<Arc<Home>>;

    /// A database's definitions as this session sees them.
    fn view(&self, session: SessionId, database: DatabaseId) -> Option<Arc<DatabaseView>>;

    /// [`DatabaseView::schema_version`] of [`Host::view`], without making it.
    fn schema_version(&self, session: SessionId, database: DatabaseId) -> Option<u64>;

    /// Moves whenever any answer of [`Host::schema_version`] may have changed: one atomic load. A
    /// statement whose plan was checked at this number is not checked again.
    fn definitions_epoch(&self) -> u64;

    /// How far the session's uncommitted definitions have come; for [`Host::definitions_undone`].
    fn definitions_mark(&self, session: SessionId) -> u64;

    /// The session is about to commit: its definitions become everybody's. They are not used before
    /// the commit has given its schema locks back, nor by transactions that read as of an earlier
    /// moment.
    fn definitions_committing(&self, session: SessionId, work: &mut Work);

    /// The session's transaction was rolled back to a mark, 0 for its begin, or its commit failed.
    fn definitions_undone(&self, session: SessionId, mark: u64);

    /// Runs a statement that defines or administers something: CREATE, ALTER, DROP, TRUNCATE, DBCC,
    /// CHECKPOINT, RECONFIGURE, permissions. The transaction is open (of the statement or the
    /// user's), except for statements that [`needs_no_transaction`] names.
    ///
    /// # Errors
    /// Whatever is wrong; what was changed is then rolled back by the session.
    fn ddl(&self, call: DdlCall<'_>) -> SqlResult<DdlAnswer>;

    /// The definition of a table variable.
    ///
    /// # Errors
    /// Those of CREATE TABLE.
    fn declare_table(&self, call: DeclareCall<'_>) -> SqlResult<Table>;

    /// A table in tempdb by a definition of [`Host::declare_table`]. The transaction is open;
    /// [`Host::drop_temp_tables`] drops it.
    ///
    /// # Errors
    /// Space, the log's.
    fn make_table(&self, work: &mut Work, definition: &Table) -> SqlResult<Arc<Table>>;

    /// Takes all rows of a table of [`Host::make_table`], whose identity begins anew, without a
    /// transaction: nobody's open one has changed it. `false` where it is too large for that, and
    /// some of it may be gone.
    ///
    /// # Errors
    /// The log's; the same holds.
    fn empty_table(&self, table: &Table) -> SqlResult<bool>;

    /// The pages of temporary tables whose scope ended. The transaction is open.
    ///
    /// # Errors
    /// The log's.
    fn drop_temp_tables(&self, work: &mut Work, tables: &[Arc<Table>]) -> SqlResult<()>;

    /// Drops global temporary tables as the session that made them ends: those that are still
    /// there, once nobody else's statement or transaction uses them. The transaction is open.
    ///
    /// # Errors
    /// The log's; a cancellation while it waits.
    fn drop_global(&self, work: &mut Work, tables: &[ObjectId]) -> SqlResult<()>;

    /// How a database wants its statistics; `None` when it is not open.
    fn statistics_terms(&self, database: DatabaseId) -> Option<StatisticsTerms>;

    /// Makes statistics in a transaction of its own, which waits for nobody; whether there are new
    /// ones. What goes wrong is nobody's trouble.
    fn gather_statistics(&self, call: GatherCall<'_>) -> bool;

    /// Statistics of some columns of a table are stale: they are made anew in the background.
    fn update_statistics_later(&self, database: DatabaseId, table: ObjectId, columns: &[i32]);

    /// A statement has changed rows of a table: in columns, by their ids, or rows came or went.
    fn rows_changed(
        &self,
        database: DatabaseId,
        table: ObjectId,
        columns: Option<&[i32]>,
        rows: u64,
    );

    /// KILL.
    ///
    /// # Errors
    /// 6104, 6106.
    fn kill(&self, by: SessionId, target: SessionId) -> SqlResult<()>;

    /// SHUTDOWN: begins to stop the server.
    ///
    /// # Errors
    /// When it must not.
    fn shutdown(&self, nowait: bool) -> SqlResult<()>;

    /// SERVERPROPERTY; NULL for what it does not know. Name in upper case.
    fn server_property(&self, name: &str) -> Value;

    /// DATABASEPROPERTYEX; NULL for what it does not know. Name in upper case.
    fn database_property(&self, database: DatabaseId, name: &str) -> Value;

    /// FILE_ID, FILE_NAME: number and logical name of each file.
    fn files(&self, database: DatabaseId) -> Vec<(u16, String)>;

    /// How large a heap or index is; none where it is gone, or could not be read.
    fn hobt_size(&self, database: DatabaseId, hobt: HobtId) -> Option<optimize::Size>;

    /// The memory that plans are chosen for.
    fn plan_memory(&self) -> optimize::Memory;

    /// IDENT_CURRENT: the last value given, or the seed.
    fn identity_current(&self, database: DatabaseId, table: &Table) -> Option<i128>;

    /// The next rowversion of a database.
    ///
    /// # Errors
    /// Those of reserving more of them.
    fn next_row_version(&self, database: DatabaseId) -> SqlResult<u64>;

    /// The last rowversion that a database has given: `@@DBTS`.
    fn row_version(&self, database: DatabaseId) -> u64;

    /// The next value of a sequence.
    ///
    /// # Errors
    /// 11728; space, log.
    fn next_value(&self, database: DatabaseId, sequence: &Sequence) -> SqlResult<i128>;
}

/// AUTO_CREATE_STATISTICS and its like, and what they are judged by.
pub struct StatisticsTerms {
    /// AUTO_CREATE_STATISTICS
    pub create: bool,
    /// AUTO_UPDATE_STATISTICS
    pub update: bool,
    /// AUTO_UPDATE_STATISTICS_ASYNC
    pub asynchronous: bool,
    /// Rows that were changed.
    pub modifications: Arc<Modifications>,
}

/// A call of [`Host::gather_statistics`].
pub struct GatherCall<'a> {
    /// The session.
    pub session: SessionId,
    /// Where its request waits, and is cancelled.
    pub waiter: Arc<Waiter>,
    /// The table's database.
    pub database: DatabaseId,
    /// The temporary tables that the session sees.
    pub temp: &'a mut TempTables,
    /// What is wanted.
    pub wanted: &'a WantedStatistics,
}

/// Whether a statement manages its own transactions and is refused within the user's (226, 574).
pub fn needs_no_transaction(statement: &ast::Statement) -> bool {
    use ast::StatementKind as K;
    match &statement.kind {
        K::CreateDatabase(_) | K::AlterDatabase(_) | K::Checkpoint(_) | K::Dbcc(_) => true,
        K::Reconfigure { .. } | K::Shutdown { .. } | K::AlterServerConfiguration(_) => true,
        K::Drop(d) => d.kind == ast::DropKind::Database,
        _ => false,
    }
}

/// A call of [`Host::ddl`].
pub struct DdlCall<'a> {
    /// The session.
    pub session: SessionId,
    /// Its current database.
    pub database: DatabaseId,
    /// The statement.
    pub statement: &'a ast::Statement,
    /// The table of a SELECT INTO: it alone is to be made.
    pub into: Option<&'a bind::IntoTable>,
    /// A call of a system procedure that defines something: it alone is to be done.
    pub procedure: Option<&'a ProcedureCall>,
    /// The text that the statement's spans point into.
    pub text: &'a str,
    /// The session's transaction.
    pub work: &'a mut Work,
    /// Holds S on the database that the session is in.
    pub workspace: &'a Arc<lock::Owner>,
    /// The temporary tables that the session sees; CREATE TABLE `#t` adds, DROP TABLE removes.
    pub temp: &'a mut TempTables,
    /// SET options.
    pub settings: &'a Settings,
    /// What an index build may have of workers.
    pub parallelism: optimize::Parallelism,
    /// Values of the variables that the statement names (DBCC, CHECKPOINT take some).
    pub variables: &'a dyn Fn(&str) -> Option<Value>,
}

/// A call of a system procedure that defines something, or another change of definitions that
/// no statement of DDL makes.
#[derive(Clone, Debug, PartialEq)]
pub enum ProcedureCall {
    /// INSERT BULK without CHECK_CONSTRAINTS: the table's constraints are not trusted any more.
    Distrust(ast::ObjectName),
    /// sp_rename
    Rename(RenameCall),
    /// sp_addextendedproperty and its kin
    Property(ddl::PropertyChange),
    /// sp_settriggerorder
    TriggerOrder(TriggerOrderCall),
}

/// A call of sp_rename.
#[derive(Clone, Debug, PartialEq)]
pub struct RenameCall {
    /// The old name, qualified perhaps.
    pub name: ast::ObjectName,
    /// The new one, without qualifiers.
    pub new_name: String,
    /// OBJECT, COLUMN, INDEX …, as written.
    pub kind: Option<String>,
}

/// A call of sp_settriggerorder.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerOrderCall {
    /// The trigger, qualified perhaps.
    pub name: ast::ObjectName,
    /// When it is to fire.
    pub order: ddl::TriggerOrder,
    /// For one statement.
    pub event: catalog::view::Events,
}

/// A call of [`Host::declare_table`].
pub struct DeclareCall<'a> {
    /// The session.
    pub session: SessionId,
    /// Its current database.
    pub database: DatabaseId,
    /// Where types without schema are looked for before dbo.
    pub schema: SchemaId,
    /// Its unit of work; nothing is changed in it.
    pub work: &'a mut Work,
    /// The variable's name with `@`.
    pub name: &'a str,
    /// Its number among the table variables of its text.
    pub number: u16,
    /// What stands behind TABLE.
    pub definition: &'a ast::TableDefinition,
    /// The text that the definition's spans point into.
    pub text: &'a str,
    /// SET options.
    pub settings: &'a Settings,
}

/// A result set of a statement that is no query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rowset {
    /// Name, type, nullable.
    pub columns: Vec<(String, SqlType, bool)>,
    /// Values in order of the columns.
    pub rows: Vec<Vec<Value>>,
}

/// What a statement of [`Host::ddl`] answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DdlAnswer {
    /// Messages of severity 10 and below, after the rows.
    pub messages: Vec<SqlError>,
    /// Result sets.
    pub results: Vec<Rowset>,
    /// The statement changed definitions under the open transaction: its end is told to the host.
    pub changed_definitions: bool,
    /// What workers did for it.
    pub did: exec::MakersDid,
}
