//! ALTER INDEX … DISABLE: the index is neither read nor maintained until REBUILD builds it again.
//!
//! A clustered index has the rows. When it is disabled, all other indexes (3750) and the table's
//! own foreign keys are disabled, too. When the index of a referenced key is disabled, so are the
//! foreign keys that refer to it (1992). Only ALTER TABLE … CHECK CONSTRAINT enables these again.
//! Source: Microsoft's "Disable indexes and constraints".
//!
//! The statement takes Sch-M on the table, then on the tables that refer to it. A session that
//! inserts into one of these locks them in the other order, so the two may deadlock (1205).

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

/// The name of that index among these to whose key a foreign key refers.
fn keeper(table: &Table, indexes: &[Index], key: &ForeignKey) -> Option<Box<str>> {
    let keeps = |i: &&Index| key.referenced == table.object_id && key.key_index == i.index_id;
    indexes.iter().find(keeps).map(|index| index.name.clone())
}

/// Disables the foreign keys of other tables for which `keeper` returns an index. No new ones can
/// appear meanwhile: a statement that adds one locks the table to which it refers.
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
    // The definitions are read again under the locks.
    let place = cx.place(Some(place.view.name()))?;
    for other in others(&place) {
        let mut after = Table::clone(&other);
        let told = disable_keys(&place, &mut after, keeper);
        rebuild(cx, &place, Some(&other), &after, Content::Keep(&[]))?;
        cx.messages.extend(told);
    }
    Ok(())
}

/// Disables those foreign keys of a table for which `index` returns an index. Returns the messages
/// about them.
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
