//! What is refused by its name, and what is too high.

use base::limits::TREE_HEIGHT_MAX;
use base::{SqlError, SqlResult, messages};

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
