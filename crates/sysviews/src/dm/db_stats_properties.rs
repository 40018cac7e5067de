//! `sys.dm_db_stats_properties(object, statistics)`: when statistics were made, and from how many
//! rows.
//!
//! Statistics that were never filled have only ids; an unknown id has no row.

use crate::cell::{big, int, int_argument};
use crate::column::{Column, col, maybe, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::statistics::Distribution;
use catalog::view::{SchemaId, Table};
use std::sync::Arc;
use types::datetime::Moment;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;
/// Days from 0001-01-01 to 1970-01-01.
const UNIX_EPOCH_DAYS: i64 = 719_162;
const DAY_NS: i64 = 86_400_000_000_000;

const COLUMNS: [Column; 9] = [
    col("object_id", SqlType::Int),
    col("stats_id", SqlType::Int),
    maybe("last_updated", SqlType::DateTime2(7)),
    maybe("rows", BIG),
    maybe("rows_sampled", BIG),
    maybe("steps", SqlType::Int),
    maybe("unfiltered_rows", BIG),
    maybe("modification_counter", BIG),
    zero("persisted_sample_percent", SqlType::Float, NO_PERSISTED_SAMPLE),
];

/// The parameters of both functions.
pub(crate) const PARAMETERS: &[(&str, SqlType)] =
    &[("@object_id", SqlType::Int), ("@stats_id", SqlType::Int)];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_stats_properties",
    parameters: Some(PARAMETERS),
    columns: &COLUMNS,
    rows,
};

/// The statistics that the arguments name.
pub(crate) struct RequestedStatistics {
    pub(crate) table: Arc<Table>,
    pub(crate) stats_id: i32,
    /// The ordinal of the first column.
    pub(crate) first: usize,
    pub(crate) found: Option<Arc<Distribution>>,
}

/// The statistics that the arguments name; `None` if there are none.
pub(crate) fn asked(
    system: &System<'_>,
    arguments: &[Value],
) -> base::SqlResult<Option<RequestedStatistics>> {
    let (object, number) = (int_argument(arguments.first()), int_argument(arguments.get(1)));
    let (Some(object), Some(number)) = (object, number) else { return Ok(None) };
    let tables = tables::all(system)?;
    let Some(table) = tables.iter().find(|t| i64::from(t.object_id.0) == object) else {
        return Ok(None);
    };
    let all = table.all_statistics();
    let known = all.iter().find(|s| i64::from(s.stats_id.0) == number);
    Ok(known.map(|s| RequestedStatistics {
        table: Arc::clone(table),
        stats_id: s.stats_id.0,
        first: s.columns.first().copied().unwrap_or_default(),
        found: s.gathered.distribution.clone(),
    }))
}

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let Some(asked) = asked(system, arguments)? else { return Ok(Vec::new()) };
    let known =
        |of: &dyn Fn(&Distribution) -> Value| asked.found.as_deref().map_or(Value::Null, of);
    Ok(vec![vec![
        int(asked.table.object_id.0),
        int(asked.stats_id),
        known(&|d| updated(d.updated_ns)),
        known(&|d| big(d.rows)),
        known(&|d| big(d.sampled)),
        known(&|d| int(d.steps.len())),
        known(&|d| big(d.rows)),
        big(modified(system, &asked.table, asked.first, asked.found.as_deref())?),
    ]])
}

/// Changes of the first column since the statistics were made, or since the table was made.
pub(crate) fn modified(
    system: &System<'_>,
    table: &Table,
    first: usize,
    found: Option<&Distribution>,
) -> base::SqlResult<u64> {
    let database = system.here()?;
    let Some(first) = table.columns.get(first) else { return Ok(0) };
    let now = database.modifications().of(table.object_id, first.column_id);
    Ok(now.saturating_sub(found.map_or(0, |d| d.modified)))
}

fn updated(ns: i64) -> Value {
    let moment = Moment {
        days: (ns.div_euclid(DAY_NS) + UNIX_EPOCH_DAYS) as i32,
        ticks: (ns.rem_euclid(DAY_NS) / 100) as u64,
        offset: 0,
    };
    moment.to_value(SqlType::DateTime2(7)).unwrap_or(Value::Null)
}
