//! OUTPUT: what it may name, and the rows it gives.
//!
//! `inserted` and `deleted` are sources like those of FROM, over the slots of new and old values;
//! beside them stand the sources of the change but for its target.

use crate::binder::Binder;
use crate::changes::target::{TargetTable, free_columns, identity_column};
use crate::expressions::collation::check_column;
use crate::names::hint::{self, Use};
use crate::names::scope::{Clause, Columns, MadeRow, Scope, Source};
use crate::queries::select::Item;
use crate::refusal::unsupported;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Module, Object, Table};
use plan::{Output, OutputInto, OutputResult, Predicate, ResultColumn, Scalar, Slot, TableNo};
use std::sync::Arc;
use tsql::ast::{self, DmlTargetKind, ExprKind, SelectItem};

/// The rows of the target as they were.
pub(crate) fn deleted(no: TableNo) -> Source {
    pseudo("deleted", Columns::Reference(no))
}

/// A source that is no table of FROM.
pub(crate) fn pseudo(name: &str, columns: Columns) -> Source {
    Source {
        name: name.into(),
        schema: None,
        database: None,
        shown: name.into(),
        aliased: true,
        body: None,
        columns,
    }
}

/// The rows of the target as they become, where `present` if that is not everywhere.
pub(crate) fn made_row(
    table: &Arc<Table>,
    new: &[Option<Slot>],
    present: Option<Predicate>,
) -> Source {
    let row = MadeRow { table: Arc::clone(table), slots: new.to_vec(), present };
    pseudo("inserted", Columns::Made(Arc::new(row)))
}

impl Binder<'_> {
    /// An OUTPUT clause over sources.
    pub(crate) fn output(&mut self, o: &ast::Output, sources: Vec<Source>) -> SqlResult<Output> {
        let bound = self.within(Scope::new(sources, Clause::SelectList), |b| {
            Ok((b.output_items(&o.items, o.span.line)?, b.output_items(&o.then, o.span.line)?))
        });
        let (first, then) = bound.map_err(|e| e.at_line(o.span.line))?;
        let Some(into) = &o.into else {
            return Ok(Output { sent: Some(sent(first)?), into: None });
        };
        let into = self.output_into(into, first, o.span.line)?;
        let sent = (!o.then.is_empty()).then(|| sent(then)).transpose()?;
        Ok(Output { sent, into: Some(into) })
    }

    fn output_items(&mut self, items: &[SelectItem], line: u32) -> SqlResult<Vec<Item>> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match item {
                SelectItem::Star(span) => {
                    let e = SqlError::new(messages::SYNTAX_NEAR, &[&"*"]);
                    return Err(e.at_line(span.line));
                }
                SelectItem::Expr { expr, .. } => self.output_column(expr)?,
                SelectItem::QualifiedStar(_) | SelectItem::Assign { .. } => {}
            }
            self.item(item, &mut out)?;
        }
        let scope = self.scopes.last().expect("the clause's scope is open");
        if !scope.calls.is_empty() {
            return Err(SqlError::new(messages::AGGREGATE_IN_OUTPUT, &[]).at_line(line));
        }
        if !scope.windows.is_empty() {
            return Err(unsupported("a windowed function in OUTPUT", line));
        }
        if out.iter().any(|i| !i.scalar.reads().subqueries.is_empty()) {
            return Err(SqlError::new(messages::SUBQUERY_IN_OUTPUT, &[]).at_line(line));
        }
        Ok(out)
    }

    /// A column is named with `inserted`, `deleted` or its table before it.
    fn output_column(&self, expr: &ast::Expr) -> SqlResult<()> {
        let ExprKind::Column(name) = &expr.kind else { return Ok(()) };
        if name.qualifier.is_some() || name.name.text.eq_ignore_ascii_case("$action") {
            return Ok(());
        }
        let e = SqlError::new(messages::INVALID_COLUMN, &[&name.name]);
        Err(e.at_line(expr.span.line))
    }

    fn output_into(
        &mut self,
        into: &ast::OutputInto,
        items: Vec<Item>,
        line: u32,
    ) -> SqlResult<OutputInto> {
        let span = ast::Span { line, ..ast::Span::default() };
        let target = ast::DmlTarget { kind: into.target.clone(), hints: Vec::new(), span };
        if matches!(into.target, DmlTargetKind::Function(_)) {
            return Err(unsupported("a function as a target", line));
        }
        let found = self.target_table(&target)?;
        self.writable(&found)?;
        let table = found.table.clone();
        refuse_into(&found, line)?;
        self.refer(&found.database, Object::Table(table.clone()))?;
        let names: Vec<ast::ColumnName> = into
            .columns
            .iter()
            .map(|name| ast::ColumnName { qualifier: None, name: name.clone() })
            .collect();
        let explicit = self.environment.identity_insert == Some(table.object_id);
        let mut listed = self.listed_columns(&names, &found, None, explicit)?;
        if names.is_empty() {
            listed = free_columns(&table);
        }
        if listed.len() != items.len() {
            let message = match (names.is_empty(), listed.len() > items.len()) {
                (true, _) => messages::INSERT_COUNT,
                (false, true) => messages::INSERT_SELECT_FEWER,
                (false, false) => messages::INSERT_SELECT_MORE,
            };
            return Err(SqlError::new(message, &[]).at_line(line));
        }
        let values: Vec<Scalar> = items.into_iter().map(|i| i.scalar).collect();
        let columns = self.drawing_anew(|b| b.insert_columns(&table, &listed, values))?;
        let hints = hint::read(&[], Some(&table), self.collation, Use::Insert)?;
        let target = self.target(&TargetTable { table: table.clone(), ..found }, hints.locks);
        let identity = identity_column(&table, &listed);
        Ok(OutputInto { target, columns, identity, nested: None })
    }
}

/// What a table must not have to get rows of an OUTPUT: 331, 332, 333.
fn refuse_into(found: &TargetTable, line: u32) -> SqlResult<()> {
    let table = &found.table;
    let fail = |message, constraint: &str| {
        let args: [&dyn std::fmt::Display; 2] = [&table.name, &constraint];
        Err(SqlError::new(message, &args).at_line(line))
    };
    if has_triggers(found) {
        let error = SqlError::new(messages::OUTPUT_INTO_TRIGGERS, &[&table.name]);
        return Err(error.at_line(line));
    }
    if let Some(check) = table.checks.iter().find(|c| !c.disabled) {
        return fail(messages::OUTPUT_INTO_CHECK, &check.name);
    }
    match reference_of(found) {
        Some(key) => fail(messages::OUTPUT_INTO_REFERENCE, &key),
        None => Ok(()),
    }
}

/// Whether a table has a trigger that is enabled.
pub(crate) fn has_triggers(found: &TargetTable) -> bool {
    let table = &found.table;
    let enabled = |m: Arc<Module>| m.trigger.as_ref().is_some_and(|t| !t.disabled);
    !table.is_temp && found.database.triggers_of(table.object_id).any(enabled)
}

/// A foreign key on whose one or other side a table is.
pub(crate) fn reference_of(found: &TargetTable) -> Option<Box<str>> {
    let table = &found.table;
    if let Some(key) = table.foreign_keys.first() {
        return Some(key.name.clone());
    }
    if table.is_temp {
        return None;
    }
    found.database.referring(table.object_id).find_map(|other| {
        let key = other.foreign_keys.iter().find(|k| k.referenced == table.object_id);
        key.map(|k| k.name.clone())
    })
}

fn sent(items: Vec<Item>) -> SqlResult<OutputResult> {
    let mut places = (1..).zip(&items);
    places.try_for_each(|(place, i)| check_column(i.scalar.ty, "OUTPUT", place))?;
    let column = |i: &Item| ResultColumn {
        name: i.name.clone().unwrap_or_default(),
        slot: Slot(0),
        sql_type: i.scalar.ty.sql_type,
        user_type_id: i.user_type_id,
        nullable: i.scalar.ty.nullable,
        collation: i.scalar.ty.collation,
        identity: i.identity,
        updatable: i.stored,
        untyped: false,
    };
    Ok(OutputResult {
        columns: items.iter().map(column).collect(),
        values: items.into_iter().map(|i| i.scalar).collect(),
    })
}
