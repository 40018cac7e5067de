//! Tables of tempdb that sessions make and drop: temporary tables and table variables.

use crate::session::settings::Settings;
use base::{DatabaseId, ObjectId, SessionId, SqlResult};
use catalog::view::{SchemaId, Table};
use std::sync::Arc;
use tsql::ast;
use work::Work;

/// Makes and drops the temporary tables of sessions.
pub trait TemporaryTables: Send + Sync {
    /// The definition of a table variable.
    ///
    /// # Errors
    /// Those of CREATE TABLE.
    fn declare_table(&self, call: DeclareCall<'_>) -> SqlResult<Table>;

    /// Makes a table in tempdb from a definition of [`TemporaryTables::declare_table`]. A
    /// transaction is open. [`TemporaryTables::drop_temp_tables`] drops the table.
    ///
    /// # Errors
    /// Errors of space and of the log.
    fn make_table(&self, work: &mut Work, definition: &Table) -> SqlResult<Arc<Table>>;

    /// Removes all rows of a table of [`TemporaryTables::make_table`] and resets its identity,
    /// without a transaction. No open transaction may have changed the table. Returns `false` if
    /// the table is too large for this; part of its rows may be gone then.
    ///
    /// # Errors
    /// Errors of the log; the same applies.
    fn empty_table(&self, table: &Table) -> SqlResult<bool>;

    /// Frees the pages of temporary tables whose scope has ended. A transaction is open.
    ///
    /// # Errors
    /// Errors of the log.
    fn drop_temp_tables(&self, work: &mut Work, tables: &[Arc<Table>]) -> SqlResult<()>;

    /// Drops the global temporary tables of a session that ends, if they still exist, once no other
    /// session's statement or transaction uses them. A transaction is open.
    ///
    /// # Errors
    /// Errors of the log; a cancellation while it waits.
    fn drop_global(&self, work: &mut Work, tables: &[ObjectId]) -> SqlResult<()>;
}

/// A call of [`TemporaryTables::declare_table`].
pub struct DeclareCall<'a> {
    /// The session.
    pub session: SessionId,
    /// Its current database.
    pub database: DatabaseId,
    /// The schema in which types without schema are looked up before dbo.
    pub schema: SchemaId,
    /// The session's unit of work; the call changes nothing in it.
    pub work: &'a mut Work,
    /// The variable's name with `@`.
    pub name: &'a str,
    /// Its number among the table variables of its text.
    pub number: u16,
    /// The definition that follows TABLE.
    pub definition: &'a ast::TableDefinition,
    /// The text that the definition's spans point into.
    pub text: &'a str,
    /// SET options.
    pub settings: &'a Settings,
}
