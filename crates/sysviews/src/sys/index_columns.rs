//! `sys.index_columns`: key and included columns of indexes.

use crate::cell::{bit, int};
use crate::column::{Column, col, maybe, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::{Index, SchemaId, Table};
use types::{SqlType, Value};

const COLUMNS: [Column; 9] = [
    col("object_id", SqlType::Int),
    col("index_id", SqlType::Int),
    col("index_column_id", SqlType::Int),
    col("column_id", SqlType::Int),
    col("key_ordinal", SqlType::TinyInt),
    zero("partition_ordinal", SqlType::TinyInt, NO_PARTITIONS),
    maybe("is_descending_key", SqlType::Bit),
    maybe("is_included_column", SqlType::Bit),
    zero("column_store_order_ordinal", SqlType::TinyInt, NO_COLUMNSTORE),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "index_columns",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

/// A column of an index. A key column has an ordinal, from 1.
pub(crate) struct OfIndex {
    pub(crate) column_id: i32,
    pub(crate) key_ordinal: u8,
    descending: bool,
}

/// The columns of an index: key columns first, then included columns.
pub(crate) fn index_columns(table: &Table, index: &Index) -> Vec<OfIndex> {
    let keys = index.key.iter().map(|k| (k.column, k.descending, false));
    let all = keys.chain(index.included.iter().map(|&column| (column, false, true)));
    let of = |(n, (column, descending, included)): (usize, (usize, bool, bool))| OfIndex {
        column_id: table.columns[column].column_id,
        key_ordinal: if included { 0 } else { n as u8 + 1 },
        descending,
    };
    all.enumerate().map(of).collect()
}

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all_and_types(system)? {
        for i in &table.indexes {
            for (n, c) in index_columns(&table, i).iter().enumerate() {
                rows.push(vec![
                    int(table.object_id.0),
                    int(i.index_id.0),
                    int(n + 1),
                    int(c.column_id),
                    Value::TinyInt(c.key_ordinal),
                    bit(c.descending),
                    bit(c.key_ordinal == 0),
                ]);
            }
        }
    }
    Ok(rows)
}
