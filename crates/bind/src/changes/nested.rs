//! Changes in FROM: `INSERT t SELECT … FROM (UPDATE … OUTPUT …) AS x WHERE …`.
//!
//! ```text
//!   UPDATE … ── row changed ── OUTPUT ── WHERE ── select list ── t
//! ```
//! The plan is that of the inner statement, whose OUTPUT goes INTO the table of the outer one:
//! nothing but a filter and expressions may stand between them.
//!
//! Invariants
//!  1. A change is the only source of the SELECT that an INSERT inserts; anywhere else is an error
//!     that says where.
//!  2. Rows inserted are what the statement counts; identity values are the inner one's, as the
//!     reference of INSERT has it.

use crate::binder::Binder;
use crate::changes::change::Change;
use crate::changes::insert::check_count;
use crate::changes::output::{has_triggers, reference_of};
use crate::changes::target::{TargetTable, free_columns, identity_column};
use crate::expressions::draws::DrawRule;
use crate::names::hint::{self, Use};
use crate::names::result::{OutColumn, QueryResult};
use crate::names::scope::{Clause, Scope, Source};
use crate::queries::select::Item;
use crate::refusal::unsupported;
use base::{Message, SqlError, SqlResult, messages};
use catalog::view::{Object, Table};
use plan::{
    Assignment, Logical, MergeAction, NestedRows, Output, OutputInto, OutputResult, Predicate,
    Scalar, ScalarKind, Slot, Statement, VariableId,
};
use std::collections::BTreeSet;
use tsql::ast::{self, InsertSource, QueryBody, TableSourceKind};

/// The change in the FROM of an INSERT's SELECT.
#[derive(Clone, Copy)]
pub(crate) struct Changes<'s> {
    query: &'s ast::Query,
    select: &'s ast::Select,
    change: &'s ast::NestedChange,
    alias: Option<&'s ast::Name>,
    columns: &'s [ast::Name],
}

impl<'s> Changes<'s> {
    /// What an INSERT inserts, where it is the rows of a change.
    pub(crate) fn of(s: &'s ast::Insert) -> Option<Changes<'s>> {
        let InsertSource::Query(query) = &s.source else { return None };
        let mut query = &**query;
        while let QueryBody::Parenthesized(inner) = &query.body {
            query = inner;
        }
        let QueryBody::Select(select) = &query.body else { return None };
        let [source] = &*select.from else { return None };
        let TableSourceKind::Changed { change, alias, columns } = &source.kind else {
            return None;
        };
        Some(Changes { query, select, change, alias: alias.as_ref(), columns })
    }

    /// 10717, 10722: clauses of the outer statement that may not stand above a change.
    fn check_clauses(&self, s: &ast::Insert) -> SqlResult<()> {
        let (q, select) = (self.query, self.select);
        if select.distinct {
            return Err(self.error(messages::CHANGES_DISTINCT, &[]));
        }
        let present = [
            (s.top.is_some() || select.top.is_some() || q.offset.is_some(), "TOP or OFFSET"),
            (s.output.is_some(), "OUTPUT"),
            (select.into.is_some(), "INTO"),
            (select.group_by.is_some(), "GROUP BY"),
            (select.having.is_some(), "HAVING"),
            (!q.order_by.is_empty(), "ORDER BY"),
            (q.for_clause.is_some(), "FOR"),
            (!select.windows.is_empty(), "WINDOW"),
        ];
        match present.iter().find(|(is, _)| *is) {
            Some((_, clause)) => Err(self.error(messages::CHANGES_CLAUSE, &[clause])),
            None => Ok(()),
        }
    }

    /// The inner statement, with what it must have, and nothing that it must not.
    fn inner(&self) -> SqlResult<Change<'s>> {
        let Some(inner) = Change::nested(&self.change.kind) else {
            return Err(self.error(messages::CHANGES_NOT_INSERTED, &[]));
        };
        let current_of =
            |f: &Option<ast::DmlFilter>| matches!(f, Some(ast::DmlFilter::CurrentOf(_)));
        let (output, options, current_of, with) = match inner {
            Change::Insert(i) => {
                if Changes::of(i).is_some() {
                    return Err(self.error(messages::CHANGES_IN_CHANGES, &[]));
                }
                (&i.output, &i.options, false, &i.with)
            }
            Change::Update(u) => (&u.output, &u.options, current_of(&u.filter), &u.with),
            Change::Delete(d) => (&d.output, &d.options, current_of(&d.filter), &d.with),
            Change::Merge(m) => (&m.output, &m.options, false, &m.with),
        };
        let Some(output) = output else {
            return Err(self.error(messages::CHANGES_NEED_OUTPUT, &[]));
        };
        if output.into.is_some() {
            return Err(self.error(messages::CHANGES_OUTPUT_INTO, &[]));
        }
        if current_of {
            return Err(self.error(messages::CHANGES_CURRENT_OF, &[]));
        }
        if !options.is_empty() {
            return Err(self.error(messages::CHANGES_HINTS, &[]));
        }
        if with.is_some() {
            return Err(self.error(messages::SYNTAX_NEAR_KEYWORD, &[&"WITH"]));
        }
        Ok(inner)
    }

    fn error(&self, message: Message, args: &[&dyn std::fmt::Display]) -> SqlError {
        SqlError::new(message, args).at_line(self.change.span.line)
    }
}

impl Binder<'_> {
    pub(crate) fn insert_of_changes(
        &mut self,
        s: &ast::Insert,
        changes: Changes<'_>,
    ) -> SqlResult<Statement<Logical>> {
        changes.check_clauses(s)?;
        let inner = changes.inner()?;
        self.options(&s.options)?;
        self.with_ctes(s.with.as_deref(), |b| b.changes_into(s, changes, inner))
    }

    fn changes_into(
        &mut self,
        s: &ast::Insert,
        changes: Changes<'_>,
        inner: Change<'_>,
    ) -> SqlResult<Statement<Logical>> {
        let found = self.changes_target(s)?;
        let mut statement = self.change(inner)?;
        self.beside_triggers(&statement)?;
        let assigned = assigned_variables(&statement);
        let sent = match output_of(&mut statement).and_then(|o| o.sent.take()) {
            Some(sent) => sent,
            None => return Err(changes.error(messages::CHANGES_NEED_OUTPUT, &[])),
        };
        let into = self.inserted_rows(s, changes, &found, sent)?;
        if reads_any(&into, &assigned) {
            // They mean what they were before; a plan reads them as they are.
            let what = "a variable that the nested statement sets, in the outer one";
            return Err(unsupported(what, changes.change.span.line));
        }
        if let Some(output) = output_of(&mut statement) {
            output.into = Some(into);
        }
        Ok(statement)
    }

    /// The table of the outer INSERT: 354, 355, 356.
    fn changes_target(&mut self, s: &ast::Insert) -> SqlResult<TargetTable> {
        let name = match &s.target.kind {
            ast::DmlTargetKind::Table(name) => name.to_string(),
            ast::DmlTargetKind::Variable(name) => name.to_string(),
            ast::DmlTargetKind::Function(_) => String::new(),
        };
        let line = s.target.span.line;
        if self.derived_target(&s.target, None)?.is_some() {
            return Err(SqlError::new(messages::CHANGES_INTO_VIEW, &[&name]).at_line(line));
        }
        let found = self.target_table(&s.target)?;
        self.writable(&found)?;
        if has_triggers(&found) {
            return Err(SqlError::new(messages::CHANGES_INTO_TRIGGERS, &[&name]).at_line(line));
        }
        if let Some(key) = reference_of(&found) {
            let e = SqlError::new(messages::CHANGES_INTO_REFERENCE, &[&name, &key]);
            return Err(e.at_line(line));
        }
        Ok(found)
    }

    /// What the outer INSERT makes of the rows of OUTPUT.
    fn inserted_rows(
        &mut self,
        s: &ast::Insert,
        changes: Changes<'_>,
        found: &TargetTable,
        sent: OutputResult,
    ) -> SqlResult<OutputInto> {
        let table = &found.table;
        let (columns, source) = self.changed_source(changes, sent)?;
        let (filter, items) = self.over_changes(changes, source)?;
        self.refer(&found.database, Object::Table(table.clone()))?;
        let listed = self.changes_columns(s, found)?;
        check_count(s, table, listed.len(), items.len(), false)?;
        let values: Vec<Scalar> = items.into_iter().map(|i| i.scalar).collect();
        let columns_made = self.drawing_anew(|b| {
            let made = b.insert_columns(table, &listed, values)?;
            match b.draws.is_empty() {
                true => Ok(made),
                false => Err(SqlError::new(messages::NEXT_VALUE_CHANGES_DEFAULT, &[])),
            }
        })?;
        let new: Vec<Option<Slot>> = table
            .columns
            .iter()
            .zip(&columns_made)
            .map(|(c, insert)| c.physical.map(|_| insert.slot))
            .collect();
        let hints = hint::read(&s.target.hints, Some(table), self.collation, Use::Insert)?;
        let mut target = self.target(found, hints.locks);
        target.checks = self.checks(table, &new, None)?;
        Ok(OutputInto {
            target,
            columns: columns_made,
            identity: identity_column(table, &listed),
            nested: Some(NestedRows { columns, filter }),
        })
    }

    /// The rows of OUTPUT as a source, and what its columns are.
    fn changed_source(
        &mut self,
        changes: Changes<'_>,
        sent: OutputResult,
    ) -> SqlResult<(Vec<(Slot, Scalar)>, Source)> {
        let mut columns = Vec::with_capacity(sent.values.len());
        let mut given = Vec::with_capacity(sent.values.len());
        for (c, value) in sent.columns.iter().zip(sent.values) {
            let slot = self.new_slot();
            given.push(OutColumn {
                name: Some(c.name.clone()),
                slot,
                ty: value.ty,
                user_type_id: c.user_type_id,
                identity: false,
                stored: false,
                source: None,
                untyped_null: false,
                calculated: false,
            });
            columns.push((slot, value));
        }
        let tree = Logical::Values { rows: Vec::new(), columns: Vec::new() };
        let result = QueryResult { tree, columns: given, only_null: false };
        let from = self.derived(result, changes.alias, changes.columns);
        let from = from.map_err(|e| e.at_line(changes.change.span.line))?;
        let source = from.sources.into_iter().next();
        let lost = || SqlError::new(messages::INTERNAL, &[&"a derived table is one source"]);
        Ok((columns, source.ok_or_else(lost)?))
    }

    /// WHERE and the select list.
    fn over_changes(
        &mut self,
        changes: Changes<'_>,
        source: Source,
    ) -> SqlResult<(Predicate, Vec<Item>)> {
        let line = changes.select.span.line;
        let filter = match &changes.select.filter {
            None => Predicate::TRUE,
            Some(c) => {
                let rule = DrawRule::Refused(messages::NEXT_VALUE_CLAUSE);
                // As a select list, so that 5322 says what it is that WHERE must not have.
                let scope = Scope::new(vec![source.clone()], Clause::SelectList);
                self.drawing(rule, |b| {
                    b.within(scope, |b| {
                        let filter = b.condition(c)?;
                        let subquery = !filter.reads().subqueries.is_empty();
                        b.plain_over_changes("WHERE", subquery, line)?;
                        Ok(filter)
                    })
                })?
            }
        };
        let rule = DrawRule::Refused(messages::NEXT_VALUE_CHANGES);
        let items = self.drawing(rule, |b| {
            b.within(Scope::new(vec![source], Clause::SelectList), |b| {
                let mut items = Vec::with_capacity(changes.select.items.len());
                for item in &changes.select.items {
                    if matches!(item, ast::SelectItem::Assign { .. }) {
                        return Err(SqlError::new(messages::SYNTAX_NEAR, &[&"="]).at_line(line));
                    }
                    b.item(item, &mut items)?;
                }
                let subquery = items.iter().any(|i| !i.scalar.reads().subqueries.is_empty());
                b.plain_over_changes("SELECT", subquery, line)?;
                Ok(items)
            })
        })?;
        Ok((filter, items))
    }

    /// 5322, 5323, 5329: what a clause over a change must not have.
    fn plain_over_changes(&self, clause: &str, subquery: bool, line: u32) -> SqlResult<()> {
        let scope = self.scopes.last();
        let message = match scope {
            Some(s) if !s.calls.is_empty() => messages::CHANGES_AGGREGATE,
            Some(s) if !s.windows.is_empty() => messages::CHANGES_WINDOW,
            _ if subquery => messages::CHANGES_SUBQUERY,
            _ => return Ok(()),
        };
        Err(SqlError::new(message, &[&clause]).at_line(line))
    }

    /// The columns that get values; an identity column makes its own (5328).
    fn changes_columns(&self, s: &ast::Insert, found: &TargetTable) -> SqlResult<Vec<usize>> {
        let table: &Table = &found.table;
        if let Some(identity) = table.identity() {
            let column = &table.columns[identity].name;
            if s.columns.iter().any(|c| self.same(&c.name, column)) {
                let e = SqlError::new(messages::CHANGES_IDENTITY, &[column, &table.name]);
                return Err(e.at_line(s.target.span.line));
            }
        }
        let listed = match s.columns.is_empty() {
            true => free_columns(table),
            false => self.listed_columns(&s.columns, found, None, false)?,
        };
        let versioned = |&c: &usize| table.columns[c].sql_type == types::SqlType::RowVersion;
        match listed.iter().any(versioned) {
            true => Err(SqlError::new(messages::INSERT_ROW_VERSION, &[])),
            false => Ok(listed),
        }
    }
}

fn output_of(statement: &mut Statement<Logical>) -> Option<&mut Output> {
    match statement {
        Statement::Insert(i) => i.output.as_deref_mut(),
        Statement::Update(u) => u.output.as_deref_mut(),
        Statement::Delete(d) => d.output.as_deref_mut(),
        Statement::Merge(m) => m.output.as_deref_mut(),
        _ => None,
    }
}

/// The variables that SET gives values.
fn assigned_variables(statement: &Statement<Logical>) -> BTreeSet<VariableId> {
    let of = |set: &[Assignment]| -> Vec<VariableId> {
        set.iter().filter_map(|a| a.variable.map(|(id, _)| id)).collect()
    };
    match statement {
        Statement::Update(u) => of(&u.assignments).into_iter().collect(),
        Statement::Merge(m) => {
            let sets = m.clauses.iter().filter_map(|c| match &c.action {
                MergeAction::Update(set) => Some(of(set)),
                MergeAction::Delete | MergeAction::Insert(_) => None,
            });
            sets.flatten().collect()
        }
        _ => BTreeSet::new(),
    }
}

/// Whether the outer INSERT reads one of some variables.
fn reads_any(into: &OutputInto, variables: &BTreeSet<VariableId>) -> bool {
    if variables.is_empty() {
        return false;
    }
    let mut found = false;
    let mut look = |x: &mut Scalar| {
        found |= matches!(x.kind, ScalarKind::Variable(id) if variables.contains(&id));
    };
    for column in &into.columns {
        if let plan::ColumnSource::Value(value) = &column.source {
            value.clone().rewrite(&mut look);
        }
    }
    if let Some(nested) = &into.nested {
        nested.filter.clone().rewrite(&mut look);
    }
    found
}
