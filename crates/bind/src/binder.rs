//! The state of one binding. What has rules of its own is a part that keeps its fields: references,
//! expansions, subplans, depth, draws, folding.

use crate::depth::Depth;
use crate::environment::Environment;
use crate::expressions::constant::Folding;
use crate::expressions::draws::Draws;
use crate::into_table::{IdentityFunction, IntoTable};
use crate::names::cte::{Cte, MAXRECURSION_DEFAULT};
use crate::names::expansion::Expansions;
use crate::names::hint::TableHintOption;
use crate::names::reference::References;
use crate::names::scope::Scope;
use crate::subplans::Subplans;
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Object, Table};
use plan::{Header, LockHints, Reference, Scalar, ScalarType, Slot, TableNo};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;
use types::Collation;

pub(crate) struct Binder<'a> {
    pub(crate) environment: &'a Environment<'a>,
    /// The current database.
    pub(crate) database: Arc<DatabaseView>,
    /// Its collation: of names, constants and variables.
    pub(crate) collation: Collation,
    /// ANSI_NULLS of the text that is being bound.
    pub(crate) ansi_nulls: bool,
    pub(crate) folding: Folding,
    pub(crate) scopes: Vec<Scope>,
    pub(crate) ctes: Vec<Rc<Cte>>,
    pub(crate) references: References,
    /// The reference that is changed.
    pub(crate) changed_table: Cell<Option<TableNo>>,
    pub(crate) subplans: Subplans,
    pub(crate) header: Header,
    /// Databases whose synonyms were followed.
    pub(crate) followed: RefCell<Vec<Arc<DatabaseView>>>,
    pub(crate) into: Option<IntoTable>,
    /// While what a SELECT INTO reads is bound: the name of the temporary table that it has made,
    /// and the one of a caller that bears it too, which is read as it was before.
    pub(crate) filled: Option<(Box<str>, Arc<Table>)>,
    /// Items of the select list of an INTO.
    pub(crate) identity_functions: Vec<IdentityFunction>,
    /// Views and functions that the statement names.
    pub(crate) modules: Expansions,
    /// MAXRECURSION; 0 is any.
    pub(crate) max_recursion: u32,
    /// The recursive expression one of whose members is being bound.
    pub(crate) in_recursion: Option<Box<str>>,
    /// How many targets keep their changed rows.
    pub(crate) changed: u32,
    pub(crate) depth: Depth<'a>,
    /// A computed column's expression is being bound.
    pub(crate) computes_column: bool,
    /// Values that rows draw from sequences.
    pub(crate) draws: Draws,
    /// WITH XMLNAMESPACES: prefixes with their namespaces; the default has none.
    pub(crate) xml_namespaces: Vec<(Box<str>, Box<str>)>,
    /// OPTION (RECOMPILE): conditions have the values of variables, which the statement leaves.
    pub(crate) embeds: bool,
    /// OPTION (TABLE HINT (…)).
    pub(crate) table_hints: Vec<TableHintOption>,
    /// Columns of `nodes()`, with the names under which errors know where they come from.
    pub(crate) node_columns: BTreeMap<Slot, String>,
    /// The scopes whose columns are named, while somebody wants to know.
    pub(crate) named_scopes: Option<BTreeSet<usize>>,
}

/// What a table reference takes.
const REFERENCE_BYTES: usize = 2048;

impl<'a> Binder<'a> {
    pub(crate) fn new(environment: &'a Environment<'a>) -> Self {
        let database = environment.catalogs.current();
        let header = Header {
            databases: vec![(database.id(), database.schema_version())],
            ..Header::default()
        };
        Binder {
            environment,
            collation: database.collation(),
            folding: Folding::new(environment.dialect),
            database,
            ansi_nulls: environment.ansi_nulls,
            scopes: Vec::new(),
            ctes: Vec::new(),
            references: References::default(),
            changed_table: Cell::new(None),
            subplans: Subplans::default(),
            header,
            followed: RefCell::default(),
            into: None,
            filled: None,
            identity_functions: Vec::new(),
            modules: Expansions::default(),
            max_recursion: MAXRECURSION_DEFAULT,
            in_recursion: None,
            changed: 0,
            depth: Depth::new(environment.watch),
            computes_column: false,
            draws: Draws::default(),
            xml_namespaces: Vec::new(),
            embeds: false,
            table_hints: Vec::new(),
            node_columns: BTreeMap::new(),
            named_scopes: None,
        }
    }

    pub(crate) fn new_slot(&mut self) -> Slot {
        self.references.new_slot()
    }

    /// Binds some levels deeper: invariant 4.
    pub(crate) fn nested<T>(
        &mut self,
        levels: usize,
        inner: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.depth.descend(levels)?;
        let result = inner(self);
        self.depth.ascend(levels);
        result
    }

    /// Binds a part of a chain of operators, which is bound in a loop: invariant 4.
    pub(crate) fn chained<T>(
        &mut self,
        links: usize,
        inner: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        self.depth.link(links)?;
        let result = inner(self);
        self.depth.unlink(links);
        result
    }

    /// A constant or variable's type: the database's collation, which anything overrules.
    pub(crate) fn plain(&self, sql_type: types::SqlType, nullable: bool) -> ScalarType {
        ScalarType { collation: self.collation, ..ScalarType::new(sql_type, nullable) }
    }

    pub(crate) fn constant(&self, value: types::Value, sql_type: types::SqlType) -> Scalar {
        let ty = self.plain(sql_type, value.is_null());
        Scalar { ty, ..Scalar::constant(value, sql_type) }
    }

    /// Notes that the plan is good only while these definitions are.
    pub(crate) fn depend(&mut self, database: &DatabaseView) {
        let version = (database.id(), database.schema_version());
        if !self.header.databases.contains(&version) {
            self.header.databases.push(version);
        }
    }

    /// Notes a table that is read or changed at the session's level: under SNAPSHOT that asks for
    /// its versions.
    pub(crate) fn note_level(&mut self, database: DatabaseId, table: &Table, locks: &LockHints) {
        let own = locks.level.is_none() && !table.is_temp;
        if own && table.object_id.0 > 0 && !self.header.own_level.contains(&database) {
            self.header.own_level.push(database);
        }
    }

    pub(crate) fn refer(
        &mut self,
        database: &DatabaseView,
        reference: Object,
    ) -> SqlResult<TableNo> {
        self.depth.pay(REFERENCE_BYTES)?;
        self.depend(database);
        let object = match &reference {
            Object::Table(t) if t.base().disabled => {
                let args: [&dyn std::fmt::Display; 2] = [&t.base().name, &t.name];
                return Err(SqlError::new(messages::NO_PLAN_INDEX_DISABLED, &args));
            }
            // Plans name one hobt of an index (`Partitions::sole`).
            Object::Table(t) if t.is_partitioned() => {
                return Err(crate::refusal::unsupported("partitions", 0));
            }
            Object::Table(t) => {
                let private = t.object_id.table_variable().is_some();
                self.header.session_bound |= t.is_temp && !private;
                t.object_id
            }
            Object::Virtual(v) => v.object_id,
            Object::Module(m) => m.object_id,
            Object::Synonym(s) => s.object_id,
            Object::Sequence(s) => s.object_id,
        };
        let entry = Reference { database: database.id(), object };
        if !self.header.references.contains(&entry) {
            self.header.references.push(entry);
        }
        Ok(self.references.add(reference, self.modules.depth()))
    }
}
