//! MERGE: a join of source and target, and the clauses over its rows.
//!
//! ```text
//!   clauses                        join
//!   MATCHED alone                  inner
//!   + NOT MATCHED [BY TARGET]      keeps rows of the source
//!   + NOT MATCHED BY SOURCE        keeps rows of the target
//! ```
//! A clause sees both sides, or the one that its rows have.

use crate::binder::Binder;
use crate::changes::output::{deleted, made_row, pseudo};
use crate::changes::row_slots::{RowAction, RowSlots};
use crate::changes::target::{
    TargetTable, free_columns, identity_column, mark_affected, set_target,
};
use crate::changes::updatable_columns::given_deleted;
use crate::changes::update::{AffectedRows, TargetNames, set_name};
use crate::expressions::deduction::is_untyped_null;
use crate::names::from::FromPart;
use crate::names::from::no_changes;
use crate::names::scope::{Clause, Columns, DerivedColumn, Scope, Source};
use crate::refusal::unsupported;
use crate::tree::flag;
use base::{SqlError, SqlResult, messages};
use plan::{
    Assignment, ColumnSource, CompareOp, IdentityColumn, JoinKind, Logical, Merge, MergeAction,
    MergeClause, MergeMatch, Predicate, Scalar, ScalarType, Slot, Statement, Target,
};
use std::collections::BTreeSet;
use tsql::ast;
use types::{Collation, SqlType, Value};

/// The clauses, bound, and what they do together.
#[derive(Default)]
pub(crate) struct Clauses {
    pub(crate) clauses: Vec<MergeClause>,
    /// The columns that UPDATEs set.
    pub(crate) changed: BTreeSet<usize>,
    pub(crate) identity: Option<IdentityColumn>,
}

impl Binder<'_> {
    pub(crate) fn merge(&mut self, s: &ast::Merge) -> SqlResult<Statement<Logical>> {
        check_clauses(&s.clauses)?;
        self.options(&s.options)?;
        self.with_ctes(s.with.as_deref(), |b| b.merge_rows(s))
    }

    fn merge_rows(&mut self, s: &ast::Merge) -> SqlResult<Statement<Logical>> {
        let mut changed = self.merge_sources(s)?;
        let (no, table) = (changed.no, changed.target.table.clone());
        let sources = changed.beside();
        let has_source = self.source_flag(s, &mut changed.from.tree);
        let mut bound = self.merge_clauses(s, &changed, &sources)?;
        let mut tree = changed.from.tree;
        let old = self.old_row(no, &table, |_| true);
        let has_target = self.presence(&mut tree, no, &table, &old);
        set_target(&mut tree, no, &old);
        let new: Vec<Option<Slot>> =
            old.columns.iter().map(|own| own.map(|_| self.new_slot())).collect();
        self.merge_computed(&table, &mut bound, &new)?;
        let slots = RowSlots { old: &old.columns, new: &new };
        let mut target = self.target(&changed.target, changed.locks);
        target.checks = self.checks(&table, &new, None)?;
        target.checks.extend(self.view_checks(no, &new, None));
        let [inserts, deletes] = self.other_targets(&bound, &changed.target, &target, slots)?;
        mark_affected(&mut target, &bound.changed);
        if !bound.changed.is_empty() {
            let done = RowAction::Update(&bound.changed);
            target.references = self.references(&changed.target, done, slots, None)?;
        }
        let (clause, action) = (self.new_slot(), self.new_slot());
        self.references.make_nullable(no);
        let output = match &s.output {
            Some(o) => {
                let present = makes_row(action);
                let own = match &changed.through {
                    Some(t) => {
                        let inserted = self.given_row(t, no, (&table, &new), Some(&present))?;
                        vec![inserted, given_deleted(&changed.source), action_source(action)]
                    }
                    None => {
                        let inserted = made_row(&table, &new, Some(present));
                        vec![inserted, deleted(no), action_source(action)]
                    }
                };
                Some(Box::new(self.output(o, [own, sources].concat())?))
            }
            None => None,
        };
        let top = self.merge_top(s.top.as_deref())?;
        Ok(Statement::Merge(Box::new(Merge {
            captured: false,
            target,
            inserts,
            deletes,
            source: tree,
            old,
            new,
            has_target,
            has_source,
            clauses: bound.clauses,
            identity: bound.identity,
            top,
            clause,
            action,
            output,
        })))
    }

    /// Stored computed columns, now that the slots of new rows are known.
    fn merge_computed(
        &mut self,
        table: &catalog::view::Table,
        bound: &mut Clauses,
        new: &[Option<Slot>],
    ) -> SqlResult<()> {
        for clause in &mut bound.clauses {
            match &mut clause.action {
                MergeAction::Insert(sources) => {
                    for (column, source) in sources.iter_mut().enumerate() {
                        if let Some(value) = self.computed_value(table, column, new)? {
                            *source = ColumnSource::Computed(value);
                        }
                    }
                }
                MergeAction::Update(assignments) => {
                    let set = assignments.iter().filter_map(|a| a.column).collect();
                    for column in self.dependents(table, &set)? {
                        if let Some(value) = self.computed_value(table, column, new)? {
                            let column = Some(column);
                            assignments.push(Assignment { column, variable: None, value });
                        }
                        bound.changed.insert(column);
                    }
                }
                MergeAction::Delete => {}
            }
        }
        Ok(())
    }

    /// The target as INSERT and DELETE know it, where clauses do that.
    fn other_targets(
        &mut self,
        bound: &Clauses,
        changed: &TargetTable,
        target: &Target,
        slots: RowSlots<'_>,
    ) -> SqlResult<[Option<Target>; 2]> {
        let acts = |insert: bool| {
            let wanted = |a: &MergeAction| match a {
                MergeAction::Insert(_) => insert,
                MergeAction::Delete => !insert,
                MergeAction::Update(_) => false,
            };
            bound.clauses.iter().any(|c| wanted(&c.action))
        };
        let mut others = [None, None];
        if acts(true) {
            let slots = RowSlots { old: &[], new: slots.new };
            let references = self.references(changed, RowAction::Insert, slots, None)?;
            others[0] = Some(Target { references, ..target.clone() });
        }
        if acts(false) {
            let slots = RowSlots { old: slots.old, new: &[] };
            let references = self.references(changed, RowAction::Delete, slots, None)?;
            others[1] = Some(Target { references, ..target.clone() });
        }
        Ok(others)
    }

    fn merge_sources(&mut self, s: &ast::Merge) -> SqlResult<AffectedRows> {
        let target = self.read_target(&s.target, s.alias.as_ref())?;
        let derived = target.sources.first().is_some_and(|s| s.body.is_some());
        let outer = derived && outer_joins(&target.tree);
        let (from, _) = self.merge_join(s, target)?;
        let set: Vec<&ast::Name> = s.clauses.iter().flat_map(named_columns).collect();
        let deletes = |c: &ast::MergeClause| matches!(c.action, ast::MergeAction::Delete);
        let set = (!s.clauses.iter().all(deletes)).then_some(&*set);
        let changed = self.changed(from, 0, &s.target, set)?;
        if outer {
            // Whether a row has one of the table would be two questions in one.
            let what = "MERGE into a view with an outer join";
            return Err(unsupported(what, s.target.span.line));
        }
        Ok(changed)
    }

    /// The join: its left side is the source, the first of its sources is the target, which is
    /// given beside it.
    pub(crate) fn merge_join(
        &mut self,
        s: &ast::Merge,
        mut target: FromPart,
    ) -> SqlResult<(FromPart, Source)> {
        let source = self.merge_source(&s.source)?;
        let Some(own) = target.sources.first().cloned() else {
            return Err(unsupported("this target of MERGE", s.target.span.line));
        };
        if let Some(same) = source.sources.iter().find(|x| self.same(&x.name, &own.name)) {
            return Err(match own.aliased && same.aliased {
                true => SqlError::new(messages::CORRELATION_DUPLICATE, &[&own.name]),
                false => SqlError::new(messages::TABLE_NAME_DUPLICATE, &[&own.shown, &same.shown]),
            });
        }
        let has = |when: ast::MergeMatch| s.clauses.iter().any(|c| c.when == when);
        let by_target = has(ast::MergeMatch::NotMatchedByTarget);
        let by_source = has(ast::MergeMatch::NotMatchedBySource);
        let view = matches!(own.columns, Columns::Derived(_));
        if by_target && view {
            self.make_nullable(&mut target)?;
        }
        let sources: Vec<Source> = [target.sources, source.sources].concat();
        let scope = Scope::new(sources.clone(), Clause::On);
        let on = self.within(scope, |b| b.condition(&s.on))?;
        let kind = match (by_target, by_source) {
            (true, true) => JoinKind::Full,
            (true, false) => JoinKind::Left,
            (false, true) => JoinKind::Right,
            (false, false) => JoinKind::Inner,
        };
        let tree = Logical::Join {
            kind,
            left: Box::new(source.tree),
            right: Box::new(target.tree),
            on,
            hint: None,
            apply: false,
        };
        let own = sources[0].clone();
        Ok((FromPart { tree, sources }, own))
    }

    fn merge_source(&mut self, source: &ast::TableSource) -> SqlResult<FromPart> {
        no_changes([source], messages::CHANGES_IN_USING)?;
        self.from(std::slice::from_ref(source))
    }

    /// A slot that is not NULL where the row has one of the source; none where every row has.
    pub(crate) fn source_flag(&mut self, s: &ast::Merge, tree: &mut Logical) -> Option<Slot> {
        let by_source = |c: &ast::MergeClause| c.when == ast::MergeMatch::NotMatchedBySource;
        if !s.clauses.iter().any(by_source) {
            return None;
        }
        let Logical::Join { left, .. } = tree else { return None };
        let slot = self.new_slot();
        flag(left, slot);
        Some(slot)
    }

    pub(crate) fn merge_clauses(
        &mut self,
        s: &ast::Merge,
        changed: &AffectedRows,
        sources: &[Source],
    ) -> SqlResult<Clauses> {
        let mut out = Clauses::default();
        for clause in &s.clauses {
            let own = vec![changed.source.clone()];
            let (when, seen) = match clause.when {
                ast::MergeMatch::Matched => (MergeMatch::Matched, [own, sources.to_vec()].concat()),
                ast::MergeMatch::NotMatchedByTarget => {
                    (MergeMatch::NotMatchedByTarget, sources.to_vec())
                }
                ast::MergeMatch::NotMatchedBySource => (MergeMatch::NotMatchedBySource, own),
            };
            let scope = Scope::new(seen, Clause::Where);
            let bound = self.within(scope, |b| b.merge_clause(clause, changed, &mut out));
            let (condition, action) = bound.map_err(|e| e.at_line(clause.span.line))?;
            out.clauses.push(MergeClause { when, condition, action });
        }
        Ok(out)
    }

    fn merge_clause(
        &mut self,
        clause: &ast::MergeClause,
        changed: &AffectedRows,
        out: &mut Clauses,
    ) -> SqlResult<(Predicate, MergeAction)> {
        let condition = match &clause.condition {
            Some(c) => self.condition(c)?,
            None => Predicate::TRUE,
        };
        self.scopes.last_mut().expect("the clause's scope is open").clause = Clause::Set;
        let action = match &clause.action {
            ast::MergeAction::Delete => MergeAction::Delete,
            ast::MergeAction::Update(set) => {
                let table = changed.target.table.clone();
                let named =
                    TargetNames { source: &changed.source, through: changed.through.as_ref() };
                let (assignments, columns) = self.assignments(set, &table, &named)?;
                out.changed.extend(columns);
                MergeAction::Update(assignments)
            }
            ast::MergeAction::Insert { columns, values } => {
                let (sources, identity) = self.merge_insert(columns, values.as_deref(), changed)?;
                out.identity = identity;
                MergeAction::Insert(sources)
            }
        };
        Ok((condition, action))
    }

    fn merge_insert(
        &mut self,
        columns: &[ast::ColumnName],
        values: Option<&[ast::Expr]>,
        changed: &AffectedRows,
    ) -> SqlResult<(Vec<ColumnSource>, Option<IdentityColumn>)> {
        let table = changed.target.table.clone();
        let explicit = self.environment.identity_insert == Some(table.object_id);
        let through = changed.through.as_ref();
        let mut listed = self.listed_columns(columns, &changed.target, through, explicit)?;
        let values = match values {
            None => Vec::new(),
            Some(values) => {
                if columns.is_empty() {
                    listed = match through {
                        Some(t) => t.all(changed.no, &table)?,
                        None => free_columns(&table),
                    };
                }
                if values.len() != listed.len() {
                    return Err(match (columns.is_empty(), listed.len() > values.len()) {
                        (true, _) => SqlError::new(messages::INSERT_COUNT, &[]),
                        (false, true) => SqlError::new(messages::INSERT_MORE_COLUMNS, &[]),
                        (false, false) => SqlError::new(messages::INSERT_FEWER_COLUMNS, &[]),
                    });
                }
                self.value_row(values, &table, &listed)?
            }
        };
        debug_assert!(values.iter().all(|v| !is_untyped_null(v) || v.ty.nullable), "NULL is NULL");
        let made = self.drawing_anew(|b| b.insert_columns(&table, &listed, values))?;
        let identity = identity_column(&table, &listed);
        Ok((made.into_iter().map(|c| c.source).collect(), identity))
    }

    pub(crate) fn merge_top(&mut self, top: Option<&ast::Top>) -> SqlResult<Option<Scalar>> {
        let Some(top) = top else { return Ok(None) };
        if top.percent {
            return Err(unsupported("MERGE TOP … PERCENT", top.count.span.line));
        }
        let count = self.expr(&top.count)?;
        Ok(Some(self.implicit(count, SqlType::BigInt)?))
    }
}

/// The columns that a clause names as changed.
fn named_columns(clause: &ast::MergeClause) -> Vec<&ast::Name> {
    match &clause.action {
        ast::MergeAction::Update(set) => set.iter().filter_map(set_name).collect(),
        ast::MergeAction::Insert { columns, .. } => columns.iter().map(|c| &c.name).collect(),
        ast::MergeAction::Delete => Vec::new(),
    }
}

/// Whether a view's rows may lack one of a table.
fn outer_joins(tree: &Logical) -> bool {
    let mut found = false;
    tree.for_each(&mut |node| {
        let outer = [JoinKind::Left, JoinKind::Right, JoinKind::Full];
        found |= matches!(node, Logical::Join { kind, .. } if outer.contains(kind));
    });
    found
}

/// Whether an action leaves a row.
pub(crate) fn makes_row(action: Slot) -> Predicate {
    let ty = ScalarType::new(SqlType::nvarchar(10), true);
    Predicate::Compare {
        op: CompareOp::NotEqual,
        left: Box::new(Scalar::column(action, ty)),
        right: Box::new(Scalar::constant(Value::nvarchar("DELETE"), ty.sql_type)),
        collation: Collation::default(),
    }
}

/// `$action`
pub(crate) fn action_source(slot: Slot) -> Source {
    let ty = ScalarType::new(SqlType::nvarchar(10), true);
    let name = "$action".into();
    let column = DerivedColumn { name, slot, ty, user_type_id: 0, identity: false };
    pseudo("", Columns::Derived(vec![column]))
}

/// Which clauses may stand together: 10710, 10711, 10714, 5324.
pub(crate) fn check_clauses(clauses: &[ast::MergeClause]) -> SqlResult<()> {
    use ast::MergeMatch as W;
    let mut seen: Vec<(W, &str, bool)> = Vec::new();
    for clause in clauses {
        let action = match clause.action {
            ast::MergeAction::Update(_) => "UPDATE",
            ast::MergeAction::Delete => "DELETE",
            ast::MergeAction::Insert { .. } => "INSERT",
        };
        let when = match clause.when {
            W::Matched => "WHEN MATCHED",
            W::NotMatchedByTarget => "WHEN NOT MATCHED",
            W::NotMatchedBySource => "WHEN NOT MATCHED BY SOURCE",
        };
        let inserts = action == "INSERT";
        let fail = |message, args: &[&dyn std::fmt::Display]| {
            Err(SqlError::new(message, args).at_line(clause.span.line))
        };
        if inserts != (clause.when == W::NotMatchedByTarget) {
            return match inserts {
                true => fail(messages::MERGE_INSERT_NOT_ALLOWED, &[&when]),
                false => fail(messages::MERGE_ACTION_NOT_ALLOWED, &[&action]),
            };
        }
        if seen.iter().any(|(w, a, _)| *w == clause.when && *a == action) {
            // So SQL Server fills its places, the clause where the action is spoken of.
            return fail(messages::MERGE_ACTION_TWICE, &[&when, &action]);
        }
        if seen.iter().any(|(w, _, open)| *w == clause.when && *open) {
            return fail(messages::MERGE_CLAUSE_AFTER, &[&when]);
        }
        seen.push((clause.when, action, clause.condition.is_none()));
    }
    Ok(())
}
