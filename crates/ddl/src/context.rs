//! The services that a statement needs from its session, from other crates and from the databases.

use crate::build::parallel::Threads;
use crate::databases::Databases;
use access::Spill;
use base::{DatabaseId, ObjectId, SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Module, Object, SchemaId, Table, is_global_temp};
use catalog::{
    Builder, Changes, Delta, Identities, IdentityStore, Ids, Modifications, SystemHobts,
};
use exec::ResourceSemaphores;
use std::collections::BTreeSet;
use std::sync::Arc;
use types::datetime::Dialect;
use types::{Collation, SqlType, Value};
use work::Work;

/// A database as one transaction sees it, and the objects that change it.
#[derive(Clone)]
pub struct Place {
    /// The published definitions with the transaction's own changes.
    pub view: Arc<DatabaseView>,
    /// Makes and drops hobts.
    pub builder: Arc<dyn Builder>,
    /// The system tables.
    pub system: Arc<dyn SystemHobts>,
    /// Draws object ids and hobt ids.
    pub ids: Arc<Ids>,
    /// Identity values.
    pub identities: Arc<Identities>,
    /// Stores identity values before they are given out.
    pub identity_store: Arc<dyn IdentityStore>,
    /// Counts the rows that were changed.
    pub modifications: Arc<Modifications>,
}

/// Finds databases. Implemented by `session`.
pub trait Places {
    /// The database of this name, or the current one without a name. The view contains everything
    /// that was published until now (never an older view), and those of `deltas` that belong to
    /// this database.
    fn open(&self, name: Option<&str>, deltas: &[(DatabaseId, Delta)]) -> Option<Place>;
}

/// The temporary tables that a session sees. Implemented by `session`. When a transaction rolls
/// back, `session` forgets the tables that it had added and restores those that it had removed.
pub trait TempTables {
    /// The table of this name (with `#`). If several nested scopes have one, the innermost.
    fn find(&self, name: &str) -> Option<Arc<Table>>;

    /// Whether the procedure, trigger or text that now runs has itself made a table of that name
    /// (2714).
    fn is_made_here(&self, name: &str) -> bool;

    /// Adds a table, or replaces its definition. The table has its short name.
    fn put(&mut self, table: Arc<Table>);

    /// Removes a table.
    fn remove(&mut self, table: &Table);

    /// A global temporary table was made. It is dropped when the session ends, if it still exists.
    fn made_global(&mut self, table: ObjectId);

    /// A number that no other temporary table of the instance has in its name.
    fn next_suffix(&mut self) -> u64;
}

/// Expressions of defaults and checks. Implemented by `session` with `bind` and `exec`.
pub trait Expressions {
    /// Checks that a column of this type may have this expression as its default.
    ///
    /// # Errors
    /// Those of binding: 128, 207, 257, 1046 …
    fn check_default(
        &self,
        view: &DatabaseView,
        text: &str,
        column: SqlType,
        quoted_identifier: bool,
    ) -> SqlResult<()>;

    /// Checks that a condition may stand in a CHECK constraint of the table.
    ///
    /// # Errors
    /// Those of binding: 207, 1046 …
    fn check_condition(
        &self,
        view: &DatabaseView,
        table: &Table,
        text: &str,
        quoted_identifier: bool,
    ) -> SqlResult<()>;

    /// The type of an expression over a table's columns.
    ///
    /// # Errors
    /// Those of binding: 207, 1046 …
    fn computed_type(
        &self,
        view: &DatabaseView,
        table: &Table,
        text: &str,
    ) -> SqlResult<bind::ComputedType>;

    /// Computes the stored computed columns `columns` of all rows that the table has.
    ///
    /// # Errors
    /// Those of evaluation; 515.
    fn fill(
        &self,
        work: &mut Work,
        view: &Arc<DatabaseView>,
        table: ObjectId,
        columns: &BTreeSet<usize>,
    ) -> SqlResult<()>;

    /// The constraint of the table that uses a module. If a computed column uses it, the name of
    /// the table.
    fn user_of(&self, view: &DatabaseView, table: &Table, module: &Module) -> Option<Box<str>>;

    /// The value of a default, converted to the column's type and code page. Existing rows get it.
    ///
    /// # Errors
    /// Those of evaluation.
    fn default_value(
        &self,
        work: &mut Work,
        view: &DatabaseView,
        text: &str,
        column: (SqlType, Collation),
    ) -> SqlResult<Value>;

    /// The columns that a view or inline function returns and reads. The database need not have
    /// the module yet.
    ///
    /// # Errors
    /// Those of binding its query, reported within the module.
    fn module_columns(
        &self,
        view: &DatabaseView,
        module: &Arc<Module>,
    ) -> SqlResult<bind::ModuleColumns>;

    /// Whether a query returns a row. The view contains the changes that the statement has made so
    /// far.
    ///
    /// # Errors
    /// Those of evaluation.
    fn any_row(&self, work: &mut Work, view: &Arc<DatabaseView>, query: &str) -> SqlResult<bool>;
}

/// SET options that definitions depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// QUOTED_IDENTIFIER
    pub quoted_identifier: bool,
    /// ANSI_NULLS
    pub ansi_nulls: bool,
    /// Whether a column declared without NULL or NOT NULL may be NULL: ANSI_NULL_DFLT_ON, else
    /// the database's option.
    pub null_by_default: bool,
    /// DATEFORMAT
    pub dialect: Dialect,
}

/// Everything that one statement works with.
pub struct DdlContext<'a> {
    /// The transaction.
    pub work: &'a mut Work,
    /// Databases by name.
    pub places: &'a dyn Places,
    /// Statements about whole databases.
    pub databases: &'a dyn Databases,
    /// Makes the files to which sorts spill.
    pub spill: &'a dyn Spill,
    /// Grant memory to sorts.
    pub semaphores: &'a ResourceSemaphores,
    /// The worker threads that may sort for the statement's thread.
    pub threads: Threads<'a>,
    /// The session's temporary tables.
    pub temp: &'a mut dyn TempTables,
    /// Binds and evaluates defaults, checks and computed columns.
    pub expressions: &'a dyn Expressions,
    /// SET options.
    pub settings: Settings,
    /// The schema in which types without a schema are looked up before dbo. Table variables of a
    /// module need it.
    pub schema: SchemaId,
    /// The changes of definitions that the transaction has made so far. The statement adds its
    /// own. If it fails, it leaves the list as it was.
    pub deltas: &'a mut Vec<(DatabaseId, Delta)>,
    /// The messages that the client gets before the statement's end or last error: warnings, and
    /// errors that come before the last one (8111 before 1750).
    pub messages: &'a mut Vec<SqlError>,
    /// The result sets of the statement, in order.
    pub results: &'a mut Vec<ResultSet>,
}

/// Rows that a statement returns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSet {
    /// Name, type, nullable.
    pub columns: Vec<(&'static str, SqlType, bool)>,
    /// Values in order of the columns.
    pub rows: Vec<Vec<Value>>,
}

/// How the statement changed a table.
pub(crate) enum Change<'t> {
    Put {
        before: Option<&'t Table>,
        after: &'t Table,
    },
    /// Only its statistics differ.
    Statistics {
        before: &'t Table,
        after: &'t Table,
    },
    Removed(&'t Table),
}

impl DdlContext<'_> {
    /// The session's options for the parser.
    pub(crate) fn parse_options(&self) -> tsql::ParseOptions {
        tsql::ParseOptions { quoted_identifier: self.settings.quoted_identifier }
    }

    /// The database of this name, or the current one without a name.
    pub(crate) fn place(&self, name: Option<&str>) -> SqlResult<Place> {
        self.places.open(name, self.deltas).ok_or_else(|| {
            SqlError::new(messages::DATABASE_NOT_FOUND, &[&name.unwrap_or_default()])
        })
    }

    /// The error that ends the statement. The client gets `explanation` before it.
    pub(crate) fn after(&mut self, explanation: SqlError, last: SqlError) -> SqlError {
        let line = explanation.line();
        self.messages.push(explanation);
        last.at_line(line)
    }

    /// Writes a table's change to the system tables and adds its delta. A temporary table has two
    /// names: the long one in tempdb, unique in the instance, and the short one in its session.
    pub(crate) fn record(&mut self, place: &Place, change: Change<'_>) -> SqlResult<()> {
        let changes = Changes::new(&*place.system);
        let database = place.view.id();
        match change {
            Change::Put { before, after } => {
                if before.is_none() && is_global_temp(&after.name) {
                    self.temp.made_global(after.object_id);
                }
                let long = self.long_form(place, before, after);
                let stored = before.and_then(|b| place.view.table(b.object_id));
                changes.put_table(self.work, stored.as_deref(), &long)?;
                self.note(database, long, after);
            }
            Change::Statistics { before, after } => {
                let long = self.long_form(place, Some(before), after);
                let stored = place.view.table(before.object_id);
                let stored = stored.as_deref().unwrap_or(before);
                changes.put_statistics(self.work, stored, &long)?;
                self.note(database, long, after);
            }
            Change::Removed(table) => {
                let stored = place.view.table(table.object_id);
                changes.remove_table(self.work, stored.as_deref().unwrap_or(table))?;
                self.deltas.push((database, Delta::RemoveObject(table.object_id)));
                if table.is_temp {
                    self.temp.remove(table);
                }
            }
        }
        Ok(())
    }

    /// Adds a table's new definition to the deltas.
    fn note(&mut self, database: DatabaseId, long: Table, after: &Table) {
        let object = Object::Table(Arc::new(long));
        self.deltas.push((database, Delta::PutObject(object)));
        if after.is_temp {
            self.temp.put(Arc::new(after.clone()));
        }
    }

    fn long_form(&mut self, place: &Place, before: Option<&Table>, after: &Table) -> Table {
        let mut long = after.clone();
        long.forget_orphans();
        if after.is_temp {
            let stored = before.and_then(|b| place.view.table(b.object_id));
            long.name = match stored {
                Some(stored) => stored.name.clone(),
                None => long_temp_name(&after.name, self.temp.next_suffix()),
            };
        }
        long
    }
}

/// The short name, filled with underscores to 116 characters, then 12 hexadecimal digits.
fn long_temp_name(short: &str, suffix: u64) -> Box<str> {
    let fill = 116_usize.saturating_sub(short.chars().count());
    format!("{short}{}{suffix:012X}", "_".repeat(fill)).into()
}

/// The error for a feature that parses but is not supported.
pub(crate) fn unsupported(feature: &str, line: u32) -> SqlError {
    SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]).at_line(line)
}
