//! A part of FROM: its rows, and the names that it gives.

use crate::scope::Source;
use base::{SqlError, SqlResult, messages};
use plan::Logical;
use tsql::ast;

/// A part of FROM.
pub(crate) struct From {
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
