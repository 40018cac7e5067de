//! FOR JSON AUTO and FOR XML AUTO: which table each column of a query is of, and so on which level
//! of the document it stands.
//!
//! Levels come in the order in which the select list names their tables. What is of no table is of
//! the innermost level so far; what comes before the first is of the outermost.

use crate::query::{OutColumn, QueryResult};
use base::{Message, SqlError, SqlResult, messages};
use builtins::AutoShape;
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
    /// `no_table` for a query without a table; 6809 for one without a name.
    pub(crate) fn of(
        result: &QueryResult,
        body: &QueryBody,
        no_table: Message,
    ) -> SqlResult<Levels> {
        let sources = sources(body);
        if sources.is_empty() {
            return Err(SqlError::new(no_table, &[]));
        }
        let mut tables: Vec<usize> = Vec::new();
        let mut of = Vec::with_capacity(result.columns.len());
        for column in &result.columns {
            if let Some(table) = column.source.filter(|table| !tables.contains(table)) {
                tables.push(table);
            }
            let own = tables.iter().position(|t| column.source == Some(*t));
            of.push(own.unwrap_or(tables.len().saturating_sub(1)));
        }
        if tables.is_empty() {
            tables.push(0);
        }
        let name = |table: &usize| {
            let name = sources.get(*table).and_then(|s| name_of(s));
            name.ok_or_else(|| SqlError::new(messages::XML_UNNAMED, &[]))
        };
        let names = tables.iter().map(name).collect::<SqlResult<_>>()?;
        Ok(Levels { names, of })
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

/// Whether values of a type tell that a row is of the same element as the one before.
fn is_compared(t: SqlType) -> bool {
    !matches!(t, SqlType::Xml | SqlType::Text | SqlType::NText | SqlType::Image)
}

/// The tables of a query's FROM clause, in its order.
pub(crate) fn sources(body: &QueryBody) -> Vec<&ast::TableSource> {
    fn leaves<'a>(source: &'a ast::TableSource, all: &mut Vec<&'a ast::TableSource>) {
        match &source.kind {
            TableSourceKind::Joined { first, joins } => {
                leaves(first, all);
                joins.iter().for_each(|j| leaves(&j.right, all));
            }
            _ => all.push(source),
        }
    }
    let mut all = Vec::new();
    if let QueryBody::Select(s) = body {
        s.from.iter().for_each(|source| leaves(source, &mut all));
    }
    all
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
        TableSourceKind::Variable { alias, .. }
        | TableSourceKind::Method { alias, .. }
        | TableSourceKind::Derived { alias, .. }
        | TableSourceKind::Values { alias, .. }
        | TableSourceKind::Changed { alias, .. } => alias.as_ref().map(text),
        TableSourceKind::Joined { .. } => None,
    }
}
