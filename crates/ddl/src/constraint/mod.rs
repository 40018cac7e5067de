//! Puts PRIMARY KEY, UNIQUE and CHECK constraints into the draft of a table.

pub(crate) mod drop_constraint;
pub(crate) mod foreign_key;
pub(crate) mod generated_name;
pub(crate) mod normal_form;

use crate::context::{DdlContext, Place, unsupported};
use crate::index::definition;
use crate::index::definition::{blank, check_size, key, put};
use crate::index::options::{options, placement};
use crate::locate::same_name;
use crate::table::column::{free_name, stored_condition};
use crate::table::computed;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Check, IndexKind, Table};
use std::collections::BTreeSet;
use tsql::ast::{
    self, ConstraintKind, KeyConstraint, Name, ParsedText, TableConstraint, TableDefinition,
};

/// A constraint, and the column behind which it was written, if any.
#[derive(Clone, Copy)]
pub(crate) struct WrittenConstraint<'a> {
    pub(crate) constraint: &'a TableConstraint,
    pub(crate) column: Option<&'a Name>,
}

/// Every constraint of a definition, in the order of the text: first those of columns, then those
/// of the table. A constraint that lists its columns belongs to the table, even if it stands behind
/// a column without a comma.
pub(crate) fn all(definition: &TableDefinition) -> Vec<WrittenConstraint<'_>> {
    let columns = definition.columns.iter();
    let behind = columns.flat_map(|c| {
        c.constraints.iter().map(|constraint| {
            let column = Some(&c.name).filter(|_| !lists_columns(constraint));
            WrittenConstraint { constraint, column }
        })
    });
    let own = definition.constraints.iter();
    behind.chain(own.map(|constraint| WrittenConstraint { constraint, column: None })).collect()
}

/// Whether a constraint lists its columns.
fn lists_columns(constraint: &TableConstraint) -> bool {
    match &constraint.kind {
        ConstraintKind::Key(k) => !k.columns.is_empty(),
        ConstraintKind::ForeignKey(k) => !k.columns.is_empty(),
        ConstraintKind::Check { .. } | ConstraintKind::Default { .. } => false,
    }
}

/// The PRIMARY KEY and UNIQUE constraints among these.
pub(crate) fn keys<'a>(
    written: &[WrittenConstraint<'a>],
) -> Vec<(WrittenConstraint<'a>, &'a KeyConstraint)> {
    let key = |w: &WrittenConstraint<'a>| match &w.constraint.kind {
        ConstraintKind::Key(k) => Some((*w, &**k)),
        ConstraintKind::Check { .. }
        | ConstraintKind::ForeignKey(_)
        | ConstraintKind::Default { .. } => None,
    };
    written.iter().filter_map(key).collect()
}

/// Refuses a second default of a column, a column's foreign key to several columns, and two
/// constraints of one name.
pub(crate) fn refuse(
    place: &Place,
    table: &str,
    written: &[WrittenConstraint<'_>],
) -> SqlResult<()> {
    named_once(place, written)?;
    for w in written {
        let line = w.constraint.span.line;
        match &w.constraint.kind {
            ConstraintKind::Default { .. } => {
                let Some(column) = w.column else { continue };
                let args: [&dyn std::fmt::Display; 3] = [&"DEFAULT", column, &table];
                return Err(SqlError::new(messages::CONSTRAINT_TWICE, &args).at_line(line));
            }
            ConstraintKind::ForeignKey(k) if w.column.is_some() && k.referenced.len() > 1 => {
                let args: [&dyn std::fmt::Display; 2] = [&"FOREIGN KEY", &table];
                return Err(SqlError::new(messages::COLUMN_KEY_OF_SEVERAL, &args).at_line(line));
            }
            ConstraintKind::Check { .. }
            | ConstraintKind::Key(_)
            | ConstraintKind::ForeignKey(_) => {}
        }
    }
    Ok(())
}

/// Whether one of the keys is to be built ONLINE.
pub(crate) fn is_online(written: &[WrittenConstraint<'_>]) -> SqlResult<bool> {
    for (_, k) in keys(written) {
        if options(&k.options).is_ok_and(|o| o.online) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The columns of a key: the column behind which it stands, or those that it lists.
pub(crate) fn key_columns(
    written: WrittenConstraint<'_>,
    k: &KeyConstraint,
) -> Vec<ast::IndexColumn> {
    match written.column {
        Some(name) => vec![ast::IndexColumn { name: name.clone(), descending: false }],
        None => k.columns.clone(),
    }
}

/// Puts a key into a draft. The nullability of its columns is already settled.
pub(crate) fn add_key(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    written: WrittenConstraint<'_>,
    k: &KeyConstraint,
    clustered: bool,
) -> SqlResult<()> {
    let line = written.constraint.span.line;
    let kept = match options(&k.options) {
        Err(e) if e.number() == messages::HASH_INDEX_ON_DISK.number => {
            return Err(not_created(cx, e));
        }
        kept => kept?.without_drop_existing(line)?,
    };
    cx.threads.limit(kept.max_workers);
    placement(k.on.as_ref())?;
    let prefix = if k.primary { "PK" } else { "UQ" };
    let object_id = place.ids.object();
    let columns = key_columns(written, k);
    let named: Vec<&Name> = columns.iter().map(|c| &c.name).collect();
    if let Some(first) = named.first() {
        let stored = computed::to_store(place, table, &named);
        let named = written.constraint.name.as_ref().unwrap_or(first);
        let stored = computed::store(cx, place, table, &stored, named);
        stored.map_err(|e| not_created(cx, e.at_line(line)))?;
    }
    let parts = match key(place, table, &columns, "table constraint") {
        Ok(parts) => parts,
        Err(e) => return Err(not_created(cx, e.at_line(line))),
    };
    if k.primary && parts.iter().any(|p| table.columns[p.column].nullable) {
        let e = SqlError::new(messages::PRIMARY_NULLABLE, &[&table.name]);
        return Err(not_created(cx, e.at_line(line)));
    }
    let name = match &written.constraint.name {
        Some(name) => free_name(cx, place, table, name)?,
        None => {
            let names: Vec<&str> = parts.iter().map(|p| &*table.columns[p.column].name).collect();
            generated_name::of_key(prefix, &table.name, &names, object_id)
        }
    };
    if clustered && table.base().kind.is_clustered() {
        let args: [&dyn std::fmt::Display; 3] = [&"table", &table.name, &table.base().name];
        let e = SqlError::new(messages::CLUSTERED_EXISTS, &args).at_line(line);
        return Err(not_created(cx, e));
    }
    let kind = if clustered { IndexKind::Clustered } else { IndexKind::Nonclustered };
    let mut index = blank(kind, &name, place.ids.hobt(), kept);
    index.unique = true;
    index.primary_key = k.primary;
    index.unique_constraint = !k.primary;
    index.constraint_id = Some(object_id);
    index.system_named = written.constraint.name.is_none();
    index.key = parts;
    check_size(cx, table, &index).map_err(|e| not_created(cx, e.at_line(line)))?;
    put(table, index);
    Ok(())
}

/// Puts a check into a draft, which already has all its columns.
pub(crate) fn add_check(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    written: WrittenConstraint<'_>,
    text: ParsedText<'_>,
    verified: bool,
) -> SqlResult<()> {
    let ConstraintKind::Check { condition, not_for_replication } = &written.constraint.kind else {
        return Ok(());
    };
    let column = match written.column {
        Some(name) => Some(definition::column(place, table, name)?),
        None => None,
    };
    if column.is_some_and(|at| table.columns[at].is_virtual()) {
        let line = written.constraint.span.line;
        return Err(SqlError::new(messages::COMPUTED_NEEDS_PERSISTED, &[]).at_line(line));
    }
    if !cx.settings.ansi_nulls {
        let line = written.constraint.span.line;
        return Err(unsupported("CHECK constraints under SET ANSI_NULLS OFF", line));
    }
    let names: Vec<&str> = table.columns.iter().map(|c| &*c.name).collect();
    let normal = normal_form::condition(condition, &names);
    let (stored, read) = match normal {
        Some(normal) => (normal.text, normal.columns),
        None => (stored_condition(condition.span.of(text)), BTreeSet::new()),
    };
    let quoted = cx.settings.quoted_identifier;
    let line = condition.span.line;
    if let Err(e) = cx.expressions.check_condition(&place.view, table, &stored, quoted) {
        let e = computed::of_check(table, e).at_line(line);
        let virtual_column = e.number() == messages::COMPUTED_NOT_PERSISTED.number;
        return Err(if virtual_column { not_created(cx, e) } else { e });
    }
    if let Some(at) = column {
        let own = keeps_to_its_column(cx, place, table, at, &stored);
        own.map_err(|e| not_created(cx, e.at_line(written.constraint.span.line)))?;
    }
    let object_id = place.ids.object();
    let name = match &written.constraint.name {
        Some(name) => free_name(cx, place, table, name)?,
        None => {
            let behind = column.map(|at| &*table.columns[at].name);
            generated_name::of_column("CK", &table.name, behind, object_id)
        }
    };
    // A condition that reads only one column belongs to that column, wherever it was written.
    let only = read.first().copied().filter(|_| read.len() == 1);
    table.checks.push(Check {
        object_id,
        name,
        system_named: written.constraint.name.is_none(),
        text: stored,
        column: column.or(only),
        disabled: false,
        not_trusted: !verified || *not_for_replication,
        not_for_replication: *not_for_replication,
    });
    Ok(())
}

/// Error 1750. The client gets `why` before it. The states of 1750 are those that a public project
/// recorded of SQL Server 2022; after 1764 it is the state that a CHECK has.
pub(crate) fn not_created(cx: &mut DdlContext<'_>, why: SqlError) -> SqlError {
    let early = [
        messages::DEFAULT_NO_COLUMN,
        messages::COMPUTED_NOT_PERSISTED,
        messages::FOREIGN_KEY_NO_COLUMN,
        messages::PRIMARY_EXISTS,
        messages::DEFAULT_EXISTS,
        messages::PRIMARY_NULLABLE,
    ];
    let state = u8::from(!early.iter().any(|m| m.number == why.number()));
    cx.after(why, SqlError::new(messages::CONSTRAINT_NOT_CREATED, &[]).with_state(state))
}

/// Fails with 8168 if two constraints of a statement have the same name.
fn named_once(place: &Place, written: &[WrittenConstraint<'_>]) -> SqlResult<()> {
    for (n, w) in written.iter().enumerate() {
        let Some(name) = &w.constraint.name else { continue };
        let before = written[..n].iter().filter_map(|w| w.constraint.name.as_ref());
        if before.into_iter().any(|other| same_name(place, other, name)) {
            return Err(SqlError::new(messages::NAME_TWICE, &[name]).at_line(name.line));
        }
    }
    Ok(())
}

/// Fails with 8141 if a condition behind a column reads another column.
fn keeps_to_its_column(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    at: usize,
    stored: &str,
) -> SqlResult<()> {
    let mut alone = table.clone();
    alone.columns = vec![table.columns[at].clone()];
    let quoted = cx.settings.quoted_identifier;
    match cx.expressions.check_condition(&place.view, &alone, stored, quoted) {
        Err(e) if e.number() == messages::INVALID_COLUMN.number => {
            let args: [&dyn std::fmt::Display; 3] =
                [&"CHECK", &table.columns[at].name, &table.name];
            Err(SqlError::new(messages::CHECK_OF_ANOTHER, &args))
        }
        Err(_) | Ok(()) => Ok(()),
    }
}
