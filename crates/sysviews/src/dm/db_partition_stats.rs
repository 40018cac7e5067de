//! `sys.dm_db_partition_stats`: pages and rows of heaps and indexes.

use crate::cell::{big, int};
use crate::column::{Column, col, zero};
use crate::reason::*;
use crate::storage;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 14] = [
    col("partition_id", BIG),
    col("object_id", SqlType::Int),
    col("index_id", SqlType::Int),
    col("partition_number", SqlType::Int),
    col("in_row_data_page_count", BIG),
    col("in_row_used_page_count", BIG),
    col("in_row_reserved_page_count", BIG),
    zero("lob_used_page_count", BIG, NO_LARGE_UNITS),
    zero("lob_reserved_page_count", BIG, NO_LARGE_UNITS),
    zero("row_overflow_used_page_count", BIG, NO_LARGE_UNITS),
    zero("row_overflow_reserved_page_count", BIG, NO_LARGE_UNITS),
    col("used_page_count", BIG),
    col("reserved_page_count", BIG),
    col("row_count", BIG),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_partition_stats",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for p in storage::partitions(system)? {
        let Some(pages) = p.pages(system)? else { continue };
        let Some(row_count) = p.rows(system)? else { continue };
        rows.push(vec![
            Value::BigInt(p.partition.hobt.as_bigint()),
            int(p.table.object_id.0),
            int(p.index.index_id.0),
            int(p.partition.number.0),
            big(pages.data),
            big(pages.used),
            big(pages.reserved),
            big(pages.used),
            big(pages.reserved),
            big(row_count),
        ]);
    }
    Ok(rows)
}
