//! DROP_EXISTING: the new index replaces the index of the same name and keeps its index id.
//!
//! An index that enforces a constraint, or to which a foreign key refers, must keep its definition;
//! only its options may change (1907). A clustered index stays clustered (1925).

use crate::build::rebuild::renew_all;
use crate::constraint::foreign_key;
use crate::context::Place;
use crate::index::definition::put;
use crate::locate::same_name;
use crate::table::computed;
use base::{SqlError, SqlResult, messages};
use catalog::view::{Index, IndexKind, Table};

/// The position of the index of that name among those of its table. Fails with 7999 if there is
/// none.
pub(crate) fn existing(place: &Place, table: &Table, name: &str) -> SqlResult<usize> {
    let found = |i: &Index| !i.name.is_empty() && same_name(place, &i.name, name);
    let args: [&dyn std::fmt::Display; 2] = [&name, &table.name];
    let none = || SqlError::new(messages::NO_INDEX_OF_NAME, &args);
    table.indexes.iter().position(found).ok_or_else(none)
}

/// The table with the index in place of the one of the same name.
pub(crate) fn replaced(place: &Place, table: &Table, mut index: Index) -> SqlResult<Table> {
    let at = existing(place, table, &index.name)?;
    let old = &table.indexes[at];
    let bound =
        old.constraint_id.is_some() || foreign_key::user_of_key(&place.view, table, old).is_some();
    if bound && !is_same(old, &index) {
        return Err(SqlError::new(messages::INDEX_OF_CONSTRAINT_DIFFERS, &[&old.name]));
    }
    if old.kind.is_clustered() && index.kind.holds_entries() {
        return Err(SqlError::new(messages::CLUSTERED_TO_NONCLUSTERED, &[]));
    }
    index.auto_fill = index.auto_fill.map(|auto| old.auto_fill.unwrap_or(auto));
    index.name = old.name.clone();
    index.primary_key = old.primary_key;
    index.unique_constraint = old.unique_constraint;
    index.constraint_id = old.constraint_id;
    index.system_named = old.system_named;
    let mut after = table.clone();
    match (old.kind, index.kind) {
        (IndexKind::Nonclustered, IndexKind::Nonclustered) => {
            index.index_id = old.index_id;
            after.indexes[at] = index;
        }
        (IndexKind::Nonclustered, _) => {
            after.indexes.remove(at);
            renew_all(place, &mut after);
            put(&mut after, index);
        }
        (IndexKind::Clustered | IndexKind::Heap, _) => {
            renew_all(place, &mut after);
            put(&mut after, index);
        }
    }
    computed::unstore(&mut after);
    Ok(after)
}

/// Whether two indexes have the same definition, apart from their options.
fn is_same(a: &Index, b: &Index) -> bool {
    let of = |i: &Index| (i.kind, i.unique, i.key.clone(), i.included.clone(), i.filter.clone());
    of(a) == of(b)
}
