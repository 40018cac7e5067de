//! ALTER INDEX … DISABLE: an index that is neither read nor maintained until REBUILD makes it anew.
//!
//! With a clustered one, where the rows are, go all other indexes (3750) and the table's own
//! foreign keys; with one that keeps a key unique the foreign keys that refer to it (1992), which
//! nothing but ALTER TABLE … CHECK CONSTRAINT enables again. Source: Microsoft's "Disable indexes
//! and constraints".
//!
//! Sch-M is taken on the table, then on those that refer to it; who inserts into these locks them
//! first, so one of the two may be told 1205.

use crate::build::rebuild::{Content, rebuild};
use crate::context::{DdlContext, Place};
use crate::locate::LockedTable;
use base::{SqlError, SqlResult, messages};
use catalog::view::{ForeignKey, Index, Table};
use std::fmt::Display;

/// Disables one index, or all.
pub(crate) fn disable(
    cx: &mut DdlContext<'_>,
    located: &LockedTable,
    one: Option<usize>,
) -> SqlResult<()> {
    let LockedTable { place, table } = located;
    let with_rows = one.is_none_or(|at| at == 0) && table.base().kind.is_clustered();
    let mut after = Table::clone(table);
    let mut gone = Vec::new();
    for (at, index) in after.indexes.iter_mut().enumerate() {
        let meant = with_rows || one.is_none_or(|one| one == at);
        if meant && index.kind.has_key() {
            index.disabled = true;
            gone.push(index.clone());
        }
    }
    let keeper = |key: &ForeignKey| keeper(table, &gone, key);
    disable_referring(cx, place, table, &keeper)?;
    let base = &table.base().name;
    let own = |key: &ForeignKey| keeper(key).or_else(|| with_rows.then(|| base.clone()));
    let told = disable_keys(place, &mut after, &own);
    rebuild(cx, place, Some(table), &after, Content::Keep(&[]))?;
    cx.messages.extend(told);
    if one.is_some() && with_rows {
        for index in table.indexes.iter().skip(1).filter(|index| !index.disabled) {
            let args: [&dyn Display; 2] = [&index.name, &table.name];
            cx.messages.push(SqlError::new(messages::INDEX_DISABLED_WITH_CLUSTERED, &args));
        }
    }
    Ok(())
}

/// The name of the index among these that keeps the key unique which a foreign key refers to.
fn keeper(table: &Table, indexes: &[Index], key: &ForeignKey) -> Option<Box<str>> {
    let keeps = |i: &&Index| key.referenced == table.object_id && key.key_index == i.index_id;
    indexes.iter().find(keeps).map(|index| index.name.clone())
}

/// Disables the foreign keys of other tables that have such an index. No new ones come meanwhile:
/// who makes one locks the table that it refers to.
fn disable_referring(
    cx: &mut DdlContext<'_>,
    place: &Place,
    table: &Table,
    keeper: &impl Fn(&ForeignKey) -> Option<Box<str>>,
) -> SqlResult<()> {
    let goes = |key: &ForeignKey| !key.disabled && keeper(key).is_some();
    let has_any = |other: &Table| other.foreign_keys.iter().any(goes);
    let others = |place: &Place| -> Vec<_> {
        let referring = place.view.referring(table.object_id);
        referring.filter(|t| t.object_id != table.object_id && has_any(t)).collect()
    };
    for other in others(place) {
        catalog::lock_object(cx.work, place.view.id(), other.object_id)?;
    }
    // As they are now that nobody else changes them.
    let place = cx.place(Some(place.view.name()))?;
    for other in others(&place) {
        let mut after = Table::clone(&other);
        let told = disable_keys(&place, &mut after, keeper);
        rebuild(cx, &place, Some(&other), &after, Content::Keep(&[]))?;
        cx.messages.extend(told);
    }
    Ok(())
}

/// Disables those foreign keys of a table that go with an index; what is to be said of them.
fn disable_keys(
    place: &Place,
    table: &mut Table,
    index: &impl Fn(&ForeignKey) -> Option<Box<str>>,
) -> Vec<SqlError> {
    let mut told = Vec::new();
    for key in table.foreign_keys.iter_mut().filter(|key| !key.disabled) {
        let Some(index) = index(key) else { continue };
        (key.disabled, key.not_trusted) = (true, true);
        let referenced = place.view.table(key.referenced);
        let referenced = referenced.map_or_else(Box::default, |table| table.name.clone());
        let args: [&dyn Display; 4] = [&key.name, &table.name, &referenced, &index];
        told.push(SqlError::new(messages::FOREIGN_KEY_DISABLED_WITH_INDEX, &args));
    }
    told
}
