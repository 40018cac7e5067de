//! What has an INSTEAD OF trigger.

use crate::changes::target::TargetTable;
use base::{SqlError, SqlResult, messages};
use catalog::view::{DatabaseView, Events, Table};
use std::sync::Arc;
use tsql::ast;

/// What has an INSTEAD OF trigger, with its rows as a table.
pub(crate) struct Parent {
    pub(crate) database: Arc<DatabaseView>,
    /// Of a view: its columns, without anything that restricts them.
    pub(crate) table: Arc<Table>,
    pub(crate) is_view: bool,
    pub(crate) event: Events,
}

impl Parent {
    pub(crate) fn table(&self) -> &Arc<Table> {
        &self.table
    }

    /// The same as what is changed.
    pub(crate) fn target(&self) -> TargetTable {
        TargetTable { table: Arc::clone(&self.table), database: Arc::clone(&self.database) }
    }
}

/// 334: rows of OUTPUT do not go to the client beside triggers.
/// With INTO they are those that the change would have given: Microsoft's page of OUTPUT.
pub(crate) fn refuse_output(output: Option<&ast::Output>, parent: &Parent) -> SqlResult<()> {
    match output {
        Some(o) if o.into.is_none() || !o.then.is_empty() => {
            Err(SqlError::new(messages::OUTPUT_WITH_TRIGGERS, &[&parent.table.name]))
        }
        Some(_) | None => Ok(()),
    }
}
