//! What a table is without one of its indexes or constraints.

use crate::context::Place;
use crate::index_definition::blank;
use crate::index_option::IndexOptions;
use crate::locate::same_name;
use crate::rebuild::renew_all;
use catalog::view::{IndexKind, Table};

/// The table without an index; without its clustered one it is a heap.
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
