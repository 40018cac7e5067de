//! Calls the function that runs a statement, by the statement's kind.

use crate::context::DdlContext;
use crate::data_type::user_type;
use crate::database::alter_database;
use crate::database::create_database;
use crate::dbcc;
use crate::drop;
use crate::index::alter_index;
use crate::index::create_index;
use crate::module;
use crate::module::function;
use crate::module::trigger;
use crate::module::view;
use crate::schema;
use crate::schema::transfer;
use crate::sequence;
use crate::statistics;
use crate::synonym;
use crate::table::alter_table;
use crate::table::create_table;
use crate::table::truncate;
use base::{SqlError, SqlResult, messages};
use tsql::ast::{AlterIndexAction, DropKind, ParsedText, Statement, StatementKind};

/// What kind of change a statement made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DdlOutcome {
    /// It changed definitions in the caller's transaction: its deltas are in the context.
    Changed,
    /// It changed no definition. It was about the server or a whole database, or reorganized
    /// indexes; no rollback takes it back.
    Done,
}

/// The transaction that a statement expects around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A transaction: the user's, or one that the session begins for this statement.
    Transaction,
    /// None. In a user's transaction the statement may be refused (226, 574).
    Alone,
}

/// The transaction that [`execute`] expects; `None` for statements that another crate runs.
pub fn setting_of(kind: &StatementKind) -> Option<Setting> {
    match kind {
        StatementKind::CreateDatabase(_)
        | StatementKind::AlterDatabase(_)
        | StatementKind::Checkpoint(_)
        | StatementKind::Dbcc(_) => Some(Setting::Alone),
        StatementKind::Drop(drop) if drop.kind == DropKind::Database => Some(Setting::Alone),
        StatementKind::Truncate(_)
        | StatementKind::CreateSchema(_)
        | StatementKind::CreateTable(_)
        | StatementKind::AlterTable(_)
        | StatementKind::CreateIndex(_)
        | StatementKind::AlterIndex(_)
        | StatementKind::CreateStatistics(_)
        | StatementKind::UpdateStatistics(_)
        | StatementKind::Sequence(_)
        | StatementKind::CreateSynonym(_)
        | StatementKind::AlterSchema(_)
        | StatementKind::Procedure(_)
        | StatementKind::View(_)
        | StatementKind::Trigger(_)
        | StatementKind::SwitchTrigger(_)
        | StatementKind::Function(_)
        | StatementKind::CreateType(_)
        | StatementKind::Drop(_) => Some(Setting::Transaction),
        kind if unsupported_name(kind).is_some() => Some(Setting::Alone),
        _ => None,
    }
}

/// The name of a statement about definitions that is not supported.
fn unsupported_name(kind: &StatementKind) -> Option<&str> {
    Some(match kind {
        StatementKind::CreatePartitionFunction(_) => "CREATE PARTITION FUNCTION",
        StatementKind::AlterPartitionFunction(_) => "ALTER PARTITION FUNCTION",
        StatementKind::CreatePartitionScheme(_) => "CREATE PARTITION SCHEME",
        StatementKind::Permission(_) => "GRANT",
        StatementKind::AlterServerConfiguration(_) => "ALTER SERVER CONFIGURATION",
        StatementKind::Opaque(opaque) => &opaque.name,
        _ => return None,
    })
}

/// Executes a statement of this crate. `text` is the batch that it was parsed from.
///
/// After an error the deltas are as before the statement. The caller rolls back to the statement's
/// start and thereby undoes what the statement wrote.
///
/// # Errors
/// SQL Server's, by number; for an unsupported form, an error that names it.
pub fn execute(
    statement: &Statement,
    text: &str,
    cx: &mut DdlContext<'_>,
) -> SqlResult<DdlOutcome> {
    let known = cx.deltas.len();
    let result = dispatch(statement, ParsedText::whole(text), cx);
    if result.is_err() {
        cx.deltas.truncate(known);
    }
    result.map_err(|e| e.at_line(statement.span.line))
}

fn dispatch(
    statement: &Statement,
    text: ParsedText<'_>,
    cx: &mut DdlContext<'_>,
) -> SqlResult<DdlOutcome> {
    match &statement.kind {
        StatementKind::CreateDatabase(s) => create_database::create(s, cx)?,
        StatementKind::AlterDatabase(s) => alter_database::alter(s, cx)?,
        StatementKind::Checkpoint(duration) => dbcc::checkpoint(duration.as_deref(), cx)?,
        StatementKind::Dbcc(s) => dbcc::dbcc(s, cx)?,
        StatementKind::AlterIndex(s) if s.action == AlterIndexAction::Reorganize => {
            alter_index::alter(s, cx)?;
        }
        StatementKind::Drop(s) if s.kind == DropKind::Database => drop::databases(s, cx)?,
        other => {
            change(other, text, cx)?;
            return Ok(DdlOutcome::Changed);
        }
    }
    Ok(DdlOutcome::Done)
}

fn change(kind: &StatementKind, text: ParsedText<'_>, cx: &mut DdlContext<'_>) -> SqlResult<()> {
    match kind {
        StatementKind::Truncate(s) => truncate::truncate(s, cx),
        StatementKind::CreateSchema(s) => schema::create(s, cx),
        StatementKind::CreateTable(s) => create_table::create(s, text, cx),
        StatementKind::AlterTable(s) => alter_table::alter(s, text, cx),
        StatementKind::CreateIndex(s) => create_index::create(s, cx, text),
        StatementKind::AlterIndex(s) => alter_index::alter(s, cx),
        StatementKind::CreateStatistics(s) => statistics::create(s, cx),
        StatementKind::UpdateStatistics(s) => statistics::update(s, cx),
        StatementKind::Procedure(s) => module::procedure(s, text, cx),
        StatementKind::Trigger(s) => trigger::define(s, text, cx),
        StatementKind::SwitchTrigger(s) => trigger::switch(s, cx),
        StatementKind::View(s) => view::define(s, text, cx),
        StatementKind::Function(s) => function::define(s, text, cx),
        StatementKind::Sequence(s) => sequence::define(s, cx),
        StatementKind::CreateSynonym(s) => synonym::create(s, cx),
        StatementKind::AlterSchema(s) => transfer::transfer(s, cx),
        StatementKind::CreateType(s) => user_type::create(s, text, cx),
        StatementKind::Drop(s) => drop::drop(s, cx),
        other => {
            let name = unsupported_name(other).unwrap_or("this statement as a definition");
            Err(SqlError::new(messages::NOT_SUPPORTED, &[&name]))
        }
    }
}
