//! Heaps and indexes of all databases, for views of their operations.

use crate::storage;
use crate::view::System;
use access::StoredHobt;
use base::{DatabaseId, ObjectId, SqlResult};
use catalog::view::{Index, Object, Partition, Table};
use database::Database;
use std::sync::Arc;

/// A choice of heaps and indexes; `None` chooses all.
#[derive(Clone, Copy, Default)]
pub(crate) struct IndexChoice {
    pub(crate) database: Option<i64>,
    pub(crate) object: Option<i64>,
    pub(crate) index: Option<i64>,
}

/// A chosen heap or index.
pub(crate) struct FoundIndex<'f> {
    pub(crate) database: DatabaseId,
    pub(crate) table: &'f Table,
    pub(crate) index: &'f Index,
    /// Those of its partitions that are open: at least one.
    pub(crate) partitions: Vec<(Partition, Arc<dyn StoredHobt>)>,
}

/// Calls `each` with those that are chosen and open, by database, table and index. None of their
/// pages are read, so their databases need not be held.
pub(crate) fn each_index(
    system: &System<'_>,
    chosen: IndexChoice,
    each: &mut dyn FnMut(&FoundIndex<'_>),
) -> SqlResult<()> {
    for db in system.databases.all() {
        if chosen.database.is_none_or(|n| n == i64::from(db.id().0)) {
            of_database(system, &db, chosen, each);
        }
    }
    Ok(())
}

fn of_database(
    system: &System<'_>,
    db: &Arc<Database>,
    chosen: IndexChoice,
    each: &mut dyn FnMut(&FoundIndex<'_>),
) {
    let Some(view) = system.databases.view(db.id()) else { return };
    for object in view.objects() {
        let Object::Table(table) = object else { continue };
        if chosen.object.is_some_and(|n| ObjectId(n as i32) != table.object_id) {
            continue;
        }
        let wanted = |i: &&Index| chosen.index.is_none_or(|n| n == i64::from(i.index_id.0));
        for index in table.indexes.iter().filter(wanted) {
            let partitions: Vec<_> = storage::open(db, index).collect();
            if !partitions.is_empty() {
                each(&FoundIndex { database: db.id(), table, index, partitions });
            }
        }
    }
}
