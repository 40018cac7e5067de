//! Drafts a table without one of its indexes or constraints.

use crate::build::rebuild::renew_all;
use crate::context::{DdlContext, Place, unsupported};
use crate::index::definition::blank;
use crate::index::options::{IndexOptions, drop_options};
use crate::locate::{LockedTable, has_rows, same_name};
use crate::online;
use crate::table::alter_table::{keeps_key, no_constraint};
use crate::table::computed;
use base::{SqlError, SqlResult, messages};
use catalog::view::{IndexKind, Table};
use tsql::ast::{AlterTableDrop, AlterTableDropKind, ObjectName};

/// The table without an index. Without its clustered index it is a heap.
pub(crate) fn without_index(place: &Place, table: &Table, at: usize) -> Table {
    let mut after = table.clone();
    if at == 0 {
        after.indexes[0] = blank(IndexKind::Heap, "", place.ids.hobt(), IndexOptions::default());
        renew_all(place, &mut after);
    } else {
        after.indexes.remove(at);
    }
    after
}

/// The table without a constraint; `None` when it has none of that name.
pub(crate) fn without_constraint(place: &Place, table: &Table, name: &str) -> Option<Table> {
    let is = |other: &str| same_name(place, other, name);
    if let Some(at) = table.checks.iter().position(|c| is(&c.name)) {
        let mut after = table.clone();
        after.checks.remove(at);
        return Some(after);
    }
    let has = |c: &catalog::view::Column| c.default.as_ref().is_some_and(|d| is(&d.name));
    if let Some(at) = table.columns.iter().position(has) {
        let mut after = table.clone();
        after.columns[at].default = None;
        return Some(after);
    }
    if let Some(at) = table.foreign_keys.iter().position(|k| is(&k.name)) {
        let mut after = table.clone();
        after.foreign_keys.remove(at);
        return Some(after);
    }
    let key = |i: &catalog::view::Index| i.constraint_id.is_some() && is(&i.name);
    let at = table.indexes.iter().position(key)?;
    Some(without_index(place, table, at))
}

/// Whether ALTER TABLE … DROP asks for ONLINE. Only the drop of a single constraint may.
pub(crate) fn is_online(items: &[AlterTableDrop]) -> SqlResult<bool> {
    for item in items {
        let line = item.name.line;
        if drop_options(&item.options)?.online {
            return match (items, item.kind) {
                ([_], AlterTableDropKind::Constraint) => Ok(true),
                _ => Err(unsupported("ONLINE = ON of a dropped key beside other changes", line)),
            };
        }
    }
    Ok(false)
}

/// Drops a clustered key ONLINE; the table becomes a heap. For other constraints it is 3745.
pub(crate) fn drop_online(
    cx: &mut DdlContext<'_>,
    of_table: &ObjectName,
    item: &AlterTableDrop,
) -> SqlResult<()> {
    let line = item.name.line;
    cx.threads.limit(drop_options(&item.options)?.max_workers);
    let missing = || SqlError::new(messages::ALTER_TABLE_NOT_FOUND, &[of_table]).at_line(line);
    let located = online::locate(cx, of_table)?.ok_or_else(missing)?;
    let LockedTable { place, table } = &located;
    has_rows(table).map_err(|e| e.at_line(line))?;
    let Some(mut after) = without_constraint(place, table, &item.name) else {
        if item.if_exists {
            return Ok(());
        }
        let e = no_constraint(place, table, &item.name).at_line(line);
        let last = SqlError::new(messages::CONSTRAINT_NOT_DROPPED, &[]);
        return Err(cx.after(e, last));
    };
    if after.base().kind == table.base().kind {
        return Err(SqlError::new(messages::ONLINE_DROP_NONCLUSTERED, &[]).at_line(line));
    }
    keeps_key(cx, place, table, &after, line)?;
    computed::unstore(&mut after);
    online::build_online(cx, of_table, &located, after).map_err(|e| e.at_line(line))
}
