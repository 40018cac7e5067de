//! `sys.dm_db_index_physical_stats(database, object, index, partition, mode)`: one row for each
//! level.
//!
//! NULL and 0 (-1 for the index) are wildcards. Without row versions the version columns are 0.
//! LIMITED reads no leaf, so columns about records are NULL; SAMPLED reads every page.

use crate::cell::{big, int_argument, text};
use crate::column::{Column, col, maybe, word, zero};
use crate::reason::*;
use crate::storage::{self, unless_dropped};
use crate::view::{Rows, System, View};
use access::{Contents, LevelStats, ScanMode};
use base::{ObjectId, SqlError, SqlResult, messages};
use catalog::view::{Index, IndexKind, Object, Partition, SchemaId, Table};
use database::Database;
use std::sync::Arc;
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 30] = [
    maybe("database_id", SqlType::SmallInt),
    maybe("object_id", SqlType::Int),
    maybe("index_id", SqlType::Int),
    col("partition_number", SqlType::Int),
    maybe("index_type_desc", SqlType::nvarchar(60)),
    word("alloc_unit_type_desc", SqlType::nvarchar(60), "IN_ROW_DATA", NO_LARGE_UNITS),
    maybe("index_depth", SqlType::TinyInt),
    maybe("index_level", SqlType::TinyInt),
    maybe("avg_fragmentation_in_percent", SqlType::Float),
    maybe("fragment_count", BIG),
    maybe("avg_fragment_size_in_pages", SqlType::Float),
    maybe("page_count", BIG),
    maybe("avg_page_space_used_in_percent", SqlType::Float),
    maybe("record_count", BIG),
    maybe("ghost_record_count", BIG),
    maybe("version_ghost_record_count", BIG),
    maybe("min_record_size_in_bytes", SqlType::Int),
    maybe("max_record_size_in_bytes", SqlType::Int),
    maybe("avg_record_size_in_bytes", SqlType::Float),
    maybe("forwarded_record_count", BIG),
    zero("compressed_page_count", BIG, NO_COMPRESSION),
    col("hobt_id", BIG),
    zero("columnstore_delete_buffer_state", SqlType::TinyInt, NO_COLUMNSTORE),
    word(
        "columnstore_delete_buffer_state_desc",
        SqlType::nvarchar(60),
        "NOT VALID",
        NO_COLUMNSTORE,
    ),
    maybe("version_record_count", BIG),
    maybe("inrow_version_record_count", BIG),
    maybe("inrow_diff_version_record_count", BIG),
    maybe("total_inrow_version_payload_size_in_bytes", BIG),
    maybe("offrow_regular_version_record_count", BIG),
    zero("offrow_long_term_version_record_count", BIG, NO_LONG_TERM),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_index_physical_stats",
    parameters: Some(&[
        ("@DatabaseId", SqlType::SmallInt),
        ("@ObjectId", SqlType::Int),
        ("@IndexId", SqlType::Int),
        ("@PartitionNumber", SqlType::Int),
        ("@Mode", SqlType::nvarchar(20)),
    ]),
    columns: &COLUMNS,
    rows,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Limited,
    Sampled,
    Detailed,
}

fn mode_of(v: Option<&Value>) -> SqlResult<Mode> {
    let named = v.filter(|v| !v.is_null()).map(ToString::to_string).unwrap_or_default();
    match named.to_ascii_uppercase().as_str() {
        "" | "DEFAULT" | "LIMITED" => Ok(Mode::Limited),
        "SAMPLED" => Ok(Mode::Sampled),
        "DETAILED" => Ok(Mode::Detailed),
        _ => {
            Err(SqlError::new(messages::DATEPART_INVALID, &[&5, &"sys.dm_db_index_physical_stats"]))
        }
    }
}

fn rows(system: &System<'_>, arguments: &[Value]) -> Rows {
    let mode = mode_of(arguments.get(4))?;
    let database = int_argument(arguments.first()).filter(|&n| n != 0);
    let object = int_argument(arguments.get(1)).filter(|&n| n != 0);
    let index = int_argument(arguments.get(2)).filter(|&n| n >= 0);
    let partition = int_argument(arguments.get(3)).filter(|&n| n != 0);
    let mut rows = Vec::new();
    for db in system.databases.all() {
        if database.is_some_and(|n| n != i64::from(db.id().0)) {
            continue;
        }
        let Some(db) = system.databases.hold(db.id())? else { continue };
        let Some(view) = system.databases.view(db.id()) else { continue };
        for found in view.objects() {
            let Object::Table(table) = found else { continue };
            if object.is_some_and(|n| ObjectId(n as i32) != table.object_id) {
                continue;
            }
            for i in table.indexes.iter() {
                if index.is_none_or(|n| n == i64::from(i.index_id.0)) {
                    index_rows((system, &db), (table, i), partition, mode, &mut rows)?;
                }
            }
        }
    }
    Ok(rows)
}

fn index_rows(
    (system, db): (&System<'_>, &Arc<Database>),
    (table, index): (&Table, &Index),
    number: Option<i64>,
    mode: Mode,
    rows: &mut Vec<Vec<Value>>,
) -> SqlResult<()> {
    let read = if mode == Mode::Limited { ScanMode::Limited } else { ScanMode::Detailed };
    for (partition, hobt) in storage::open(db, index) {
        if number.is_some_and(|n| n != i64::from(partition.number.0)) {
            continue;
        }
        let levels = hobt.physical_stats(read, db.engine(), system.waiter);
        let Some(levels) = unless_dropped(&*hobt, levels)? else { continue };
        let depth = levels.len() as u8;
        for level in levels.iter().filter(|l| mode == Mode::Detailed || l.level == 0) {
            rows.push(level_row(db, table, (index, partition), depth, level));
        }
    }
    Ok(())
}

fn level_row(
    db: &Arc<Database>,
    table: &Table,
    (index, partition): (&Index, Partition),
    depth: u8,
    l: &LevelStats,
) -> Vec<Value> {
    let kind = match index.kind {
        IndexKind::Heap => "HEAP",
        IndexKind::Clustered => "CLUSTERED INDEX",
        IndexKind::Nonclustered => "NONCLUSTERED INDEX",
    };
    let read = |of: fn(&Contents) -> Value| l.contents.as_ref().map_or(Value::Null, of);
    let fragmentation = 100.0 * l.out_of_order as f64 / l.pages.max(1) as f64;
    let is_heap = index.kind.is_heap();
    let forwarded = if is_heap { read(|c| big(c.forwarded)) } else { Value::Null };
    vec![
        Value::SmallInt(db.id().0 as i16),
        Value::Int(table.object_id.0),
        Value::Int(index.index_id.0),
        Value::Int(partition.number.0),
        text(kind),
        Value::TinyInt(depth),
        Value::TinyInt(l.level),
        Value::Float(fragmentation),
        big(l.fragments),
        Value::Float(l.pages as f64 / l.fragments.max(1) as f64),
        big(l.pages),
        read(|c| Value::Float(c.space_used_percent)),
        read(|c| big(c.records)),
        read(|c| big(c.ghosts)),
        read(|c| big(c.version_ghosts)),
        read(|c| Value::Int(c.min_record_bytes as i32)),
        read(|c| Value::Int(c.max_record_bytes as i32)),
        read(|c| Value::Float(c.record_bytes as f64 / c.all_records.max(1) as f64)),
        forwarded,
        Value::BigInt(partition.hobt.as_bigint()),
        read(|c| big(c.versions)),
        // Each says what differs, however small the row is.
        read(|c| big(c.in_row)),
        read(|c| big(c.in_row)),
        read(|c| big(c.in_row_bytes)),
        read(|c| big(c.off_row)),
    ]
}
