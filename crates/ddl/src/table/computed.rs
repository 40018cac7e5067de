//! Computed columns as they are declared.
//!
//! A computed column that is not PERSISTED is stored as long as an index has it. So its value in an
//! index is always the value in the row, even if the expression would now give another one. The
//! first CREATE INDEX writes the values into all rows; the drop of the last index ends the storing.
//! SQL Server computes the value again for each entry instead.
//!
//! The type of a computed column comes from its expression, which sees all columns of the table
//! that are not computed. So [`settle`] gives it its type when all of these are in the draft.

use crate::build::rebuild::{Content, NewColumn, NewColumnValue, rebuild, renew_all};
use crate::constraint::normal_form;
use crate::context::{DdlContext, Place, unsupported};
use crate::locate::same_name;
use crate::table::create_table::check_row_size;
use crate::table::instant;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Column, ComputedColumn, Index, Table};
use std::collections::BTreeSet;
use std::fmt::Display;
use tsql::ast::{ColumnDefinition, ColumnKind, Name, ParsedText};
use types::SqlType;

/// A computed column whose type is not known yet.
pub(crate) fn draft(
    place: &Place,
    table: &Table,
    written: &ColumnDefinition,
    text: ParsedText<'_>,
) -> Column {
    let (expression, persisted) = match &written.kind {
        ColumnKind::Computed { expr, persisted } => (expr.span.of(text), *persisted),
        ColumnKind::Typed(_) | ColumnKind::Untyped => ("", false),
    };
    let column_id = table.columns.iter().map(|c| c.column_id).max().unwrap_or(0) + 1;
    let physical = u16::try_from(table.columns.len()).ok().filter(|_| persisted);
    Column {
        column_id,
        name: (*written.name).into(),
        sql_type: SqlType::Int,
        user_type_id: SqlType::Int.user_type_id(),
        nullable: true,
        collation: place.view.collation(),
        row_guid: false,
        identity: None,
        default: None,
        computed: Some(ComputedColumn { text: format!("({expression})").into(), persisted }),
        physical,
    }
}

/// Gives a drafted column its type.
pub(crate) fn settle(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    written: &ColumnDefinition,
) -> SqlResult<()> {
    let line = written.span.line;
    let name = &written.name;
    let Some(at) = table.columns.iter().position(|c| same_name(place, &c.name, name)) else {
        return Ok(());
    };
    let Some(computed) = table.columns[at].computed.clone() else { return Ok(()) };
    if !cx.settings.ansi_nulls {
        return Err(unsupported("computed columns under SET ANSI_NULLS OFF", line));
    }
    if written.nullable.is_some() && !computed.persisted {
        return Err(SqlError::new(messages::COMPUTED_NEEDS_PERSISTED, &[]).at_line(line));
    }
    let found = cx.expressions.computed_type(&place.view, &visible(table), &computed.text);
    let found = found.map_err(|e| reads_computed(table, e).at_line(line))?;
    if computed.persisted && !found.deterministic {
        let args: [&dyn Display; 2] = [name, &table.name];
        let e = SqlError::new(messages::COMPUTED_NOT_DETERMINISTIC, &args);
        return Err(e.at_line(line));
    }
    found.check_collation(at + 1).map_err(|e| e.at_line(line))?;
    let normal = match &written.kind {
        ColumnKind::Computed { expr, .. } => {
            let names: Vec<&str> = table.columns.iter().map(|c| &*c.name).collect();
            normal_form::value(expr, &names)
        }
        ColumnKind::Typed(_) | ColumnKind::Untyped => None,
    };
    let column = &mut table.columns[at];
    if let (Some(normal), Some(computed)) = (normal, &mut column.computed) {
        computed.text = normal.text;
    }
    column.sql_type = found.sql_type;
    column.user_type_id = found.sql_type.user_type_id();
    column.collation = found.collation;
    column.nullable = written.nullable.unwrap_or(found.nullable);
    Ok(())
}

/// The table with only those columns that an expression may read.
fn visible(table: &Table) -> Table {
    let mut table = table.clone();
    table.columns.retain(|c| c.computed.is_none());
    table
}

/// Turns an error of binding into 1759, if the expression names a computed column, or reads all
/// columns and one of them is computed.
fn reads_computed(table: &Table, e: SqlError) -> SqlError {
    if e.number() == messages::COMPUTED_OF_COMPUTED.number {
        let first = table.columns.iter().find(|c| c.computed.is_some());
        return first.map_or(e, |c| of_computed(table, c));
    }
    if e.number() != messages::INVALID_COLUMN.number {
        return e;
    }
    let shown = e.to_string();
    let named = |c: &&Column| c.computed.is_some() && shown.contains(&format!("'{}'", c.name));
    match table.columns.iter().find(named) {
        Some(c) => of_computed(table, c),
        None => e,
    }
}

fn of_computed(table: &Table, column: &Column) -> SqlError {
    let args: [&dyn Display; 2] = [&column.name, &table.name];
    SqlError::new(messages::COMPUTED_OF_COMPUTED, &args).with_state(0)
}

/// Turns an error of binding into 1764, if the condition reads a computed column that is not
/// PERSISTED.
pub(crate) fn of_check(table: &Table, e: SqlError) -> SqlError {
    if e.number() != messages::INVALID_COLUMN.number {
        return e;
    }
    let shown = e.to_string();
    let virtuals = table.columns.iter().filter(|c| c.is_virtual());
    let mut named = virtuals.filter(|c| shown.contains(&format!("'{}'", c.name)));
    match named.next() {
        Some(c) => {
            let args: [&dyn Display; 3] = [&c.name, &table.name, &"CHECK CONSTRAINT"];
            SqlError::new(messages::COMPUTED_NOT_PERSISTED, &args)
        }
        None => e,
    }
}

/// The columns of a new index that are not stored yet.
pub(crate) fn to_store(place: &Place, table: &Table, names: &[&Name]) -> BTreeSet<usize> {
    let named = |c: &Column| names.iter().any(|n| same_name(place, &c.name, n));
    let columns = table.columns.iter().enumerate();
    columns.filter(|(_, c)| c.physical.is_none() && named(c)).map(|(n, _)| n).collect()
}

/// Gives columns a position in the stored rows, because an index will have them. `index` is the
/// name of the index in errors 2729 and 2799.
pub(crate) fn store(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &mut Table,
    columns: &BTreeSet<usize>,
    index: &Name,
) -> SqlResult<()> {
    for &n in columns {
        let column = table.columns[n].clone();
        let Some(computed) = &column.computed else { continue };
        let seen = visible(table);
        let found = cx.expressions.computed_type(&place.view, &seen, &computed.text)?;
        if !found.deterministic {
            let args: [&dyn Display; 3] = [&column.name, &"table", &table.two_part_name()];
            let e = SqlError::new(messages::INDEX_NOT_DETERMINISTIC, &args);
            return Err(e.at_line(index.line));
        }
        if !found.precise {
            let args: [&dyn Display; 3] = [index, &table.two_part_name(), &column.name];
            return Err(SqlError::new(messages::INDEX_NOT_PRECISE, &args).at_line(index.line));
        }
        table.columns[n].physical = Some(table.next_place());
    }
    check_row_size(table).map_err(|e| e.at_line(index.line))
}

/// Like [`store`], for a table that exists: its rows get the values.
pub(crate) fn store_in_rows(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    columns: &BTreeSet<usize>,
    index: &Name,
) -> SqlResult<()> {
    let mut after = table.clone();
    store(cx, place, &mut after, columns, index)?;
    put_in_rows(cx, place, table, after, columns)
}

/// Rebuilds a table with the stored columns `columns` in addition, and computes their values.
fn put_in_rows(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    mut after: Table,
    columns: &BTreeSet<usize>,
) -> SqlResult<()> {
    let added: Vec<NewColumn> =
        columns.iter().map(|&n| (after.columns[n].column_id, NewColumnValue::Same(None))).collect();
    if !instant::add(&mut after, &added) {
        renew_all(place, &mut after);
    }
    rebuild(cx, place, Some(table), &after, Content::Keep(&added))?;
    let current = cx.place(Some(place.view.name()))?;
    cx.expressions.fill(cx.work, &current.view, table.object_id, columns)
}

/// ALTER COLUMN ADD PERSISTED: existing rows get the column's values.
pub(crate) fn persist(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    at: usize,
) -> SqlResult<()> {
    let mut after = table.clone();
    let column = &mut after.columns[at];
    let Some(computed) = &mut column.computed else { return Ok(()) };
    computed.persisted = true;
    let found = cx.expressions.computed_type(&place.view, &visible(table), &computed.text)?;
    if !found.deterministic {
        let args: [&dyn Display; 2] = [&column.name, &table.name];
        return Err(SqlError::new(messages::COMPUTED_NOT_DETERMINISTIC, &args));
    }
    if column.physical.is_some() {
        return rebuild(cx, place, Some(table), &after, Content::Keep(&[]));
    }
    after.columns[at].physical = Some(after.next_place());
    check_row_size(&after)?;
    put_in_rows(cx, place, table, after, &BTreeSet::from([at]))
}

/// ALTER COLUMN DROP PERSISTED, for a column that no index has. Rows keep their stored value until
/// they are written again.
pub(crate) fn unpersist(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    at: usize,
) -> SqlResult<()> {
    let mut after = table.clone();
    let column = &mut after.columns[at];
    let Some(computed) = &mut column.computed else { return Ok(()) };
    computed.persisted = false;
    let found = cx.expressions.computed_type(&place.view, &visible(table), &computed.text)?;
    // NOT NULL was a constraint of the stored values.
    column.nullable = found.nullable;
    unstore(&mut after);
    rebuild(cx, place, Some(table), &after, Content::Keep(&[]))
}

/// Ends the storing of computed columns that no index has any more. Existing rows keep their
/// stored values.
pub(crate) fn unstore(table: &mut Table) {
    for n in 0..table.columns.len() {
        let in_index = |i: &Index| i.key.iter().any(|k| k.column == n) || i.included.contains(&n);
        let column = table.columns[n].clone();
        let stored = column.is_virtual() && column.physical.is_some();
        if !stored || table.indexes.iter().any(in_index) {
            continue;
        }
        table.statistics.retain(|s| !s.automatic() || !s.columns.contains(&n));
        if !table.statistics.iter().any(|s| s.columns.contains(&n)) {
            instant::drop(table, &column);
            table.columns[n].physical = None;
        }
    }
}

/// Checks that a computed column may be part of a foreign key. `changes`: the key's actions would
/// change the column.
pub(crate) fn check_referring(
    table: &Table,
    column: &Column,
    key: &str,
    changes: bool,
) -> SqlResult<()> {
    if column.computed.is_none() {
        return Ok(());
    }
    if column.is_virtual() {
        let args: [&dyn Display; 3] = [&column.name, &table.name, &"FOREIGN KEY CONSTRAINT"];
        return Err(SqlError::new(messages::COMPUTED_NOT_PERSISTED, &args));
    }
    if changes {
        let args: [&dyn Display; 2] = [&key, &column.name];
        return Err(SqlError::new(messages::FOREIGN_KEY_COMPUTED, &args));
    }
    Ok(())
}

/// Fills columns behind the first `known` in existing rows: the stored computed columns, and those
/// whose ids are in `own`, with their default evaluated for each row. Nothing else of a row
/// changes: no trigger fires, and no constraint is checked.
pub(crate) fn fill(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    known: usize,
    own: &BTreeSet<i32>,
) -> SqlResult<()> {
    let wanted = |c: &Column| c.is_stored_computed() || own.contains(&c.column_id);
    let added = table.columns.iter().enumerate().skip(known).filter(|(_, c)| wanted(c));
    let added: BTreeSet<usize> = added.map(|(n, _)| n).collect();
    if added.is_empty() {
        return Ok(());
    }
    let current = cx.place(Some(place.view.name()))?;
    cx.expressions.fill(cx.work, &current.view, table.object_id, &added)
}
