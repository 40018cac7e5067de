//! `sys.partitions`: the partitions of each heap and index, with their rows.

use crate::cell::{big, int};
use crate::column::{Column, col, word, zero};
use crate::reason::*;
use crate::storage;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 11] = [
    col("partition_id", SqlType::BigInt),
    col("object_id", SqlType::Int),
    col("index_id", SqlType::Int),
    col("partition_number", SqlType::Int),
    col("hobt_id", SqlType::BigInt),
    col("rows", SqlType::BigInt),
    zero("filestream_filegroup_id", SqlType::SmallInt, NO_FILESTREAM),
    zero("data_compression", SqlType::TinyInt, NO_COMPRESSION),
    word("data_compression_desc", SqlType::nvarchar(60), "NONE", NO_COMPRESSION),
    zero("xml_compression", SqlType::Bit, NO_XML),
    word("xml_compression_desc", SqlType::varchar(3), "OFF", NO_XML),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "partitions", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for p in storage::partitions(system)? {
        let Some(row_count) = p.rows(system)? else { continue };
        let id = Value::BigInt(p.partition.hobt.as_bigint());
        rows.push(vec![
            id.clone(),
            int(p.table.object_id.0),
            int(p.index.index_id.0),
            int(p.partition.number.0),
            id,
            big(row_count),
        ]);
    }
    Ok(rows)
}
