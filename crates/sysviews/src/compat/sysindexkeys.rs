//! `sysindexkeys`: key columns of indexes; included columns have no position in the key.

use super::type_codes::small;
use crate::cell::int;
use crate::column::{Column, col, maybe};
use crate::sys::index_columns;
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 4] = [
    col("id", SqlType::Int),
    maybe("indid", SqlType::SmallInt),
    maybe("colid", SqlType::SmallInt),
    maybe("keyno", SqlType::SmallInt),
];

pub(crate) const VIEW: View =
    View { schema: SchemaId::SYS, name: "sysindexkeys", parameters: None, columns: &COLUMNS, rows };

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::all_and_types(system)? {
        for i in &table.indexes {
            let row = |c: &crate::sys::OfIndex| {
                let keyno = small(i32::from(c.key_ordinal));
                vec![int(table.object_id.0), small(i.index_id.0), small(c.column_id), keyno]
            };
            rows.extend(index_columns(&table, i).iter().map(row));
        }
    }
    Ok(rows)
}
