//! Heaps and indexes with their present pages and rows.

use crate::tables;
use crate::view::System;
use access::StoredHobt;
use base::SqlResult;
use catalog::view::{Index, Partition, Table};
use database::Database;
use space::AllocUnit;
use std::sync::Arc;

/// A partition of a heap or index, open.
pub(crate) struct OpenPartition {
    pub(crate) table: Arc<Table>,
    pub(crate) index: Index,
    pub(crate) partition: Partition,
    pub(crate) hobt: Arc<dyn StoredHobt>,
}

/// How many pages partitions have.
#[derive(Default)]
pub(crate) struct PageCounts {
    /// Pages with rows or entries: leaves.
    pub(crate) data: u64,
    /// Also the levels above, and the maps.
    pub(crate) used: u64,
    /// Also the free pages of its extents.
    pub(crate) reserved: u64,
}

/// Every partition of the database, those of system tables first; the database is held.
pub(crate) fn partitions(system: &System<'_>) -> SqlResult<Vec<OpenPartition>> {
    let database = system.hold()?;
    let mut found = Vec::new();
    for table in tables::all(system)? {
        for index in &table.indexes {
            for (partition, hobt) in open(&database, index) {
                let (table, index) = (Arc::clone(&table), index.clone());
                found.push(OpenPartition { table, index, partition, hobt });
            }
        }
    }
    Ok(found)
}

/// The partitions of an index that are open: others were dropped since the definition was taken.
pub(crate) fn open<'i>(
    database: &Database,
    index: &'i Index,
) -> impl Iterator<Item = (Partition, Arc<dyn StoredHobt>)> + use<'i> {
    let hobts = Arc::clone(database.hobts());
    index.partitions.iter().filter_map(move |p| Some((p, hobts.get(p.hobt)?)))
}

/// The same partitions by the index that they are of.
pub(crate) fn by_index(all: &[OpenPartition]) -> impl Iterator<Item = &[OpenPartition]> {
    let of = |p: &OpenPartition| (p.table.object_id, p.index.index_id);
    all.chunk_by(move |a, b| of(a) == of(b))
}

/// What was read of a hobt without a lock on its table; none when it was dropped meanwhile, and
/// its pages may be another's.
pub(crate) fn unless_dropped<T>(hobt: &dyn StoredHobt, read: SqlResult<T>) -> SqlResult<Option<T>> {
    match read {
        Ok(_) | Err(_) if hobt.is_dropped() => Ok(None),
        read => read.map(Some),
    }
}

impl OpenPartition {
    /// Counts its pages by the maps and the levels of a tree above its leaves, which are not read;
    /// none when it was dropped meanwhile.
    ///
    /// # Errors
    /// Damaged maps or pages; the waiter's cancellation.
    pub(crate) fn pages(&self, system: &System<'_>) -> SqlResult<Option<PageCounts>> {
        unless_dropped(&*self.hobt, self.count_pages(system))
    }

    /// The number of its rows; `None` if it was dropped meanwhile.
    pub(crate) fn rows(&self, system: &System<'_>) -> SqlResult<Option<u64>> {
        unless_dropped(&*self.hobt, self.hobt.row_count(system.waiter))
    }

    fn count_pages(&self, system: &System<'_>) -> SqlResult<PageCounts> {
        let database = system.here()?;
        let (mut allocated, mut maps, mut extents) = (0, 0, 0);
        for unit in self.hobt.units().into_iter().filter(|u| !u.pieces) {
            let owned = AllocUnit::open(unit.unit, unit.places.first_iam);
            let pages = database.space().unit_pages(&owned, system.waiter);
            let pages = pages.map_err(|e| e.into_sql(&self.table.name, &database.home().name()))?;
            allocated += pages.pages.len() as u64;
            maps += pages.iam_pages.len() as u64;
            extents += pages.extents.len() as u64;
        }
        let above = self.hobt.pages_above_leaves(database.engine(), system.waiter)?;
        Ok(PageCounts {
            data: allocated.saturating_sub(above),
            used: allocated + maps,
            reserved: extents * u64::from(base::limits::EXTENT_PAGES) + maps,
        })
    }
}
