//! Definitions, and the statements that change them.
//!
//! A session sees its own uncommitted definitions; every other session sees the committed ones. For
//! this the host keeps an overlay for each session. The session tells the host when the transaction
//! that made the overlay ends.

use crate::host::rowset::Rowset;
use crate::session::settings::Settings;
use crate::tables::temp::TempTables;
use base::{DatabaseId, SessionId, SqlError, SqlResult};
use catalog::view::DatabaseView;
use std::sync::Arc;
use tsql::ast;
use types::Value;
use work::Work;

/// Definitions as a session sees them.
pub trait Definitions: Send + Sync {
    /// A database's definitions as this session sees them.
    fn view(&self, session: SessionId, database: DatabaseId) -> Option<Arc<DatabaseView>>;

    /// [`DatabaseView::schema_version`] of [`Definitions::view`], without making the view.
    fn schema_version(&self, session: SessionId, database: DatabaseId) -> Option<u64>;

    /// A number that changes whenever any answer of [`Definitions::schema_version`] may have
    /// changed: one atomic load. A plan that was found current at this number needs no second
    /// check.
    fn definitions_epoch(&self) -> u64;

    /// The state of the session's uncommitted definitions, for [`Definitions::definitions_undone`].
    fn definitions_mark(&self, session: SessionId) -> u64;

    /// The session is about to commit, which publishes its definitions. Nobody uses them before the
    /// commit has released its schema locks, and no transaction that reads as of an earlier moment
    /// uses them.
    fn definitions_committing(&self, session: SessionId, work: &mut Work);

    /// The session's transaction was rolled back to a mark (0 for its start), or its commit failed.
    fn definitions_undone(&self, session: SessionId, mark: u64);

    /// Runs a statement that defines or administers something: CREATE, ALTER, DROP, TRUNCATE, DBCC,
    /// CHECKPOINT, RECONFIGURE, permissions. A transaction is open, the statement's or the user's,
    /// except for statements that [`needs_no_transaction`] names.
    ///
    /// # Errors
    /// Any error of the statement; the session then rolls the statement's changes back.
    fn ddl(&self, call: DdlCall<'_>) -> SqlResult<DdlAnswer>;
}

/// Whether a statement manages its own transactions and is refused within the user's transaction
/// (226, 574).
pub fn needs_no_transaction(statement: &ast::Statement) -> bool {
    use ast::StatementKind as K;
    match &statement.kind {
        K::CreateDatabase(_) | K::AlterDatabase(_) | K::Checkpoint(_) | K::Dbcc(_) => true,
        K::Reconfigure { .. } | K::Shutdown { .. } | K::AlterServerConfiguration(_) => true,
        K::Drop(d) => d.kind == ast::DropKind::Database,
        _ => false,
    }
}

/// A call of [`Definitions::ddl`].
pub struct DdlCall<'a> {
    /// The session.
    pub session: SessionId,
    /// Its current database.
    pub database: DatabaseId,
    /// The statement.
    pub statement: &'a ast::Statement,
    /// The table of a SELECT INTO: the call makes only this table.
    pub into: Option<&'a bind::IntoTable>,
    /// A call of a system procedure that defines something: only this is done.
    pub procedure: Option<&'a ProcedureCall>,
    /// The text that the statement's spans point into.
    pub text: &'a str,
    /// The session's transaction.
    pub work: &'a mut Work,
    /// The owner of the S lock on the session's database.
    pub workspace: &'a Arc<lock::Owner>,
    /// The temporary tables that the session sees; CREATE TABLE `#t` adds, DROP TABLE removes.
    pub temp: &'a mut TempTables,
    /// SET options.
    pub settings: &'a Settings,
    /// The workers that an index build may use.
    pub parallelism: optimize::Parallelism,
    /// Values of the variables that the statement names (DBCC and CHECKPOINT accept some).
    pub variables: &'a dyn Fn(&str) -> Option<Value>,
}

/// A call of a system procedure that defines something, or another change of definitions that
/// no statement of DDL makes.
#[derive(Clone, Debug, PartialEq)]
pub enum ProcedureCall {
    /// INSERT BULK without CHECK_CONSTRAINTS: the table's constraints become untrusted.
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
    /// The old name, possibly qualified.
    pub name: ast::ObjectName,
    /// The new one, without qualifiers.
    pub new_name: String,
    /// OBJECT, COLUMN, INDEX …, as written.
    pub kind: Option<String>,
}

/// A call of sp_settriggerorder.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerOrderCall {
    /// The trigger, possibly qualified.
    pub name: ast::ObjectName,
    /// When it is to fire.
    pub order: ddl::TriggerOrder,
    /// The statement that fires it.
    pub event: catalog::view::Events,
}

/// What a statement of [`Definitions::ddl`] answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DdlAnswer {
    /// Messages of severity 10 and below, after the rows.
    pub messages: Vec<SqlError>,
    /// Result sets.
    pub results: Vec<Rowset>,
    /// Whether the statement changed definitions in the open transaction. The host must then be
    /// told how the transaction ends.
    pub changed_definitions: bool,
    /// The work that worker threads did for it.
    pub did: exec::MakersWork,
}
