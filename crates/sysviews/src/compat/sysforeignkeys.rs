//! `sysforeignkeys`: columns of FOREIGN KEY constraints with the columns that they refer to.

use super::type_codes::small;
use crate::cell::int;
use crate::column::{Column, col, maybe};
use crate::tables;
use crate::view::{Rows, System, View};
use catalog::view::SchemaId;
use types::{SqlType, Value};

const COLUMNS: [Column; 6] = [
    col("constid", SqlType::Int),
    col("fkeyid", SqlType::Int),
    col("rkeyid", SqlType::Int),
    maybe("fkey", SqlType::SmallInt),
    maybe("rkey", SqlType::SmallInt),
    maybe("keyno", SqlType::SmallInt),
];

pub(crate) const VIEW: View = View {
    schema: SchemaId::SYS,
    name: "sysforeignkeys",
    parameters: None,
    columns: &COLUMNS,
    rows,
};

fn rows(system: &System<'_>, _: &[Value]) -> Rows {
    let mut rows = Vec::new();
    for table in tables::own(system)? {
        for key in &table.foreign_keys {
            for (n, c) in (1..).zip(&key.columns) {
                rows.push(vec![
                    int(key.object_id.0),
                    int(table.object_id.0),
                    int(key.referenced.0),
                    small(table.columns[c.column].column_id),
                    small(c.referenced),
                    small(n),
                ]);
            }
        }
    }
    Ok(rows)
}
