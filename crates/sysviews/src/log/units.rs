//! Allocation units by the small number in log records and pages, with their names.

use crate::storage;
use crate::view::System;
use base::{AllocUnitId, SqlResult};
use database::VERSION_UNIT;
use std::collections::HashMap;

/// An allocation unit, as `fn_dblog` shows it.
pub(crate) struct Unit {
    /// `schema.table`, followed by the index if it is one.
    pub(crate) name: String,
    /// The partition it belongs to, if it is of one.
    pub(crate) partition: Option<i64>,
}

/// All present units. A record of a dropped unit has none.
///
/// # Errors
/// The database was dropped.
pub(crate) fn units(system: &System<'_>) -> SqlResult<HashMap<AllocUnitId, Unit>> {
    let view = system.view()?;
    let mut units = HashMap::new();
    for p in storage::partitions(system)? {
        let schema = view.schema_by_id(p.table.schema_id).map_or("sys", |s| &s.name);
        let index = if p.index.name.is_empty() { "" } else { "." };
        let name = format!("{schema}.{}{index}{}", p.table.name, p.index.name);
        let unit = Unit { name, partition: Some(p.partition.hobt.as_bigint()) };
        units.insert(p.hobt.spec().unit, unit);
    }
    // The database's own version store has no table here: it is called as SQL Server's table is.
    let store = Unit { name: "sys.persistent_version_store".to_owned(), partition: None };
    units.insert(VERSION_UNIT, store);
    Ok(units)
}
