//! FOR JSON AUTO and FOR XML AUTO: which table each column of a query is of, and so on which level
//! of the document it stands.
//!
//! Levels come in the order in which the select list names their tables. What is of no table is of
//! the innermost level so far; what comes before the first is of the outermost. Columns of rowset
//! functions that are built in are of no table, and a set operation is what its first query names.

use crate::binder::Binder;
use crate::names::result::{OutColumn, QueryResult};
use base::{Message, SqlError, SqlResult, messages};
use builtins::AutoShape;
use std::collections::BTreeSet;
use tsql::ast::{self, Name, QueryBody, TableSourceKind};
use types::{SqlType, Value};

/// The levels of a document, outermost first.
pub(crate) struct Levels {
    names: Vec<Box<str>>,
    /// The level of each column.
    of: Vec<usize>,
}

impl Levels {
    /// # Errors
    /// `no_table` for a query without a table, `unnamed` for a table without a name.
    pub(crate) fn of(
        result: &QueryResult,
        body: &QueryBody,
        no_table: Message,
        unnamed: Message,
    ) -> SqlResult<Levels> {
        let sources = sources(body);
        let is_table = |n: &usize| sources.get(*n).is_some_and(|s| !is_row_function(s));
        let Some(first) = (0..sources.len()).find(is_table) else {
            return Err(SqlError::new(no_table, &[]));
        };
        let mut tables: Vec<usize> = Vec::new();
        let mut of = Vec::with_capacity(result.columns.len());
        for column in &result.columns {
            if let Some(table) =
                column.source.filter(is_table).filter(|table| !tables.contains(table))
            {
                tables.push(table);
            }
            let own = tables.iter().position(|t| column.source == Some(*t));
            of.push(own.unwrap_or(tables.len().saturating_sub(1)));
        }
        if tables.is_empty() {
            tables.push(first);
        }
        let name = |table: &usize| {
            let name = sources.get(*table).and_then(|s| name_of(s));
            name.ok_or_else(|| SqlError::new(unnamed, &[]))
        };
        let names = tables.iter().map(name).collect::<SqlResult<_>>()?;
        Ok(Levels { names, of })
    }

    /// The name of the level, where there is one alone.
    pub(crate) fn only(&self) -> Option<&str> {
        match self.names.as_slice() {
            [one] => Some(one),
            _ => None,
        }
    }

    /// # Errors
    /// 6810 for a name that comes twice among the attributes of one level.
    pub(crate) fn check_attributes(&self, columns: &[OutColumn]) -> SqlResult<()> {
        for level in 0..self.names.len() {
            let own = columns.iter().zip(&self.of).filter(|(_, of)| **of == level);
            check_attributes(own.map(|(c, _)| c))?;
        }
        Ok(())
    }

    /// Adds levels and columns to a shape; `named` gives a column's name, and whether it is a
    /// document already.
    pub(crate) fn shape<'c>(
        &self,
        mut shape: AutoShape,
        columns: &'c [OutColumn],
        named: impl Fn(usize, &'c OutColumn) -> SqlResult<(&'c str, bool)>,
    ) -> SqlResult<Value> {
        for name in &self.names {
            shape.level(name)?;
        }
        for (n, (column, level)) in columns.iter().zip(&self.of).enumerate() {
            let (name, raw) = named(n, column)?;
            shape.column(*level, name, raw, is_compared(column.ty.sql_type))?;
        }
        Ok(shape.into_value())
    }
}

/// # Errors
/// 6810 for a name that two columns would give to one attribute.
pub(crate) fn check_attributes<'c>(columns: impl Iterator<Item = &'c OutColumn>) -> SqlResult<()> {
    let mut names = BTreeSet::new();
    for c in columns.filter(|c| c.ty.sql_type != SqlType::Xml) {
        let name = c.name.as_deref().unwrap_or("");
        if !names.insert(name) {
            return Err(SqlError::new(messages::XML_REPEATED, &[&name]));
        }
    }
    Ok(())
}

/// Whether values of a type tell that a row is of the same element as the one before.
fn is_compared(t: SqlType) -> bool {
    !matches!(t, SqlType::Xml | SqlType::Text | SqlType::NText | SqlType::Image)
}

/// The tables of a query's FROM clause, in its order.
fn sources(body: &QueryBody) -> Vec<&ast::TableSource> {
    fn leaves<'a>(source: &'a ast::TableSource, all: &mut Vec<&'a ast::TableSource>) {
        match &source.kind {
            TableSourceKind::Joined { first, joins } => {
                leaves(first, all);
                joins.iter().for_each(|j| leaves(&j.right, all));
            }
            _ => all.push(source),
        }
    }
    match body {
        QueryBody::Select(s) => {
            let mut all = Vec::new();
            s.from.iter().for_each(|source| leaves(source, &mut all));
            all
        }
        QueryBody::Parenthesized(query) => sources(&query.body),
        QueryBody::SetOperation(operation) => sources(&operation.first),
    }
}

/// A rowset function that is built in.
fn is_row_function(source: &ast::TableSource) -> bool {
    match &source.kind {
        TableSourceKind::Function(f) => Binder::is_row_function(&f.call.name),
        _ => false,
    }
}

/// Its alias, or its name as it is written.
fn name_of(source: &ast::TableSource) -> Option<Box<str>> {
    let text = |name: &Name| name.text.clone();
    match &source.kind {
        TableSourceKind::Table(t) => match &t.alias {
            Some(alias) => Some(text(alias)),
            None => Some(t.name.to_string().into()),
        },
        TableSourceKind::Function(f) => match &f.alias {
            Some(alias) => Some(text(alias)),
            None => Some(f.call.name.to_string().into()),
        },
        TableSourceKind::Pivot(p) => Some(text(&p.alias)),
        TableSourceKind::Unpivot(p) => Some(text(&p.alias)),
        TableSourceKind::Variable { variable, alias } => {
            Some(text(alias.as_ref().unwrap_or(variable)))
        }
        TableSourceKind::Method { alias, .. }
        | TableSourceKind::Derived { alias, .. }
        | TableSourceKind::Values { alias, .. }
        | TableSourceKind::Changed { alias, .. } => alias.as_ref().map(text),
        TableSourceKind::Joined { .. } => None,
    }
}
