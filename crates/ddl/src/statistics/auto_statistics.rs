//! Automatic statistics: created when a query is planned over a column without statistics, and
//! updated when too many rows have changed since they were gathered.
//!
//! This runs in a short transaction of its own, which never waits for a lock. If another session
//! alters the table, it gives up, and the query is planned with the statistics that exist.
//!
//! Invariants
//!  1. It holds Sch-S on the table while it reads it, and a statement that makes statistics holds
//!     Sch-M. So the definition that it writes differs from the stored one only in statistics. The
//!     caller keeps two sessions from running it for the same table at once.
//!  2. It respects NORECOMPUTE and the two AUTO_…_STATISTICS options of the database.

use crate::context::{Change, DdlContext, Place};
use crate::statistics::gather::{Sample, of_columns, of_index};
use crate::statistics::put;
use base::{ObjectId, SqlResult};
use catalog::statistics::stale_after;
use catalog::view::{AnyStatistics, Statistics, StatisticsContent, Table};

/// The statistics that the planning of a query asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WantedStatistics {
    /// The table.
    pub table: ObjectId,
    /// The short name of a temporary table.
    pub temporary: Option<Box<str>>,
    /// Ids of the columns that matter.
    pub columns: Vec<i32>,
    /// Whether to create statistics for columns that have none.
    pub create: bool,
    /// Whether to update stale statistics.
    pub update: bool,
}

/// The number of further changes after which the first of a table's statistics is stale; 0 if one
/// is stale now. Only statistics whose first column matters count; `None` if there are none.
/// `temporary`: by the rule for temporary tables.
pub fn bears(
    table: &Table,
    temporary: bool,
    matters: impl Fn(usize) -> bool,
    modified: impl Fn(i32) -> u64,
) -> Option<u64> {
    let known = table.all_statistics().into_iter();
    let known = known.filter(|s| s.columns.first().is_some_and(|&c| matters(c)));
    known.filter_map(|s| changes_left(table, temporary, &s, &modified)).min()
}

fn changes_left(
    table: &Table,
    temporary: bool,
    known: &AnyStatistics<'_>,
    modified: impl Fn(i32) -> u64,
) -> Option<u64> {
    if known.gathered.no_recompute {
        return None;
    }
    let first = table.columns.get(*known.columns.first()?)?;
    let now = modified(first.column_id);
    let (rows, then) = match &known.gathered.distribution {
        Some(d) => (d.rows, d.modified),
        None => (0, 0),
    };
    Some(stale_after(rows, temporary).saturating_sub(now.saturating_sub(then)))
}

/// `_WA_Sys_` with the ids of column and table, as SQL Server names them.
fn name_of(column: i32, table: ObjectId) -> Box<str> {
    format!("{}{column:08X}_{:08X}", Statistics::AUTOMATIC, table.0).into()
}

/// Creates missing and updates stale statistics of a table of the current database. Returns false
/// when it changed nothing: no statistics were missing or stale, or the table was locked.
///
/// # Errors
/// Damaged pages, space, log, cancellation.
pub fn gather_statistics(cx: &mut DdlContext<'_>, wanted: &WantedStatistics) -> SqlResult<bool> {
    let place = cx.place(None)?;
    if !catalog::try_share_object(cx.work, place.view.id(), wanted.table)? {
        return Ok(false);
    }
    // The definition is read again under the lock.
    let place = cx.place(None)?;
    let Some(stored) = place.view.table(wanted.table) else { return Ok(false) };
    let mut table = Table::clone(&stored);
    if let Some(name) = &wanted.temporary {
        table.name = name.clone();
    }
    let mut after = table.clone();
    if wanted.update {
        update(cx, &place, (&table, &mut after), &wanted.columns)?;
    }
    let columns = if wanted.create { &*wanted.columns } else { &[] };
    for &column in columns {
        create(cx, &place, &mut after, column)?;
    }
    if after.statistics_stamp(|_| true) == table.statistics_stamp(|_| true) {
        return Ok(false);
    }
    cx.record(&place, Change::Statistics { before: &table, after: &after })?;
    Ok(true)
}

fn update(
    cx: &mut DdlContext<'_>,
    place: &Place,
    (table, after): (&Table, &mut Table),
    columns: &[i32],
) -> SqlResult<()> {
    let counters = std::sync::Arc::clone(&place.modifications);
    let modified = |column| counters.of(table.object_id, column);
    let matters = |s: &AnyStatistics<'_>| {
        let first = s.columns.first().and_then(|&n| table.columns.get(n));
        first.is_some_and(|c| columns.contains(&c.column_id))
    };
    for known in table.all_statistics().into_iter().filter(matters) {
        if changes_left(table, table.is_temp, &known, modified) != Some(0) {
            continue;
        }
        let distribution = match known.index {
            Some(index) => of_index(cx, place, table, index, Sample::Usual)?,
            None => of_columns(cx, place, table, &known.columns, Sample::Usual)?,
        };
        let no_recompute = known.gathered.no_recompute;
        put(after, &known, StatisticsContent { no_recompute, distribution });
    }
    Ok(())
}

fn create(cx: &mut DdlContext<'_>, place: &Place, table: &mut Table, column: i32) -> SqlResult<()> {
    let Some(ordinal) = table.columns.iter().position(|c| c.column_id == column) else {
        return Ok(());
    };
    let has_some = |s: &AnyStatistics<'_>| s.is_whole() && s.columns.first() == Some(&ordinal);
    let name = name_of(column, table.object_id);
    if table.all_statistics().iter().any(|s| has_some(s) || *s.name == *name) {
        return Ok(());
    }
    // Values that are stored off their row cannot be gathered. A column may have some such values
    // among shorter ones; then it gets no statistics.
    let Ok(distribution) = of_columns(cx, place, table, &[ordinal], Sample::Usual) else {
        cx.work.owner().waiter().check()?;
        return Ok(());
    };
    if distribution.is_none() {
        return Ok(());
    }
    let stats_id = table.next_index_id();
    let gathered = StatisticsContent { no_recompute: false, distribution };
    table.statistics.push(Statistics { stats_id, name, columns: vec![ordinal], gathered });
    Ok(())
}
