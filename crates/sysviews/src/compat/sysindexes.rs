//! `sysindexes`: heaps, indexes and statistics with their pages and rows.
//!
//! The counts of pages are those of one heap or index, not of all indexes of the table, as in SQL
//! Server since 2005 (remarks of its page).

use super::type_codes::small;
use crate::cell::{big, int, text, text_or_null};
use crate::column::{Column, col, maybe, null, number, zero};
use crate::dm::db_stats_properties::modified;
use crate::reason::*;
use crate::storage::{self, OpenPartition, PageCounts};
use crate::tables;
use crate::view::{Rows, System, View};
use base::{IndexId, ObjectId, SqlResult};
use catalog::view::{AnyStatistics, Index, SchemaId, Statistics, Table};
use std::collections::BTreeMap;
use types::{SqlType, Value};

const INT: SqlType = SqlType::Int;
const SMALL: SqlType = SqlType::SmallInt;
const TINY: SqlType = SqlType::TinyInt;
const PAGE: SqlType = SqlType::Binary(6);
const AS_THERE: &str = "As in SQL Server.";
const NO_PLACES: &str = "Views do not show yet where pages are.";
const NO_SIZES: &str = "Views do not show yet how long rows may be.";

const COLUMNS: [Column; 29] = [
    col("id", INT),
    col("status", INT),
    null("first", PAGE, NO_PLACES),
    maybe("indid", SMALL),
    null("root", PAGE, NO_PLACES),
    null("minlen", SMALL, NO_SIZES),
    maybe("keycnt", SMALL),
    number("groupid", SMALL, 1, ONE_FILEGROUP),
    col("dpages", INT),
    col("reserved", INT),
    col("used", INT),
    col("rowcnt", SqlType::BigInt),
    col("rowmodctr", INT),
    zero("reserved3", INT, AS_THERE),
    zero("reserved4", INT, AS_THERE),
    null("xmaxlen", SMALL, NO_SIZES),
    null("maxirow", SMALL, NO_SIZES),
    col("OrigFillFactor", TINY),
    zero("StatVersion", TINY, AS_THERE),
    zero("reserved2", INT, AS_THERE),
    null("FirstIAM", PAGE, NO_PLACES),
    zero("impid", SMALL, AS_THERE),
    zero("lockflags", SMALL, "The options of locks cannot be set yet."),
    zero("pgmodctr", INT, AS_THERE),
    null("keys", SqlType::varbinary(816), AS_THERE),
    maybe("name", SqlType::SYSNAME),
    null("statblob", SqlType::Image, AS_THERE),
    null("maxlen", INT, NO_SIZES),
    col("rows", INT),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysindexes", parameters: None, columns: &COLUMNS, rows };

/// Bits of `status`, as `spt_values` of type I names them.
fn status(i: &Index) -> i32 {
    let bits = [
        (i.ignore_dup_key, 1),
        (i.unique, 1 << 1),
        (i.kind.is_clustered(), 1 << 4),
        (i.primary_key, 1 << 11),
        (i.unique_constraint, 1 << 12),
    ];
    bits.into_iter().filter(|(on, _)| *on).map(|(_, bit)| bit).sum()
}

fn statistics_status(s: &AnyStatistics<'_>) -> i32 {
    const STATISTICS: i32 = 1 << 6;
    const AUTOMATIC: i32 = 1 << 23;
    const NO_RECOMPUTE: i32 = 1 << 24;
    let automatic = s.name.starts_with(Statistics::AUTOMATIC);
    STATISTICS
        + if automatic { AUTOMATIC } else { 0 }
        + if s.gathered.no_recompute { NO_RECOMPUTE } else { 0 }
}

/// The number of rows of each table.
type Rowcounts = BTreeMap<ObjectId, u64>;

fn index_row(
    system: &System<'_>,
    p: &OpenPartition,
    pages: &PageCounts,
    entries: u64,
    rows: u64,
) -> SqlResult<Vec<Value>> {
    let (table, i) = (&p.table, &p.index);
    let first = i.key.first().map_or(0, |k| k.column);
    let found = i.gathered.distribution.as_deref();
    Ok(vec![
        int(table.object_id.0),
        int(status(i)),
        small(i.index_id.0),
        small(i.key.len() as i32),
        int(pages.data),
        int(pages.reserved),
        int(pages.used),
        big(entries),
        int(modified(system, table, first, found)?),
        Value::TinyInt(i.fill_factor),
        text_or_null(&i.name),
        int(rows),
    ])
}

fn statistics_row(
    system: &System<'_>,
    table: &Table,
    s: &AnyStatistics<'_>,
    rows: u64,
) -> SqlResult<Vec<Value>> {
    let first = s.columns.first().copied().unwrap_or_default();
    let found = s.gathered.distribution.as_deref();
    Ok(vec![
        int(table.object_id.0),
        int(statistics_status(s)),
        small(s.stats_id.0),
        small(s.columns.len() as i32),
        int(0),
        int(0),
        int(0),
        big(0),
        int(modified(system, table, first, found)?),
        Value::TinyInt(0),
        text(s.name),
        int(rows),
    ])
}

/// Pages and rows of the partitions of an index; none when they were dropped meanwhile.
fn size(system: &System<'_>, all: &[OpenPartition]) -> SqlResult<Option<(PageCounts, u64)>> {
    let mut size = None;
    for p in all {
        let Some(pages) = p.pages(system)? else { continue };
        let Some(entries) = p.rows(system)? else { continue };
        let (sum, rows) = size.get_or_insert((PageCounts::default(), 0));
        sum.data += pages.data;
        sum.used += pages.used;
        sum.reserved += pages.reserved;
        *rows += entries;
    }
    Ok(size)
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    let mut counts = Rowcounts::new();
    // The heap or clustered index of a table comes before its other indexes.
    for all in storage::by_index(&storage::partitions(system)?) {
        let (Some(p), Some((pages, entries))) = (all.first(), size(system, all)?) else { continue };
        if p.index.index_id <= IndexId(1) {
            counts.insert(p.table.object_id, entries);
        }
        let count = counts.get(&p.table.object_id).copied().unwrap_or_default();
        rows.push(index_row(system, p, &pages, entries, count)?);
    }
    for table in tables::own(system)? {
        let count = counts.get(&table.object_id).copied().unwrap_or_default();
        for s in table.all_statistics().iter().filter(|s| s.index.is_none()) {
            rows.push(statistics_row(system, &table, s, count)?);
        }
    }
    Ok(rows)
}
