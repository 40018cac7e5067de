//! `sys.index_columns`: key and included columns of indexes.

use crate::cell::{bit, int};
use crate::column::{Column, col, maybe, zero};
use crate::reason::*;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
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

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all_and_types(system)? {
        for i in &table.indexes {
            let keys = i.key.iter().map(|k| (k.column, k.descending, false));
            let all = keys.chain(i.included.iter().map(|&column| (column, false, true)));
            for (n, (column, descending, included)) in all.enumerate() {
                rows.push(vec![
                    int(table.object_id.0),
                    int(i.index_id.0),
                    int(n + 1),
                    int(table.columns[column].column_id),
                    Value::TinyInt(if included { 0 } else { n as u8 + 1 }),
                    bit(descending),
                    bit(included),
                ]);
            }
        }
    }
    Ok(rows)
}
