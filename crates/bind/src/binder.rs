//! The state of one binding: slots, references, subqueries, scopes, depth.

use crate::changes::Changes;
use crate::constant::Folding;
use crate::environment::{Bound, Environment, IntoTable};
use crate::into::IdentityFunction;
use crate::module::{CheckedView, Expansion};
use crate::next_value::{DrawRule, Draws};
use crate::scope::Scope;
use crate::table_hint::TableHinted;
use crate::target::flag_rows;
use base::limits::{EXPRESSION_DEPTH_MAX, EXPRESSION_LINKS_MAX, TREE_HEIGHT_MAX};
use base::{DatabaseId, SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Module, Object, Table, VirtualTable};
use plan::{
    FollowUp, FollowUpId, Get, GetColumn, Header, LockHints, Logical, LogicalPlan, Plan, Reads,
    Reference, Scalar, ScalarType, Slot, Statement, Subquery, SubqueryId, TableNo, Toll,
    VirtualGet,
};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use tsql::ast;
use types::Collation;

/// A table reference with the columns that were mentioned so far.
pub(crate) struct ReferenceState {
    pub(crate) reference: Object,
    /// How many modules were being expanded.
    pub(crate) depth: usize,
    pub(crate) used: BTreeMap<usize, Slot>,
    /// Where the place of its row goes.
    pub(crate) location: Option<Slot>,
    /// Where what tells its row apart goes, besides keys.
    pub(crate) place: Option<Slot>,
}

/// A common table expression.
pub(crate) struct Cte {
    pub(crate) name: Box<str>,
    pub(crate) columns: Vec<ast::Name>,
    pub(crate) query: ast::Query,
    /// Set while its recursive members are bound: the row they run for.
    pub(crate) work: Option<Work>,
}

/// The row for which a recursive member runs.
#[derive(Clone)]
pub(crate) struct Work {
    pub(crate) columns: Vec<crate::scope::DerivedColumn>,
    /// How often the member has named it.
    pub(crate) references: Rc<Cell<u32>>,
}

/// See [`Binder::passed_views`].
pub(crate) type PassedView = (Arc<DatabaseView>, Arc<Module>, Range<usize>);

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
    follow_ups: Vec<Option<FollowUp<Logical>>>,
    slots: u32,
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
            max_recursion: crate::recursion::MAXRECURSION_DEFAULT,
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

    pub(crate) fn statement(
        &mut self,
        statement: &ast::StatementKind,
    ) -> SqlResult<Statement<Logical>> {
        use ast::StatementKind as K;
        if let K::Insert(s) = statement
            && let Some(changes) = Changes::of(s)
        {
            return self.insert_of_changes(s, changes);
        }
        if let Some(captured) = self.instead(statement)? {
            return Ok(captured);
        }
        match statement {
            K::Select(s) => self.select_statement(s),
            K::Insert(s) => self.insert(s),
            K::Update(s) => self.update(s),
            K::Delete(s) => self.delete(s),
            K::Merge(s) => {
                self.drawing(DrawRule::Refused(messages::NEXT_VALUE_MERGE), |b| b.merge(s))
            }
            _ => Err(unsupported_statement("this statement as a plan")),
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

    /// The plan: columns that were mentioned are now known, so are reads of subqueries.
    pub(crate) fn finish(&mut self, mut statement: Statement<Logical>) -> SqlResult<Bound> {
        self.table_hints_met()?;
        let mut flags = std::mem::take(&mut self.flags);
        if !flags.is_empty() {
            let subqueries = self.subqueries.iter_mut().map(|s| &mut s.source);
            let trees = source_of(&mut statement).into_iter().chain(subqueries);
            trees.for_each(|tree| flag_rows(tree, &mut flags));
        }
        self.match_stored(&mut statement);
        for database in self.followed.take() {
            self.depend(&database);
        }
        let known = self.known_checks();
        let mut plan: LogicalPlan = Plan {
            statement,
            subqueries: std::mem::take(&mut self.subqueries),
            follow_ups: self.follow_ups.drain(..).flatten().collect(),
            slots: self.slots,
            header: Header {
                dialect: self.folding.decided_by(),
                ..std::mem::take(&mut self.header)
            },
            estimates: Vec::new(),
        };
        let mentioned = |(state, checks): (&ReferenceState, _)| Mentioned {
            columns: columns_of(state),
            location: state.location,
            checks,
        };
        let used: Vec<Mentioned> = self.references.iter().zip(known).map(mentioned).collect();
        if let Some(source) = source_of(&mut plan.statement) {
            fill_columns(source, &used);
        }
        for subquery in &mut plan.subqueries {
            fill_columns(&mut subquery.source, &used);
        }
        for follow_up in &mut plan.follow_ups {
            let source = match follow_up {
                FollowUp::Refuse { source, .. } => Some(source),
                FollowUp::Change(statement) => source_of(statement),
                FollowUp::Index(change) => Some(&mut change.source),
            };
            if let Some(source) = source {
                fill_columns(source, &used);
            }
        }
        outer_reads(&mut plan.subqueries);
        let references = self.references.drain(..).map(|r| r.reference).collect();
        Ok(Bound { plan, references, into: self.into.take() })
    }
}

impl Binder<'_> {
    fn match_stored(&mut self, statement: &mut Statement<Logical>) {
        let stored = self.stored_expressions();
        if stored.is_empty() {
            return;
        }
        if let Some(source) = source_of(statement) {
            self.read_stored(source, &stored);
        }
        let mut subqueries = std::mem::take(&mut self.subqueries);
        for subquery in &mut subqueries {
            self.read_stored(&mut subquery.source, &stored);
        }
        self.subqueries = subqueries;
    }
}

/// What a statement mentions of a table, and what is known of that.
struct Mentioned {
    columns: Vec<GetColumn>,
    location: Option<Slot>,
    checks: Vec<plan::Predicate>,
}

fn columns_of(state: &ReferenceState) -> Vec<GetColumn> {
    state.used.iter().map(|(&column, &slot)| GetColumn { column, slot }).collect()
}

fn source_of(statement: &mut Statement<Logical>) -> Option<&mut Logical> {
    match statement {
        Statement::Query(q) => Some(&mut q.source),
        Statement::Assign(a) => Some(&mut a.source),
        Statement::Insert(i) => Some(&mut i.source),
        Statement::Update(u) => Some(&mut u.source),
        Statement::Delete(d) => Some(&mut d.source),
        Statement::Merge(m) => Some(&mut m.source),
        Statement::Scalar(_) | Statement::Condition(_) => None,
    }
}

fn fill_columns(tree: &mut Logical, used: &[Mentioned]) {
    tree.for_each_mut(&mut |node| match node {
        Logical::Get(get) => fill_get(get, used),
        Logical::Virtual(get) => fill_virtual(get, used),
        _ => {}
    });
}

fn fill_get(get: &mut Get, used: &[Mentioned]) {
    let mentioned = &used[get.table.0 as usize];
    get.columns.clone_from(&mentioned.columns);
    get.location = mentioned.location;
    get.checks.clone_from(&mentioned.checks);
}

fn fill_virtual(get: &mut VirtualGet, used: &[Mentioned]) {
    get.columns.clone_from(&used[get.table.0 as usize].columns);
}

/// For each subquery the slots it reads and doesn't write, those of subqueries within it included,
/// and whether it reads variables.
/// A subquery's number is greater than those it contains, so one pass in order suffices.
fn outer_reads(subqueries: &mut [Subquery<Logical>]) {
    for n in 0..subqueries.len() {
        let mut reads = Reads::default();
        let mut writes = BTreeSet::new();
        subqueries[n].source.reads_and_writes(&mut reads, &mut writes);
        let mut outer = reads.slots;
        for inner in &reads.subqueries {
            debug_assert!((inner.0 as usize) < n, "a subquery is numbered after those within it");
            outer.extend(subqueries[inner.0 as usize].outer.iter().copied());
            reads.session |= subqueries[inner.0 as usize].session;
        }
        outer.extend(subqueries[n].columns.iter().copied());
        subqueries[n].outer = outer.difference(&writes).copied().collect();
        subqueries[n].session = reads.session;
    }
}

/// 8631 where so many operators of a query's tree stand one in the other that whoever descends it
/// has no stack for them.
pub(crate) fn standing(operators: usize) -> SqlResult<()> {
    match operators > TREE_HEIGHT_MAX {
        true => Err(SqlError::new(messages::STACK_LIMIT, &[])),
        false => Ok(()),
    }
}

/// 40510 naming a statement.
pub(crate) fn unsupported_statement(name: &str) -> SqlError {
    SqlError::new(messages::NOT_SUPPORTED, &[&name])
}

/// 40517 naming a feature.
pub(crate) fn unsupported(feature: &str, line: u32) -> SqlError {
    SqlError::new(messages::FEATURE_NOT_SUPPORTED, &[&feature]).at_line(line)
}
