//! A part of FROM: its rows, and the names that it gives.

use crate::names::scope::Source;
use base::{Message, SqlError, SqlResult, messages};
use plan::Logical;
use tsql::ast::{self, QueryBody, TableSourceKind};

/// A part of FROM.
pub(crate) struct FromPart {
    pub(crate) tree: Logical,
    pub(crate) sources: Vec<Source>,
}

/// 8158, 8159: a list of names is not as long as what it names.
pub(crate) fn check_alias_count(name: &str, count: usize, columns: &[ast::Name]) -> SqlResult<()> {
    match columns.len().cmp(&count) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Less => Err(SqlError::new(messages::FEWER_COLUMN_ALIASES, &[&name])),
        std::cmp::Ordering::Greater => Err(SqlError::new(messages::MORE_COLUMN_ALIASES, &[&name])),
    }
}

/// An error where one of some sources is a change: see `changes::nested`.
pub(crate) fn no_changes<'s>(
    sources: impl IntoIterator<Item = &'s ast::TableSource>,
    message: Message,
) -> SqlResult<()> {
    let changed = |s: &&ast::TableSource| matches!(s.kind, TableSourceKind::Changed { .. });
    match sources.into_iter().find(changed) {
        Some(source) => Err(SqlError::new(message, &[]).at_line(source.span.line)),
        None => Ok(()),
    }
}

/// The same for an operand of UNION and its like.
pub(crate) fn no_changes_in_operand(body: &QueryBody) -> SqlResult<()> {
    match body {
        QueryBody::Select(s) => no_changes(&s.from, messages::CHANGES_IN_UNION),
        QueryBody::Parenthesized(_) | QueryBody::SetOperation(_) => Ok(()),
    }
}
