//! `sys.allocation_units`: the pages of heaps and indexes by purpose.

use crate::cell::big;
use crate::column::{Column, col, number, word};
use crate::reason::*;
use crate::storage;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 8] = [
    col("allocation_unit_id", SqlType::BigInt),
    number("type", SqlType::TinyInt, 1, NO_LARGE_UNITS),
    word("type_desc", SqlType::nvarchar(60), "IN_ROW_DATA", NO_LARGE_UNITS),
    col("container_id", SqlType::BigInt),
    number("data_space_id", SqlType::Int, 1, ONE_FILEGROUP),
    col("total_pages", SqlType::BigInt),
    col("used_pages", SqlType::BigInt),
    col("data_pages", SqlType::BigInt),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "allocation_units",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for p in storage::partitions(system)? {
        let Some(pages) = p.pages(system)? else { continue };
        rows.push(vec![
            Value::BigInt(p.hobt.spec().unit.as_bigint()),
            Value::BigInt(p.partition.hobt.as_bigint()),
            big(pages.reserved),
            big(pages.used),
            big(pages.data),
        ]);
    }
    Ok(rows)
}
