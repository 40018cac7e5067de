//! Tables of tempdb that sessions make and drop: temporary tables and table variables.

use crate::session::settings::Settings;
use base::{DatabaseId, ObjectId, SessionId, SqlResult};
use catalog::view::{SchemaId, Table};
use std::sync::Arc;
use tsql::ast;
use work::Work;

/// What makes and drops tables of sessions.
pub trait TemporaryTables: Send + Sync {
    /// The definition of a table variable.
    ///
    /// # Errors
    /// Those of CREATE TABLE.
    fn declare_table(&self, call: DeclareCall<'_>) -> SqlResult<Table>;

    /// A table in tempdb by a definition of [`TemporaryTables::declare_table`]. The transaction is
    /// open; [`TemporaryTables::drop_temp_tables`] drops it.
    ///
    /// # Errors
    /// Space, the log's.
    fn make_table(&self, work: &mut Work, definition: &Table) -> SqlResult<Arc<Table>>;

    /// Takes all rows of a table of [`TemporaryTables::make_table`], whose identity begins anew,
    /// without a transaction: nobody's open one has changed it. `false` where it is too large for
    /// that, and some of it may be gone.
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
}

/// A call of [`TemporaryTables::declare_table`].
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
