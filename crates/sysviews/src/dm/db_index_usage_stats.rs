//! `sys.dm_db_index_usage_stats`: how often plans that ran use each heap and index.
//!
//! A run counts once for each operator of its plan, however often the operator was opened, even if
//! it was never opened. A heap or index that nothing has used since the start has no row. A rebuild
//! keeps the counts.

use super::indexes::{FoundIndex, IndexChoice, each_index};
use crate::cell::{big, datetime, int};
use crate::column::{Column, col, maybe, null, zero};
use crate::view::{Rows, System, View};
use access::{Deed, Use};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;
const TIME: SqlType = SqlType::DateTime;
const ONLY_SCANS: &str =
    "What the engine reads by itself, for statistics, it reads from end to end.";

const COLUMNS: [Column; 19] = [
    col("database_id", SqlType::SmallInt),
    col("object_id", SqlType::Int),
    col("index_id", SqlType::Int),
    col("user_seeks", BIG),
    col("user_scans", BIG),
    col("user_lookups", BIG),
    col("user_updates", BIG),
    maybe("last_user_seek", TIME),
    maybe("last_user_scan", TIME),
    maybe("last_user_lookup", TIME),
    maybe("last_user_update", TIME),
    zero("system_seeks", BIG, ONLY_SCANS),
    col("system_scans", BIG),
    zero("system_lookups", BIG, ONLY_SCANS),
    zero("system_updates", BIG, ONLY_SCANS),
    null("last_system_seek", TIME, ONLY_SCANS),
    maybe("last_system_scan", TIME),
    null("last_system_lookup", TIME, ONLY_SCANS),
    null("last_system_update", TIME, ONLY_SCANS),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_index_usage_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// The operations of users' statements in the order of columns, then those of the engine.
const COUNTS: [Deed; 5] =
    [Deed::UserSeek, Deed::UserScan, Deed::UserLookup, Deed::UserUpdate, Deed::SystemScan];
const TIMES: [Use; 5] = [Use::Seek, Use::Scan, Use::Lookup, Use::Update, Use::SystemScan];

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    each_index(system, IndexChoice::default(), &mut |found| rows.extend(row(found)))?;
    Ok(rows)
}

fn row(found: &FoundIndex<'_>) -> Option<Vec<Value>> {
    let hobts = || found.partitions.iter().map(|(_, hobt)| hobt);
    let counts = COUNTS.map(|deed| hobts().map(|h| h.counted(deed)).sum::<u64>());
    let times = TIMES.map(|how| hobts().map(|h| h.last_used(how)).max().unwrap_or_default());
    if counts.iter().all(|&n| n == 0) {
        return None;
    }
    let mut cells = vec![
        Value::SmallInt(found.database.0 as i16),
        int(found.table.object_id.0),
        int(found.index.index_id.0),
    ];
    cells.extend(counts[..4].iter().map(|&n| big(n)));
    cells.extend(times[..4].iter().map(|&ns| datetime(ns)));
    cells.extend([big(counts[4]), datetime(times[4])]);
    Some(cells)
}
