//! Changes of tables and views that have INSTEAD OF triggers: nothing is changed, the rows that
//! would be are captured.
//!
//! ```text
//!   INSERT t …     rows as they would be                        → inserted
//!   DELETE t …     rows as they are                             → deleted
//!   UPDATE t …     both                                         → inserted, deleted
//! ```
//!
//! So the plan is an INSERT into a table of captured rows, for UPDATE and MERGE a MERGE into
//! several (`captured_merge`), and the session fires the triggers.
//!
//! Invariants
//!  1. Within its own INSTEAD OF trigger a statement is bound as if there were none.
//!  2. A view is changed by its own names alone: none of its tables is looked for. One that has no
//!     trigger passes the change on to its table, whose trigger sees that table's rows.
//!  3. A column that holds no NULL gets none (233), but for an identity and computed columns.

use crate::binder::Binder;
use crate::changes::capture::updated;
use crate::changes::captured_merge::CapturedParts;
use crate::changes::change::Change;
use crate::changes::merge::{Clauses, check_clauses};
use crate::changes::output::{made_row, pseudo};
use crate::changes::parent::{Parent, refuse_output};
use crate::changes::row_slots::RowAction;
use crate::changes::target::{TargetTable, free_columns, set_target};
use crate::changes::updatable_columns::{UpdatableColumns, given_deleted};
use crate::changes::update::{AffectedRows, TargetNames};
use crate::expressions::constant::zero;
use crate::expressions::draws::DrawRule;
use crate::names::expansion::PassedView;
use crate::names::from::FromPart;
use crate::names::scope::{Clause, Columns, Scope, Source};
use crate::refusal::unsupported;
use crate::tree::filtered;
use base::{SqlError, SqlResult, messages};
use catalog::view::{
    Column, DatabaseView, Events, ModuleKind, Object, ResolvedObject, Table, captured_rows,
};
use plan::{
    CAPTURES, ColumnSource, CompareOp, Insert, InsertColumn, LockHints, Logical, MergeAction,
    MergeClause, MergeMatch, Predicate, Scalar, ScalarType, Slot, SortKey, Statement, TableNo,
    TriggerFiring, WindowCall, WindowFunction,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use tsql::ast::{self, DmlTargetKind, TableSourceKind};
use types::{SqlType, Value};

/// The rows that a change concerns.
struct ParentRows<'r> {
    from: FromPart,
    /// The source that is changed: its columns are the parent's.
    own: &'r Source,
    /// A join may bring a row several times.
    joined: bool,
}

impl Binder<'_> {
    /// The statement where its target has an INSTEAD OF trigger for what it does.
    pub(crate) fn instead(&mut self, change: Change<'_>) -> SqlResult<Option<Statement<Logical>>> {
        let (target, from, output, with, event) = match change {
            Change::Merge(s) => return self.instead_of_merge(s),
            Change::Insert(_) if self.environment.unguarded.triggers => return Ok(None),
            Change::Insert(s) => (&s.target, &[][..], &s.output, &s.with, Events::INSERT),
            Change::Update(s) => (&s.target, &s.from[..], &s.output, &s.with, Events::UPDATE),
            Change::Delete(s) => (&s.target, &s.from[..], &s.output, &s.with, Events::DELETE),
        };
        let hidden = with.as_ref().is_some_and(|w| self.hides(&w.ctes, target));
        let found = (!hidden).then(|| self.named_target(target, from)).flatten();
        let Some(parent) = found.and_then(|found| self.parent(found, event)) else {
            return Ok(None);
        };
        refuse_output(output.as_deref(), &parent)?;
        let with = with.as_deref();
        let bound = match change {
            Change::Insert(s) => {
                self.options(&s.options)?;
                self.with_ctes(with, |b| b.instead_insert(s, &parent, None))
            }
            Change::Update(s) => {
                self.options(&s.options)?;
                self.with_ctes(with, |b| b.instead_update(s, &parent))
            }
            Change::Delete(s) => {
                self.options(&s.options)?;
                self.with_ctes(with, |b| b.instead_delete(s, &parent))
            }
            Change::Merge(_) => return Ok(None),
        };
        bound.map(Some)
    }

    fn instead_of_merge(&mut self, s: &ast::Merge) -> SqlResult<Option<Statement<Logical>>> {
        check_clauses(&s.clauses)?;
        let hidden = s.with.as_ref().is_some_and(|w| self.hides(&w.ctes, &s.target));
        let parent = if hidden { None } else { self.merge_parent(s)? };
        let Some(parent) = parent else { return Ok(None) };
        self.options(&s.options)?;
        let rule = DrawRule::Refused(messages::NEXT_VALUE_MERGE);
        let merge = |b: &mut Self| b.instead_merge(s, &parent);
        let bound = self.drawing(rule, |b| b.with_ctes(s.with.as_deref(), merge));
        bound.map(Some)
    }

    /// Whether a common table expression takes a target's name.
    fn hides(&self, with: &[ast::Cte], target: &ast::DmlTarget) -> bool {
        let DmlTargetKind::Table(name) = &target.kind else { return false };
        name.schema.is_none() && with.iter().any(|c| self.same(&c.name, &name.object))
    }

    /// The table or view that a statement names as its target.
    pub(crate) fn named_target(
        &self,
        target: &ast::DmlTarget,
        from: &[ast::TableSource],
    ) -> Option<ResolvedObject> {
        let DmlTargetKind::Table(name) = &target.kind else { return None };
        let mut named = None;
        from.iter().for_each(|s| self.named_as(name, s, &mut named));
        self.lookup(named.unwrap_or(name)).ok()
    }

    /// A target, where it has an INSTEAD OF trigger that fires.
    fn parent(&mut self, found: ResolvedObject, event: Events) -> Option<Parent> {
        let fires = self.fires_instead(&found.database, &found.object, event)?;
        self.header.session_bound = true;
        fires.then(|| self.parent_of(found, event)).flatten()
    }

    pub(crate) fn parent_of(&self, found: ResolvedObject, event: Events) -> Option<Parent> {
        let object = found.object.object_id();
        let (table, is_view) = match found.object {
            Object::Table(t) => (t, false),
            Object::Module(m) => {
                let rows = captured_rows(&m.columns, &m.name, 0);
                let columns = rows.columns.iter().zip(&m.columns);
                let columns =
                    columns.map(|(c, own)| Column { nullable: own.nullable, ..c.clone() });
                let columns = columns.collect();
                (Arc::new(Table { object_id: object, columns, ..rows.clone() }), true)
            }
            _ => return None,
        };
        Some(Parent { database: found.database, table, is_view, event })
    }

    /// The name of a table of FROM that a target calls by its alias.
    fn named_as<'t>(
        &self,
        target: &ast::ObjectName,
        source: &'t ast::TableSource,
        found: &mut Option<&'t ast::ObjectName>,
    ) {
        match &source.kind {
            TableSourceKind::Table(t) => {
                let alias = t.alias.as_ref().filter(|_| target.schema.is_none());
                if alias.is_some_and(|a| self.same(a, &target.object)) {
                    *found = Some(&t.name);
                }
            }
            TableSourceKind::Joined { first, joins } => {
                self.named_as(target, first, found);
                joins.iter().for_each(|j| self.named_as(target, &j.right, found));
            }
            _ => {}
        }
    }

    /// Whether an object's INSTEAD OF trigger fires for an event; none where it has none.
    pub(crate) fn fires_instead(
        &self,
        database: &DatabaseView,
        object: &Object,
        event: Events,
    ) -> Option<bool> {
        let has_any = match object {
            Object::Table(t) => !t.is_temp,
            Object::Module(m) => m.kind == ModuleKind::View,
            Object::Sequence(_) | Object::Synonym(_) | Object::Virtual(_) => false,
        };
        if !has_any {
            return None;
        }
        let trigger = database.instead_of(object.object_id(), event)?;
        // Invariant 1.
        Some(!self.environment.catalogs.is_firing(database.id(), trigger.object_id))
    }

    /// The table behind a view, where it has an INSTEAD OF trigger for what is done through that.
    pub(crate) fn base_parent(
        &mut self,
        target: &TargetTable,
        event: Events,
        output: Option<&ast::Output>,
    ) -> SqlResult<Option<Parent>> {
        let object = Object::Table(Arc::clone(&target.table));
        let Some(fires) = self.fires_instead(&target.database, &object, event) else {
            return Ok(None);
        };
        self.header.session_bound = true;
        if !fires {
            return Ok(None);
        }
        let (database, table) = (Arc::clone(&target.database), Arc::clone(&target.table));
        let parent = Parent { database, table, is_view: false, event };
        refuse_output(output, &parent)?;
        Ok(Some(parent))
    }

    /// What has an INSTEAD OF trigger is not changed behind its back.
    /// Nor behind that of a view that it is reached through.
    pub(crate) fn not_instead(&mut self, target: &TargetTable, event: Events) -> SqlResult<()> {
        let changed = self.changed_table.get();
        let views = changed.into_iter().flat_map(|no| self.modules.passed_above(no));
        let fires = |v: &PassedView| {
            self.fires_instead(&v.database, &Object::Module(Arc::clone(&v.module)), event)
        };
        let fire: Vec<bool> = views.filter_map(fires).collect();
        // Within the trigger it is changed.
        self.header.session_bound |= !fire.is_empty();
        if fire.contains(&true) {
            let what = "a change of a view with INSTEAD OF triggers through another view or a \
                derived table";
            return Err(unsupported(what, 0));
        }
        let object = Object::Table(Arc::clone(&target.table));
        match self.fires_instead(&target.database, &object, event) {
            Some(true) => {
                let what = "MERGE into a table with INSTEAD OF triggers through a view";
                Err(unsupported(what, 0))
            }
            Some(false) | None => Ok(()),
        }
    }

    /// An INSERT, named through a view where there is one.
    pub(crate) fn instead_insert(
        &mut self,
        s: &ast::Insert,
        parent: &Parent,
        view: Option<&(TableNo, UpdatableColumns)>,
    ) -> SqlResult<Statement<Logical>> {
        let table = &parent.table;
        self.refer_parent(parent)?;
        let own = parent.target();
        let explicit = self.environment.identity_insert == Some(table.object_id);
        let through = view.map(|(_, t)| t);
        let mut listed = self.listed_columns(&s.columns, &own, through, explicit)?;
        if s.columns.is_empty() && !matches!(s.source, ast::InsertSource::DefaultValues) {
            listed = match view {
                Some((no, t)) => t.all(*no, table)?,
                None => free_columns(table),
            };
        }
        let mut given = self.given(s, table, &listed)?;
        if let Some(top) = &s.top {
            let top = self.top(top, &[])?;
            given.tree = Logical::Top { input: Box::new(given.tree), top };
        }
        let mut columns = self.insert_columns(table, &listed, given.values)?;
        for (column, insert) in table.columns.iter().zip(&mut columns) {
            if matches!(insert.source, ColumnSource::Identity) {
                insert.source = ColumnSource::Value(zero(column.sql_type));
            }
        }
        self.computed_sources(table, &mut columns)?;
        let all: BTreeSet<usize> = (0..table.columns.len()).collect();
        let inserted = self.note(parent, Events::INSERT, RowAction::Update(&all));
        let target = self.captures(parent, "inserted", inserted, true)?;
        let output = match &s.output {
            Some(o) => {
                let new: Vec<Option<Slot>> = columns.iter().map(|c| Some(c.slot)).collect();
                let row = match view {
                    Some((no, t)) => self.given_row(t, *no, (table, &new), None)?,
                    None => made_row(table, &new, None),
                };
                Some(Box::new(self.output(o, vec![row])?))
            }
            None => None,
        };
        let insert = Insert { target, source: given.tree, columns, identity: None, output };
        Ok(Statement::Insert(Box::new(insert)))
    }

    fn instead_update(
        &mut self,
        s: &ast::Update,
        parent: &Parent,
    ) -> SqlResult<Statement<Logical>> {
        let (from, position) = self.parent_rows(parent, &s.target, &s.from)?;
        let source = from.sources[position].clone();
        let joined = from.sources.len() > 1;
        let rows = ParentRows { from, own: &source, joined };
        self.instead_update_rows(s, parent, rows, &TargetNames { source: &source, through: None })
    }

    /// An UPDATE through a view.
    pub(crate) fn instead_update_through(
        &mut self,
        s: &ast::Update,
        parent: &Parent,
        changed: AffectedRows,
    ) -> SqlResult<Statement<Logical>> {
        let own = pseudo(&parent.table.name, Columns::Reference(changed.no));
        let rows = ParentRows { from: changed.from, own: &own, joined: changed.joined };
        let named = TargetNames { source: &changed.source, through: changed.through.as_ref() };
        self.instead_update_rows(s, parent, rows, &named)
    }

    fn instead_update_rows(
        &mut self,
        s: &ast::Update,
        parent: &Parent,
        rows: ParentRows<'_>,
        named: &TargetNames<'_>,
    ) -> SqlResult<Statement<Logical>> {
        let table = &parent.table;
        let ParentRows { from, own: source, joined } = rows;
        let beside = beside(&from.sources, named.source);
        let scope = Scope::new(from.sources, Clause::Where);
        let (filter, assignments, changed, old) = self.within(scope, |b| {
            let filter = b.dml_filter(s.filter.as_ref(), source_no(source))?;
            b.scopes.last_mut().expect("the scope was opened just now").clause = Clause::Set;
            let (assignments, set) = b.assignments(&s.assignments, table, named)?;
            Ok((filter, assignments, set, b.old_values(table, source)?))
        })?;
        let tree = filtered(from.tree, filter);
        let tree = self.once(tree, source, joined)?;
        let mut tree = self.dml_top(tree, s.top.as_deref())?;
        let row = self.number_rows(&mut tree);
        let action = MergeAction::Update(assignments);
        let clause = MergeClause { when: MergeMatch::Matched, condition: Predicate::TRUE, action };
        let clauses = Clauses { clauses: vec![clause], changed, identity: None };
        let parts = CapturedParts { tree, row, old, has_source: None, clauses };
        let merge = self.captured_merge(parent, parts, |b, new, _| {
            let Some(o) = &s.output else { return Ok(None) };
            let inserted = match (named.through, source_no(source)) {
                (Some(t), Some(no)) => b.given_row(t, no, (table, new), None)?,
                _ => made_row(table, new, None),
            };
            let own = vec![inserted, given_deleted(named.source)];
            b.output(o, [own, beside].concat()).map(Some)
        })?;
        Ok(Statement::Merge(Box::new(merge)))
    }

    fn instead_delete(
        &mut self,
        s: &ast::Delete,
        parent: &Parent,
    ) -> SqlResult<Statement<Logical>> {
        let (from, position) = self.parent_rows(parent, &s.target, &s.from)?;
        let source = from.sources[position].clone();
        let joined = from.sources.len() > 1;
        let rows = ParentRows { from, own: &source, joined };
        self.instead_delete_rows(s, parent, rows, &source)
    }

    /// A DELETE through a view.
    pub(crate) fn instead_delete_through(
        &mut self,
        s: &ast::Delete,
        parent: &Parent,
        changed: AffectedRows,
    ) -> SqlResult<Statement<Logical>> {
        let own = pseudo(&parent.table.name, Columns::Reference(changed.no));
        let rows = ParentRows { from: changed.from, own: &own, joined: changed.joined };
        self.instead_delete_rows(s, parent, rows, &changed.source)
    }

    fn instead_delete_rows(
        &mut self,
        s: &ast::Delete,
        parent: &Parent,
        rows: ParentRows<'_>,
        named: &Source,
    ) -> SqlResult<Statement<Logical>> {
        let ParentRows { from, own: source, joined } = rows;
        let beside = beside(&from.sources, named);
        let scope = Scope::new(from.sources, Clause::Where);
        let (filter, old) = self.within(scope, |b| {
            let filter = b.dml_filter(s.filter.as_ref(), source_no(source))?;
            Ok((filter, b.old_values(&parent.table, source)?))
        })?;
        let tree = filtered(from.tree, filter);
        let tree = self.once(tree, source, joined)?;
        let tree = self.dml_top(tree, s.top.as_deref())?;
        let first = self.note(parent, Events::DELETE, RowAction::Delete);
        let target = self.captures(parent, "deleted", first + 1, false)?;
        let columns = self.values_into(old);
        let output = match &s.output {
            Some(o) => {
                let sources = [vec![given_deleted(named)], beside].concat();
                Some(Box::new(self.output(o, sources)?))
            }
            None => None,
        };
        let insert = Insert { target, source: tree, columns, identity: None, output };
        Ok(Statement::Insert(Box::new(insert)))
    }

    /// A row as it is, computed columns too.
    pub(crate) fn old_values(&mut self, table: &Table, source: &Source) -> SqlResult<Vec<Scalar>> {
        let columns = 0..table.columns.len();
        columns.map(|n| Ok(self.column_of(source, n)?.scalar)).collect()
    }

    /// The rows of the target and of what stands beside it; 414, 415 for a view in a join.
    fn parent_rows(
        &mut self,
        parent: &Parent,
        target: &ast::DmlTarget,
        from: &[ast::TableSource],
    ) -> SqlResult<(FromPart, usize)> {
        let (bound, position) = self.target_rows(target, from)?;
        if bound.sources.len() > 1 && parent.is_view {
            let message = match parent.event == Events::UPDATE {
                true => messages::INSTEAD_UPDATE_IN_JOIN,
                false => messages::INSTEAD_DELETE_IN_JOIN,
            };
            let e = SqlError::new(message, &[&parent.table.name]);
            return Err(e.at_line(target.span.line));
        }
        Ok((bound, position))
    }

    /// Each row of the target once, however often a join brings it.
    fn once(&mut self, mut tree: Logical, source: &Source, joined: bool) -> SqlResult<Logical> {
        let Columns::Reference(no) = source.columns else { return Ok(tree) };
        let Some(table) = self.references.table(no).filter(|_| joined) else { return Ok(tree) };
        let keys: Vec<usize> = table.base().key.iter().map(|k| k.column).collect();
        let old = self.old_row(no, &table, |n| keys.contains(&n));
        set_target(&mut tree, no, &old);
        let of_key = keys.iter().filter_map(|&n| old.columns.get(n).copied().flatten());
        let rest = if table.base().kind.is_heap() { old.rid } else { old.uniquifier };
        let key = |slot| SortKey { slot, collation: self.collation, descending: false };
        let partition = of_key.chain(rest).map(key).collect();
        let output = self.new_slot();
        let ty = ScalarType::new(SqlType::BigInt, false);
        let call = WindowCall { function: WindowFunction::RowNumber, output, ty };
        let input = Box::new(tree);
        let tree = Logical::Window { input, partition, order: Vec::new(), calls: vec![call] };
        let first = Predicate::Compare {
            op: CompareOp::Equal,
            left: Box::new(Scalar::column(output, ty)),
            right: Box::new(Scalar::constant(Value::BigInt(1), SqlType::BigInt)),
            collation: self.collation,
        };
        Ok(filtered(tree, first))
    }

    pub(crate) fn values_into(&mut self, values: Vec<Scalar>) -> Vec<InsertColumn> {
        let column = |x| InsertColumn { slot: self.new_slot(), source: ColumnSource::Value(x) };
        values.into_iter().map(column).collect()
    }

    /// Computed columns of a new row, also those that are stored nowhere.
    fn computed_sources(&mut self, table: &Table, columns: &mut [InsertColumn]) -> SqlResult<()> {
        let slots: Vec<Option<Slot>> = columns.iter().map(|c| Some(c.slot)).collect();
        for (n, column) in columns.iter_mut().enumerate() {
            let Some(computed) = &table.columns[n].computed else { continue };
            let value = self.over_row(table, &slots, &computed.text)?;
            column.source = ColumnSource::Computed(self.for_column(value, table, n)?);
        }
        Ok(())
    }

    /// The plan depends on a table or view that it may not read.
    pub(crate) fn refer_parent(&mut self, parent: &Parent) -> SqlResult<()> {
        if let Some(object) = parent.database.by_id(parent.table.object_id) {
            self.refer(&parent.database, object)?;
        }
        Ok(())
    }

    /// Notes what is fired; the number of the first table of captured rows.
    pub(crate) fn note(&mut self, parent: &Parent, of: Events, done: RowAction<'_>) -> u16 {
        let first = CAPTURES + 2 * self.header.fires.len() as u16;
        let has = |event| of != event;
        self.header.fires.push(TriggerFiring {
            database: parent.database.id(),
            object: parent.table.object_id,
            event: of.bits(),
            inserted: has(Events::DELETE).then_some(first),
            deleted: has(Events::INSERT).then_some(first + 1),
            columns: updated(&parent.table, done),
            instead_of: true,
        });
        first
    }

    /// A table of captured rows as what is written: invariant 3 where they are new ones.
    pub(crate) fn captures(
        &mut self,
        parent: &Parent,
        name: &str,
        number: u16,
        made: bool,
    ) -> SqlResult<plan::Target> {
        let own = &parent.table.columns;
        let table = Arc::new(captured_rows(own, name, number));
        self.refer(&parent.database, Object::Table(Arc::clone(&table)))?;
        let capture = TargetTable { table, database: Arc::clone(&parent.database) };
        let mut target = self.target(&capture, LockHints::private());
        target.table_name = parent.table.name.clone();
        for (column, own) in target.columns.iter_mut().zip(own).filter(|_| made) {
            column.nullable = own.nullable || own.identity.is_some() || own.computed.is_some();
        }
        Ok(target)
    }
}

/// The sources beside the one that is changed.
fn beside(sources: &[Source], named: &Source) -> Vec<Source> {
    let other = |s: &&Source| s.name != named.name || s.schema != named.schema;
    sources.iter().filter(other).cloned().collect()
}

/// The table that a source is.
fn source_no(source: &Source) -> Option<TableNo> {
    match source.columns {
        Columns::Reference(no) => Some(no),
        Columns::Derived(_) | Columns::Made(_) | Columns::Given(_) => None,
    }
}
