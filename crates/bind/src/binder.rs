//! The state of one binding: slots, references, subqueries, scopes, depth.

use crate::environment::Environment;
use crate::expressions::constant::Folding;
use crate::expressions::draws::Draws;
use crate::into_table::{IdentityFunction, IntoTable};
use crate::names::cte::{Cte, MAXRECURSION_DEFAULT};
use crate::names::expansion::{CheckedView, Expansion, PassedView};
use crate::names::hint::TableHinted;
use crate::names::reference::ReferenceState;
use crate::names::scope::Scope;
use base::limits::{EXPRESSION_DEPTH_MAX, EXPRESSION_LINKS_MAX};
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Object, Table, VirtualTable};
use plan::{
    FollowUp, FollowUpId, Header, LockHints, Logical, Reference, Scalar, ScalarType, Slot,
    Subquery, SubqueryId, TableNo, Toll,
};
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
    pub(crate) references: Vec<ReferenceState>,
    /// Views whose text was put in, with the references of their tables.
    pub(crate) passed_views: Vec<PassedView>,
    /// The reference that is changed.
    pub(crate) changed_table: Cell<Option<TableNo>>,
    pub(crate) subqueries: Vec<Subquery<Logical>>,
    pub(crate) header: Header,
    /// Databases whose synonyms were followed.
    pub(crate) followed: RefCell<Vec<Arc<DatabaseView>>>,
    pub(crate) into: Option<IntoTable>,
    /// While what a SELECT INTO reads is bound: the name of the temporary table that it has made,
    /// and the one of a caller that bears it too, which is read as it was before.
    pub(crate) filled: Option<(Box<str>, Arc<Table>)>,
    /// Items of the select list of an INTO.
    pub(crate) identity_functions: Vec<IdentityFunction>,
    /// Views and functions that are being expanded, outermost first.
    pub(crate) modules: Vec<Expansion>,
    pub(crate) checked_views: Vec<CheckedView>,
    /// MAXRECURSION; 0 is any.
    pub(crate) max_recursion: u32,
    /// The recursive expression one of whose members is being bound.
    pub(crate) in_recursion: Option<Box<str>>,
    /// References on a side of an outer join that may be absent.
    pub(crate) nullable_references: BTreeSet<TableNo>,
    /// What is not NULL beside the rows of such a reference.
    pub(crate) flags: BTreeMap<TableNo, Slot>,
    /// How many targets keep their changed rows.
    pub(crate) changed: u32,
    pub(crate) follow_ups: Vec<Option<FollowUp<Logical>>>,
    pub(crate) slots: u32,
    depth: usize,
    /// Invariant 5 of the crate.
    pub(crate) toll: Toll<'a>,
    /// A computed column's expression is being bound.
    pub(crate) computes_column: bool,
    /// Operators of the chains around the place at hand.
    links: usize,
    /// Values that rows draw from sequences.
    pub(crate) draws: Draws,
    /// WITH XMLNAMESPACES: prefixes with their namespaces; the default has none.
    pub(crate) xml_namespaces: Vec<(Box<str>, Box<str>)>,
    /// OPTION (RECOMPILE): conditions have the values of variables, which the statement leaves.
    pub(crate) embeds: bool,
    /// OPTION (TABLE HINT (…)).
    pub(crate) table_hints: Vec<TableHinted>,
    /// Columns of `nodes()`, with the names under which errors know where they come from.
    pub(crate) node_columns: BTreeMap<Slot, String>,
    /// The scopes whose columns are named, while somebody wants to know.
    pub(crate) named_scopes: Option<BTreeSet<usize>>,
}

/// What a level of an expression or a query takes, about.
const LEVEL_BYTES: usize = 256;
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
            references: Vec::new(),
            passed_views: Vec::new(),
            changed_table: Cell::new(None),
            subqueries: Vec::new(),
            header,
            followed: RefCell::default(),
            into: None,
            filled: None,
            identity_functions: Vec::new(),
            modules: Vec::new(),
            checked_views: Vec::new(),
            max_recursion: MAXRECURSION_DEFAULT,
            in_recursion: None,
            nullable_references: BTreeSet::new(),
            flags: BTreeMap::new(),
            changed: 0,
            follow_ups: Vec::new(),
            slots: 0,
            depth: 0,
            toll: Toll::new(environment.watch),
            computes_column: false,
            links: 0,
            draws: Draws::default(),
            xml_namespaces: Vec::new(),
            embeds: false,
            table_hints: Vec::new(),
            node_columns: BTreeMap::new(),
            named_scopes: None,
        }
    }

    pub(crate) fn new_slot(&mut self) -> Slot {
        self.slots += 1;
        Slot(self.slots - 1)
    }

    /// Invariant 4: some levels deeper, or error 191.
    pub(crate) fn nested<T>(
        &mut self,
        levels: usize,
        inner: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.depth + levels > EXPRESSION_DEPTH_MAX {
            return Err(SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
        }
        self.toll.pay(LEVEL_BYTES)?;
        self.depth += levels;
        let result = inner(self);
        self.depth -= levels;
        result
    }

    /// Invariant 4 for a chain of operators, which is bound in a loop.
    pub(crate) fn chained<T>(
        &mut self,
        links: usize,
        inner: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.links + links > EXPRESSION_LINKS_MAX {
            return Err(SqlError::new(messages::STATEMENT_NESTED_TOO_DEEPLY, &[]));
        }
        self.links += links;
        let result = inner(self);
        self.links -= links;
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
        self.toll.pay(REFERENCE_BYTES)?;
        self.depend(database);
        let object = match &reference {
            Object::Table(t) if t.base().disabled => {
                let args: [&dyn std::fmt::Display; 2] = [&t.base().name, &t.name];
                return Err(SqlError::new(messages::NO_PLAN_INDEX_DISABLED, &args));
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
        self.references.push(ReferenceState {
            reference,
            depth: self.modules.len(),
            used: BTreeMap::new(),
            location: None,
            place: None,
        });
        Ok(TableNo(self.references.len() as u32 - 1))
    }

    /// The slot of a column of a reference: invariant 2.
    pub(crate) fn use_column(&mut self, table: TableNo, column: usize) -> Slot {
        if let Some(&slot) = self.references[table.0 as usize].used.get(&column) {
            return slot;
        }
        let slot = self.new_slot();
        self.references[table.0 as usize].used.insert(column, slot);
        slot
    }

    /// The slot of the place of a reference's row.
    pub(crate) fn use_location(&mut self, table: TableNo) -> Slot {
        if let Some(slot) = self.references[table.0 as usize].location {
            return slot;
        }
        let slot = self.new_slot();
        self.references[table.0 as usize].location = Some(slot);
        slot
    }

    /// The slot of what tells a reference's rows apart besides keys.
    pub(crate) fn use_place(&mut self, table: TableNo) -> Slot {
        if let Some(slot) = self.references[table.0 as usize].place {
            return slot;
        }
        let slot = self.new_slot();
        self.references[table.0 as usize].place = Some(slot);
        slot
    }

    pub(crate) fn table(&self, no: TableNo) -> Option<Arc<Table>> {
        match &self.references[no.0 as usize].reference {
            Object::Table(t) => Some(Arc::clone(t)),
            Object::Virtual(_) | Object::Sequence(_) | Object::Synonym(_) | Object::Module(_) => {
                None
            }
        }
    }

    pub(crate) fn virtual_table(&self, no: TableNo) -> Option<Arc<VirtualTable>> {
        match &self.references[no.0 as usize].reference {
            Object::Virtual(v) => Some(Arc::clone(v)),
            Object::Table(_) | Object::Module(_) | Object::Sequence(_) | Object::Synonym(_) => None,
        }
    }

    /// Adds a subquery.
    pub(crate) fn add_subquery(&mut self, subquery: Subquery<Logical>) -> SubqueryId {
        self.subqueries.push(subquery);
        SubqueryId(self.subqueries.len() as u32 - 1)
    }

    /// A number for a follow-up, less than those of the follow-ups it leads to.
    pub(crate) fn reserve_follow_up(&mut self) -> FollowUpId {
        self.follow_ups.push(None);
        FollowUpId(self.follow_ups.len() as u32 - 1)
    }

    pub(crate) fn set_follow_up(&mut self, id: FollowUpId, follow_up: FollowUp<Logical>) {
        self.follow_ups[id.0 as usize] = Some(follow_up);
    }
}
