//! `sys.dm_db_index_fill_factors`, our own view: how full each index was built, how full it is now,
//! and why FILLFACTOR = AUTO chose its value.

use crate::cell::{big, bit, int};
use crate::column::{Column, col, maybe};
use crate::storage::{self, Partition};
use crate::view::{Rows, System, View};
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
    let indexes = storage::partitions(system)?;
    let of_users = |p: &&Partition| p.index.kind.has_key() && !p.index.disabled;
    Ok(indexes.iter().filter(of_users).map(row).collect())
}

fn row(p: &Partition) -> Vec<Value> {
    let index = &p.index;
    let (built, inserts) = p.hobt.inserts_since_built();
    let leaf = p.hobt.splits().leaf;
    let built = built.or(index.auto_fill.map(|auto| auto.rows));
    let chosen = |part: fn(AutoFill) -> u64| index.auto_fill.map_or(Value::Null, |a| big(part(a)));
    vec![
        Value::SmallInt(p.table.database.0 as i16),
        int(p.table.object_id.0),
        int(index.index_id.0),
        bit(index.auto_fill.is_some()),
        Value::TinyInt(index.fill_factor),
        bit(index.padded),
        built.map_or(Value::Null, big),
        big(inserts),
        big(leaf.appends),
        big(leaf.splits),
        big(leaf.at_end),
        big(leaf.beside_last),
        chosen(|a| a.rows),
        chosen(|a| a.inserts),
        chosen(|a| a.growth),
        chosen(|a| a.appends),
        chosen(|a| a.splits),
        index.auto_fill.map_or(Value::Null, |a| Value::TinyInt(a.spread)),
    ]
}
