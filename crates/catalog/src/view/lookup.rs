//! From a name in a statement to a definition.
//!
//! ```text
//! #t          a temporary table of the session, whatever schema or database stands before it
//! t           the module's schema, in a module; dbo, then sys (system functions and views may go
//!             without their schema)
//! s.t         schema s; any database has schema sys
//! dbo.v       in schema dbo; a compatibility view (sysobjects) of sys where dbo has no such object
//! d.s.t       database d
//! d..t        database d, schema dbo, then sys
//! ```

use super::{DatabaseView, Object, SchemaId, Table, VirtualTable};
use base::{DatabaseId, ObjectId, SqlResult};
use std::sync::Arc;
use types::Collation;

/// What resolving names needs from a session. Implemented by `session`.
pub trait Catalogs {
    /// The current database.
    fn current(&self) -> Arc<DatabaseView>;

    /// Where a name without schema is looked for before dbo: of a module's text its own schema.
    fn first_schema(&self) -> SchemaId {
        SchemaId::DBO
    }

    /// Another database, by name in any case.
    fn database(&self, name: &str) -> Option<Arc<DatabaseView>>;

    /// A temporary table that the session sees, by its name with `#`.
    fn temp_table(&self, name: &str) -> Option<Arc<Table>>;

    /// A table variable, by its name with `@`.
    fn table_variable(&self, name: &str) -> Option<Arc<Table>>;

    /// How a table variable was declared, by its name with `@`.
    fn declared_table(&self, name: &str) -> DeclaredTable;

    /// The unique keys of the tables that an updatable cursor reads: database, table, ordinals.
    ///
    /// # Errors
    /// 16916, 16950 for no cursor, 16929 for a read-only one.
    fn cursor_keys(&self, name: &str, global: bool) -> SqlResult<Vec<RowKey>>;

    /// Whether a trigger is running.
    fn is_firing(&self, database: DatabaseId, trigger: ObjectId) -> bool;
}

/// A table of a cursor, and the ordinals of a unique key's columns.
pub type RowKey = (DatabaseId, ObjectId, Vec<usize>, bool);

/// How a table variable was declared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeclaredTable {
    /// The table type that it is of: its number and its name.
    pub of_type: Option<(i32, Box<str>)>,
    /// A table-valued parameter.
    pub read_only: bool,
}

/// A name of up to three parts. The parts are without delimiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectName<'a> {
    /// `d` of `d.s.t`
    pub database: Option<&'a str>,
    /// `s` of `s.t`
    pub schema: Option<&'a str>,
    /// `t`
    pub object: &'a str,
}

/// A definition and the database it was found in.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedObject {
    /// The database whose version a plan depends on.
    pub database: Arc<DatabaseView>,
    /// The definition.
    pub object: Object,
}

/// Whether a name is of a global temporary table: one of tempdb, seen by every session, that goes
/// with the session that made it.
pub fn is_global_temp(name: &str) -> bool {
    name.starts_with("##")
}

/// Follows a synonym to what it stands for. One that stands for nothing is given back: its user
/// says 5313, or 470 where it stands for another synonym.
pub fn follow(catalogs: &dyn Catalogs, found: ResolvedObject) -> ResolvedObject {
    let Object::Synonym(synonym) = &found.object else { return found };
    let base = &synonym.base;
    let database = match (&base.server, &base.database) {
        (Some(_), _) => None,
        (None, Some(name)) => catalogs.database(name),
        (None, None) => Some(Arc::clone(&found.database)),
    };
    let object =
        database.as_ref().and_then(|d| in_database(d, base.schema.as_deref(), None, &base.object));
    match (database, object) {
        (Some(database), Some(object)) => ResolvedObject { database, object },
        _ => found,
    }
}

/// What a name means in a database. Without a schema it is looked for in `first` and dbo; of sys
/// only the compatibility views and functions named `fn_…` are found so.
pub fn in_database(
    database: &DatabaseView,
    schema: Option<&str>,
    first: Option<SchemaId>,
    object: &str,
) -> Option<Object> {
    let Some(schema) = schema else {
        let own = first.into_iter().chain([SchemaId::DBO]);
        let found = own.into_iter().find_map(|schema| database.find(schema, object));
        let system = || database.find(SchemaId::SYS, object).filter(is_found_alone);
        return found.or_else(system);
    };
    let schema = database.schema(schema)?.id;
    let old = || database.system().compatibility(object).filter(|_| schema == SchemaId::DBO);
    database.find(schema, object).or_else(|| old().cloned().map(Object::Virtual))
}

/// Whether an object of sys is found without its schema.
fn is_found_alone(object: &Object) -> bool {
    let function = |v: &VirtualTable| {
        v.parameters.is_some() && v.name.get(..3).is_some_and(|n| n.eq_ignore_ascii_case("fn_"))
    };
    matches!(object, Object::Virtual(v) if v.compatibility || function(v))
}

/// Finds what a name means, a synonym as itself; `None` when nothing bears it.
pub fn resolve(catalogs: &dyn Catalogs, name: ObjectName<'_>) -> Option<ResolvedObject> {
    if is_global_temp(name.object) {
        let database = catalogs.database("tempdb")?;
        let object = database.find(SchemaId::DBO, name.object)?;
        return Some(ResolvedObject { database, object });
    }
    if name.object.starts_with('#') {
        let table = catalogs.temp_table(name.object)?;
        let database = catalogs.database("tempdb").unwrap_or_else(|| catalogs.current());
        return Some(ResolvedObject { database, object: Object::Table(table) });
    }
    let (database, first) = match name.database {
        Some(d) => (catalogs.database(d)?, None),
        None => (catalogs.current(), Some(catalogs.first_schema())),
    };
    let object = in_database(&database, name.schema, first, name.object)?;
    Some(ResolvedObject { database, object })
}

/// A name in the form in which a collation's equal names are the same.
pub(super) fn folded(name: &str, collation: Collation) -> Box<str> {
    let name = name.trim_end_matches(' ');
    if collation.is_case_sensitive() { name.into() } else { name.to_lowercase().into() }
}
