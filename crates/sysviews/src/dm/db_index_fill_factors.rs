//! `sys.dm_db_index_fill_factors`, our own view: how full each index was built, how full it is now,
//! and why FILLFACTOR = AUTO chose its value.

use crate::cell::{big, bit, int};
use crate::column::{Column, col, maybe};
use crate::storage::{self, OpenPartition};
use crate::view::{Rows, System, View};
use access::LevelSplits;
use catalog::view::{AutoFill, SchemaId};
use types::{SqlType, Value};

const BIG: SqlType = SqlType::BigInt;

const COLUMNS: [Column; 18] = [
    col("database_id", SqlType::SmallInt),
    col("object_id", SqlType::Int),
    col("index_id", SqlType::Int),
    col("is_auto", SqlType::Bit),
    col("fill_factor", SqlType::TinyInt),
    col("is_padded", SqlType::Bit),
    maybe("rows_at_build", BIG),
    col("inserts_since_build", BIG),
    col("append_count", BIG),
    col("split_count", BIG),
    col("split_at_end_count", BIG),
    col("split_again_count", BIG),
    maybe("chosen_by_rows", BIG),
    maybe("chosen_by_inserts", BIG),
    maybe("chosen_by_growth", BIG),
    maybe("chosen_by_appends", BIG),
    maybe("chosen_by_splits", BIG),
    maybe("chosen_by_spread_percent", SqlType::TinyInt),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "dm_db_index_fill_factors",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut all = storage::partitions(system)?;
    all.retain(|p| p.index.kind.has_key() && !p.index.disabled);
    Ok(storage::by_index(&all).filter_map(row).collect())
}

/// Of all partitions of an index.
fn row(all: &[OpenPartition]) -> Option<Vec<Value>> {
    let p = all.first()?;
    let index = &p.index;
    let since: Vec<_> = all.iter().map(|p| p.hobt.inserts_since_built()).collect();
    let built = since.iter().map(|s| s.0).sum::<Option<u64>>();
    let inserts = since.iter().map(|s| s.1).sum::<u64>();
    let leaves: Vec<_> = all.iter().map(|p| p.hobt.splits().leaf).collect();
    let sum = |of: fn(&LevelSplits) -> u64| big(leaves.iter().map(of).sum::<u64>());
    let built = built.or(index.auto_fill.map(|auto| auto.rows));
    let chosen = |part: fn(AutoFill) -> u64| index.auto_fill.map_or(Value::Null, |a| big(part(a)));
    Some(vec![
        Value::SmallInt(p.table.database.0 as i16),
        int(p.table.object_id.0),
        int(index.index_id.0),
        bit(index.auto_fill.is_some()),
        Value::TinyInt(index.fill_factor),
        bit(index.padded),
        built.map_or(Value::Null, big),
        big(inserts),
        sum(|l| l.appends),
        sum(|l| l.splits),
        sum(|l| l.at_end),
        sum(|l| l.beside_last),
        chosen(|a| a.rows),
        chosen(|a| a.inserts),
        chosen(|a| a.growth),
        chosen(|a| a.appends),
        chosen(|a| a.splits),
        index.auto_fill.map_or(Value::Null, |a| Value::TinyInt(a.spread)),
    ])
}
