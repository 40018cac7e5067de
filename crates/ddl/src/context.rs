//! What a statement needs of its session, and of the databases.

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

/// A database as a transaction sees it, and what changes it.
#[derive(Clone)]
pub struct Place {
    /// The published definitions with the transaction's own changes.
    pub view: Arc<DatabaseView>,
    /// Makes and drops hobts.
    pub builder: Arc<dyn Builder>,
    /// The system tables.
    pub system: Arc<dyn SystemHobts>,
    /// Numbers.
    pub ids: Arc<Ids>,
    /// Identity values.
    pub identities: Arc<Identities>,
    /// Where they are noted before they are given out.
    pub identity_store: Arc<dyn IdentityStore>,
    /// How many rows were changed.
    pub modifications: Arc<Modifications>,
}

/// Finds databases. Implemented by `session`.
pub trait Places {
    /// A database by name, the current one without. The view contains all that was published
    /// until now (never an older view), and of `deltas` those of that database.
    fn open(&self, name: Option<&str>, deltas: &[(DatabaseId, Delta)]) -> Option<Place>;
}

/// The temporary tables that a session sees. Implemented by `session`, which forgets again what a
/// transaction that rolls back had added, and brings back what it had removed.
pub trait TempTables {
    /// By name, with `#`: the innermost that is seen.
    fn find(&self, name: &str) -> Option<Arc<Table>>;

    /// Whether the procedure, trigger or text that runs has made one of that name itself (2714).
    fn is_made_here(&self, name: &str) -> bool;

    /// A new table, or the new definition of one. Its name is the short one.
    fn put(&mut self, table: Arc<Table>);

    /// A table is gone.
    fn remove(&mut self, table: &Table);

    /// A global temporary table was made: it goes with the session, where it is still there.
    fn made_global(&mut self, table: ObjectId);

    /// A number that no other temporary table of the instance has in its name.
    fn next_suffix(&mut self) -> u64;
}

/// Expressions of defaults and checks. Implemented by `session` with `bind` and `exec`.
pub trait Expressions {
    /// Whether a default's expression is one that a column of this type may have.
    ///
    /// # Errors
    /// What binding says: 128, 207, 257, 1046 …
    fn check_default(
        &self,
        view: &DatabaseView,
        text: &str,
        column: SqlType,
        quoted_identifier: bool,
    ) -> SqlResult<()>;

    /// Whether a condition may stand in a CHECK constraint of the table.
    ///
    /// # Errors
    /// What binding says: 207, 1046 …
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
    /// What binding says: 207, 1046 …
    fn computed_type(
        &self,
        view: &DatabaseView,
        table: &Table,
        text: &str,
    ) -> SqlResult<bind::ComputedType>;

    /// Computes stored computed columns of a table in the rows that are there.
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

    /// The constraint that names a module, or the table where it is a computed column.
    fn user_of(&self, view: &DatabaseView, table: &Table, module: &Module) -> Option<Box<str>>;

    /// The value of a default, converted to the column's type and code page: for rows that are
    /// there already.
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

    /// The columns that a view or inline function offers and reads, in a database that does not
    /// have it yet.
    ///
    /// # Errors
    /// What binding its query says, within the module.
    fn module_columns(
        &self,
        view: &DatabaseView,
        module: &Arc<Module>,
    ) -> SqlResult<bind::ModuleColumns>;

    /// Whether a query in a database has a row. The view is what the statement made of it so far.
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
    /// A column that says nothing may hold NULL: ANSI_NULL_DFLT_ON, else the database's option.
    pub null_by_default: bool,
    /// DATEFORMAT
    pub dialect: Dialect,
}

/// What one statement works with.
pub struct DdlContext<'a> {
    /// The transaction.
    pub work: &'a mut Work,
    /// Databases by name.
    pub places: &'a dyn Places,
    /// Databases as a whole.
    pub databases: &'a dyn Databases,
    /// Where sorts spill.
    pub spill: &'a dyn Spill,
    /// Who grants them memory.
    pub semaphores: &'a ResourceSemaphores,
    /// Who sorts beside the statement's thread.
    pub threads: Threads<'a>,
    /// The session's temporary tables.
    pub temp: &'a mut dyn TempTables,
    /// Defaults and checks.
    pub expressions: &'a dyn Expressions,
    /// SET options.
    pub settings: Settings,
    /// Where types without schema are looked for before dbo: of table variables in a module.
    pub schema: SchemaId,
    /// All that the transaction changed so far; the statement adds its own. When it fails, it
    /// leaves them as they were.
    pub deltas: &'a mut Vec<(DatabaseId, Delta)>,
    /// What the client is told before the statement's end or error: warnings, and errors that
    /// come before the last one (8111 before 1750).
    pub messages: &'a mut Vec<SqlError>,
    /// The result sets of the statement, in order.
    pub results: &'a mut Vec<ResultSet>,
}

/// Rows that a statement answers with.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResultSet {
    /// Name, type, nullable.
    pub columns: Vec<(&'static str, SqlType, bool)>,
    /// Values in order of the columns.
    pub rows: Vec<Vec<Value>>,
}

/// How the statement changed a table's name in the session.
pub(crate) enum Change<'t> {
    Put {
        before: Option<&'t Table>,
        after: &'t Table,
    },
    /// Nothing but its statistics differs.
    Statistics {
        before: &'t Table,
        after: &'t Table,
    },
    Removed(&'t Table),
}

impl DdlContext<'_> {
    /// How the session's texts are read.
    pub(crate) fn parse_options(&self) -> tsql::ParseOptions {
        tsql::ParseOptions { quoted_identifier: self.settings.quoted_identifier }
    }

    /// A database by name, the current one without.
    pub(crate) fn place(&self, name: Option<&str>) -> SqlResult<Place> {
        self.places.open(name, self.deltas).ok_or_else(|| {
            SqlError::new(messages::DATABASE_NOT_FOUND, &[&name.unwrap_or_default()])
        })
    }

    /// The error to end with, after another one that explains it.
    pub(crate) fn after(&mut self, explanation: SqlError, last: SqlError) -> SqlError {
        let line = explanation.line();
        self.messages.push(explanation);
        last.at_line(line)
    }

    /// Writes a table's change and notes it. A temporary table has two names: the long one in
    /// tempdb, unique in the instance, and the short one in its session.
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

    /// Remembers a table's new definition.
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

/// `#t`, filled with underscores to 116 characters, then 12 hexadecimal digits.
fn long_temp_name(short: &str, suffix: u64) -> Box<str> {
    let fill = 116_usize.saturating_sub(short.chars().count());
    format!("{short}{}{suffix:012X}", "_".repeat(fill)).into()
}

/// The error for a feature that parses and is not supported.
pub(crate) fn unsupported(feature: &str, line: u32) -> SqlError {
    SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]).at_line(line)
}
