//! Heaps and indexes with their present pages and rows.

use crate::tables;
use crate::view::System;
use access::StoredHobt;
use base::SqlResult;
use catalog::view::{Index, Table};
use space::AllocUnit;
use std::sync::Arc;

/// An open heap or index.
pub(crate) struct Partition {
    pub(crate) table: Arc<Table>,
    pub(crate) index: Index,
    pub(crate) hobt: Arc<dyn StoredHobt>,
}

/// The numbers of pages of a partition.
pub(crate) struct PageCounts {
    /// Pages with rows or entries: leaves.
    pub(crate) data: u64,
    /// Also the levels above, and the maps.
    pub(crate) used: u64,
    /// Also the free pages of its extents.
    pub(crate) reserved: u64,
}

/// Every partition of the database, those of system tables first. The database is held.
pub(crate) fn partitions(system: &System<'_>) -> SqlResult<Vec<Partition>> {
    let database = system.hold()?;
    let mut found = Vec::new();
    for table in tables::all(system)? {
        for index in &table.indexes {
            // It was dropped after the definitions were read.
            let Some(hobt) = database.hobts().get(index.hobt) else { continue };
            let (table, index) = (Arc::clone(&table), index.clone());
            found.push(Partition { table, index, hobt });
        }
    }
    Ok(found)
}

/// The result of reading a hobt without a lock on its table; `None` if it was dropped meanwhile,
/// because its pages may belong to another hobt.
pub(crate) fn unless_dropped<T>(hobt: &dyn StoredHobt, read: SqlResult<T>) -> SqlResult<Option<T>> {
    match read {
        Ok(_) | Err(_) if hobt.is_dropped() => Ok(None),
        read => read.map(Some),
    }
}

impl Partition {
    /// Counts its pages by the maps and by the levels of a tree above its leaves; leaves are not
    /// read. `None` if it was dropped meanwhile.
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
